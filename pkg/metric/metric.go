// Package metric declares every figure that the results have, each once: what it is
// called, whose it is, its unit, what kind of figure it is, which way is better, where
// it stands unless somebody asks for others, and what it means in a sentence. The
// tables, comparisons, thresholds, reports, exports and documents read the declaration;
// none of them knows a metric by its name.
//
// To add a metric, declare it in the file of its family, and have the line that
// computes it say so: metric.SplitBrain.Of(v). The same holds for the fixed columns.
package metric

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Metric is the declaration of a figure: a column of trials.csv.
type Metric struct {
	// Name is the column: lower snake case, ending in _ms or _per_s where that is the unit.
	Name string
	// Was is what it was called before. Who uses that name is told the new one.
	Was string
	// Words are the name in prose, without the unit; "": those of the name itself.
	Words   string
	Problem algo.Problem // whose trials have it; "": those of both
	Unit    Unit
	Kind    Kind
	Better  Direction
	// Always marks the fixed columns: every trial has a figure of it, which is 0 unless it is set.
	Always bool
	// Early marks a SinceCause that comes before what a timed-out trial waits for in vain:
	// a trial that has it did observe it.
	Early bool
	// AtLeast marks what a trial looks for up to a bound: one with status ok that has none did
	// not get there. It is larger than what was seen.
	AtLeast bool
	// Open is the name of the metric that counts what a trial saw no end of; "": nothing does.
	// A trial that has any knows the metric only to be larger than what was seen.
	Open string
	// Traffic marks what is about the algorithm's messages. A subject that is only observed
	// has none of it: its messages are not seen.
	Traffic bool
	// Several marks what only algorithms have that let several into the critical section at
	// once: without any, tables have no such column.
	Several bool
	// OneClock marks a time that one clock alone tells: that of a process, or none at all as of
	// what the network was to do. All others lie between instants of several processes.
	OneClock bool
	// OneProcess marks what the operating system counts for its own processes: nodes that share
	// one have none of it.
	OneProcess bool
	// From and To are the instants of an operation between which it lies; 0 for what single
	// operations do not have.
	From, To Instant
	// Definition says of which outages it is the mean of the single downtimes: algo.Service in
	// words, or BySpec. "" for what single outages do not have, and where operations have it.
	Definition string
	Tables     Tables
	// Slower is what an algorithm does that has more of it than another, with a verb for how
	// much: algorithms are ranked by the first main metric that has it.
	Slower string
	Claim  string // what the claims of an algorithm call it; "": there are none about it
	Doc    string // what it is: a phrase; of a time, from where to where
}

// A Unit is what a metric is measured in, in words.
type Unit string

// The units.
const (
	Milliseconds     Unit = "ms"
	Microseconds     Unit = "us"
	PerSecond        Unit = "1/s"
	PerProcessSecond Unit = "1/s per process"
	Fraction         Unit = "share, 0 to 1"
	Index            Unit = "index, 0 to 1"
	Correlation      Unit = "correlation, -1 to 1"
	Bytes            Unit = "bytes"
	OfMessages       Unit = "messages"
	Times            Unit = "count"
)

// A Kind is what sort of figure a metric is: what a time limit does to it, and whether
// it is exact.
type Kind int

// The kinds, in the order in which tables show them. Of a trial that the time limit
// ended, a SinceCause would have been longer than what was seen: it is censored.
// Figures of the other kinds leave such a trial out.
const (
	SinceCause Kind = iota // the time from a cause to what follows from it
	Share                  // a part of a whole, or an index: from 0 to 1
	InState                // for how long a state lasted
	Measured               // a time that messages, processes or the machine took, or were to take
	Serial                 // how the times of successive operations hang together
	Rate                   // so many per second
	Count                  // what happened, in all or per operation: exact, if it was simulated
)

// Censored says whether a time limit leaves no more than a lower bound.
func (k Kind) Censored() bool { return k == SinceCause }

// A Direction is which way a metric improves.
type Direction int

// The directions.
const (
	Lower   Direction = iota // times, messages, bytes, what went wrong
	Higher                   // what the algorithm is for
	Neither                  // what was asked of it, and what was done to it
)

// An Instant is one of those that operations.csv has.
type Instant int

// The instants.
const (
	Cause Instant = iota + 1
	Begin
	End
)

// Tables are where a metric stands unless somebody asks for others.
type Tables int

// The tables.
const (
	// Main metrics are compared, drawn, and stand first in the report.
	Main Tables = 1 << iota
	// Brief is the table of bench run, and what exports have, where the scenario is one
	// operation after the other; Lasting where it is a span of time in which things go wrong;
	// Rising where the load rises until it is too much.
	Brief
	Lasting
	Rising
	// Summary is summary.csv; for a fixed column, as all others stand there.
	Summary
)

// In says whether the metric stands in a table.
func (m *Metric) In(t Tables) bool { return m.Tables&t != 0 }

// Directions say what a larger value is, and a smaller one: "slower" and "faster" of a time.
func (m *Metric) Directions() (up, down string) {
	if m.Kind == SinceCause {
		return "slower", "faster"
	}
	return "higher", "lower"
}

// Cut is why a trial may be known only to have more of the metric than was seen.
func (m *Metric) Cut() string {
	switch {
	case m.AtLeast:
		return "beyond"
	case m.Open != "":
		return "never recovered"
	}
	return "timed out"
}

// OfSpans says whether the metric is about spans of time in which things go wrong, rather
// than about operations: where nothing does, it is the same in every trial.
func (m *Metric) OfSpans() bool { return m.In(Lasting) && !m.In(Brief) }

// Applies says whether trials of a problem can have the metric.
func (m *Metric) Applies(p algo.Problem) bool { return m.Problem == "" || m.Problem == p }

// Of is the metric of a trial. NaN is a figure that does not exist: the trial could have
// had one, and has none. What does not apply to a trial is none of its values.
func (m *Metric) Of(v float64) Value { return Value{m.Name, v} }

// Bounds are the smallest and the largest value that a figure can have, whoever measured it: what is
// beyond is a mistake of a table. Instants of several clocks add their Doubt.
func (m *Metric) Bounds() (least, most float64) {
	switch {
	case m.Unit == Correlation:
		return -1, 1
	case m.Unit == Index, m.Unit == Fraction && m != Skew: // lateness may be longer than the time
		return 0, 1
	}
	const years = 1e15 // in milliseconds 30 000; more bytes than any trial sends
	return 0, years
}

// Whole says whether every figure of the metric is a whole number: a fixed column that counts.
func (m *Metric) Whole() bool { return m.Always && m.Kind == Count }

// Doubt is by how much a figure in the metric's unit can be wrong, where instants can be by
// so many microseconds of clock_error_us: both ends of a time can.
func (m *Metric) Doubt(clockError float64) float64 {
	if m.Unit != Milliseconds || m.OneClock {
		return 0
	}
	return 2 * clockError / 1000
}

// A Value is a metric of a trial.
type Value struct {
	Name  string
	Value float64
}

// Always says whether it is of a fixed column.
func (v Value) Always() bool {
	m := Named(v.Name)
	return m != nil && m.Always
}

// A family is metrics that belong together, in the order of their declarations, which is
// that of the columns.
type family struct {
	problem algo.Problem
	traffic bool // all of them are
	always  bool // all of them are there in every trial
	members []*Metric
}

func (f *family) declare(m Metric) *Metric {
	m.Problem, m.Traffic, m.Always = f.problem, m.Traffic || f.traffic, f.always
	f.members = append(f.members, &m)
	return &m
}

// families are all of them, in the order of their columns. The first are the fixed
// columns, which stand before the others in every table of trials.
func families() []*family {
	return []*family{&fixed, &elections, &entries, &faults, &processes, &series, &network, &machine}
}

// Fixed lists the columns of trials.csv that hold figures whatever the experiment.
func Fixed() []*Metric { return slices.Clone(fixed.members) }

// Counts lists those of them that count.
func Counts() []*Metric {
	return slices.DeleteFunc(Fixed(), func(m *Metric) bool { return m.Kind != Count })
}

// Columns lists the metrics of trials that solve a problem, behind the fixed columns.
func Columns(p algo.Problem) (out []*Metric) {
	for _, f := range families()[1:] {
		if f.problem == "" || f.problem == p {
			out = append(out, f.members...)
		}
	}
	return out
}

// All lists every metric.
func All() (out []*Metric) {
	for _, f := range families() {
		out = append(out, f.members...)
	}
	return out
}

// Shown lists the metrics of a problem that stand in a table, in the order in which
// tables show them.
func Shown(p algo.Problem, t Tables) []*Metric {
	out := slices.DeleteFunc(append(Columns(p), Fixed()...), func(m *Metric) bool { return !m.In(t) })
	slices.SortStableFunc(out, func(a, b *Metric) int { return int(a.Kind - b.Kind) })
	return out
}

// Names lists the names of metrics.
func Names(metrics []*Metric) []string {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name
	}
	return names
}

// Ranked is the time by which the algorithms of a problem are ranked; nil if there is none.
func Ranked(p algo.Problem) *Metric {
	for _, m := range Shown(p, Main) {
		if m.Slower != "" {
			return m
		}
	}
	return nil
}

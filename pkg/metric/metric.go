// Package metric declares every figure that the results have, each once: what it is
// called, whose it is, its unit, what kind of figure it is, which way is better, where
// it stands by default, and what it means in a sentence. The tables, comparisons,
// thresholds, reports, exports and documents read the declaration; none of them knows a
// metric by its name.
//
// To add a metric, declare it in the file of its family, and have the line that
// computes it say so: metric.SplitBrain.Of(v). The same holds for the fixed columns.
package metric

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Metric is the declaration of a figure: a column of trials.csv.
type Metric struct {
	// Name is the column: lower snake case, ending in _ms or _per_s where that is the unit.
	Name string
	// Was is what it was called before: an error names the new one.
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
	// Breach marks what a broken promise consists of: trials that broke one have a figure of it.
	Breach bool
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
	// Bubble marks what only runs with transport bubble have: other tables have no such column.
	Bubble bool
	// Wire marks what only runs with network.wire have: other tables have no such column.
	Wire bool
	// OneClock marks a time by one clock alone: that of a process, or none at all, such as
	// planned delays of the network. All others lie between instants of several processes.
	OneClock bool
	// OneProcess marks what the operating system counts for its own processes: nodes that share
	// one have none of it.
	OneProcess bool
	// Exposure names the metrics whose product is what a pooled figure is a part of, and what a
	// trial weighs. Without any, all trials weigh the same.
	Exposure []string
	// From and To are the instants of an operation between which it lies; 0 for what single
	// operations do not have.
	From, To Instant
	// Definition says of which outages it is the mean of the single downtimes: algo.Service in
	// words, or BySpec. "" for what single outages do not have, and where operations have it.
	Definition string
	Tables     Tables
	// More says in which words an algorithm has more of it than another: algorithms are ranked by the
	// first main metric that declares them. Versus has words for every other metric, too.
	More  Versus
	Claim string // what the claims of an algorithm call it; "": there are none about it
	Doc   string // what it is: a phrase; of a time, from where to where
	// Details are, in sentences, what the phrase leaves out: which events count, and when there is no
	// figure. See is the page that explains it, from docs/, with a heading.
	Details, See string
}

// A Versus is what an algorithm does that has more of a metric than another, with a verb for how much:
// "takes %s as long as" of a ratio, "takes %s longer than" of a difference in the metric's unit.
type Versus struct{ Ratio, Apart string }

// The words for times. Metrics are declared in the order of their files, which a variable from here would
// change.
const (
	asLong = "takes %s as long as"
	longer = "takes %s longer than"
)

// Versus are the words that compare two algorithms by the metric: those that it declares, or else those
// of its unit.
func (m *Metric) Versus() Versus {
	switch {
	case m.More.Ratio != "":
		return m.More
	case m.Unit == Milliseconds || m.Unit == Microseconds:
		return Versus{asLong, longer}
	}
	name := strings.ReplaceAll(m.InWords(), "%", "%%")
	return Versus{"has %s the " + name + " of", "has %s more " + name + " than"}
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
	OfPackets        Unit = "packets"
	Times            Unit = "count"
)

// Sign is what stands behind a figure in text, a sign or a word; "" for a plain number.
func (u Unit) Sign() string {
	switch u {
	case Bytes:
		return "B"
	case Times, Fraction, Index:
		return ""
	}
	return string(u)
}

// A Kind is what sort of figure a metric is. It decides how the trials of a cell come to one figure,
// what a time limit does to it, and whether it is exact.
type Kind int

// The kinds, in the order in which tables show them. Of a trial that the time limit
// ended, a SinceCause would have been longer than what was seen: it is censored.
// Figures of the other kinds leave such a trial out.
const (
	SinceCause Kind = iota // the time from a cause to what follows from it
	Share                  // a part of a whole, such as time, requests or messages: from 0 to 1
	InState                // for how long a state lasted that most trials may never see
	Level                  // what messages, processes or the machine took or could bear, or an index
	Serial                 // how the times of successive operations hang together
	Rate                   // events that need not happen, by what they could happen in
	Event                  // how often something happened that need not
	Count                  // messages, bytes and steps of an operation or a trial: exact, if it was simulated
)

// kinds say what each is called, and what it is.
var kinds = [...]struct{ name, doc string }{
	SinceCause: {"time", "the time from a cause to what follows from it"},
	Share:      {"share", "a part of a whole, such as time, requests or messages"},
	InState:    {"state", "for how long a state lasted that most trials may never see"},
	Level:      {"level", "what messages, processes or the machine took or could bear, or an index"},
	Serial:     {"series", "how the times of successive operations depend on each other"},
	Rate:       {"rate", "events that need not happen, divided by what they could happen in"},
	Event:      {"event", "how often something happened that need not"},
	Count:      {"count", "messages, bytes and steps of an operation or a trial"},
}

// Kinds lists them.
func Kinds() (list []Kind) {
	for k := range kinds {
		list = append(list, Kind(k))
	}
	return list
}

// String is its name.
func (k Kind) String() string { return kinds[k].name }

// Doc is what it is: a phrase.
func (k Kind) Doc() string { return kinds[k].doc }

// Censored says whether a time limit leaves no more than a lower bound.
func (k Kind) Censored() bool { return k == SinceCause }

// Pooled says whether the trials of a cell are taken together, as one long trial: their figure is the
// mean, weighted by the exposure, and not the median, which is 0 until half of the trials have seen
// what it is about.
func (k Kind) Pooled() bool { return k == Share || k == InState || k == Rate || k == Event }

// Figure names what stands for the trials of a cell in tables, charts and comparisons.
func (k Kind) Figure() string {
	if k.Pooled() {
		return "mean"
	}
	return "median"
}

// Exact says whether the figure of a simulated trial is a whole number that equal seeds repeat.
func (k Kind) Exact() bool { return k == Count || k == Event }

// A Direction is which way a metric improves.
type Direction int

// The directions.
const (
	Lower   Direction = iota // times, messages, bytes, what went wrong
	Higher                   // what the algorithm is for
	Neither                  // what was asked of it, and what was done to it
)

// String is the direction as a word: "lower" is better.
func (d Direction) String() string { return [...]string{"lower", "higher", ""}[d] }

// An Instant is one of those that operations.csv has.
type Instant int

// The instants.
const (
	Cause Instant = iota + 1
	Begin
	End
)

// Tables are where a metric stands by default.
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
func (m *Metric) OfSpans() bool {
	return m.In(Lasting) && !m.In(Brief) || m == Availability.Common() // which stands in its place
}

// Calm is what a trial has in which nothing happened that the metric is about.
func (m *Metric) Calm() float64 {
	if m.Kind == Share && m.Better == Higher {
		return 1
	}
	return 0
}

// Applies says whether trials of a problem can have the metric.
func (m *Metric) Applies(p algo.Problem) bool { return m.Problem == "" || m.Problem == p }

// Of is the metric of a trial. NaN is a figure that does not exist: the trial could have
// had one, and has none. What does not apply to a trial is none of its values.
func (m *Metric) Of(v float64) Value { return Value{m.Name, v} }

// Bounds are the smallest and the largest value that a figure can have, however measured: what is
// beyond is a mistake in a table. Instants of several clocks add their Doubt.
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
func (m *Metric) Whole() bool { return m.Always && m.Kind.Exact() }

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
	title   string
	problem algo.Problem
	traffic bool // all of them are
	always  bool // all of them are there in every trial
	wire    bool // all of them are about a wire
	members []*Metric
}

func (f *family) declare(m Metric) *Metric {
	m.Problem, m.Traffic, m.Always = f.problem, m.Traffic || f.traffic, f.always
	m.Wire = m.Wire || f.wire
	f.members = append(f.members, &m)
	return &m
}

// families are all of them, in the order of their columns. The first are the fixed
// columns, which stand before the others in every table of trials.
func families() []*family {
	return []*family{&fixed, &elections, &entries, &faults, &processes, &series, &network, &machine, &wire}
}

// A Family is metrics that belong together, under a title.
type Family struct {
	Title   string
	Metrics []*Metric
}

// Families lists every metric, in the order of the columns.
func Families() (out []Family) {
	for _, f := range families() {
		out = append(out, Family{f.title, slices.Clone(f.members)})
	}
	return out
}

// Fixed lists the columns of trials.csv that hold figures whatever the experiment.
func Fixed() []*Metric { return slices.Clone(fixed.members) }

// Counts lists those of them that count.
func Counts() []*Metric {
	return slices.DeleteFunc(Fixed(), func(m *Metric) bool { return !m.Kind.Exact() })
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

// Headlines lists the main metrics of trials whose scenario has that table. A part of the time is among
// them only where the scenario says how long a trial lasts. Elsewhere a trial ends with what it waits
// for: the part that an outage takes of it says how long the trial went on, and nothing of the algorithm.
func Headlines(p algo.Problem, t Tables) []*Metric {
	return slices.DeleteFunc(Shown(p, Main), func(m *Metric) bool {
		return t != Lasting && m.Kind == Share && slices.Contains(m.Exposure, Duration.Name)
	})
}

// Names lists the names of metrics.
func Names(metrics []*Metric) []string {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name
	}
	return names
}

// Ranks says whether algorithms can be ranked by it: less is better, and each trial has a figure of its own
// that its pair can be compared with.
func (m *Metric) Ranks() bool { return m.Better == Lower && !m.Kind.Pooled() && m.Kind != Serial }

// Ranked is the time by which the algorithms of a problem are ranked; nil if there is none.
func Ranked(p algo.Problem) *Metric {
	for _, m := range Shown(p, Main) {
		if m.More.Ratio != "" {
			return m
		}
	}
	return nil
}

package results

import (
	"maps"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Start numbers the start of everything that the trial ran on: its round. In simulation it is
// 1 for all, since nothing there depends on how a process was started.
func (t *Trial) Start() int {
	for _, f := range t.Design {
		if f.Name == "transport" && transport.Virtual(f.Value) {
			return 1
		}
	}
	return max(t.Round, 1)
}

// A Sample is what trials of one cell observed of a metric, by Start: +Inf where it is censored.
type Sample struct {
	metric *metric.Metric
	starts map[int][]stats.Part
}

// NewSample has no observations yet.
func NewSample(name string) *Sample {
	return &Sample{metric: metric.Named(name), starts: map[int][]stats.Part{}}
}

// Add takes in what a trial observed.
func (s *Sample) Add(t *Trial) {
	if s.metric == nil {
		return
	}
	part, seen := stats.Part{}, Nothing
	switch part.Value, seen = t.Observe(s.metric.Name); seen {
	case Nothing:
		return
	case Censored:
		part.Value = math.Inf(1)
	}
	part.Weight = t.Exposure(s.metric)
	s.starts[t.Start()] = append(s.starts[t.Start()], part)
}

// Groups are the observations, start by start.
func (s *Sample) Groups() (out [][]float64) {
	for _, g := range s.Parts() {
		values := make([]float64, len(g))
		for i, p := range g {
			values[i] = p.Value
		}
		out = append(out, values)
	}
	return out
}

// Parts are the observations with what they weigh, start by start.
func (s *Sample) Parts() (out [][]stats.Part) {
	for _, start := range slices.Sorted(maps.Keys(s.starts)) {
		out = append(out, s.starts[start])
	}
	return out
}

// Describe condenses the sample as the kind of the metric has it, with an interval by the method of
// the run. Where there are several starts, it respects that trials of one start are correlated.
// Of a pooled figure there is no interval where the trials say when to stop.
func (s *Sample) Describe(m stats.Method) stats.Summary {
	if s.metric == nil || !s.metric.Kind.Pooled() {
		return m.DescribeGroups(s.Groups())
	}
	d := stats.DescribeWhole(s.Parts(), s.metric.Calm())
	if m == stats.Anytime {
		d.CILow, d.CIHigh = math.NaN(), math.NaN()
	}
	return d
}

// Exposure is what the trial weighs in a pooled figure of the metric, see metric.Metric.Exposure: 1
// where it does not have that.
func (t *Trial) Exposure(m *metric.Metric) float64 {
	weight := 1.0
	for _, name := range m.Exposure {
		v, named := t.Figure(name)
		if !named || !(v > 0) {
			return 1
		}
		weight *= v
	}
	return weight
}

// ByStart returns what the trials of the cell observed of a metric.
func (c *Cell) ByStart(name string) *Sample {
	s := NewSample(name)
	for _, t := range c.Trials {
		s.Add(t)
	}
	return s
}

// Describe condenses what the trials of the cell observed of a metric. The interval takes in what its
// Doubt leaves open.
func (c *Cell) Describe(name string) stats.Summary {
	m := metric.Named(name)
	if c.Fold != nil && m != nil {
		return c.Fold.Describe(m).Doubted(c.Doubt(m))
	}
	return c.ByStart(name).Describe(c.method).Doubted(c.Doubt(m))
}

// Doubt is by how much a figure of the metric can be wrong in the cell, since nodes had several
// clocks: see metric.Metric.Doubt. Whether a figure is marked for it, stats.Doubtful says.
func (c *Cell) Doubt(m *metric.Metric) float64 {
	if m == nil {
		return 0
	}
	return m.Doubt(c.ClockError())
}

// ClockError is the largest clock_error_us of the trials that count, 0 if none has one.
func (c *Cell) ClockError() (most float64) {
	if c.Fold != nil {
		return c.Fold.Clocks
	}
	values, _ := c.Sample(metric.ClockError.Name)
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// Starts is how many starts the trials of the cell have.
func (c *Cell) Starts() int {
	seen := map[int]bool{}
	for _, t := range c.Trials {
		seen[t.Start()] = true
	}
	return len(seen)
}

// InModel says whether no trial of the cell asked more of the algorithm than it promises.
func (c *Cell) InModel() bool {
	return c.Beyond() == 0
}

// Beyond is how many trials of the cell did.
func (c *Cell) Beyond() (n int) {
	if c.Fold != nil {
		return c.Fold.Beyond
	}
	for _, t := range c.Trials {
		if !t.InModel {
			n++
		}
	}
	return n
}

// Unjudged is how many trials of the cell came to no verdict, and so count in no figure.
func (c *Cell) Unjudged() (n int) {
	for _, status := range trace.Statuses() {
		if !status.Judged() {
			n += c.Count(status)
		}
	}
	return n
}

// Events counts the events that a pooled metric is about in the trials of the cell that have a value, and
// says for how many seconds these trials lasted. Both are NaN of other metrics, and where no trial has a
// value; the number is NaN, too, of what is a share or a time, and of events per process.
func (c *Cell) Events(name string) (events, seconds float64) {
	m, n := metric.Named(name), 0
	if m == nil || !m.Kind.Pooled() {
		return math.NaN(), math.NaN()
	}
	if c.Fold != nil {
		return c.Fold.events(m)
	}
	for _, t := range c.Trials {
		v, seen := t.Observe(name)
		if seen != Observed {
			continue
		}
		long := t.Value(metric.Duration) / 1000
		n++
		seconds += long
		events += eventsOf(m, v, long)
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	return events, seconds
}

// eventsOf is how many events a trial has seen with that figure of a pooled metric, which lasted so many
// seconds; NaN of what does not count them.
func eventsOf(m *metric.Metric, v, seconds float64) float64 {
	switch {
	case m.Kind == metric.Event:
		return v
	case m.Kind == metric.Rate && m.Unit == metric.PerSecond:
		return math.Round(v * seconds)
	}
	return math.NaN()
}

// Bounds are what the figure of the metric would be if each trial without a verdict on it had been like the
// smallest that the cell observed, or like the largest: bounds in the manner of Manski (Nonparametric Bounds
// on Treatment Effects, American Economic Review 80, 1990), with what was observed for what is possible. Such
// are trials that are not ok and of which not even a lower bound is known. An end is NaN where there are
// none, where nothing was observed, or where it lies among what the time limit cut off.
func (c *Cell) Bounds(name string) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	if c.Fold != nil {
		return c.Fold.bounds(metric.Named(name))
	}
	missing := 0
	for _, t := range c.Trials {
		if _, seen := t.Observe(name); seen == Nothing && t.Status != trace.OK {
			missing++
		}
	}
	parts := slices.Concat(c.ByStart(name).Parts()...)
	least, most, weight := math.Inf(1), math.Inf(-1), 0.0
	for _, p := range parts {
		if weight += p.Weight; !math.IsInf(p.Value, 1) {
			least = min(least, p.Value)
		}
		most = max(most, p.Value)
	}
	if missing == 0 || math.IsInf(least, 1) {
		return lo, hi
	}
	at := func(v float64) float64 {
		others := slices.Repeat([]stats.Part{{Value: v, Weight: weight / float64(len(parts))}}, missing)
		all := slices.Concat(parts, others)
		if metric.Named(name).Kind.Pooled() {
			return stats.Together(all).Value
		}
		values := make([]float64, len(all))
		for i, p := range all {
			values[i] = p.Value
		}
		slices.Sort(values)
		if v = stats.Quantile(values, 0.5); math.IsInf(v, 1) {
			return math.NaN()
		}
		return v
	}
	return at(least), at(most)
}

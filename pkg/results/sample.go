package results

import (
	"maps"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/metric"
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
type Sample map[int][]float64

// Add takes in what a trial of that start observed.
func (s Sample) Add(start int, v float64, seen Observation) {
	switch seen {
	case Observed:
		s[start] = append(s[start], v)
	case Censored:
		s[start] = append(s[start], math.Inf(1))
	}
}

// Groups are the observations, start by start.
func (s Sample) Groups() (out [][]float64) {
	for _, start := range slices.Sorted(maps.Keys(s)) {
		out = append(out, s[start])
	}
	return out
}

// Describe condenses the sample, with an interval by the method of the run. Where there are
// several starts, it respects that trials of one have their luck in common.
func (s Sample) Describe(m stats.Method) stats.Summary { return m.DescribeGroups(s.Groups()) }

// ByStart returns what the trials of the cell observed of a metric.
func (c *Cell) ByStart(name string) Sample {
	s := Sample{}
	for _, t := range c.Trials {
		v, seen := t.Observe(name)
		s.Add(t.Start(), v, seen)
	}
	return s
}

// Describe condenses what the trials of the cell observed of a metric.
func (c *Cell) Describe(name string) stats.Summary {
	d := c.ByStart(name).Describe(c.method)
	d.Doubt = c.Doubt(metric.Named(name))
	return d
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

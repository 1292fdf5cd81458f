package report

import (
	"math"

	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Fault is something that a run asks for and that chance deals out. An inert one must
// not pass unseen: what happened stands beside what was asked for.
type Fault struct {
	Name  string // fit for the name of a file
	Title string // with its unit
}

// An Achieved is what a cell asked for of a fault, and what its trials came to: all but
// those that the machine or the bus spoiled. Without the timed-out ones, those that lost
// most would be missing.
type Achieved struct {
	Fault       int // index of Data.Faults
	Asked       float64
	Mean        float64 // over the trials
	Least, Most float64 // of a single one
}

// knownFaults are those of which both is recorded.
var knownFaults = []struct {
	Fault
	asked    func(group) float64          // NaN: not known
	achieved func(*results.Trial) float64 // likewise
}{
	{Fault{"loss", "loss"}, designed("loss"), measured(metric.LossAchieved)},
	{Fault{"duplication", "duplication"}, designed("duplication"), duplicated},
	{Fault{"latency_ms", "latency (ms)"}, requested(metric.LatencyRequested),
		measured(metric.LatencyAchieved)},
	{Fault{"arrival_rate", "offered load (1/s)"}, requested(metric.ArrivalRateRequested),
		measured(metric.ArrivalRateAchieved)},
	{Fault{"crash_rate", "crash rate (1/s per process)"}, designed("crash_rate"),
		measured(metric.CrashRateAchieved)},
	{Fault{"outage_ms", "time from a crash to the return (ms)"}, requested(metric.OutageRequested),
		measured(metric.OutageAchieved)},
}

// designed is a column of the design as a number.
func designed(column string) func(group) float64 {
	return func(g group) float64 { return parse(g.Get(column)) }
}

// measured is a metric of a trial, whatever its status.
func measured(of *metric.Metric) func(*results.Trial) float64 {
	return func(t *results.Trial) float64 { return t.Value(of) }
}

// duplicated is the share of the algorithm's messages of which the network made a second
// copy.
func duplicated(t *results.Trial) float64 {
	return t.Value(metric.Duplicated) / t.Value(metric.Messages) // NaN if none was sent
}

// requested is a metric that says what the trials asked for, where the design does not:
// not of all links together, for instance.
func requested(m *metric.Metric) func(group) float64 {
	return func(g group) float64 { return over(g, measured(m)).Mean }
}

// over describes what the trials of a cell achieved.
func over(g group, achieved func(*results.Trial) float64) stats.Summary {
	var values []float64
	for _, t := range g.Trials {
		if t.Status != trace.Invalid && t.Status != trace.Failed {
			values = append(values, achieved(t)) // NaN is left out
		}
	}
	return stats.Describe(values, 0)
}

// faults finds what was asked for and achieved, of the faults that some cell asks for.
func (b *builder) faults() {
	for _, f := range knownFaults {
		cells, wanted := make([]*Achieved, len(b.groups)), false
		for i, g := range b.groups {
			asked, s := f.asked(g), over(g, f.achieved)
			if s.N > 0 && !math.IsNaN(asked) {
				cells[i] = &Achieved{len(b.Faults), asked, s.Mean, s.Min, s.Max}
				wanted = wanted || asked > 0
			}
		}
		if !wanted {
			continue
		}
		b.Faults = append(b.Faults, f.Fault)
		for i, a := range cells {
			if a != nil {
				b.Cells[i].Achieved = append(b.Cells[i].Achieved, *a)
			}
		}
	}
}

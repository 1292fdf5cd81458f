package report

import (
	"math"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
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

// knownFaults are those of which both is recorded: asked by a column of the design, or by a metric of the
// trials where the design does not say it (not of all links together, for instance).
var knownFaults = []struct {
	Fault
	asked    *metric.Metric // nil: the column of the fault's name
	achieved *metric.Metric // nil: the share of messages that came twice
}{
	{Fault{"loss", "loss"}, nil, metric.LossAchieved},
	{Fault{"duplication", "duplication"}, nil, nil},
	{Fault{"latency_ms", "latency (ms)"}, metric.LatencyRequested, metric.LatencyAchieved},
	{Fault{"arrival_rate", "offered load (1/s)"}, metric.ArrivalRateRequested, metric.ArrivalRateAchieved},
	{Fault{"crash_rate", "crash rate (1/s per process)"}, nil, metric.CrashRateAchieved},
	{Fault{"outage_ms", "time from a crash to the return (ms)"}, metric.OutageRequested,
		metric.OutageAchieved},
}

// over describes a metric of the trials of a cell, whatever their status; nil is the share of the algorithm's
// messages of which the network made a second copy.
func over(g group, m *metric.Metric) stats.Summary {
	var values []float64
	for _, t := range g.Trials {
		v := t.Value(metric.Duplicated) / t.Value(metric.Messages) // NaN if none was sent
		if m != nil {
			v = t.Value(m)
		}
		if t.Status != trace.Invalid && t.Status != trace.Failed {
			values = append(values, v) // NaN is left out
		}
	}
	return stats.Describe(values, 0)
}

// faults finds what was asked for and achieved, of the faults that some cell asks for.
func (b *builder) faults() {
	for _, f := range knownFaults {
		cells, wanted := make([]*Achieved, len(b.groups)), false
		for i, g := range b.groups {
			asked, s := parse(g.Get(f.Name)), over(g, f.achieved)
			if f.asked != nil {
				asked = over(g, f.asked).Mean
			}
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

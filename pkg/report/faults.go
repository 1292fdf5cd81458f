package report

import (
	"math"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/stats"
)

// A Fault is something that a run asks for and that chance deals out. An inert one must
// not pass unseen: what happened stands beside what was asked for.
type Fault struct {
	Name  string // fit for the name of a file
	Title string // with its unit
}

// An Achieved is what a cell asked for of a fault, and what its trials with status ok
// came to.
type Achieved struct {
	Fault       int // index of Data.Faults
	Asked       float64
	Mean        float64 // over the trials
	Least, Most float64 // of a single one
}

// knownFaults are those of which both is recorded.
var knownFaults = []struct {
	Fault
	asked    func(group) float64   // NaN: not known
	achieved func(group) []float64 // by each trial of which it is known
}{
	{Fault{"loss", "loss"}, designed("loss"), observed("loss_achieved")},
	{Fault{"duplication", "duplication"}, designed("duplication"), duplicated},
	{Fault{"latency_ms", "latency (ms)"}, drawn, observed("latency_achieved_ms")},
	{Fault{"crash_rate", "crash rate (1/s per process)"}, designed("crash_rate"),
		observed("crash_rate_achieved")},
}

// designed is a column of the design as a number.
func designed(column string) func(group) float64 {
	return func(g group) float64 { return parse(g.Get(column)) }
}

// observed is a metric of each trial with status ok.
func observed(metric string) func(group) []float64 {
	return func(g group) []float64 {
		values, _ := g.Sample(metric)
		return values
	}
}

// drawn is the mean latency that the model drew in the trials: the design does not say
// what it is over all links.
func drawn(g group) float64 { return stats.Describe(observed("latency_requested_ms")(g), 0).Mean }

// duplicated is the share of the algorithm's messages of which the network made a second
// copy.
func duplicated(g group) (shares []float64) {
	for _, t := range g.Trials {
		if sent, kind := t.Observe("messages"); kind == results.Observed && sent > 0 {
			shares = append(shares, float64(t.Duplicated)/sent)
		}
	}
	return shares
}

// faults finds what was asked for and achieved, of the faults that some cell asks for.
func (b *builder) faults() {
	for _, f := range knownFaults {
		cells, wanted := make([]*Achieved, len(b.groups)), false
		for i, g := range b.groups {
			asked, s := f.asked(g), stats.Describe(f.achieved(g), 0)
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

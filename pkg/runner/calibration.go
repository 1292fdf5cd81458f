package runner

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// calibration compares what the network model was asked for with what it did,
// so that an inert fault does not pass unseen.
type calibration struct {
	cells map[int]*achieved
	mark  string // the first trial that is marked, and why
	late  spread // by what share of a time marked trials were late
}

type achieved struct {
	copies, lost int64
	held, asked  float64 // sum over trials of what order added to the latency, and of its mean
	outage, down float64 // likewise of how long processes were to be down, and were
	offered, due float64 // requests of open load, and as many as that span is worth
	skipped      int     // faults
	trials       int     // with status ok
	marked       int     // of those
	steady       steadiness
	below        int // trials with status ok whose ramp ended before the knee
}

func (c *calibration) add(t experiment.Trial, o work.Outcome, row *results.Trial) {
	if c.cells == nil {
		c.cells = map[int]*achieved{}
	}
	a := c.cells[t.Cell]
	if a == nil {
		a = &achieved{}
		c.cells[t.Cell] = a
	}
	totals := o.Verdict.Totals
	a.copies += totals.Met + totals.Missed
	a.lost += totals.Missed
	a.skipped += o.End.Skipped
	for _, m := range o.Verdict.Metrics {
		switch {
		case !(m.Value > 0):
		case m.Name == metric.OrderDelay.Name:
			a.held += m.Value
		case m.Name == metric.LatencyRequested.Name:
			a.asked += m.Value
		case m.Name == metric.OutageRequested.Name:
			a.outage += m.Value
		case m.Name == metric.OutageAchieved.Name:
			a.down += m.Value
		case m.Name == metric.ArrivalRateAchieved.Name:
			n := float64(len(o.Verdict.Operations))
			a.offered += n
			a.due += n * t.Plan.Scenario.Does().MeanRate() / m.Value
		}
	}
	if row.Status == trace.OK {
		a.trials++
		a.steady.add(o.Verdict.Operations, row)
		if _, kind := row.Observe(metric.Knee.Name); kind == results.Censored {
			a.below++
		}
	}
	if row.Marked() {
		a.marked++
		c.mark = cmp.Or(c.mark, fmt.Sprintf("trial %d: %s", row.Trial, row.Reason))
		if v, kind := row.Observe(metric.Skew.Name); kind == results.Observed {
			c.late.add(v)
		}
	}
}

// A spread is the smallest and the largest of some values.
type spread struct{ n, least, most float64 }

func (s *spread) add(v float64) {
	if s.n++; s.n == 1 {
		s.least, s.most = v, v
	}
	s.least, s.most = min(s.least, v), max(s.most, v)
}

// marked says of the whole run how many trials the machine may have lengthened.
func (c *calibration) marked() []string {
	marked, trials := 0, 0
	for _, a := range c.cells {
		marked, trials = marked+a.marked, trials+a.trials
	}
	if marked == 0 {
		return nil
	}
	why := c.mark
	if c.late.n > 1 {
		why = fmt.Sprintf("machine late by %.0f to %.0f %%; first %s", 100*c.late.least, 100*c.late.most, why)
	}
	return []string{fmt.Sprintf("%d of %d trials with status ok are marked, since the machine may have "+
		"lengthened their times (%s); use fewer nodes, longer latencies or an idle machine", marked, trials,
		why)}
}

// warnings names the cells whose network was not what was asked for.
func (c *calibration) warnings(e *experiment.Experiment) (out []string) {
	sure := confidence(len(e.Cells))
	for i := range e.Cells {
		a := c.cells[i+1]
		if a == nil {
			continue
		}
		p := &e.Cells[i].Plan
		if a.skipped > 0 {
			out = append(out, fmt.Sprintf("cell %d: %d faults did not happen: the trial ended before them, "+
				"or no "+
				"process was there to take them (faults_skipped)", i+1, a.skipped))
		}
		if math.Abs(a.offered-a.due) > deviations(sure)*math.Sqrt(a.due) { // of a Poisson variable
			out = append(out, fmt.Sprintf("cell %d: %.0f requests were made in a period for which %.4g were "+
				"configured (%v per second)", i+1, a.offered, a.due, p.Scenario.Does().MeanRate()))
		}
		if a.down > 1.1*a.outage {
			out = append(out, fmt.Sprintf("cell %d: processes were down %.0f %% longer than configured "+
				"(outage_achieved_ms): starting one takes that long; with longer downtimes it matters "+
				"less", i+1,
				100*(a.down/a.outage-1)))
		}
		if a.copies == 0 {
			continue
		}
		if !flaky(p) && !p.Network.Uneven() && !p.Network.Wire { // there is a single loss to compare with
			// Losses that come in bursts say as much as fewer independent ones.
			share := 1.0
			if b := p.Network.Burst; b != nil {
				share = min((b.Enter+b.Leave)/(2-b.Enter-b.Leave), 1)
			}
			asked := p.Network.LossRate()
			lo, hi := stats.BinomialInterval(int(share*float64(a.lost)), int(share*float64(a.copies)), sure)
			if asked < lo || asked > hi {
				out = append(out, fmt.Sprintf("cell %d: %d of %d messages were lost, but a loss of %.4g was "+
					"configured: outside the interval %.4g to %.4g (99.9 %% for all cells together)", i+1,
					a.lost, a.copies, asked, lo, hi))
			}
		}
		if a.held > 0.1*a.asked && a.asked > 0 {
			out = append(out, fmt.Sprintf("cell %d: latencies are %.0f %% longer than configured, since no "+
				"message may overtake the one before it on its link (order_delay_ms); network.order: "+
				"unordered lets them", i+1, 100*a.held/a.asked))
		}
	}
	return slices.Concat(c.marked(), out, c.warmups(e), c.ramps(e))
}

// confidence is that of an interval in each of some cells, so that with 99.9 % all of them hold
// together (Bonferroni): a run of many cells raises no more false alarms than one of a single cell.
func confidence(cells int) float64 { return 1 - 0.001/float64(cells) }

// deviations is how many standard deviations a normal variable stays within with a probability.
func deviations(p float64) float64 { return math.Sqrt2 * math.Erfinv(p) }

// flaky says whether links are to lose more or less for a while.
func flaky(p *harness.Plan) bool {
	for e := range p.Timeline() {
		if l, is := e.Args.Own.(*fault.Losing); is && l.Loss != nil {
			return true
		}
	}
	return false
}

package runner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/stats"
)

// calibration compares what the network model was asked for with what it did,
// so that an inert fault does not pass unseen.
type calibration struct {
	cells map[int]*achieved
}

type achieved struct {
	copies, lost int64
	skipped      int // faults
	trials       int // with status ok
	marked       int // of those
	mark         string
}

func (c *calibration) add(t experiment.Trial, o outcome, row *results.Trial) {
	if c.cells == nil {
		c.cells = map[int]*achieved{}
	}
	a := c.cells[t.Cell]
	if a == nil {
		a = &achieved{}
		c.cells[t.Cell] = a
	}
	totals := o.verdict.Totals
	a.copies += totals.Met + totals.Missed
	a.lost += totals.Missed
	a.skipped += o.end.Skipped
	if row.Status == results.OK {
		a.trials++
	}
	if row.Marked() {
		a.marked++
		a.mark = cmp.Or(a.mark, fmt.Sprintf("trial %d: %s", row.Trial, row.Reason))
	}
}

// warnings names the cells whose network was not what was asked for.
func (c *calibration) warnings(e *experiment.Experiment) (out []string) {
	for i := range e.Cells {
		a := c.cells[i+1]
		if a == nil {
			continue
		}
		p := &e.Cells[i].Plan
		if a.skipped > 0 {
			out = append(out, fmt.Sprintf("cell %d: %d faults did not happen: the trial was over before, or "+
				"nobody was there to whom they could (faults_skipped)", i+1, a.skipped))
		}
		if a.marked > 0 {
			out = append(out, fmt.Sprintf("cell %d: %d of %d trials with status ok are marked, since the "+
				"machine may have lengthened their times (skew, throttled_ms, steal_share); %s; use fewer "+
				"nodes, longer latencies or an idle machine", i+1, a.marked, a.trials, a.mark))
		}
		if a.copies == 0 {
			continue
		}
		if !flaky(p) { // there is no single loss to compare with
			// Losses that come in bursts say as much as fewer independent ones.
			share := 1.0
			if b := p.Network.Burst; b != nil {
				share = min((b.Enter+b.Leave)/(2-b.Enter-b.Leave), 1)
			}
			asked := p.Network.LossRate()
			lo, hi := stats.BinomialInterval(int(share*float64(a.lost)), int(share*float64(a.copies)), 0.999)
			if asked < lo || asked > hi {
				out = append(out, fmt.Sprintf("cell %d: %d of %d messages were lost, but a loss of %.4g was "+
					"asked for: outside the 99.9 %% interval %.4g to %.4g", i+1, a.lost, a.copies,
					asked, lo, hi))
			}
		}
	}
	return out
}

// flaky says whether links are to lose more or less for a while.
func flaky(p *harness.Plan) bool {
	return slices.ContainsFunc(slices.Concat(p.Failures.Events, p.Scenario.Events),
		func(e harness.Event) bool { return e.Do == harness.DoFlaky && e.Loss != nil })
}

func noTrial(number, planned int) error {
	return fmt.Errorf("no trial %d: the run has trials 1 to %d", number, planned)
}

package runner

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/stats"
)

// calibration compares what the network model was asked for with what it did,
// so that an inert fault does not pass unseen.
type calibration struct {
	cells map[int]*achieved
}

type achieved struct {
	copies, lost int64
	delay, n     float64 // sum over trials of the median error of the delay, in ms
}

func (c *calibration) add(t experiment.Trial, o outcome) {
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
	for _, m := range o.verdict.Metrics {
		if m.Name == "delay_error_p50_ms" && m.Value == m.Value {
			a.delay += m.Value
			a.n++
		}
	}
}

// warnings names the cells whose network was not what was asked for.
func (c *calibration) warnings(e *experiment.Experiment) (out []string) {
	for i := range e.Cells {
		a := c.cells[i+1]
		if a == nil || a.copies == 0 {
			continue
		}
		p := &e.Cells[i].Plan
		if p.Scenario.Kind != harness.Script { // links that a script cuts lose messages too
			lo, hi := stats.BinomialInterval(int(a.lost), int(a.copies), 0.999)
			if p.Network.Loss < lo || p.Network.Loss > hi {
				out = append(out, fmt.Sprintf("cell %d: %d of %d messages were lost, but a loss of %g was "+
					"asked for: outside the 99.9 %% interval %.4g to %.4g", i+1, a.lost, a.copies,
					p.Network.Loss, lo, hi))
			}
		}
		limit := max(0.5, 0.1*float64(p.Network.Latency.Typical())/float64(time.Millisecond))
		if a.n > 0 && a.delay/a.n > limit {
			out = append(out, fmt.Sprintf("cell %d: messages were delivered %.2f ms after they were due "+
				"(median): the machine is too busy for this network; use fewer nodes or longer latencies",
				i+1, a.delay/a.n))
		}
	}
	return out
}

func noTrial(number, planned int) error {
	return fmt.Errorf("no trial %d: the run has trials 1 to %d", number, planned)
}

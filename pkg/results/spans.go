package results

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Spans are the times of single operations of a run.
type Spans struct {
	of map[int]map[*metric.Metric][]float64 // by trial
}

// ReadSpans reads the times of the operations of the run that t was read from, for
// metrics that single operations have. A run without them is an error.
func (t *Table) ReadSpans(of []*metric.Metric) (*Spans, error) {
	s := &Spans{of: map[int]map[*metric.Metric][]float64{}}
	any := false
	err := EachOperation(t.Path, func(trial int, op trace.Operation) error {
		any = true
		for _, m := range of {
			v, counts := spanOf(m, &op)
			if !counts {
				continue
			}
			if s.of[trial] == nil {
				s.of[trial] = map[*metric.Metric][]float64{}
			}
			s.of[trial][m] = append(s.of[trial][m], v)
		}
		return nil
	})
	if err == nil && !any {
		err = fmt.Errorf("%s: no operations are recorded there; the folder of a run has them in %s", t.Path,
			OperationsFile)
	}
	return s, err
}

// Of lists the times of a cell, trial by trial: those of its operations with status ok, and
// +Inf for each that was still pending when its trial was over. Only trials with status
// ok or timeout have any.
func (s *Spans) Of(c *Cell, m *metric.Metric) [][]float64 {
	out := make([][]float64, len(c.Trials))
	for i, t := range c.Trials {
		if t.Status == trace.OK || t.Status == trace.TimedOut {
			out[i] = s.of[t.Trial][m]
		}
	}
	return out
}

// spanOf is a metric of an operation, +Inf if it is known only to be longer than was seen;
// counts says whether the operation is one that is measured.
func spanOf(m *metric.Metric, op *trace.Operation) (v float64, counts bool) {
	pending := op.Status == trace.Pending && (op.Origin == "" || op.Origin.Loss())
	if op.Status != trace.Completed && !pending {
		return 0, false
	}
	v = Span(m, *op)
	if pending && math.IsNaN(v) {
		v = math.Inf(1)
	}
	return v, !math.IsNaN(v)
}

// Span is a metric of a single operation, in ms: NaN where an instant is not known, or if
// single operations do not have it.
func Span(m *metric.Metric, o trace.Operation) float64 {
	at := func(i metric.Instant) time.Duration {
		switch i {
		case metric.Cause:
			return o.Cause
		case metric.Begin:
			return o.Begin
		case metric.End:
			return o.End
		}
		return -1
	}
	from, to := at(m.From), at(m.To)
	if from < 0 || to < 0 {
		return math.NaN()
	}
	return float64(to-from) / float64(time.Millisecond)
}

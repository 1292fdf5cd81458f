package results

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Spans are the times of single operations of a run.
type Spans struct {
	of map[*metric.Metric]*times
}

// times are those of one metric, trial by trial, of which there may be millions.
type times struct {
	trials []int // that have some
	parts  [][]float64
	room   []float64 // the last part is the end of it
}

// roomForTimes is how many have room at once.
const roomForTimes = 1 << 15

func (t *times) add(trial int, v float64) {
	last := len(t.trials) - 1
	if last < 0 || t.trials[last] != trial {
		t.trials, t.parts = append(t.trials, trial), append(t.parts, nil)
		last++
	}
	n := len(t.parts[last])
	if len(t.room) == cap(t.room) {
		t.room = append(make([]float64, 0, max(roomForTimes, 2*n)), t.parts[last]...)
	}
	t.room = append(t.room, v)
	t.parts[last] = t.room[len(t.room)-n-1 : len(t.room) : len(t.room)]
}

// sorted is t with ascending trials, each of which is there once. Only a table that somebody has
// sorted anew is not like that.
func (t *times) sorted() *times {
	if slices.IsSorted(t.trials) {
		return t
	}
	order := make([]int, len(t.trials))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return t.trials[a] - t.trials[b] })
	out := new(times)
	for _, i := range order {
		for _, v := range t.parts[i] {
			out.add(t.trials[i], v)
		}
	}
	return out
}

// ErrNoOperations says that a table is of trials alone.
var ErrNoOperations = errors.New("no operations are recorded there")

// ReadSpans reads the times of the operations and of the outages of the run that t was read
// from, for metrics that single ones have. A run without them is an error.
func (t *Table) ReadSpans(of []*metric.Metric) (*Spans, error) {
	s := &Spans{of: map[*metric.Metric]*times{}}
	var ofOperations, ofOutages []*metric.Metric
	for _, m := range of {
		if m.Definition == "" {
			ofOperations = append(ofOperations, m)
		} else {
			ofOutages = append(ofOutages, m)
		}
	}
	if len(ofOperations) > 0 {
		any := false
		err := EachOperation(t.Path, func(trial int, op trace.Operation) error {
			any = true
			s.add(trial, ofOperations, func(m *metric.Metric) (float64, bool) { return spanOf(m, &op) })
			return nil
		})
		if err == nil && !any {
			err = fmt.Errorf("%s: %w; the folder of a run has them in %s", t.Path, ErrNoOperations,
				OperationsFile)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(ofOutages) == 0 {
		return s.sorted(), nil
	}
	if err := t.HasOutages(); err != nil {
		return nil, fmt.Errorf("%s: %w", ofOutages[0].Name, err)
	}
	err := EachOutage(t.Path, func(trial int, o trace.Outage) error {
		s.add(trial, ofOutages, func(m *metric.Metric) (float64, bool) { return lengthOf(m, &o) })
		return nil
	})
	return s.sorted(), err
}

func (s *Spans) sorted() *Spans {
	for m, t := range s.of {
		s.of[m] = t.sorted()
	}
	return s
}

// HasOutages returns nil if the outages of the run that t was read from are recorded: those of
// every trial with status ok or timeout are as many as its row says.
func (t *Table) HasOutages() error {
	found := map[int]int{}
	err := EachOutage(t.Path, func(trial int, _ trace.Outage) error {
		found[trial]++
		return nil
	})
	if err != nil {
		return err
	}
	for i := range t.Trials {
		trial := &t.Trials[i]
		if trial.Status != trace.OK && trial.Status != trace.TimedOut {
			continue
		}
		want := 0.0
		for _, m := range metric.NumbersOfOutages() {
			if v, there := trial.Figure(m.Name); there {
				want += v
			} else {
				want = math.NaN()
			}
		}
		if float64(found[trial.Trial]) != want {
			return fmt.Errorf("%s: single outages are not recorded there: for trial %d, %s has %d rows and "+
				"%s counts %s; runs of this version record them; %s is known for all runs",
				t.Path, trial.Trial, OutagesFile, found[trial.Trial], TrialsFile, orUnknown(want),
				metric.Agreed.Downtime.Name)
		}
	}
	return nil
}

func orUnknown(n float64) string {
	if math.IsNaN(n) {
		return "none"
	}
	return Number(n)
}

// add takes in what counts of an operation or outage of a trial.
func (s *Spans) add(trial int, of []*metric.Metric, value func(*metric.Metric) (float64, bool)) {
	for _, m := range of {
		v, counts := value(m)
		if !counts {
			continue
		}
		if s.of[m] == nil {
			s.of[m] = new(times)
		}
		s.of[m].add(trial, v)
	}
}

// Of lists the times of a cell, trial by trial: those of its operations, or outages, with status ok, and
// +Inf for each that was still pending when its trial was over. Only trials with status
// ok or timeout have any.
func (s *Spans) Of(c *Cell, m *metric.Metric) [][]float64 {
	out := make([][]float64, len(c.Trials))
	times := s.of[m]
	if times == nil {
		return out
	}
	for i, t := range c.Trials {
		if t.Status == trace.OK || t.Status == trace.TimedOut {
			if at, found := slices.BinarySearch(times.trials, t.Trial); found {
				out[i] = times.parts[at]
			}
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

// lengthOf is a downtime of an outage, likewise.
func lengthOf(m *metric.Metric, o *trace.Outage) (v float64, counts bool) {
	switch {
	case m.Definition == metric.BySpec && !o.Spec:
		return 0, false
	case m.Definition != metric.BySpec && m.Definition != o.Definition:
		return 0, false
	case o.Status == trace.Pending:
		return math.Inf(1), true
	}
	return float64(o.End-o.Cause) / float64(time.Millisecond), o.Status == trace.Completed
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

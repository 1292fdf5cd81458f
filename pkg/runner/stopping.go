package runner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Stopping decides for each cell after which repetition enough is known. It goes
// by the cell's own trials in the order of their repetitions and by nothing else, so
// that reading the same trials again, after a kill or on more cores, leads to the
// same decision.
type Stopping struct {
	experiment *experiment.Experiment
	rule       *results.Rule // nil: none
	cells      []sample
}

// A sample is what the trials of a cell have said about the metric of the rule.
type sample struct {
	early    map[int]observed // finished before an earlier repetition was
	finished int              // repetitions without a gap
	values   []float64        // sorted, since they are looked at again and again
	censored int
	ended    string // why no further repetition is needed; "": one is
	width    float64
}

type observed struct {
	value float64
	kind  results.Observation
}

// NewStopping begins with no trial at all.
func NewStopping(e *experiment.Experiment) *Stopping {
	s := &Stopping{experiment: e, rule: ruleOf(e), cells: make([]sample, len(e.Cells))}
	for i := range s.cells {
		s.cells[i] = sample{early: map[int]observed{}, width: math.NaN()}
	}
	return s
}

// ruleOf is the rule of an experiment in the words of its results; nil: it has none.
func ruleOf(e *experiment.Experiment) *results.Rule {
	u := e.Until
	if u == nil {
		return nil
	}
	return &results.Rule{Metric: u.Metric, CI: u.CI, Confidence: stats.Confidence, Anytime: u.Anytime,
		Min: e.Fewest, Max: e.Repetitions}
}

// ReadStopping goes by what the folder of a run holds.
func ReadStopping(e *experiment.Experiment, dir string) (*Stopping, error) {
	s := NewStopping(e)
	if e.Until == nil {
		return s, nil
	}
	return s, EachTrial(e, dir, s.Add)
}

// EachTrial hands the trials of a run of e to visit, as results.EachTrial does. One of
// a cell that e does not have is an error.
func EachTrial(e *experiment.Experiment, dir string, visit func(*results.Trial)) error {
	return results.EachTrial(dir, ofCells(e, dir, visit))
}

// ofCells visits trials of the cells of e; one of another is an error, which says where
// it was.
func ofCells(e *experiment.Experiment, where string,
	visit func(*results.Trial)) func(*results.Trial) error {
	return func(t *results.Trial) error {
		if t.Cell < 1 || t.Cell > len(e.Cells) {
			return fmt.Errorf("%s: trial %d is of cell %d, but the run has %d cells",
				cmp.Or(where, "results"), t.Trial, t.Cell, len(e.Cells))
		}
		visit(t)
		return nil
	}
}

// Add takes in the last attempt at a trial. One that will be repeated says nothing.
func (s *Stopping) Add(t *results.Trial) {
	e := s.experiment
	if e.Until == nil || t.Status == trace.Invalid && t.Attempts <= e.Retries {
		return
	}
	c := &s.cells[t.Cell-1]
	value, kind := t.Observe(e.Until.Metric)
	c.early[t.Repetition] = observed{value, kind}
	for {
		next, ok := c.early[c.finished+1]
		if !ok || c.ended != "" {
			return
		}
		delete(c.early, c.finished+1)
		c.finished++
		switch next.kind {
		case results.Observed:
			at, _ := slices.BinarySearch(c.values, next.value)
			c.values = slices.Insert(c.values, at, next.value)
		case results.Censored:
			c.censored++
		}
		if c.finished >= e.Fewest {
			c.look(s.rule)
		}
	}
}

// look says whether the cell has come to its end.
func (c *sample) look(rule *results.Rule) {
	d := rule.Method().Describe(c.values, c.censored)
	half, middle := (d.CIHigh-d.CILow)/2, math.Abs(d.Median)
	c.width = half / middle
	if half == 0 {
		c.width = 0 // also around a median of 0
	}
	switch {
	case half <= rule.CI*middle:
		c.ended = results.Precise
	case c.finished == rule.Max:
		c.ended = results.AtMost
	}
}

// Needs says whether a cell needs a repetition, once those before it are known.
func (s *Stopping) Needs(cell, repetition int) bool {
	c := &s.cells[cell-1]
	return c.ended == "" || repetition <= c.finished
}

// Planned is how many trials the run has, or at most has while cells go on.
func (s *Stopping) Planned() int {
	if s.experiment.Until == nil {
		return s.experiment.Most()
	}
	n := 0
	for i := range s.cells {
		n += s.Repetitions(i + 1)
	}
	return n
}

// Repetitions is how many a cell has, or at most has if it goes on.
func (s *Stopping) Repetitions(cell int) int {
	if c := &s.cells[cell-1]; c.ended != "" {
		return c.finished
	}
	return s.experiment.MostOf(cell)
}

// Rule is what the cells end by; nil: each has all its repetitions.
func (s *Stopping) Rule() *results.Rule { return s.rule }

// Record is the rule and what came of it; nil without a rule.
func (s *Stopping) Record() *results.Stopping {
	if s.rule == nil {
		return nil
	}
	out := &results.Stopping{Rule: *s.rule}
	for i := range s.cells {
		c := &s.cells[i]
		out.Cells = append(out.Cells, results.Stopped{Cell: i + 1, Repetitions: c.finished, Stopped: c.ended,
			HalfWidth: results.Finite(c.width)})
	}
	return out
}

// mostNamed is how many cells a note lists.
const mostNamed = 8

// Note is the record in a sentence; "" without a rule.
func (s *Stopping) Note() string {
	r := s.Record()
	if r == nil {
		return ""
	}
	var after []int
	var wide, open []string
	for _, c := range r.Cells {
		switch c.Stopped {
		case results.Precise:
			after = append(after, c.Repetitions)
		case results.AtMost:
			wide = append(wide, fmt.Sprintf("%d (%s)", c.Cell, c.Precision()))
		default:
			open = append(open, fmt.Sprint(c.Cell))
		}
	}
	text := fmt.Sprintf("repetitions: a cell ends when the 95 %% interval of the median of %s is within %s, "+
		"checked from repetition %d on: %d of %d cells did", r.Metric, results.Percent(r.CI), r.Min,
		len(after), len(r.Cells))
	if len(after) > 0 {
		text += fmt.Sprintf(", after %d", slices.Min(after))
		if most := slices.Max(after); most > slices.Min(after) {
			text += fmt.Sprintf(" to %d", most)
		}
	}
	if len(wide) > 0 {
		text += fmt.Sprintf("; not within %d: cell %s", r.Max, listed(wide))
	}
	if len(open) > 0 {
		text += "; unfinished: cell " + listed(open)
	}
	return text + "; " + r.Promise()
}

func listed(words []string) string {
	if len(words) > mostNamed {
		return strings.Join(words[:mostNamed], ", ") + fmt.Sprintf(" and %d more", len(words)-mostNamed)
	}
	return strings.Join(words, ", ")
}

// A schedule hands out trials in the order of execution.
type schedule struct {
	experiment *experiment.Experiment
	mu         sync.Locker // of stopping
	stopping   *Stopping
	block      int // the last one that was handed out
	order      int // of its last trial
	whole      bool
}

// mostPlanned is about how many trials are planned at once where their runner asks for more
// without delay: a plan is large.
const mostPlanned = 2048

// next is the trials of the next blocks of one round, as far as nothing has to be known of
// them before they can be told; unless they are wanted whole, not many more than mostPlanned. None
// at the end.
func (s *schedule) next() (out []experiment.Trial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := min(max(s.block+1, s.experiment.Fewest), s.experiment.Repetitions)
	for s.block < last && (len(out) == 0 || s.experiment.RoundOf(s.block+1) == out[0].Round &&
		(s.whole || len(out) < mostPlanned)) {
		s.block++
		out = append(out, s.experiment.Block(s.block, s.order+len(out), func(cell int) bool {
			return s.stopping.Needs(cell, s.block)
		})...)
	}
	s.order += len(out)
	return out
}

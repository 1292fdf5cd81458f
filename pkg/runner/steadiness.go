package runner

import (
	"fmt"
	"math"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// material is the share of a mean waiting time that a warm-up must account for to be worth
// a sentence.
const material = 0.02

// steadiness gathers what the trials of a cell, with status ok, say of their warm-up.
type steadiness struct {
	found        []float64 // entries before waiting times are steady
	never        int       // trials in which they were not
	mean, behind float64   // sums over trials: mean wait of all measured entries, and of the steady ones
}

func (s *steadiness) add(ops []trace.Operation, row *results.Trial) {
	if _, ofEntries := row.Observe(metric.Waiting.Name); ofEntries != results.Observed {
		return
	}
	found, kind := row.Observe(metric.WarmupFound.Name)
	switch kind {
	case results.Censored:
		s.never++
		return
	case results.Nothing:
		return
	}
	var all, steady, n, m, entry float64
	for _, op := range ops {
		if op.Status != trace.Completed && op.Status != trace.Warmup {
			continue
		}
		entry++
		if took := (op.End - op.Cause).Seconds(); op.Status == trace.Completed {
			all, n = all+took, n+1
			if entry > found {
				steady, m = steady+took, m+1
			}
		}
	}
	s.found = append(s.found, found)
	if n > 0 && m > 0 {
		s.mean, s.behind = s.mean+all/n, s.behind+steady/m
	}
}

// uncovered says whether the warm-up of a cell is shorter than what was found, surely: the
// interval of the median lies above it. By chance MSER-5 cuts something in three of ten
// trials that have no warm-up. It says how much, too, and by which share it moves the mean
// wait; NaN: most trials were never steady.
func (s *steadiness) uncovered(warmup int) (found, share float64, surely bool) {
	d := stats.Describe(s.found, s.never)
	share = math.Abs(s.mean/s.behind - 1)
	return d.Median, share, d.CILow > float64(warmup) && (math.IsNaN(d.Median) || share >= material)
}

// warmups says in a sentence, for all cells, which warm-ups are too short, and in another
// which loads are never steady.
func (c *calibration) warmups(e *experiment.Experiment) (out []string) {
	var short, never cellList
	most, moves := 0.0, 0.0
	for i := range e.Cells {
		a := c.cells[i+1]
		if a == nil {
			continue
		}
		found, share, surely := a.steady.uncovered(e.Cells[i].Plan.Scenario.Does().Unmeasured())
		switch {
		case !surely:
		case math.IsNaN(found):
			never.add(i + 1)
		default:
			short.add(i + 1)
			most, moves = max(most, found), max(moves, share)
		}
	}
	if short.n > 0 {
		out = append(out, fmt.Sprintf("%v: the warm-up lasts longer than scenario.warmup: waiting times are "+
			"steady after up to %.0f entries (MSER-5, warmup_found), and earlier ones change waiting_ms by "+
			"up "+
			"to %.2g %%; set scenario.warmup to %.0f", &short, most, 100*moves, math.Ceil(most)))
	}
	if never.n > 0 {
		out = append(out, fmt.Sprintf("%v: waiting times do not become steady: in most trials MSER-5 would "+
			"truncate more than half of the entries (warmup_found); make the load longer, or lower", &never))
	}
	return out
}

// A cellList names cells, the first of them by its number.
type cellList struct{ n, first int }

func (l *cellList) add(number int) {
	if l.n++; l.n == 1 {
		l.first = number
	}
}

func (l *cellList) String() string {
	if l.n == 1 {
		return fmt.Sprintf("cell %d", l.first)
	}
	return fmt.Sprintf("%d cells, the first of them cell %d", l.n, l.first)
}

// ramps says in a sentence in how many trials the ramp ended before the knee.
func (c *calibration) ramps(e *experiment.Experiment) []string {
	var cells cellList
	below, trials := 0, 0
	for i := range e.Cells {
		if a := c.cells[i+1]; a != nil && a.below > 0 {
			cells.add(i + 1)
			below, trials = below+a.below, trials+a.trials
		}
	}
	if below == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%v: in %d of %d trials the ramp ended before requests clearly came "+
		"faster than they are granted: their knee_per_s counts as larger than all others, "+
		"and is at least about kept_up_per_s; raise scenario.to by half, or scenario.duration",
		&cells, below, trials)}
}

package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Spells are the times of single operations of a run, cell by cell. Those that were going on
// when their trial ended are known to last at least until then.
type Spells struct {
	cells []ofCell
}

type ofCell struct {
	metrics []*metric.Metric
	trials  int
	spells  []spells // by metrics
}

// spells are those of one metric in a cell, flat since there may be millions of them.
type spells struct {
	lengths []float64
	cut     []bool
	trials  []int32 // of the cell, ascending but for tables that somebody has sorted anew
}

func (s *spells) add(trial int32, one stats.Spell) {
	s.lengths, s.cut = append(s.lengths, one.Length), append(s.cut, one.Cut)
	s.trials = append(s.trials, trial)
}

// groups are the spells of each of so many trials.
func (s *spells) groups(trials int) [][]stats.Spell {
	sizes := make([]int, trials)
	for _, i := range s.trials {
		sizes[i]++
	}
	all, groups := make([]stats.Spell, len(s.lengths)), make([][]stats.Spell, trials)
	for i, n := range sizes {
		groups[i], all = all[:0:n], all[n:]
	}
	for k, i := range s.trials {
		groups[i] = append(groups[i], stats.Spell{Length: s.lengths[k], Cut: s.cut[k]})
	}
	return groups
}

// ReadSpells reads the operations of a run, whose cells these are. Only trials with status ok
// or timeout have any. A trial with status timeout that fell quiet before its time limit
// would have been as it was at the limit, too. Each, if not nil, is called with every operation of
// such trials.
func ReadSpells(t *results.Table, cells []*results.Cell,
	each func(cell int, op trace.Operation)) (*Spells, error) {
	s := &Spells{cells: make([]ofCell, len(cells))}
	type place struct {
		number, cell int
		trial        int32   // of the cell
		ends         float64 // ms
	}
	places := make([]place, 0, len(t.Trials)) // by number
	longest := 0.0                            // for tables of which nobody knows the time limit
	for i := range t.Trials {
		longest = max(longest, t.Trials[i].Value(metric.Duration))
	}
	for i, c := range cells {
		of := times(c.Get("problem"))
		s.cells[i] = ofCell{metrics: of, trials: len(c.Trials), spells: make([]spells, len(of))}
		limit := cmp.Or(compare.TimeLimit(t, c), longest)
		for n, trial := range c.Trials {
			switch end := trial.Value(metric.Duration); trial.Status {
			case trace.OK:
				places = append(places, place{trial.Trial, i, int32(n), end})
			case trace.TimedOut:
				places = append(places, place{trial.Trial, i, int32(n), max(end, limit)})
			}
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.number - b.number })
	var p *place // of the last operation's trial
	err := results.EachOperation(t.Path, func(trial int, op trace.Operation) error {
		if p == nil || p.number != trial {
			p = nil
			if i, found := slices.BinarySearchFunc(places, trial, func(at place, number int) int {
				return at.number - number
			}); found {
				p = &places[i]
			}
		}
		if p != nil && each != nil {
			each(p.cell, op)
		}
		pending := op.Status == trace.Pending && (op.Origin == "" || op.Origin.Loss())
		if p == nil || op.Status != trace.Completed && !pending {
			return nil
		}
		c := &s.cells[p.cell]
		for k, m := range c.metrics {
			if spell, known := spellOf(m, op, pending, p.ends); known {
				c.spells[k].add(p.trial, spell)
			}
		}
		return nil
	})
	return s, err
}

// spellOf is a metric of an operation of a trial that ended then.
func spellOf(m *metric.Metric, op trace.Operation, pending bool, ends float64) (stats.Spell, bool) {
	if v := results.Span(m, op); !math.IsNaN(v) {
		return stats.Spell{Length: v}, true
	}
	if !pending {
		return stats.Spell{}, false
	}
	// What it waits for comes at the end of the trial, or later.
	last := time.Duration(ends * float64(time.Millisecond))
	if op.Begin < 0 {
		op.Begin = last
	}
	op.End = last
	v := results.Span(m, op)
	return stats.Spell{Length: max(0, v), Cut: true}, !math.IsNaN(v)
}

// Restricted is a restricted mean: that of the smaller of a time and To. NaN: it does not
// exist, or, of the interval, it is not known.
type Restricted struct{ Mean, Low, High, To float64 }

// survival estimates the distribution of a metric's times in a cell. Operations of one trial
// may depend on each other.
func (s *Spells) survival(cell, k int) stats.Survival {
	c := &s.cells[cell]
	return stats.KaplanMeierGrouped(c.spells[k].groups(c.trials), stats.Confidence, bootstrapSeed)
}

// bootstrapSeed is that of all resampling: the same run gives the same page.
const bootstrapSeed = 1

// horizon is how far restricted means of a metric reach: as far as the estimates of all
// cells do, so that they can be compared. NaN: nothing was cut off, and means will do.
func (s *Spells) horizon(m *metric.Metric) float64 {
	to := math.Inf(1)
	for i := range s.cells {
		for k, of := range s.cells[i].metrics {
			if of == m && slices.Contains(s.cells[i].spells[k].cut, true) {
				if v := s.survival(i, k); v.Cut > 0 {
					to = min(to, v.Horizon())
				}
			}
		}
	}
	if math.IsInf(to, 1) {
		return math.NaN()
	}
	return to
}

// Restricted are the restricted means of each cell, by metric, of the metrics of which some
// cell has a time that was cut off.
func (s *Spells) Restricted() []map[*metric.Metric]Restricted {
	out := make([]map[*metric.Metric]Restricted, len(s.cells))
	horizons := map[*metric.Metric]float64{}
	for i := range s.cells {
		out[i] = map[*metric.Metric]Restricted{}
		for k, m := range s.cells[i].metrics {
			to, known := horizons[m]
			if !known {
				to = s.horizon(m)
				horizons[m] = to
			}
			if math.IsNaN(to) {
				continue
			}
			v := s.survival(i, k)
			r := Restricted{To: to}
			r.Mean, r.Low, r.High = v.RestrictedMean(to, stats.Confidence)
			if v.N > 0 {
				out[i][m] = r
			}
		}
	}
	return out
}

package report

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Spread is the distribution of a time over the operations of a cell's trials
// with status ok or timeout, each operation counted for itself. Operations that
// were still going on when their trial ended last at least until then.
type Spread struct {
	Metric   string
	N        int // operations, Censored included
	Censored int
	Values   []float64 // ascending
	Ranks    []int     // Values[i] is the Ranks[i]-th smallest of those that ended, from 1
	// Steps are Kaplan and Meier's estimate at Values, where operations were cut off; nil:
	// the empirical distribution function is that already.
	Steps []stats.Step
	// Restricted is the restricted mean, if an operation of some cell was cut off.
	Restricted *Restricted
}

// At is the share of operations that take no longer than Values[i].
func (s *Spread) At(i int) float64 {
	if s.Steps != nil {
		return 1 - s.Steps[i].Share
	}
	return float64(s.Ranks[i]) / float64(s.N)
}

// Still is the share of operations that take at least Values[i].
func (s *Spread) Still(i int) float64 {
	if s.Steps != nil {
		return s.Steps[i].Before
	}
	return float64(s.N-s.Ranks[i]+1) / float64(s.N)
}

// times are the metrics whose distribution over single operations is shown.
func times(problem string) []*metric.Metric {
	return slices.DeleteFunc(metric.OfOperations(algo.Problem(problem)),
		func(m *metric.Metric) bool { return m.Early || m.From == 0 })
}

// spread reads the operations of every run and keeps the distribution of their
// times. Both the files and the cells may be large: values stay in memory for one
// run at a time.
func (b *builder) spread() error {
	phases := map[int][]float64{} // by cell
	defer func() { b.phases(phases) }()
	climbs := make([]*climb, len(b.groups))
	for run, t := range b.tables {
		var cells []*results.Cell
		var at []int // of them, in Data.Cells
		for i, g := range b.groups {
			if g.run == run {
				cells, at, climbs[i] = append(cells, g.Cell), append(at, i), climbOf(t, g.Cell)
			}
		}
		spells, err := ReadSpells(t, cells, func(cell int, op trace.Operation) {
			i := at[cell]
			if b.groups[i].phased(op) {
				phases[i] = append(phases[i], op.Phase)
			}
			climbs[i].add(op)
		})
		if err != nil {
			return err
		}
		for _, i := range at {
			b.Cells[i].Steps = climbs[i].steps(b.Cells[i].Statuses[isOK] + b.Cells[i].Statuses[isTimeout])
		}
		restricted := spells.Restricted()
		for i, c := range spells.cells {
			for k, m := range c.metrics {
				if s := spells.spread(i, k); s != nil {
					if r, there := restricted[i][m]; there {
						s.Restricted = &r
					}
					b.Cells[at[i]].Spreads = append(b.Cells[at[i]].Spreads, *s)
				}
			}
		}
	}
	return nil
}

// spread condenses a metric's times in a cell; nil if there are none.
func (s *Spells) spread(cell, k int) *Spread {
	all := &s.cells[cell].spells[k]
	out := &Spread{Metric: s.cells[cell].metrics[k].Name, N: len(all.lengths)}
	ended := make([]float64, 0, len(all.lengths))
	for i, length := range all.lengths {
		if all.cut[i] {
			out.Censored++
		} else {
			ended = append(ended, length)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	slices.Sort(ended)
	if out.Censored == 0 {
		out.Values, out.Ranks = thin(ended, mostPoints)
		return out
	}
	curve := s.survival(cell, k)
	curve.StepIntervals(stats.Confidence)
	steps := curve.Steps
	for _, rank := range thinned(len(steps), mostPoints) {
		step := steps[rank-1]
		upTo, _ := slices.BinarySearch(ended, math.Nextafter(step.At, math.Inf(1)))
		out.Steps = append(out.Steps, step)
		out.Values, out.Ranks = append(out.Values, step.At), append(out.Ranks, upTo)
	}
	return out
}

// mostPoints is how many points of a distribution are kept for a figure in print,
// where more cannot be distinguished.
const mostPoints = 400

// thin keeps at most n of the sorted values with their ranks: half of them evenly
// spaced over the ranks, half ever denser towards the largest, so that both the
// distribution function and its tail pass exactly through points of the sample.
// Which ones depends on how many there are and on nothing else.
func thin(sorted []float64, n int) (values []float64, ranks []int) {
	for _, rank := range thinned(len(sorted), n) {
		values, ranks = append(values, sorted[rank-1]), append(ranks, rank)
	}
	return values, ranks
}

// thinned are the ranks that thin keeps of size, always the first and the last.
func thinned(size, n int) (ranks []int) {
	if size <= n {
		for rank := range size {
			ranks = append(ranks, rank+1)
		}
		return ranks
	}
	half := max(n/2, 2)
	for k := range half {
		share := float64(k) / float64(half-1)
		even := 1 + math.Round(share*float64(size-1))
		fromTop := math.Round(math.Pow(float64(size), share)) // 1 is the largest
		ranks = append(ranks, int(even), size+1-int(fromTop))
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

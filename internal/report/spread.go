package report

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Spread is the distribution of a time over the operations of a cell's trials
// with status ok or timeout, each operation counted for itself. Operations that
// were still going on when their trial ended are longer than all others: the
// distribution function ends below 1.
type Spread struct {
	Metric   string
	N        int // operations, Censored included
	Censored int
	Values   []float64 // ascending
	Ranks    []int     // Values[i] is the Ranks[i]-th smallest, from 1
}

// times are the metrics whose distribution over single operations is shown.
func times(problem string) []*metric.Metric {
	return slices.DeleteFunc(metric.OfOperations(algo.Problem(problem)),
		func(m *metric.Metric) bool { return m.Early })
}

// spread reads the operations of every run and keeps the distribution of their
// times. Both the files and the cells may be large: values stay in memory for one
// run at a time.
func (b *builder) spread(paths []string) error {
	phases := map[int][]float64{} // by cell
	defer func() { b.phases(phases) }()
	for run, path := range paths {
		cellOf := map[int]int{} // by trial
		for i, g := range b.groups {
			if g.run != run {
				continue
			}
			for _, t := range g.Trials {
				if t.Status == trace.OK || t.Status == trace.TimedOut {
					cellOf[t.Trial] = i
				}
			}
		}
		values, pending := map[int][][]float64{}, map[int]int{}
		err := results.EachOperation(path, func(trial int, op trace.Operation) error {
			i, counts := cellOf[trial]
			if !counts {
				return nil
			}
			if b.groups[i].phased(op) {
				phases[i] = append(phases[i], op.Phase)
			}
			of := times(b.groups[i].Get("problem"))
			switch op.Status {
			case trace.Pending:
				pending[i]++
			case trace.Completed:
				if values[i] == nil {
					values[i] = make([][]float64, len(of))
				}
				for k, m := range of {
					if v := results.Span(m, op); !math.IsNaN(v) {
						values[i][k] = append(values[i][k], v)
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, list := range values {
			for k, m := range times(b.groups[i].Get("problem")) {
				slices.Sort(list[k])
				s := Spread{Metric: m.Name, N: len(list[k]) + pending[i], Censored: pending[i]}
				s.Values, s.Ranks = thin(list[k], mostPoints)
				b.Cells[i].Spreads = append(b.Cells[i].Spreads, s)
			}
		}
	}
	return nil
}

// mostPoints is how many points of a distribution are kept for a figure in print,
// where more cannot be told apart.
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

package report

import (
	"math"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Phases are those at which what a cell's scenario does to the leader fell, over the trials
// with status ok or timeout, whatever became of the elections that followed.
type Phases struct {
	stats.Uniformity
	Holm float64 // its P, corrected for all cells of the page
}

// phased says whether the phase of an operation is one that its cell's scenario drew.
func (g group) phased(op trace.Operation) bool {
	k := harness.ScenarioOf(g.Get("scenario"))
	return k != nil && k.Draws == op.Origin && op.Phase > 0
}

// phases tests what spread has gathered, by cell.
func (b *builder) phases(gathered map[int][]float64) {
	var tested []int
	var p []float64
	for i := range b.Cells {
		values := gathered[i]
		if len(values) == 0 {
			continue
		}
		u := stats.Uniform(values)
		b.Cells[i].Phases = &Phases{u, math.NaN()}
		if !math.IsNaN(u.P) {
			tested, p = append(tested, i), append(p, u.P)
		}
	}
	for k, corrected := range stats.Holm(p) {
		b.Cells[tested[k]].Phases.Holm = corrected
	}
}

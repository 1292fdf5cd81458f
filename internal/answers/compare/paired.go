package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Pairing is what the seed-matched trials of two cells say about a metric.
// The cells may be of two runs, or two algorithms or settings of one run: all cells of a
// repetition share its seed, and with it the network, the faults and the workload.
type Pairing struct {
	stats.Paired
	of     *metric.Metric
	rounds bool     // what is compared in pairs is rounds, each by the centre of its trials
	keys   []int    // of rounds: which of them met the same luck
	hosts  []string // of each pair, the machine; nil: none says
}

// pairs compares the row's cells, or parts of them, round by round if they have several, and else trial
// by trial. Lucky are the pairs of their trials. With parts, their means are compared.
func (row *Row) pairs(a, b *results.Cell, lucky [][2]*results.Trial, of part) Pairing {
	if row.rounds {
		return pairRounds(a, b, lucky, row.of, of)
	}
	return pairTrials(a, b, lucky, row.of, of)
}

// Pair compares b with a, trial by trial. A trial without a partner of its seed is counted
// in Left. Where there are no pairs, N is 0.
func Pair(a, b *results.Cell, m *metric.Metric) Pairing {
	return pairTrials(a, b, luckyPairs(a, b), m, pooled(m))
}

// pooled is what trials say of the metric, if its figure is a mean; else nil.
func pooled(m *metric.Metric) part {
	if m.Kind.Pooled() {
		return exposed(m)
	}
	return nil
}

func pairTrials(a, b *results.Cell, pairs [][2]*results.Trial, m *metric.Metric, of part) Pairing {
	p := Pairing{of: m}
	if of != nil {
		p.Paired = stats.PooledPairs(partsOf(pairs, 0, of), partsOf(pairs, 1, of), stats.Confidence,
			bootstrapSeed)
	} else {
		x, y := make([]float64, len(pairs)), make([]float64, len(pairs))
		for i, p := range pairs {
			x[i], y[i] = observed(p[0], m), observed(p[1], m)
		}
		p.Paired = stats.Pairs(x, y, stats.Confidence)
	}
	for _, pair := range pairs {
		if pair[0].Host != "" {
			p.hosts = append(p.hosts, pair[0].Host)
		}
	}
	p.Left += max(len(a.Trials), len(b.Trials)) - len(pairs)
	return p
}

// partsOf are the first or the second members of pairs.
func partsOf(pairs [][2]*results.Trial, side int, of part) []stats.Part {
	out := make([]stats.Part, len(pairs))
	for i, p := range pairs {
		out[i] = of(p[side])
	}
	return out
}

// luckyPairs are the trials of equal seeds on one machine. A seed that stands more than once, as
// it may on real nodes, pairs the first with the first.
func luckyPairs(a, b *results.Cell) (pairs [][2]*results.Trial) {
	fresh, seen := map[luckKey]*results.Trial{}, map[luckKey]int{}
	for _, t := range b.Trials {
		fresh[luckOf(t, seen)] = t
	}
	clear(seen)
	for _, t := range a.Trials {
		if other := fresh[luckOf(t, seen)]; other != nil {
			pairs = append(pairs, [2]*results.Trial{t, other})
		}
	}
	return pairs
}

// observed is a trial's value for tests: +Inf if censored, NaN if there is none.
func observed(t *results.Trial, m *metric.Metric) float64 {
	switch v, seen := t.Observe(m.Name); seen {
	case results.Observed:
		return v
	case results.Censored:
		return math.Inf(1)
	}
	return math.NaN()
}

// enough says whether the pairs can be significant at all, and are most of the trials:
// with fewer, the ranks of all trials say more.
func (p *Pairing) enough(alpha float64) bool {
	return stats.MinPairedP(p.N) <= alpha && p.N >= p.Left
}

// ofPairs says whether the row's change is one that Pairing has words for.
func (row *Row) ofPairs() bool {
	return row.Paired != nil && (row.Stat == Typical || row.of.Kind.Pooled())
}

// larger says whether the second values tend to be larger.
func (p *Pairing) larger() bool { return p.Tendency > 0 }

// String says in words by how much the second values differ: "slower by exactly 1%".
func (p *Pairing) String() string {
	up, down := p.of.Directions()
	direction := up
	if !p.larger() {
		direction = down
	}
	unit := ""
	if p.of.Unit == metric.Milliseconds {
		unit = " ms"
	}
	differ := fmt.Sprintf("in %d of %d %s", p.N-p.Equal, p.N, p.plural())
	percent := console.Number(100*math.Abs(p.Ratio-1)) + "%"
	shift := console.Number(math.Abs(p.Shift)) + unit
	figure := "a typical " + strings.TrimSuffix(p.plural(), "s")
	if p.of.Kind.Pooled() {
		figure = "the mean"
	}
	// An estimate may be of no change although most pairs that differ do so in one direction.
	told := func(estimate, none float64) bool {
		return p.larger() && estimate > none || !p.larger() && estimate < none
	}
	switch {
	case p.N == p.Equal:
		return "equal in every " + strings.TrimSuffix(p.plural(), "s")
	case p.SameRatio:
		return fmt.Sprintf("%s by exactly %s, %s", direction, percent, differ)
	case p.SameShift && math.IsNaN(p.Ratio):
		return fmt.Sprintf("%s by exactly %s, %s", direction, shift, differ)
	case p.SameShift:
		return fmt.Sprintf("%s by exactly %s (%s in %s), %s", direction, shift, percent, figure, differ)
	case told(p.Ratio, 1) && math.IsNaN(p.RatioLow+p.RatioHigh):
		return fmt.Sprintf("%s by %s in %s, %s", direction, percent, figure, differ)
	case told(p.Ratio, 1):
		return fmt.Sprintf("%s by %s in %s [%s, %s], %s", direction, percent, figure,
			view.Percent(p.RatioLow-1), view.Percent(p.RatioHigh-1), differ)
	case told(p.Shift, 0):
		return fmt.Sprintf("%s by %s in %s, %s", direction, shift, figure, differ)
	}
	many := p.Rises
	if !p.larger() {
		many = p.N - p.Equal - p.Rises
	}
	return fmt.Sprintf("%s in %d of %d %s that differ, of %d", direction, many, p.N-p.Equal, p.plural(), p.N)
}

// minP is the least P that the row's test could have given.
func (row *Row) minP() float64 {
	if row.Paired != nil {
		return stats.MinPairedP(row.Paired.N)
	}
	return row.minRankP()
}

func (row *Row) minRankP() float64 {
	return stats.MinStratifiedP(row.counts)
}

// enough is the smallest number of trials, or rounds, on each side whose least P, by the row's test,
// is at most p.
func (row *Row) enough(p float64) int {
	machines := max(1, len(row.cells.machines))
	each := 1 // on a machine
	for row.Paired != nil && stats.MinPairedP(each*machines) > p || row.Paired == nil &&
		stats.MinStratifiedP(slices.Repeat([][2]int{{each, each}}, machines)) > p {
		each++
	}
	return each * machines
}

// difference is by how much the row's statistic changed, in the metric's unit.
func (row *Row) difference(percent bool) float64 {
	switch {
	case row.Stat != Typical || row.Base.Center == 0 && percent:
		return row.New.Center - row.Base.Center
	case percent:
		return row.Change * row.Base.Center
	case row.strata != nil:
		return row.strata.Shift
	}
	return row.Paired.Shift
}

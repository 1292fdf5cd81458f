package compare

import (
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Power is the probability with which the reported number of trials finds the change that was
// asked for.
const Power = 0.8

// A Need is how many trials of a cell, in each of two runs, it takes to find that a metric
// became worse by a certain part.
type Need struct {
	Cell     *results.Cell // of the pilot
	Metric   *metric.Metric
	N        int     // values in the pilot
	Censored int     // and time-outs
	Median   float64 // NaN: censoring hides it
	Exact    bool    // a count that is compared exactly: one trial tells
	// Pairs is the number for trials of equal seeds that all change by that part, as they
	// may in simulation; 0 on real nodes, where one run does not tell how alike two are.
	Pairs int
	// Ranks is that for trials without partners; 0: no number would do, or nobody knows.
	Ranks int
	Why   string // Ranks is 0
}

// Needed is the number by the test that compare would use, with equal seeds.
func (n *Need) Needed() int {
	switch {
	case n.Exact:
		return 1
	case n.Pairs > 0 && (n.Ranks == 0 || n.Pairs < n.Ranks):
		return n.Pairs
	}
	return n.Ranks
}

// Needs says what it takes to find a change by a part, such as 0.05, in each of the
// metrics, and in how many tests, by whose number alpha is divided: what Holm's correction
// demands of the first of them. Virtual says whether what is planned is a simulation, as
// the pilot may be in any case.
func Needs(pilot *results.Table, metrics []*metric.Metric, by, alpha float64, virtual bool) (
	needs []Need, tests int) {
	for _, c := range pilot.Cells() {
		for _, m := range metrics {
			values, censored := c.Sample(m.Name)
			changes := func(v float64) bool { return v != 0 }
			if m.Better == metric.Neither || censored == 0 && !slices.ContainsFunc(values, changes) {
				continue
			}
			n := Need{Cell: c, Metric: m, N: len(values), Censored: censored}
			n.Median = stats.Describe(values, censored).Median
			if n.Exact = m.Kind.Exact() && virtual; !n.Exact {
				tests++
			}
			needs = append(needs, n)
		}
	}
	for i := range needs {
		if n := &needs[i]; !n.Exact {
			n.plan(by, alpha/float64(tests), virtual)
		}
	}
	return needs, tests
}

// plan finds the numbers for a test at level alpha.
func (n *Need) plan(by, alpha float64, virtual bool) {
	values, censored := n.Cell.Sample(n.Metric.Name)
	if virtual {
		pairs := 1
		for stats.MinPairedP(pairs) > alpha {
			pairs++
		}
		// No part of 0 is a change, and pairs of time-outs say nothing.
		changing := len(slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v == 0 }))
		if changing > 0 {
			n.Pairs = int(math.Ceil(float64(pairs*(len(values)+censored)) / float64(changing)))
		}
	}
	factor := 1 + by
	if n.Metric.Better == metric.Higher {
		factor = 1 - by
	}
	if len(values) < stats.MinimumBootstrap {
		n.Why = "the pilot has too few values"
		return
	}
	if n.Metric.Kind.Pooled() {
		n.planMean(values, by, alpha)
		return
	}
	share := exceeding(trialsOf(n.Cell, n.Metric.Name), factor)
	alpha /= float64(len(statisticsOf(n.Metric))) // all of which are counted where there are no pairs
	z := stats.NormalQuantile(1-float64(alpha/2)) + stats.NormalQuantile(Power)
	ranks := math.Ceil(z * z / (6 * (share - 0.5) * (share - 0.5)))
	if !(ranks <= mostNeeded) {
		n.Why = "so small a change hardly alters any rank"
		return
	}
	n.Ranks = int(ranks)
	for stats.MinP(n.Ranks, n.Ranks) > alpha {
		n.Ranks++
	}
}

// planMean finds the number that the test of means takes: as the normal distribution has it, of samples
// with the spread of the pilot.
func (n *Need) planMean(values []float64, by, alpha float64) {
	d := stats.Describe(values, 0)
	z := stats.NormalQuantile(1-float64(alpha/2)) + stats.NormalQuantile(Power)
	need := math.Ceil(2 * exact.Pow(z*d.SD/float64(by*d.Mean), 2))
	if !(need <= mostNeeded) {
		n.Why = "it happens in too few trials"
		return
	}
	n.Ranks = max(int(need), stats.MinimumBootstrap)
}

// mostNeeded is how many trials nobody runs.
const mostNeeded = 1e6

// exceeding is the probability that a value of another run, changed by the factor, is the
// larger of two, as far as the pilot tells; equal ones count half. Noether (Sample Size
// Determination for Some Common Nonparametric Tests, JASA 82, 1987) has the number of
// trials that Mann and Whitney's test needs from it.
func exceeding(values []float64, factor float64) float64 {
	twice, pairs := 0, 0
	for i, x := range values {
		for j, y := range values {
			if i == j {
				continue
			}
			pairs++
			switch y *= factor; {
			case y > x:
				twice += 2
			case y == x:
				twice++
			}
		}
	}
	return float64(twice) / float64(2*pairs)
}

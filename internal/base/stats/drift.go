package stats

import (
	"cmp"
	"math"
	"slices"

	mf "github.com/montanaflynn/stats"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// Drift returns Spearman's correlation of values with their order, the order of
// execution, and the P of the two-sided test that there is none. A machine that
// warms up, or a neighbour that wakes, shows here; trials in random order keep it
// from favouring a cell, but intervals are then wider than they need be.
//
// P is exact up to 8 values, by all permutations, with ties too; beyond, it is
// of Student's t, which is near enough. Missing values are left out, and fewer
// than three have no drift. All equal, rho does not exist, and P is 1.
func Drift(values []float64) (rho, p float64) {
	xs := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !(v > math.Inf(-1)) })
	n := len(xs)
	if n < 3 {
		return math.NaN(), math.NaN()
	}
	order := make([]float64, n)
	for i := range order {
		order[i] = float64(i)
	}
	rho, err := mf.Spearman(xs, order)
	switch {
	case err != nil: // all equal, or else it would not be
		return math.NaN(), 1
	case n <= 8:
		return rho, permutationP(xs)
	}
	// Of all n! orders, two at least are as extreme as a perfect one.
	least := exact.Exp(math.Ln2 - lgamma(float64(n)+1))
	return rho, max(least, betaTail(1-float64(rho*rho), float64(n-2)/2))
}

// betaTail is the P of a correlation whose square falls short of 1 by rest.
func betaTail(rest, half float64) float64 {
	switch {
	case rest <= 0:
		return 0
	case rest >= 1:
		return 1
	}
	return betaInc(rest, half, 0.5)
}

// permutationP is the share of permutations of xs that correlate with their
// order at least as much, either way, as xs does.
func permutationP(xs []float64) float64 {
	ranks := doubledRanks(xs)
	middle := (len(xs) + 1) * (len(xs) + 1) * len(xs) / 2 // of sum, on average
	sum := 0
	for i, r := range ranks {
		sum += (i + 1) * r
	}
	off := max(sum-middle, middle-sum)
	extreme, all := 0, 0
	var permute func(i, sum int)
	permute = func(i, sum int) {
		if i == len(ranks) {
			all++
			if max(sum-middle, middle-sum) >= off {
				extreme++
			}
		}
		for j := i; j < len(ranks); j++ {
			ranks[i], ranks[j] = ranks[j], ranks[i]
			permute(i+1, sum+(i+1)*ranks[i])
			ranks[i], ranks[j] = ranks[j], ranks[i]
		}
	}
	permute(0, 0)
	return float64(extreme) / float64(all)
}

// doubledRanks returns twice the rank of each value, so that those of equal ones,
// which share the average, are whole.
func doubledRanks(xs []float64) []int {
	ranks := make([]int, len(xs))
	for i, x := range xs {
		ranks[i] = 1
		for _, y := range xs {
			switch {
			case y < x:
				ranks[i] += 2
			case y == x:
				ranks[i]++
			}
		}
	}
	return ranks
}

// Holm adjusts the P values of a family of tests (Holm, 1979): rejecting where the
// adjusted P is alpha at most makes any false rejection with probability alpha at
// most, however the tests depend on each other. NaN stay
// NaN, and do not count as tests.
func Holm(p []float64) []float64 {
	adjusted := slices.Clone(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	last := 0.0
	for k, i := range order {
		last = max(last, min(1, p[i]*float64(len(order)-k)))
		adjusted[i] = last
	}
	return adjusted
}

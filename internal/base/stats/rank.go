package stats

import (
	"math"
	"slices"

	mm "github.com/aclements/go-moremath/stats"

	"github.com/conclave-bench/conclave/internal/base/exact"
)

// A Rank says how sample b lies to sample a, by ranks alone.
type Rank struct {
	U     float64 // pairs in which b's member is the larger; equal ones count half
	P     float64 // of the two-sided test that a and b have one distribution
	Delta float64 // Cliff's (1993): +1 if every member of b is larger, -1 if every one of a
	Exact bool    // P is of U's exact distribution, not of the normal one
}

// exactLimit is the size of the larger sample up to which the distribution of U
// is computed: at 50 and 50 that takes a few milliseconds, and the normal
// distribution is as good.
const exactLimit = 50

// MannWhitney tests whether one of two samples tends to larger values (Mann and
// Whitney, 1947). P is twice the smaller tail, 1 at most: exact up to 50 members
// a side, with ties too, where it is conditional on them; normal beyond, with
// the corrections for ties and continuity. It is 1 if all values are equal, and
// never less than MinP. Without members on both sides everything is NaN.
//
// +Inf stands for a censored value: larger than all others, equal to its like.
// With one limit for all that is Gehan's generalisation (1965).
func MannWhitney(a, b []float64) Rank {
	x, y := sample(a), sample(b)
	if len(x) == 0 || len(y) == 0 {
		return Rank{U: math.NaN(), P: math.NaN(), Delta: math.NaN()}
	}
	twice, ties := count(x, y)
	n, m := len(x), len(y)
	r := Rank{
		U:     float64(float64(twice) / 2),
		Delta: float64(twice-n*m) / float64(n*m),
		Exact: n <= exactLimit && m <= exactLimit || len(ties) == 1,
	}
	switch {
	case len(ties) == 1:
		r.P = 1
	case !r.Exact:
		r.P = normalP(r.U, n, m, ties)
	case len(ties) == n+m:
		r.P = 2 * mm.UDist{N1: m, N2: n}.CDF(min(r.U, float64(n*m)-r.U))
	case twice <= n*m:
		r.P = tiedP(ties, m, twice)
	default: // seen from a, U is small
		r.P = tiedP(ties, n, 2*n*m-twice)
	}
	r.P = min(r.P, 1)
	return r
}

// MinP returns the least P that MannWhitney can give for samples of these sizes:
// with four a side it is 0.029, with three 0.1, and nothing is significant at
// 0.05. It is NaN for empty samples.
func MinP(n1, n2 int) float64 {
	if n1 < 1 || n2 < 1 {
		return math.NaN()
	}
	return min(1, 2/choose(n1+n2, n1))
}

// sample returns the values that are not missing, in ascending order. No metric
// is -Inf; it is taken for missing too.
func sample(values []float64) []float64 {
	xs := make([]float64, 0, len(values))
	for _, v := range values {
		if v > math.Inf(-1) {
			xs = append(xs, v)
		}
	}
	slices.Sort(xs)
	return xs
}

// count returns twice the U of y, and the sizes of the groups of equal values
// among both samples, in ascending order.
func count(x, y []float64) (twice int, ties []int) {
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		v := math.Inf(1)
		if i < len(x) {
			v = x[i]
		}
		if j < len(y) {
			v = min(v, y[j])
		}
		before := i
		equalX, equalY := 0, 0
		for ; i < len(x) && x[i] == v; i++ {
			equalX++
		}
		for ; j < len(y) && y[j] == v; j++ {
			equalY++
		}
		twice += equalY * (2*before + equalX)
		ties = append(ties, equalX+equalY)
	}
	return twice, ties
}

// deviation is the standard deviation of U.
func deviation(n, m int, ties []int) float64 {
	size := float64(n) + float64(m)
	correction := 0.0
	for _, t := range ties {
		correction += float64(float64(t) * (float64(float64(t)*float64(t)) - 1))
	}
	return math.Sqrt(float64(n) * float64(m) / 12 * (size + 1 - correction/(size*(size-1))))
}

func normalP(u float64, n, m int, ties []int) float64 {
	off := max(0, math.Abs(u-float64(float64(n)*float64(m)/2))-0.5)
	return exact.Erfc(off / deviation(n, m, ties) / math.Sqrt2)
}

// tiedP returns twice the smaller tail of the distribution of U for the sample
// with n members, given the groups of equal values; twice is 2U, and lies in the
// lower half. (moremath's own treatment of ties takes the distribution to be
// symmetric, which it is for samples of one size alone.)
//
// It counts in how many ways each 2U can come about.
func tiedP(ties []int, n, twice int) float64 {
	all := 0
	for _, t := range ties {
		all += t
	}
	ways := tiedWays(ties, n, twice)
	below := 0.0
	for _, w := range ways {
		below += w
	}
	above := choose(all, n) - below + ways[twice]
	return 2 * min(below, above) / choose(all, n)
}

// tiedWays are the numbers of choices of n members that have a 2U of 0, of 1, and so on up to
// most, given the groups of equal values.
//
// It counts, group by group upwards, in how many ways k members and a certain 2U
// can come about: j out of t equal values find all smaller ones that are not
// members below them, and tie with t-j.
func tiedWays(ties []int, n, most int) []float64 {
	all := 0
	for _, t := range ties {
		all += t
	}
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	size := 0
	for _, t := range ties {
		least := size + t - (all - n) // with fewer, too few would be left to take
		for k := min(n, size+t); k >= max(1, least); k-- {
			for j := max(1, k-size); j <= min(t, k); j++ {
				others := size - (k - j)
				add(ways[k], ways[k-j], j*(2*others+t-j), choose(t, j))
			}
		}
		size += t
	}
	return ways[n]
}

// add adds from, moved up by so many places and multiplied, to into.
func add(into, from []float64, places int, times float64) {
	if places < len(into) {
		for i, w := range from[:len(from)-places] {
			into[places+i] += float64(w * times)
		}
	}
}

// choose is the binomial coefficient, as exact as a float64 holds it.
func choose(n, k int) float64 {
	c := 1.0
	for i := range min(k, n-k) {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

// middle is the value halfway, also where the distance overflows.
func middle(x, y float64) float64 {
	switch half := float64((y - x) / 2); {
	case x == y:
		return x
	case math.IsInf(half, 0):
		return float64(x/2) + float64(y/2)
	default:
		return x + half
	}
}

// NormalQuantile is the inverse of the standard normal distribution function.
func NormalQuantile(p float64) float64 {
	return float64(-math.Sqrt2 * exact.Erfcinv(float64(2*float64(p))))
}

// normal is the standard normal distribution function.
func normal(z float64) float64 { return float64(exact.Erfc(-z/math.Sqrt2) / 2) }

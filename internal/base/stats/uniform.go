package stats

import "math"

// fewestPerBin is the expected count of a bin from which on chi-square's distribution is a
// good one of Pearson's statistic (W. G. Cochran, Some methods for strengthening the common
// χ² tests, Biometrics 10(4), 1954, section 2: 5 is on the safe side), and mostBins how many
// bins a histogram has at most.
const (
	fewestPerBin = 5
	mostBins     = 20
)

// Uniformity is a histogram of values that may be uniform over (0, 1], and Pearson's test
// that they are.
type Uniformity struct {
	N         int
	Bins      []int   // of equal width
	ChiSquare float64 // Σ (count - n/bins)² / (n/bins)
	P         float64 // that uniform values are as uneven, or more; NaN: too few to tell
}

// Uniform tests values, which are above 0; what is above 1 counts with the last bin. It has
// as many bins as have five values each, at most 20; with fewer than 20 values, and so fewer
// than four bins, there is no test.
func Uniform(values []float64) Uniformity {
	u := Uniformity{N: len(values), ChiSquare: math.NaN(), P: math.NaN()}
	bins := min(u.N/fewestPerBin, mostBins)
	u.Bins = make([]int, max(bins, 4))
	for _, v := range values {
		i := int(math.Ceil(v*float64(len(u.Bins)))) - 1
		u.Bins[min(max(i, 0), len(u.Bins)-1)]++
	}
	if bins < 4 {
		return u
	}
	u.ChiSquare = 0
	each := float64(u.N) / float64(bins)
	for _, count := range u.Bins {
		off := float64(count) - each
		u.ChiSquare += off * off / each
	}
	u.P = chiSquareTail(u.ChiSquare, bins-1)
	return u
}

// chiSquareTail is the probability that chi-square with so many degrees of freedom is x or more.
func chiSquareTail(x float64, degrees int) float64 {
	_, above := gammaInc(float64(degrees)/2, x/2)
	return above
}

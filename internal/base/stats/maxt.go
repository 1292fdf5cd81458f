package stats

import (
	"cmp"
	"math"
	"slices"
)

// StepDownMax adjusts a family of tests of pairs for each other, as StepDown does, where all of them are of
// like sizes, as those of each two algorithms of a run: rejecting where the adjusted P is alpha at most
// makes any false rejection with probability alpha at most. It is the step-down method for the largest
// statistic of Westfall and Young (Resampling-Based Multiple Testing, 1993, algorithm 4.1). The statistic is
// Student's t of the differences, over choices of swapped pairs in place of its distribution. Ranks would do
// with less: those of eight pairs cannot be more extreme than all of one sign, so that none of 66 tests could
// stand out.
//
// Of[i] are the pairs of test i; an infinite difference, of which the sign alone is known, counts as the
// largest of its test that is known. It returns each test's own P, by the same choices, and the adjusted one:
// NaN where there are fewer than two differences.
func StepDownMax(of []Signed, seed uint64) (own, adjusted []float64) {
	own, adjusted = make([]float64, len(of)), make([]float64, len(of))
	tests := make([]*student, len(of))
	var order []int
	keys, work := 1, 1
	for i, s := range of {
		own[i], adjusted[i] = math.NaN(), math.NaN()
		if tests[i] = newStudent(s); len(tests[i].keys) > 1 {
			order = append(order, i)
			keys, work = max(keys, slices.Max(s.Keys)+1), work+len(s.Keys)
		}
	}
	none := make([]bool, keys)
	found := make([]float64, len(of))
	for _, i := range order {
		found[i] = tests[i].size(none)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(found[j], found[i]) })
	times := 0
	above, alone := make([]int, len(of)), make([]int, len(of))
	eachSwap(keys, drawnSwaps(work), seed, func(swapped []bool) {
		times++
		most := 0.0
		for _, i := range slices.Backward(order) {
			size := tests[i].size(swapped)
			if most = max(most, size); most >= found[i]*(1-rounding) {
				above[i]++
			}
			if size >= found[i]*(1-rounding) {
				alone[i]++
			}
		}
	})
	last := 0.0
	for _, i := range order {
		own[i] = float64(alone[i]) / float64(times)
		last = max(last, float64(above[i])/float64(times))
		adjusted[i] = last
	}
	return own, adjusted
}

// student is a test by Student's t of differences.
type student struct {
	differences []float64
	keys        []int
	squares     float64
}

func newStudent(s Signed) *student {
	t := &student{}
	largest := 0.0
	for _, d := range s.Differences {
		if !math.IsInf(d, 0) && !math.IsNaN(d) {
			largest = max(largest, math.Abs(d))
		}
	}
	if largest == 0 { // nothing is known but signs
		largest = 1
	}
	for i, d := range s.Differences {
		if math.IsNaN(d) {
			continue
		}
		d = max(-largest, min(d, largest)) / largest
		t.differences, t.keys = append(t.differences, d), append(t.keys, s.Keys[i])
		t.squares += float64(d * d)
	}
	return t
}

// size is |t|, infinite where all differences are one.
func (t *student) size(swapped []bool) float64 {
	sum := 0.0
	for i, d := range t.differences {
		if swapped[t.keys[i]] {
			sum -= d
		} else {
			sum += d
		}
	}
	n := float64(len(t.differences))
	between := float64(sum*sum) / n
	within := t.squares - between
	switch {
	case between <= rounding*t.squares:
		return 0
	case within <= rounding*t.squares:
		return math.Inf(1)
	}
	return math.Sqrt(between * (n - 1) / within)
}

// StudentSize is how large Student's t of n differences has to be to stand out among so many tests at level
// alpha, as a multiple of their standard deviation: by Bonferroni's inequality, which is nearly what the
// largest of independent ones needs. NaN for fewer than two, and for no test.
func StudentSize(n, tests int, alpha float64) float64 {
	if tests < 1 {
		return math.NaN()
	}
	return studentQuantile(alpha/float64(2*tests), float64(n-1)) / math.Sqrt(float64(n))
}

package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Signed are the differences of the pairs of one of several tests, for StepDown. Keys tell
// which pairs of different tests met the same luck, so that chance swaps their members
// together. A key stands once in a test.
type Signed struct {
	Differences []float64 // Paired.Differences
	Keys        []int     // from 0, one for each difference
}

// mostSwaps bounds how many choices of swapped pairs are looked at; fewer than twice as many
// are all looked at.
const mostSwaps = 10_000

// StepDown adjusts the P values of a family of tests, as Holm does and with the same promise,
// but uses how tests depend on each other: whoever rejects where the adjusted P is alpha at
// most has rejected anything wrongly with probability alpha at most. Of[i] are the pairs of
// test i, nil for a test of another kind.
//
// It is the step-down method for minimal P of Westfall and Young (Resampling-Based Multiple
// Testing, 1993, algorithm 2.8). Where only chance tells the members of pairs apart, all
// pairs of one key could as well be swapped, in all tests at once: which of the pairs are
// swapped is what is resampled, all 2^k choices for k keys if they are few. Where Holm counts
// the tests, this counts how often any test of those left has so small a P. Tests of another
// kind are counted as Holm counts them. Hence no adjusted P is above Holm's, and tests that
// all show one change cost each other nothing. The promise asks for more than Holm's:
// that in the tests whose hypotheses hold, the members of pairs of one key can be swapped
// together.
func StepDown(p []float64, of []Signed, seed uint64) []float64 {
	adjusted := Holm(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	tests := make([]*flips, len(order))
	others := make([]int, len(order)+1) // from there on, tests of another kind
	keys, work := 1, 1
	for k := len(order) - 1; k >= 0; k-- {
		others[k] = others[k+1]
		if s := of[order[k]]; len(s.Keys) > 0 {
			tests[k] = newFlips(s)
			keys, work = max(keys, slices.Max(s.Keys)+1), work+len(s.Keys)
		} else {
			others[k]++
		}
	}
	below := make([]int, len(order)) // choices in which the least P from there on is as small
	times := 0
	look := func(swapped []bool) {
		times++
		least := math.Inf(1)
		for k := len(order) - 1; k >= 0; k-- {
			if tests[k] != nil {
				least = min(least, tests[k].p(swapped))
			}
			if least <= p[order[k]]*(1+rounding) {
				below[k]++
			}
		}
	}
	eachSwap(keys, drawnSwaps(work), seed, look)
	last := 0.0
	for k, i := range order {
		own := float64(below[k])/float64(times) + float64(float64(others[k])*p[i])
		last = max(last, min(1, own))
		adjusted[i] = min(adjusted[i], last)
	}
	return adjusted
}

// drawnSwaps is how many choices are drawn, for so many pairs in all tests.
func drawnSwaps(pairs int) int { return max(999, min(mostSwaps-1, 400_000_000/pairs)) }

// eachSwap hands over all choices of keys, but for those that swap all that another one does
// not, which give the same P; or, if these are too many, as many drawn ones as most says, and
// the one that swaps nothing, which makes the P of what is drawn valid.
func eachSwap(keys, most int, seed uint64, look func(swapped []bool)) {
	swapped := make([]bool, keys)
	if keys-1 <= 30 && 1<<(keys-1) <= most+1 {
		for choice := range 1 << (keys - 1) {
			for i := range swapped { // the last never is
				swapped[i] = choice>>i&1 == 1
			}
			look(swapped)
		}
		return
	}
	look(swapped)
	source := rand.NewPCG(seed, 0)
	for range most {
		var bits uint64
		for i := range swapped {
			if i%64 == 0 {
				bits = source.Uint64()
			}
			swapped[i] = bits>>(i%64)&1 == 1
		}
		look(swapped)
	}
}

// flips gives the P of a test for any choice of swapped pairs.
type flips struct {
	ranks  []int // twice the ranks, of differences that are not zero
	rises  []bool
	keys   []int
	total  int
	upTo   []float64 // P of a least sum of ranks; nil: by the normal distribution
	spread float64
}

func newFlips(s Signed) *flips {
	f := &flips{}
	at := make([]int, 0, len(s.Keys))
	for i, d := range s.Differences {
		if d != 0 && !math.IsNaN(d) {
			at = append(at, i)
		}
	}
	slices.SortFunc(at, func(i, j int) int {
		return cmp.Compare(math.Abs(s.Differences[i]), math.Abs(s.Differences[j]))
	})
	sorted := make([]float64, len(at))
	for k, i := range at {
		sorted[k] = s.Differences[i]
		f.rises, f.keys = append(f.rises, s.Differences[i] > 0), append(f.keys, s.Keys[i])
	}
	f.ranks, f.total = ranksOf(sorted)
	f.spread = spreadOf(f.ranks)
	if len(f.ranks) <= exactLimit {
		f.upTo = cumulated(f.ranks, f.total/2)
	}
	return f
}

// rising is the sum of the ranks of rises.
func (f *flips) rising(swapped []bool) (sum int) {
	for i, rank := range f.ranks {
		if f.rises[i] != swapped[f.keys[i]] {
			sum += rank
		}
	}
	return sum
}

func (f *flips) p(swapped []bool) float64 {
	rising := f.rising(swapped)
	least := min(rising, f.total-rising)
	if f.upTo != nil {
		return min(1, 2*f.upTo[least])
	}
	return normalSignP(f.total, least, f.spread)
}

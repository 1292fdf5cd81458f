package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Signed are the differences of the pairs of one of several tests, for StepDown. Keys tell
// which pairs of different tests have common random numbers, so that their members are
// swapped together. A key stands once in a test.
type Signed struct {
	Differences []float64 // Paired.Differences
	Keys        []int     // from 0, one for each difference
	Mean        bool      // the test is of the sum of the differences, and not of that of their ranks
	// Family, of a test without pairs, if it is not 0: all tests of one are adjusted for each other, as by
	// Exchanged, and count as one.
	Family int
}

// mostSwaps bounds how many choices of swapped pairs are looked at; fewer than twice as many
// are all looked at.
const mostSwaps = 10_000

// StepDown adjusts the P values of a family of tests, as Holm does and with the same promise,
// but uses how tests depend on each other: rejecting where the adjusted P is alpha at
// most makes any false rejection with probability alpha at most. Of[i] are the pairs of
// test i, nil for a test of another kind.
//
// It is the step-down method for minimal P of Westfall and Young (Resampling-Based Multiple
// Testing, 1993, algorithm 2.8). Where only chance tells the members of pairs apart, all
// pairs of one key are exchangeable, in all tests at once: which of the pairs are
// swapped is what is resampled, all 2^k choices for k keys if they are few. Where Holm counts
// the tests, this counts how often any test of those left has so small a P. Tests of another
// kind, or families of them, are counted as Holm counts them. Hence no adjusted P is above Holm's, and
// tests that all show one change cost each other nothing. The promise asks for more than Holm's:
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
	tests := make([]swapTest, len(order))
	others := make([]int, len(order)+1) // from there on, tests of another kind
	families := map[int]bool{}
	keys, work := 1, 1
	for k := len(order) - 1; k >= 0; k-- {
		others[k] = others[k+1]
		if s := of[order[k]]; len(s.Keys) > 0 {
			if tests[k] = newFlips(s); s.Mean {
				tests[k] = newSums(s)
			}
			keys, work = max(keys, slices.Max(s.Keys)+1), work+len(s.Keys)
		} else if family := of[order[k]].Family; family == 0 || !families[family] {
			families[family] = true
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

// A swapTest gives the P of a test for any choice of swapped pairs.
type swapTest interface{ p(swapped []bool) float64 }

// sums is the test of the sum of differences: its P is the share of choices, all of them if they are
// few, whose sum is at least as far from 0 (Fisher, The Design of Experiments, 1935, section 21).
type sums struct {
	differences []float64
	keys        []int
	sorted      []float64 // how far from 0 the sums of the choices are
	equal       bool      // all differences are of one size
	ways        []float64 // of few of these: fewer, by how many are negative
}

// alike says whether all differences are of one size, so that their number alone decides (McNemar).
func (f *sums) alike() bool {
	for _, d := range f.differences {
		if math.Abs(math.Abs(d)-math.Abs(f.differences[0])) > rounding*math.Abs(d) {
			return false
		}
	}
	return true
}

func newSums(s Signed) *sums {
	f := &sums{}
	number := map[int]int{} // of the keys, which may have gaps
	var own []int
	for i, d := range s.Differences {
		if d == 0 || math.IsNaN(d) {
			continue
		}
		if _, known := number[s.Keys[i]]; !known {
			number[s.Keys[i]] = len(number)
		}
		f.differences, f.keys = append(f.differences, d), append(f.keys, s.Keys[i])
		own = append(own, number[s.Keys[i]])
	}
	all := &sums{differences: f.differences, keys: own}
	if f.alike() {
		f.equal = true
		for k := 0; k < len(own) && len(own) <= exactLimit; k++ {
			f.ways = append(f.ways, fewer(len(own), k))
		}
		return f
	}
	eachSwap(max(len(number), 1), drawnSwaps(8*len(own)+1), 1, func(swapped []bool) {
		f.sorted = append(f.sorted, all.far(swapped))
	})
	slices.Sort(f.sorted)
	return f
}

// fewer is the share of choices of n signs that leave k negative at most.
func fewer(n, k int) float64 {
	if k >= n {
		return 1
	}
	return betaInc(0.5, float64(n-k), float64(k)+1)
}

// far is how far from 0 the sum is.
func (f *sums) far(swapped []bool) float64 {
	sum := 0.0
	for i, d := range f.differences {
		if swapped[f.keys[i]] {
			d = -d
		}
		sum += d
	}
	return math.Abs(sum)
}

func (f *sums) p(swapped []bool) float64 {
	if f.equal {
		negative := 0
		for i, d := range f.differences {
			if (d < 0) != swapped[f.keys[i]] {
				negative++
			}
		}
		least := min(negative, len(f.differences)-negative)
		if least < len(f.ways) {
			return min(1, 2*f.ways[least])
		}
		return min(1, 2*fewer(len(f.differences), least))
	}
	far := f.far(swapped) * (1 - rounding)
	at, _ := slices.BinarySearch(f.sorted, far)
	return float64(max(len(f.sorted)-at, 1)) / float64(len(f.sorted))
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

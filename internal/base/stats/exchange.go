package stats

import (
	"math"
	"slices"
)

// A Block is what stands for each member of two samples in several tests at once: Scores[i] are the scores
// by test i, of which the first so many are of the first sample. Where only chance tells the samples
// apart, members of a block could as well be exchanged.
type Block struct {
	First  int
	Scores [][]float64
}

// Exchanged returns the P of each of several tests of the same members, adjusted for the others:
// rejecting where it is alpha at most makes any false rejection with probability alpha at most.
// The statistic of a test is the sum of the scores of the second sample, and its P the share of drawn
// exchanges whose sum is at least as far from what is expected (Fisher, The Design of Experiments, 1935,
// section 21); ranks as scores make it van Elteren's test, or Mann and Whitney's. All tests see the same
// exchanges, and the adjusted P is the share of exchanges whose least P is as small (Westfall and Young,
// Resampling-Based Multiple Testing, 1993, section 2.3).
func Exchanged(blocks []Block, seed uint64) []float64 {
	if len(blocks) == 0 {
		return nil
	}
	tests, members := len(blocks[0].Scores), 0
	expected := make([]float64, tests)
	order := make([][]int, len(blocks))
	for b, block := range blocks {
		n := len(block.Scores[0])
		members += n
		for i := range n {
			order[b] = append(order[b], i)
		}
		for i, scores := range block.Scores {
			sum := 0.0
			for _, v := range scores {
				sum += v
			}
			expected[i] += float64(sum * float64(n-block.First) / float64(n))
		}
	}
	draws := drawnSwaps(members * tests)
	far := make([][]float64, tests) // what was found comes first
	look := func() {
		for i := range tests {
			sum := 0.0
			for b, block := range blocks {
				for _, k := range order[b][block.First:] {
					sum += block.Scores[i][k]
				}
			}
			far[i] = append(far[i], math.Abs(sum-expected[i]))
		}
	}
	look()
	luck := newDraw(seed, 1)
	for range draws {
		for b := range order {
			for k := len(order[b]) - 1; k > 0; k-- {
				j := luck.index(k + 1)
				order[b][k], order[b][j] = order[b][j], order[b][k]
			}
		}
		look()
	}
	p := make([][]float64, tests)
	for i := range tests {
		p[i] = asLarge(far[i])
	}
	adjusted := make([]float64, tests)
	for d := range draws + 1 {
		least := math.Inf(1)
		for i := range tests {
			least = min(least, p[i][d])
		}
		for i := range tests {
			if least <= p[i][0]*(1+rounding) {
				adjusted[i]++
			}
		}
	}
	for i := range adjusted {
		adjusted[i] /= float64(draws + 1)
	}
	return adjusted
}

// asLarge are, for each value, the share of values that are at least as large.
func asLarge(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	out := make([]float64, len(values))
	for i, v := range values {
		at, _ := slices.BinarySearch(sorted, v*(1-rounding))
		out[i] = float64(len(values)-at) / float64(len(values))
	}
	return out
}

// Midranks are the ranks of values from 1 on; equal ones have the mean of theirs. +Inf is an ordinary one.
func Midranks(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	out := make([]float64, len(values))
	for i, v := range values {
		from, _ := slices.BinarySearch(sorted, v)
		upTo := from
		for upTo < len(sorted) && sorted[upTo] == v {
			upTo++
		}
		out[i] = float64(from+1+upTo) / 2
	}
	return out
}

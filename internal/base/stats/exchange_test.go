package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normals(random *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = random.NormFloat64()
	}
	return out
}

// TestExchanged: a test alone has the P of the samples' ranks; tests that always agree cost each other
// nothing, and tests that know nothing of each other cost what Holm's do.
func TestExchanged(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 1))
	for range 10 {
		a, b := normals(random, 9), normals(random, 12)
		for i := range b {
			b[i]++
		}
		ranks := Midranks(slices.Concat(a, b))
		want := MannWhitney(a, b).P
		one := Exchanged([]Block{{len(a), [][]float64{ranks}}}, 1)
		if math.Abs(one[0]-want) > 4*math.Sqrt(want*(1-want)/1e4)+2e-4 {
			t.Errorf("P %v, want %v", one, want)
		}
		twice := Exchanged([]Block{{len(a), [][]float64{ranks, ranks}}}, 1)
		if twice[0] != one[0] || twice[1] != one[0] {
			t.Errorf("twice the same: %v, want %v", twice, one)
		}
		other := Exchanged([]Block{{len(a), [][]float64{ranks, normals(random, 21)}}}, 1)
		if other[0] < one[0] || other[0] > 2*one[0]+0.01 {
			t.Errorf("beside another: %v, alone %v", other, one)
		}
	}
	// What a block has more of than another, both samples have there: it is no difference.
	low, high := normals(random, 20), normals(random, 20)
	for i := range high {
		high[i] += 100
	}
	apart := []Block{{18, [][]float64{low}}, {2, [][]float64{high}}}
	if p := Exchanged(apart, 1)[0]; p < 0.05 {
		t.Errorf("blocks: P %v", p)
	}
	if p := Exchanged([]Block{{20, [][]float64{slices.Concat(low[:18], high[:2], low[18:], high[2:])}}}, 1)[0]; p > 1e-3 {
		t.Errorf("without blocks: P %v", p)
	}
	if Exchanged(nil, 1) != nil {
		t.Error("something of nothing")
	}
}

// TestExchanged_Ends: of blocks of two each choice of swaps is as likely, P is 1 where all exchanges are alike,
// and never less than one of those looked at.
func TestExchanged_Ends(t *testing.T) {
	t.Parallel()
	var pairs []Block
	for range 5 {
		pairs = append(pairs, Block{1, [][]float64{{0, 1}}})
	}
	if p := Exchanged(pairs, 1)[0]; !within(p, 2./32, 0.01) {
		t.Errorf("five pairs: P %v", p)
	}
	// There are more tests than members.
	alike := Block{1, [][]float64{{1, 1}, {2, 2}, {0.1, 0.1}}}
	if p := Exchanged([]Block{alike}, 1); !slices.Equal(p, []float64{1, 1, 1}) {
		t.Errorf("all alike: P %v", p)
	}
	apart := make([]float64, 60)
	for i := range 30 {
		apart[i] = 1
	}
	if p := Exchanged([]Block{{30, [][]float64{apart}}}, 1)[0]; p != 1./mostSwaps {
		t.Errorf("far apart: P %v", p)
	}
}

func TestAsLarge(t *testing.T) {
	t.Parallel()
	third := 0.1
	third += 0.2 // 0.3, but for its last digit
	if got := asLarge([]float64{0.3, 1, third, 2}); !slices.Equal(got, []float64{1, 0.5, 1, 0.25}) {
		t.Error(got)
	}
}

// TestExchanged_Alarms: three statistics of two equal samples, and three tests of something else, are not found
// to differ oftener than the level allows.
func TestExchanged_Alarms(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 2))
	const times = 400
	alarms := 0
	for range times {
		all := normals(random, 30)
		tails := make([]float64, len(all))
		for i, v := range all {
			if all[i] = math.Exp(v); v > 1 {
				tails[i] = 1
			}
		}
		scores := [][]float64{Midranks(all), all, tails, normals(random, 30), normals(random, 30), normals(random, 30)}
		if slices.Min(Exchanged([]Block{{15, scores}}, 1)) <= 0.05 {
			alarms++
		}
	}
	if alarms > 35 || alarms < 8 { // 20, and three and a half deviations
		t.Errorf("%d of %d alarms", alarms, times)
	}
}

func TestMidranks(t *testing.T) {
	t.Parallel()
	if got := Midranks([]float64{3, 1, inf, 3, inf, 2}); !slices.Equal(got, []float64{3.5, 1, 5.5, 3.5, 5.5, 2}) {
		t.Error(got)
	}
}

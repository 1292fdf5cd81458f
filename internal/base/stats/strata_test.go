package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// strataOfSizes draws two strata that lie far apart, with shift added to the log of each b and more
// to that of the second stratum.
func strataOfSizes(r *rand.Rand, sizes [][2]int, shift, more float64) (a, b [][]float64) {
	for i, n := range sizes {
		x, y := make([]float64, n[0]), make([]float64, n[1])
		level := float64(3 * i)
		for j := range x {
			x[j] = math.Exp(level + float64(0.1*r.NormFloat64()))
		}
		for j := range y {
			y[j] = math.Exp(level + shift + float64(more*float64(min(i, 1))) + float64(0.1*r.NormFloat64()))
		}
		a, b = append(a, x), append(b, y)
	}
	return a, b
}

// TestStratify_One: with one stratum it is Mann and Whitney's test, ties and all.
func TestStratify_One(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		x, y := make([]float64, 3+r.IntN(8)), make([]float64, 3+r.IntN(8))
		for i := range x {
			x[i] = float64(1 + r.IntN(9))
		}
		for i := range y {
			y[i] = float64(1 + r.IntN(12))
		}
		got, want := Stratify([][]float64{x, {1, 2}}, [][]float64{y, nil}, Confidence), MannWhitney(x, y)
		if got.P != want.P || got.Delta != want.Delta || got.Strata != 1 {
			t.Fatalf("%v, %v: %+v, want %+v", x, y, got, want)
		}
	}
}

// TestStratify_Exact: P counts all choices of members within strata.
func TestStratify_Exact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 20 {
		var a, b [][]float64
		for range 2 {
			x, y := make([]float64, 2+r.IntN(2)), make([]float64, 2+r.IntN(3))
			for i := range x {
				x[i] = float64(r.IntN(6))
			}
			for i := range y {
				y[i] = float64(r.IntN(8))
			}
			a, b = append(a, x), append(b, y)
		}
		weights := []int{strataOf(a, b)[0].weight, strataOf(a, b)[1].weight}
		statistic := func(s int, x, y []float64) (twice int) {
			for _, u := range x {
				for _, v := range y {
					switch {
					case v > u:
						twice += 2 * weights[s]
					case v == u:
						twice += weights[s]
					}
				}
			}
			return twice
		}
		var all [2][]int // statistics of all choices, stratum by stratum
		for s := range 2 {
			both := slices.Concat(a[s], b[s])
			for choice := range 1 << len(both) {
				var x, y []float64
				for i, v := range both {
					if choice>>i&1 == 1 {
						y = append(y, v)
					} else {
						x = append(x, v)
					}
				}
				if len(y) == len(b[s]) {
					all[s] = append(all[s], statistic(s, x, y))
				}
			}
		}
		found := statistic(0, a[0], b[0]) + statistic(1, a[1], b[1])
		below, above := 0, 0
		for _, u := range all[0] {
			for _, v := range all[1] {
				if u+v <= found {
					below++
				}
				if u+v >= found {
					above++
				}
			}
		}
		want := min(1, 2*float64(min(below, above))/float64(len(all[0])*len(all[1])))
		if got := Stratify(a, b, Confidence); !within(got.P, want, 1e-9) {
			t.Fatalf("%v, %v: p %v, want %v", a, b, got.P, want)
		}
		sizes := [][2]int{{len(a[0]), len(b[0])}, {len(a[1]), len(b[1])}}
		if least, want := MinStratifiedP(sizes),
			2/float64(len(all[0])*len(all[1])); !within(least, want, 1e-12) {
			t.Fatalf("least p %v, want %v", least, want)
		}
	}
}

// TestStratify_Estimates: the figures of data that can be looked through, and what censoring hides.
func TestStratify_Estimates(t *testing.T) {
	a := [][]float64{{1, 2, 3, 4, 5}, {1001, 1002, 1003, 1004, 1005}}
	b := [][]float64{{11, 12, 13, 14, 15}, {1011, 1012, 1013, 1014, 1015}}
	got := Stratify(a, b, Confidence)
	if got.Shift != 10 || !(got.ShiftLow > 7 && got.ShiftLow < 10 && got.ShiftHigh > 10 &&
		got.ShiftHigh < 13) ||
		got.Delta != 1 || math.IsNaN(got.Ratio) {
		t.Errorf("%+v, want a shift of 10", got)
	}
	inf := math.Inf(1)
	got = Stratify(a, [][]float64{{11, 12, inf, inf, inf}, {1011, inf, inf, inf, inf}}, Confidence)
	if !math.IsNaN(got.Shift) || !(got.ShiftLow >= 7) || !math.IsNaN(got.ShiftHigh) || got.Delta != 1 {
		t.Errorf("%+v, want a lower bound alone", got)
	}
	if got := Stratify([][]float64{{1}, nil}, [][]float64{nil, {1}}, Confidence); !math.IsNaN(got.P) ||
		got.Strata != 0 {
		t.Errorf("%+v of nothing in common", got)
	}
	if got := Stratify([][]float64{{0, 0}, {1, 1}}, [][]float64{{0}, {1}}, Confidence); got.P != 1 ||
		got.Delta != 0 ||
		!math.IsNaN(got.Ratio) || got.Shift != 0 {
		t.Errorf("%+v of equal values", got)
	}
}

// TestStratify_Promises: how often chance alone is called a difference or an interaction, and how
// often intervals cover, while strata lie far apart and are unequally large on the two sides.
func TestStratify_Promises(t *testing.T) {
	times := 100
	if slowtest.Night() {
		times = 4000
	}
	for _, sizes := range [][][2]int{{{15, 5}, {5, 15}}, {{4, 3}, {3, 4}, {2, 2}}, {{60, 20}, {20, 70}}} {
		r := rand.New(rand.NewPCG(3, uint64(len(sizes))))
		alarms, missed, uneven, pairs := 0, 0, 0, 0
		for i := range times {
			a, b := strataOfSizes(r, sizes, 0, 0)
			s := Stratify(a, b, Confidence)
			if s.P <= 0.05 {
				alarms++
			}
			if s.RatioLow > 1 || s.RatioHigh < 1 {
				missed++
			}
			if Interaction(a, b, uint64(i)) <= 0.05 {
				uneven++
			}
			var d [][]float64
			for k := range a {
				n := min(len(a[k]), len(b[k]))
				d = append(d, Pairs(a[k][:n], b[k][:n], Confidence).Differences)
			}
			if PairedInteraction(d, uint64(i)) <= 0.05 {
				pairs++
			}
		}
		t.Logf("%v: of %d: %d alarms, %d intervals miss, %d interactions, %d of pairs", sizes, times, alarms,
			missed, uneven, pairs)
		most := float64(0.05*float64(times)) + float64(4*math.Sqrt(0.0475*float64(times)))
		if float64(max(alarms, missed, uneven, pairs)) > most {
			t.Errorf("want at most %.0f", most)
		}
	}
}

// TestStratify_Finds: a shift of one deviation is found where strata lie thirty apart, and a change
// in one stratum alone is no common one.
func TestStratify_Finds(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	sizes := [][2]int{{20, 10}, {10, 20}}
	found, uneven, pairs := 0, 0, 0
	for i := range 40 {
		a, b := strataOfSizes(r, sizes, 0.12, 0)
		if s := Stratify(a, b, Confidence); s.P <= 0.05 && s.Ratio > 1 {
			found++
		}
		a, b = strataOfSizes(r, [][2]int{{15, 15}, {15, 15}}, 0, 0.2)
		if Interaction(a, b, uint64(i)) <= 0.05 {
			uneven++
		}
		d := [][]float64{Pairs(a[0], b[0], Confidence).Differences, Pairs(a[1], b[1], Confidence).Differences}
		if PairedInteraction(d, uint64(i)) <= 0.05 {
			pairs++
		}
	}
	if found < 34 || uneven < 34 || pairs < 28 {
		t.Errorf("found %d, uneven %d, of pairs %d; want most of 40", found, uneven, pairs)
	}
}

package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// Hollander and Wolfe (1973), page 29: depression of nine patients before and after a
// therapy; the example of R's wilcox.test.
var (
	before = []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after  = []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
)

// TestPairs_HollanderAndWolfe: the book has P 0.0195 one-sided, the estimate -0.46, and
// [-0.786, -0.010] as the interval of 96.1 %, the shortest of 95 %.
func TestPairs_HollanderAndWolfe(t *testing.T) {
	d := make([]float64, len(before))
	for i := range d {
		d[i] = after[i] - before[i]
	}
	// V is 5 of 45.
	if p, tendency := signP(d); !nearly(p, 20.0/512) || !nearly(tendency, -35.0/45) {
		t.Errorf("P %v, want 20/512; tendency %v", p, tendency)
	}
	p := Pairs(before, after, 0.95)
	if !nearly(p.Shift, -0.46) || !nearly(p.ShiftLow, -0.786) || !nearly(p.ShiftHigh, -0.010) || p.N != 9 ||
		p.Rises != 2 {
		t.Errorf("%+v", p)
	}
	if back := Pairs(after, before, 0.95); !nearly(back.Shift, 0.46) || !nearly(back.ShiftHigh, 0.786) ||
		!nearly(back.P, p.P) || !nearly(back.Ratio, 1/p.Ratio) {
		t.Errorf("seen from the other side: %+v", back)
	}
}

func nearly(a, b float64) bool { return a == b || within(a, b, min(1, 1e-9*(1+math.Abs(b)))) }

func scaled(values []float64, factor, shift float64) []float64 {
	out := slices.Clone(values)
	for i := range out {
		out[i] = out[i]*factor + shift
	}
	return out
}

func TestPairs(t *testing.T) {
	a := []float64{210, 150, 330, 280, 190, 260}
	tests := []struct {
		name string
		a, b []float64
		want func(p Paired) bool
	}{
		{"all one per mille slower", a, scaled(a, 1.001, 0), func(p Paired) bool {
			return p.P == 2.0/64 && p.SameRatio && !p.SameShift && nearly(p.Ratio, 1.001) &&
				nearly(p.RatioLow, 1.001) &&
				nearly(p.RatioHigh, 1.001)
		}},
		{"all 6 ms slower", a, scaled(a, 1, 6), func(p Paired) bool {
			return p.P == 2.0/64 && p.SameShift && !p.SameRatio && p.Shift == 6 && p.ShiftLow == 6
		}},
		{"five are too few", a[:5], scaled(a[:5], 2, 0), func(p Paired) bool {
			return p.P == 2.0/32 && math.IsNaN(p.RatioLow) && nearly(p.Ratio, 2) && p.SameRatio
		}},
		{"equal", a, a, func(p Paired) bool {
			return p.P == 1 && p.Tendency == 0 && p.Equal == 6 && p.SameShift && p.SameRatio && p.Ratio == 1 && p.Shift == 0 && p.ShiftLow == 0
		}},
		{"one differs", a, []float64{211, 150, 330, 280, 190, 260}, func(p Paired) bool {
			return p.P == 1 && p.Tendency == 1 && p.Equal == 5 && p.Rises == 1 && p.Shift == 0
		}},
		{"zeros have no quotient", []float64{0, 1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5, 6},
			func(p Paired) bool {
				return p.P == 2.0/64 && math.IsNaN(p.Ratio) && p.SameShift && p.Shift == 1
			}},
		// Two of the six were cut off: the sign is known, the upper end is not, and the lower
		// one is what the four and the bounds say.
		{"censored", a, []float64{216, inf, 336, 286, inf, 266}, func(p Paired) bool {
			return p.P == 2.0/64 && p.Censored == 2 && p.Rises == 6 && math.IsNaN(p.ShiftHigh) &&
				p.ShiftLow == 6 &&
				!p.SameShift
		}},
		{"censored before", []float64{inf, 1, 2, 3}, []float64{5, 2, 3, 4}, func(p Paired) bool {
			return p.Rises == 3 && p.Censored == 1 && p.P == 14.0/16 && p.Shift == 1
		}},
		{"unknown", []float64{inf, nan, 3}, []float64{inf, 2, nan}, func(p Paired) bool {
			return p.N == 0 && p.Left == 3 && math.IsNaN(p.P) && math.IsNaN(p.Shift) && !p.SameShift
		}},
	}
	for _, test := range tests {
		if p := Pairs(test.a, test.b, 0.95); !test.want(p) {
			t.Errorf("%s: %+v", test.name, p)
		}
	}
	if MinPairedP(6) != 2.0/64 || MinPairedP(1) != 1 || !math.IsNaN(MinPairedP(0)) {
		t.Error("MinPairedP")
	}
}

// TestPairs_Enumerated: P is what comes out when every choice of signs is tried, and the
// estimates are the middle and the ends of all averages, written down.
func TestPairs_Enumerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.IntRange(-5, 5), 1, 9).Draw(t, "d")
		zero, values := make([]float64, len(d)), make([]float64, len(d))
		var averages []float64
		for i, v := range d {
			values[i] = float64(v)
			for _, w := range d[:i+1] {
				averages = append(averages, float64(v+w)/2)
			}
		}
		slices.Sort(averages)
		p := Pairs(zero, values, 0.75)
		if want := Quantile(averages, 0.5); p.Shift != want {
			t.Fatalf("%v: shift %v, want %v", d, p.Shift, want)
		}
		if want := enumerated(d); !nearly(p.P, want) {
			t.Fatalf("%v: P %v, want %v", d, p.P, want)
		}
		if k := signRank(len(d), 0.75); k > 0 &&
			(p.ShiftLow != averages[k-1] || p.ShiftHigh != averages[len(averages)-k]) {
			t.Fatalf("%v: [%v, %v], want those of rank %d of %v", d, p.ShiftLow, p.ShiftHigh, k, averages)
		}
	})
}

// enumerated is the P of the signed ranks, by trying all signs.
func enumerated(d []int) float64 {
	var ranks []float64
	observed, n := 0.0, 0
	for _, v := range d {
		if v == 0 {
			continue
		}
		rank := 0.5
		for _, w := range d {
			switch a, b := max(v, -v), max(w, -w); {
			case b != 0 && b < a:
				rank++
			case a == b:
				rank += 0.5
			}
		}
		ranks = append(ranks, rank)
		if v > 0 {
			observed += rank
		} else {
			observed -= rank
		}
		n++
	}
	extreme := 0
	for signs := range 1 << n {
		sum := 0.0
		for i, r := range ranks {
			if signs>>i&1 == 1 {
				sum += r
			} else {
				sum -= r
			}
		}
		if math.Abs(sum) >= math.Abs(observed) {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<n)
}

// TestSignP_Normal: beyond 50 pairs the normal distribution takes over, which errs to the safe side.
func TestSignP_Normal(t *testing.T) {
	d := make([]float64, exactLimit+1)
	for i := range d {
		d[i] = float64(i + 1)
	}
	ranks := make([]int, len(d))
	for i := range ranks {
		ranks[i] = i + 1
	}
	falling := 0
	for i := len(d) - 1; i > len(d)-12; i-- { // one more falls in each turn
		d[i], falling = -d[i], falling+ranks[i]
		exact := min(1, 2*cumulated(ranks, 51*26)[min(falling, 51*26-falling)])
		if got, _ := signP(d); exact > 1e-4 && (got < 0.98*exact || got > 1.6*exact) || got > 1e-4 &&
			exact < 1e-5 {
			t.Errorf("%d fall: P %v, exact %v", len(d)-i, got, exact)
		}
	}
}

// TestSignP_Continuity: beyond 50 pairs P is that of the normal distribution with the correction
// for continuity, half a rank (Hollander and Wolfe, section 3.1, comment 8).
func TestSignP_Continuity(t *testing.T) {
	const n = 60
	for _, last := range []int{1, 2, 20, 25, 40} { // the ranks up to it fall
		d := make([]float64, n)
		for i := range d {
			if d[i] = float64(i + 1); i < last {
				d[i] = -d[i]
			}
		}
		off := math.Abs(float64(last*(last+1)/2)-n*(n+1)/4.0) - 0.5
		want := math.Erfc(off / math.Sqrt(n*(n+1)*(2*n+1)/24.0) / math.Sqrt2)
		if got, _ := signP(d); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%d fall: P %v, want %v", last, got, want)
		}
	}
	d, half := make([]float64, n), n*(n+1)/4 // as much falls as rises
	for i := n - 1; i >= 0; i-- {
		if d[i] = float64(i + 1); half > i {
			d[i], half = -d[i], half-i-1
		}
	}
	if p, tendency := signP(d); p != 1 || tendency != 0 {
		t.Errorf("half of the ranks fall: P %v, tendency %v", p, tendency)
	}
}

// TestPairs_Coverage: the interval holds what it promises, and the test cries wolf no
// oftener than it may, for pairs that share much of their luck and for skewed ones.
func TestPairs_Coverage(t *testing.T) {
	runs := 400
	if slowtest.Night() {
		runs = 20000
	}
	draw := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{6, 12, 30, 60} {
		covered, alarms := 0, 0
		a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
		for range runs {
			for i := range a {
				luck := 100 * math.Exp(draw.NormFloat64())
				a[i] = luck * math.Exp(0.1*draw.NormFloat64())
				b[i] = luck * math.Exp(0.1*draw.NormFloat64())
				c[i] = 1.05 * b[i]
			}
			if p := Pairs(a, c, 0.95); p.RatioLow <= 1.05 && 1.05 <= p.RatioHigh {
				covered++
			}
			if Pairs(a, b, 0.95).P <= 0.05 {
				alarms++
			}
		}
		slack := 3.5 * math.Sqrt(0.05*0.95/float64(runs))
		if miss := 1 - float64(covered)/float64(runs); miss > 0.05+slack {
			t.Errorf("n = %d: %.1f %% of intervals miss", n, 100*miss)
		}
		if share := float64(alarms) / float64(runs); share > 0.05+slack {
			t.Errorf("n = %d: %.1f %% false alarms", n, 100*share)
		}
	}
}

// TestChange_Relative: a quotient comes first, be it only one end of its interval; differences are a part of
// a center that is positive.
func TestChange_Relative(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, test := range map[string]struct {
		c      Change
		center float64
		want   [3]float64
	}{
		"quotients":       {Change{8, 6, 9, 1.5, 1.25, 2}, 4, [3]float64{0.5, 0.25, 1}},
		"an estimate":     {Change{8, 6, 9, 1.5, nan, nan}, 4, [3]float64{0.5, nan, nan}},
		"a lower end":     {Change{8, 6, 9, nan, 1.25, nan}, 4, [3]float64{nan, 0.25, nan}},
		"an upper end":    {Change{8, 6, 9, nan, nan, 2}, 4, [3]float64{nan, nan, 1}},
		"differences":     {Change{8, 6, 9, nan, nan, nan}, 4, [3]float64{2, 1.5, 2.25}},
		"a center of 1":   {Change{8, 6, 9, nan, nan, nan}, 1, [3]float64{8, 6, 9}},
		"no center":       {Change{8, 6, 9, nan, nan, nan}, 0, [3]float64{nan, nan, nan}},
		"a center of -1":  {Change{8, 6, 9, nan, nan, nan}, -1, [3]float64{nan, nan, nan}},
		"unknown centers": {Change{8, 6, 9, nan, nan, nan}, nan, [3]float64{nan, nan, nan}},
	} {
		change, lo, hi := test.c.Relative(test.center)
		for i, got := range [3]float64{change, lo, hi} {
			if want := test.want[i]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: %v of (change, lower, upper) is %v, want %v", name, i, got, want)
			}
		}
	}
}

package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plainPairs are all of Paired but P, as its documentation says it, with every average written down.
func plainPairs(a, b []float64, confidence float64) (p Paired) {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	positive := true
	var of []int        // pairs that are compared
	var known []float64 // values of theirs
	for i := range n {
		if math.IsNaN(a[i]) || math.IsNaN(b[i]) || a[i] == inf && b[i] == inf {
			p.Left++
			continue
		}
		of, positive = append(of, i), positive && a[i] > 0 && b[i] > 0
		known = append(known, min(a[i], b[i]))
		if m := max(a[i], b[i]); m < inf {
			known = append(known, m)
		}
	}
	// bounds are the least and the most that each difference can be, on a scale.
	bounds := func(scale func(float64) float64) (d [2][]float64) {
		for _, i := range of {
			x, y, most := scale(a[i]), scale(b[i]), scale(slices.Max(known))
			low, high := y-x, y-x
			if y == inf {
				low = most - x
			} else if x == inf {
				high = y - most
			}
			d[0], d[1] = append(d[0], low), append(d[1], high)
		}
		return d
	}
	p.Differences = slices.Repeat([]float64{math.NaN()}, n)
	for _, i := range of {
		p.N++
		if a[i] == inf || b[i] == inf {
			p.Censored++
		} else if a[i] == b[i] {
			p.Equal++
		}
		if b[i] > a[i] {
			p.Rises++
		}
		if p.Differences[i] = b[i] - a[i]; positive {
			p.Differences[i] = math.Log(b[i]) - math.Log(a[i])
		}
	}
	shifts, logs := bounds(func(v float64) float64 { return v }), [2][]float64{}
	if positive {
		logs = bounds(math.Log)
	}
	p.Shift, p.ShiftLow, p.ShiftHigh = plainEstimate(shifts, confidence)
	r, lo, hi := plainEstimate(logs, confidence)
	p.Ratio, p.RatioLow, p.RatioHigh = math.Exp(r), math.Exp(lo), math.Exp(hi)
	return p
}

// plainEstimate is the median of all averages, and those at both ends that the test does not
// reject, of differences that are known to lie between two values each.
func plainEstimate(d [2][]float64, confidence float64) (center, lo, hi float64) {
	n := len(d[0])
	center, lo, hi = math.NaN(), math.NaN(), math.NaN()
	if n == 0 {
		return center, lo, hi
	}
	var all [2][]float64
	for s := range d {
		for i := range n {
			for j := range i + 1 {
				all[s] = append(all[s], d[s][i]/2+d[s][j]/2)
			}
		}
		slices.Sort(all[s])
	}
	m := len(all[0])
	middle := func(v []float64) float64 { return v[(m-1)/2]/2 + v[m/2]/2 }
	if c := middle(all[0]); c == middle(all[1]) && !math.IsInf(c, 0) {
		center = c
	}
	if k := plainSignRank(n, confidence); k > 0 {
		if v := all[0][k-1]; !math.IsInf(v, 0) {
			lo = v
		}
		if v := all[1][m-k]; !math.IsInf(v, 0) {
			hi = v
		}
	}
	return center, lo, hi
}

// plainSignRank counts the choices of signs of n ranks by their sum.
func plainSignRank(n int, confidence float64) int {
	p := []float64{1}
	for r := 1; r <= n; r++ {
		next := make([]float64, len(p)+r)
		for s, w := range p {
			next[s] += w / 2
			next[s+r] += w / 2
		}
		p = next
	}
	tail, below := (1-confidence)/2, 0.0
	for k, w := range p {
		if below += w; below > tail*(1+1e-9) {
			return k
		}
	}
	return 0
}

// TestPairs_Plain: the figures are what their definitions give, also of censored and missing
// values, of values that have no logarithm, and of lists that are not equally long.
func TestPairs_Plain(t *testing.T) {
	t.Parallel()
	value := rapid.SampledFrom([]float64{inf, inf, math.NaN(), 0, -2, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12})
	safe := rapid.SampledFrom([]float64{inf, math.NaN(), 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12})
	rapid.Check(t, func(t *rapid.T) {
		of := func(name string) []float64 {
			v := value
			if rapid.Bool().Draw(t, name+" has logarithms") {
				v = safe
			}
			return rapid.SliceOfN(v, rapid.SampledFrom([]int{0, 10}).Draw(t, name+" has at least"), 14).Draw(t, name)
		}
		a, b := of("a"), of("b")
		confidence := rapid.SampledFrom([]float64{0.2, 0.5, 0.95}).Draw(t, "confidence")
		got, want := Pairs(a, b, confidence), plainPairs(a, b, confidence)
		close := func(x, y float64) bool { return math.IsNaN(x) && math.IsNaN(y) || nearly(x, y) }
		if got.N != want.N || got.Equal != want.Equal || got.Rises != want.Rises || got.Left != want.Left ||
			got.Censored != want.Censored || !slices.EqualFunc(got.Differences, want.Differences, close) ||
			!close(got.Shift, want.Shift) || !close(got.ShiftLow, want.ShiftLow) ||
			!close(got.ShiftHigh, want.ShiftHigh) || !close(got.Ratio, want.Ratio) ||
			!close(got.RatioLow, want.RatioLow) || !close(got.RatioHigh, want.RatioHigh) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

// TestSignRank: exactly up to the limit, and by the normal distribution beyond, which is off by one,
// and far out by four, to the safe side.
func TestSignRank(t *testing.T) {
	t.Parallel()
	for confidence, least := range map[float64]int{0.5: -1, 0.8: -1, 0.95: -1, 0.99: -4} {
		for n := 1; n <= 80; n++ {
			got, want := signRank(n, confidence), plainSignRank(n, confidence)
			if off := got - want; n <= exactLimit && off != 0 || off < least || off > 1 {
				t.Errorf("%d pairs, %v: %d, want %d", n, confidence, got, want)
			}
		}
	}
	if exact := plainSignRank(60, 0.99); signRank(60, 0.99) >= exact {
		t.Errorf("60 pairs are counted: %d", exact)
	}
	for _, confidence := range []float64{0, 1, -1, 2, 1 - 1e-12} {
		if got := signRank(60, confidence); got != 0 {
			t.Errorf("confidence %v: %d, want 0", confidence, got)
		}
	}
}

// TestSignP_Limit: 50 pairs are counted exactly, and 51 are not.
func TestSignP_Limit(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{exactLimit: true, exactLimit + 1: false} {
		d := make([]float64, n)
		for i := range d {
			d[i] = float64(i + 1)
		}
		for i := range 25 {
			d[i] = -d[i]
		}
		ranks, total := ranksOf(slices.Clone(d))
		exact := 2 * cumulated(ranks, total)[25*26]
		if got, _ := signP(d); (got == exact) != want {
			t.Errorf("%d pairs: %v, exactly %v", n, got, exact)
		}
	}
}

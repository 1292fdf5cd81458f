package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func parts(values ...float64) (out []Part) {
	for _, v := range values {
		out = append(out, Part{v, 1})
	}
	return out
}

// TestPooled: cases worked out by hand, and by a program of its own for the gamma distribution.
func TestPooled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts        []Part
		mean, lo, hi float64
	}{
		"nothing happened":       {parts(0, 0, 0, 0, 0, 0), 0, nan, nan},
		"too few":                {parts(1, 0, 0, 0, 0), 0.2, nan, nan},
		"all alike":              {parts(3, 3, 3, 3, 3, 3), 3, 3, 3},
		"alike but for exposure": {[]Part{{2, 1}, {2, 5}, {2, 3}, {2, 1}, {2, 7}, {2, 1}}, 2, 2, 2},
		"what says nothing": {append(parts(3, 3, 3, 3, 3, 3, nan, math.Inf(1)), Part{100, 0}, Part{100, nan}),
			3, 3, 3},
		// The dispersion is 6/5·(t(3)/z)², for three that saw something: 3.164; Garwood of 6/3.164 events.
		"two in half of them": {parts(2, 2, 0, 0, 2, 0), 1, 0.1112, 3.7226},
		"none":                {nil, nan, nan, nan},
	} {
		mean, lo, hi := Pooled(c.parts, 0.95)
		for i, v := range [][2]float64{{mean, c.mean}, {lo, c.lo}, {hi, c.hi}} {
			if math.IsNaN(v[0]) != math.IsNaN(v[1]) || math.Abs(v[0]-v[1]) > 5e-3*math.Abs(v[1]) {
				t.Errorf("%s: figure %d is %v, want %v", name, i, v[0], v[1])
			}
		}
	}
	// Twice the exposure of all halves nothing but the rate; twice the values double everything.
	a := []Part{{1, 2}, {0, 3}, {4, 1}, {0, 2}, {2, 2}, {0, 5}, {1, 1}}
	mean, lo, hi := Pooled(a, 0.9)
	b := make([]Part, len(a))
	for i, p := range a {
		b[i] = Part{2 * p.Value, 3 * p.Weight}
	}
	if m, l, h := Pooled(b, 0.9); !near(m, 2*mean) || !near(l, 2*lo) || !near(h, 2*hi) || !(lo < mean && mean < hi) {
		t.Errorf("scaled: %v [%v, %v] of %v [%v, %v]", m, l, h, mean, lo, hi)
	}
	// The approximation for many events joins what is exact for fewer.
	for _, events := range []float64{9_999, 20_000} {
		lo, hi := PoissonInterval(events, 0.95)
		if l, h := gammaEnds(math.Nextafter(events+1, 1e9), 0.95); math.Abs(l-lo-1) > 0.1 || math.Abs(h-hi-1) > 0.1 {
			t.Errorf("%v events: [%v, %v], exactly [%v, %v]", events, l, h, lo, hi)
		}
	}
}

// TestPooledPairs_Exact: all 64 choices of six pairs are looked at.
func TestPooledPairs_Exact(t *testing.T) {
	t.Parallel()
	p := PooledPairs(parts(1, 1, 1, 1, 1, 1), parts(2, 3, 2, 3, 2, 3), 0.95, 1)
	if !near(p.P, 2./64) || p.Tendency != 1 || !near(p.Ratio, 2.5) || !near(p.Shift, 1.5) || p.N != 6 || p.Rises != 6 ||
		!(p.RatioLow < 2.5 && p.RatioHigh > 2.5) {
		t.Errorf("%+v", p)
	}
	// 0.5 in five pairs against 10 in one: of 64 choices, the 32 with each sign of the ten are as extreme
	// only where the halves add to it as much: 2·(1+5)/64.
	p = PooledPairs(parts(1, 1, 1, 1, 1, 1), parts(.5, .5, .5, .5, .5, 11), 0.95, 1)
	if want := float64(2*32-0) / 64; p.P > want || p.Tendency != 1 {
		t.Errorf("P %v, %+v", p.P, p)
	}
	p = PooledPairs(parts(0, 0, 0, 0, 0, 0, 0), parts(0, 0, 9, 0, 0, 0, nan), 0.95, 1)
	if p.P != 1 || p.Left != 1 || p.Equal != 5 || !math.IsNaN(p.Ratio) || !near(p.Shift, 1.5) || !math.IsNaN(p.ShiftLow) {
		t.Errorf("%+v", p)
	}
	if p := PooledPairs(parts(1, 2), parts(1, 2), 0.95, 1); p.P != 1 || p.Tendency != 0 || p.Equal != 2 {
		t.Errorf("equal: %+v", p)
	}
	if p := PooledPairs(nil, nil, 0.95, 1); !math.IsNaN(p.P) || p.N != 0 {
		t.Errorf("none: %+v", p)
	}
}

// TestPooledGroups: a difference within each machine is found although machines differ more, and none is
// found oftener than by chance.
func TestPooledGroups(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // luck that repeats
	machine := func(level, by float64) (out []Part) {
		for range 12 {
			out = append(out, Part{level + by + r.Float64(), 1})
		}
		return out
	}
	p, c := PooledGroups([][]Part{machine(10, 0), machine(100, 0)}, [][]Part{machine(10, 1), machine(100, 1)}, 0.95, 1)
	// A side that has more of its parts on the slow machine is not slower for that.
	slow, fast := slices.Concat(machine(100, 0), machine(100, 0)), machine(10, 0)
	if p, c := PooledGroups([][]Part{fast, slow}, [][]Part{slices.Concat(machine(10, 0), machine(10, 0)),
		machine(100, 0)}, 0.95, 1); p <= 0.05 || math.Abs(c.Ratio-1) > 0.05 {
		t.Errorf("other numbers on each machine: p %v, %+v", p, c)
	}
	if p > 0.001 || !(c.ShiftLow > 0.5 && c.ShiftHigh < 1.5) || !(c.RatioLow > 1 && c.RatioHigh < 1.03) {
		t.Errorf("p %v, %+v", p, c)
	}
	alarms := 0
	const times = 200
	for i := range uint64(times) {
		if p, _ := PooledGroups([][]Part{machine(10, 0)}, [][]Part{machine(10, 0)}, 0.95, i); p <= 0.05 {
			alarms++
		}
	}
	if alarms > 10+4*4 {
		t.Errorf("%d of %d false alarms at 5 %%", alarms, times)
	}
	if p, c := PooledGroups([][]Part{nil}, [][]Part{machine(1, 0)}, 0.95, 1); !math.IsNaN(p) || !math.IsNaN(c.Shift) {
		t.Errorf("nothing on one side: %v, %+v", p, c)
	}
}

// TestDescribeWhole: what a cell shows of a figure that is a mean.
func TestDescribeWhole(t *testing.T) {
	t.Parallel()
	s := DescribeWhole([][]Part{{{0.5, 1}, {1, 3}, {1, 3}, {1, 1}, {1, 1}, {1, 1}}}, 1)
	if s.Seen != 1 || !near(s.Mean, 0.95) || s.Median != 1 || s.Center() != s.Mean || s.Method != Whole || !(s.CILow < 0.95 && s.CIHigh <= 1) {
		t.Errorf("an availability: %+v", s)
	}
	// Rounds count as one each: two of them have no interval.
	s = DescribeWhole([][]Part{parts(1, 2, 3), parts(4, 5, 6), nil}, 0)
	if s.N != 6 || s.Seen != 6 || !near(s.Mean, 3.5) || !math.IsNaN(s.CILow) {
		t.Errorf("rounds: %+v", s)
	}
	if s := DescribeWhole(nil, 0); s.N != 0 || !math.IsNaN(s.Center()) {
		t.Errorf("nothing: %+v", s)
	}
}

// TestPooledGroups_Constant: where nothing varies within a side, the change is what it is.
func TestPooledGroups_Constant(t *testing.T) {
	t.Parallel()
	of := func(v float64) [][]Part { return [][]Part{slices.Repeat([]Part{{v, 1}}, 7)} }
	p, c := PooledGroups(of(38), of(48), 0.95, 1)
	if p > 0.001 || !near(c.Ratio, 48./38) || !near(c.RatioLow, c.Ratio) || math.Abs(c.RatioHigh/c.Ratio-1) > 1e-8 || !near(c.ShiftLow, 10) {
		t.Errorf("p %v, %+v", p, c)
	}
}

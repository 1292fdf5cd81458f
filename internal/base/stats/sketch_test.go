package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A sum is the same in whatever order, and exact where plain addition is not.
func TestSum(t *testing.T) {
	t.Parallel()
	values := []float64{1e100, 1, -1e100, 0.1, 1e-300, -0.1, 3}
	for range 50 {
		rand.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		var s Sum
		s.Add(values...)
		if s.Value() != 4 {
			t.Fatalf("the sum of %v is %v, want 4", values, s.Value())
		}
	}
}

// samples have fractions, whole numbers, negative values, equal ones, and a long tail.
func samples(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(1, 2))
	out := map[string][]float64{}
	for range n {
		out["exponential"] = append(out["exponential"], 20*r.ExpFloat64())
		out["whole"] = append(out["whole"], float64(r.IntN(2000)))
		out["signed"] = append(out["signed"], r.NormFloat64())
		out["equal"] = append(out["equal"], 12.345678)
		out["tail"] = append(out["tail"], math.Exp(6*r.NormFloat64()))
		out["near"] = append(out["near"], 1e6+r.Float64())
	}
	return out
}

func TestSketch(t *testing.T) {
	t.Parallel()
	for name, values := range samples(5000) {
		for _, censored := range []int{0, 700} {
			var s Sketch
			for _, v := range values {
				s.Add(v)
			}
			got, want := s.Describe(censored), Describe(values, censored)
			if got.N != want.N || got.Censored != censored || got.Method != FixedN || !alikeBy(got.Min, want.Min, 0) ||
				!alikeBy(got.Max, want.Max, 0) || !alikeBy(got.Mean, want.Mean, 1e-12) || !alikeBy(math.Abs(got.Mean)+got.SD, math.Abs(want.Mean)+want.SD, 1e-12) {
				t.Errorf("%s, %d censored: %+v, want %+v", name, censored, got, want)
			}
			exact := 0.001
			if name == "whole" || name == "equal" {
				exact = 0
			}
			for _, p := range [][2]float64{{got.Median, want.Median}, {got.P90, want.P90}, {got.P95, want.P95},
				{got.P99, want.P99}, {got.CILow, want.CILow}, {got.CIHigh, want.CIHigh}} {
				if !alikeBy(p[0], p[1], exact) {
					t.Errorf("%s, %d censored: a quantile is %v, want %v", name, censored, p[0], p[1])
				}
			}
			all := append(slices.Clone(values), slices.Repeat([]float64{want.Min}, 300)...)
			if half := s.Median(0, want.Min, 300); !alikeBy(half, Describe(all, 0).Median, exact) {
				t.Errorf("%s: the median with 300 smallest is %v, want %v", name, half, Describe(all, 0).Median)
			}
		}
	}
}

// alikeBy allows for an error relative to the larger one.
func alikeBy(a, b, part float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= part*max(math.Abs(a), math.Abs(b))
}

// Parts in whatever order give the figures of the whole, to the last bit.
func TestSketch_Merge(t *testing.T) {
	t.Parallel()
	for name, values := range samples(1000) {
		var whole Sketch
		for _, v := range values {
			whole.Add(v)
		}
		for parts := 2; parts < 8; parts++ {
			split := make([]Sketch, parts)
			for i := range values {
				split[rand.IntN(parts)].Add(values[len(values)-1-i])
			}
			var merged Sketch
			for i := range split {
				b, err := json.Marshal(split[i])
				if err != nil {
					t.Fatal(err)
				}
				var again Sketch
				if err := json.Unmarshal(b, &again); err != nil {
					t.Fatal(err)
				}
				merged.Merge(&again)
			}
			if a, b := merged.Describe(0), whole.Describe(0); a != b {
				t.Errorf("%s in %d parts: %+v, want %+v", name, parts, a, b)
			}
		}
	}
}

func TestSketch_Few(t *testing.T) {
	t.Parallel()
	var s Sketch
	if d := s.Describe(0); d.N != 0 || !math.IsNaN(d.Median) || !math.IsNaN(d.Min) || !math.IsNaN(d.Mean) {
		t.Errorf("nothing is %+v", d)
	}
	s.Add(0)
	s.Add(1)
	s.Add(1)
	if s.Equal(1) != 2 || s.Equal(0) != 1 || s.Equal(0.5) != 0 || s.N() != 3 {
		t.Errorf("of 0, 1, 1: %d are 1, %d are 0, %d are 0.5", s.Equal(1), s.Equal(0), s.Equal(0.5))
	}
}

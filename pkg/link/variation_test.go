package link

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestVariation_Factors: over links, factors have mean 1 and logarithms of the standard
// deviation that was asked for, at any instant.
func TestVariation_Factors(t *testing.T) {
	t.Parallel()
	const links = 20_000
	for _, v := range []Variation{{Sigma: 0.4}, {Sigma: 0.4, Over: 80 * time.Millisecond}} {
		for _, at := range []time.Duration{0, 37 * time.Second} {
			var sum, logs, squares float64
			for i := range uint32(links) {
				p := v.pace(7, i+1, i+100_000)
				f := v.at(&p, at)
				z := math.Log(f)
				sum, logs, squares = sum+f, logs+z, squares+float64(z*z)
			}
			mean, middle := sum/links, logs/links
			deviation := math.Sqrt(squares/links - float64(middle*middle))
			// The standard errors are 0.003, 0.003 and 0.002.
			if math.Abs(mean-1) > 0.015 || math.Abs(middle+0.08) > 0.015 || math.Abs(deviation-0.4) > 0.01 {
				t.Errorf("%+v at %v: mean %v, of logarithms %v, deviation %v; want 1, -0.08, 0.4",
					v, at, mean, middle, deviation)
			}
		}
	}
}

// TestVariation_Drift: the correlation falls to 1/e in the time that was asked for, and to
// its square in twice that; without one, factors stay.
func TestVariation_Drift(t *testing.T) {
	t.Parallel()
	const over, links = time.Second, 20_000
	v := Variation{Sigma: 1, Over: over}
	for _, test := range []struct {
		after time.Duration
		want  float64
	}{{over, math.Exp(-1)}, {2 * over, math.Exp(-2)}, {20 * over, 0}} {
		sum := 0.0
		for i := range uint32(links) {
			p := v.pace(11, i+1, i+100_000)
			sum += float64((math.Log(v.at(&p, 0)) + 0.5) * (math.Log(v.at(&p, test.after)) + 0.5))
		}
		if got := sum / links; math.Abs(got-test.want) > 0.035 { // five standard errors
			t.Errorf("correlation after %v: %v, want %v", test.after, got, test.want)
		}
	}
	kept := Variation{Sigma: 1}
	p := kept.pace(11, 1, 2)
	if first := kept.at(&p, 0); first != kept.at(&p, time.Hour) {
		t.Error("a factor that is kept for the trial changes")
	}
}

// TestVariation_Function: the factor depends on the link and the time, not on what was
// asked before; it is that of both planes and of all incarnations.
func TestVariation_Function(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := Variation{Sigma: rapid.Float64Range(0.01, MostSigma).Draw(t, "sigma"),
			Over: time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "over"))}
		if v.Over < time.Millisecond {
			v.Over = 0
		}
		n := Network{Latency: Constant(ms), Unordered: true, Seed: rapid.Uint64().Draw(t, "seed"), Variation: &v}
		used := n.Flow(0, 3, 0, 5)
		random := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			at := time.Duration(random.Int64N(int64(time.Hour)))
			fresh := n.Flow(1, 3, 4, 5)
			got, want := n.Send(&used, at, 0, nil).Due, n.Send(&fresh, at, 0, nil).Due
			if got != want {
				t.Fatalf("at %v: %v where others were asked before, %v where none was", at, got, want)
			}
		}
	})
}

func TestVariation_Directions(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{false, true} {
		v := Variation{Sigma: 1, Directed: directed}
		there, back, other := v.pace(3, 1, 2), v.pace(3, 2, 1), v.pace(3, 1, 3)
		if (v.at(&there, 0) != v.at(&back, 0)) != directed {
			t.Errorf("directed %v: there %v, back %v", directed, v.at(&there, 0), v.at(&back, 0))
		}
		if v.at(&there, 0) == v.at(&other, 0) {
			t.Error("two links are alike")
		}
	}
}

func TestVariation_Check(t *testing.T) {
	t.Parallel()
	for v, ok := range map[Variation]bool{
		{Sigma: 0.3}: true, {Sigma: 3, Over: time.Second}: true,
		{}: false, {Sigma: -1}: false, {Sigma: 3.1}: false, {Sigma: math.Inf(1)}: false,
		{Sigma: 1, Over: time.Microsecond}: false, {Sigma: 1, Over: 25 * time.Hour}: false,
	} {
		if err := v.Check(); (err == nil) != ok {
			t.Errorf("%+v: %v", v, err)
		}
	}
}

package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestControlVariate: the interval with a control holds as often as it says, and is narrower by what
// the correlation promises. One that is the same throughout changes nothing.
func TestControlVariate(t *testing.T) {
	t.Parallel()
	const n, times, rho = 20, 2000, 0.95
	r := rand.New(rand.NewPCG(1, 2))
	held, heldAlone, narrower := 0, 0, 0.0
	for range times {
		var y, x, more []float64
		for range n {
			c := r.NormFloat64()
			x = append(x, 5+c)
			y = append(y, 100+float64(rho*c)+float64(math.Sqrt(1-rho*rho)*r.NormFloat64()))
		}
		for range 40 * n {
			more = append(more, 5+r.NormFloat64())
		}
		v := ControlVariate(y, x, more, 0.95)
		if math.Abs(v.Mean-100) <= v.Half {
			heldAlone++
		}
		if math.Abs(v.Adjusted-100) <= v.Narrowed {
			held++
		}
		narrower += v.Narrowed / v.Half / times
	}
	for what, share := range map[string]float64{"alone": float64(heldAlone) / times,
		"with it": float64(held) / times} {
		if !within(share, 0.95, 0.02) {
			t.Errorf("%s the interval holds in %.3f of all cases, want 0.95", what, share)
		}
	}
	if want := math.Sqrt(1 - rho*rho); !within(narrower/want, 1, 0.2) {
		t.Errorf("it is %.3f times as wide, want about %.3f", narrower, want)
	}
	v := ControlVariate([]float64{1, 2, 3, 4}, []float64{1, 2, 2, 1}, []float64{7, 8}, 0.95)
	if v.Used || v.Adjusted != 2.5 || v.Narrowed != v.Half {
		t.Errorf("what is not correlated is used: %+v", v)
	}
	v = ControlVariate([]float64{1, 2, 3, 4}, []float64{7, 7, 7, 7}, []float64{7, 7}, 0.95)
	if v.Used || v.Adjusted != 2.5 || v.Narrowed != v.Half || !math.IsNaN(v.Correlation) {
		t.Errorf("%+v", v)
	}
}

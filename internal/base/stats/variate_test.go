package stats

import (
	"math"
	"math/rand/v2"
	"slices"
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
		if v.Alone.Low <= 100 && 100 <= v.Alone.High {
			heldAlone++
		}
		if v.With.Low <= 100 && 100 <= v.With.High {
			held++
		}
		narrower += v.With.Width() / v.Alone.Width() / times
	}
	for what, share := range map[string]float64{"alone": float64(heldAlone) / times,
		"with it": float64(held) / times} {
		if !within(share, 0.96, 0.02) {
			t.Errorf("%s the interval holds in %.3f of all cases, want 0.96", what, share)
		}
	}
	// The residuals take room for a tail, and for the line that each of them draws to itself.
	if want := math.Sqrt(1 - rho*rho); !within(narrower/want, 1.25, 0.1) {
		t.Errorf("it is %.3f times as wide, want about 1.25 times %.3f", narrower, want)
	}
}

// TestControlVariate_Plain: the figures of a regression, from its sums of squares and products.
func TestControlVariate_Plain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		y, x, more []float64
		used       bool
		noControl  bool // it or the values are the same throughout
	}{
		{"correlated", []float64{3, 5, 4, 8, 9, 11}, []float64{1, 2, 2, 4, 5, 6}, []float64{3, 4, 5, 2, 6}, true, false},
		{"against it", []float64{11, 9, 8, 4, 5, 3}, []float64{1, 2, 2, 4, 5, 6}, []float64{3, 4}, true, false},
		{"around zero", []float64{-3, -1, -2, 0, 2, 4}, []float64{-2, -1, -1, 0, 1, 3}, []float64{1, -1, 3}, true, false},
		// t is 2.616, above the limit for one degree of freedom more.
		{"nearly enough", []float64{1, 2, 3, 4, 5, 6}, []float64{1, 1, 1, 1, 2, 4}, []float64{3, 4}, false, false},
		{"as one", []float64{2, 4, 6, 8, 10, 12}, []float64{1, 2, 3, 4, 5, 6}, []float64{3, 4, 9}, true, false},
		{"equal controls", []float64{1, 2, 3, 4, 5, 6}, slices.Repeat([]float64{7}, 6), []float64{7, 7}, false, true},
		{"controls of zero", []float64{1, 2, 3, 4, 5, 6}, make([]float64, 6), []float64{0, 0}, false, true},
		{"equal values", slices.Repeat([]float64{0.1}, 6), []float64{1, 2, 3, 4, 5, 6}, []float64{1, 2}, false, true},
		{"values of zero", make([]float64, 6), []float64{1, 2, 3, 4, 5, 6}, []float64{1, 2}, false, true},
	} {
		sums := func(a, b []float64) (mean, products float64) {
			other := 0.0
			for i := range a {
				mean += a[i] / float64(len(a))
				other += b[i] / float64(len(b))
			}
			for i := range a {
				products += (a[i] - mean) * (b[i] - other)
			}
			return mean, products
		}
		y, syy := sums(c.y, c.y)
		x, sxx := sums(c.x, c.x)
		_, sxy := sums(c.x, c.y)
		mu, smm := sums(c.more, c.more)
		cubes := 0.0
		for _, v := range c.y {
			cubes += (v - y) * (v - y) * (v - y)
		}
		want := Variate{Used: c.used, Correlation: nan}
		bounded := func(figure, variance, skewness, freedom float64) Bounded {
			lo, hi := skewedInterval(figure, math.Sqrt(variance), skewness, freedom, 0.95)
			return Bounded{figure, lo, hi}
		}
		want.Alone = bounded(y, syy/5/6, meanSkewness(syy/6, cubes/6, 6), 5)
		want.With = want.Alone
		if !c.noControl {
			want.Correlation = sxy / math.Sqrt(sxx*syy)
		}
		if c.used {
			slope, m := sxy/sxx, float64(len(c.more))
			rest := max(0, syy-slope*sxy) / 4
			// What each value moves the figure by, if it is left out of the line.
			second, third := 0.0, 0.0
			for i, v := range c.y {
				apart := c.x[i] - x
				moves := (v - y - slope*apart) * (1./6 + (mu-x)*apart/sxx) / (1 - 1./6 - apart*apart/sxx)
				second += moves * moves
				third += moves * moves * moves
			}
			want.With = bounded(y+slope*(mu-x), max(second, rest*(1./6+(mu-x)*(mu-x)/sxx))+slope*slope*smm/(m-1)/m,
				meanSkewness(second/6, third/6, 6), 4)
		}
		got := ControlVariate(c.y, c.x, c.more, 0.95)
		near := func(a, b Bounded) bool {
			return within(a.Value, b.Value, 1e-9) && within(a.Low, b.Low, 1e-6) && within(a.High, b.High, 1e-6)
		}
		if !near(got.Alone, want.Alone) || !near(got.With, want.With) || got.Used != want.Used ||
			!within(got.Correlation, want.Correlation, 1e-9) && !math.IsNaN(want.Correlation) {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
	v := ControlVariate([]float64{1, 2, 3, 4}, []float64{1, 2, 2, 1}, []float64{7, 8}, 0.95)
	if v.Used || v.Alone.Value != 2.5 || v.With != v.Alone {
		t.Errorf("what is not correlated is used: %+v", v)
	}
	v = ControlVariate([]float64{1, 2, 3, 4}, []float64{7, 7, 7, 7}, []float64{7, 7}, 0.95)
	if v.Used || v.Alone.Value != 2.5 || v.With != v.Alone || !math.IsNaN(v.Correlation) {
		t.Errorf("%+v", v)
	}
}

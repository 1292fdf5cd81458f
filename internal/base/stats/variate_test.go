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
}

// TestControlVariate_Plain: the figures of a regression, from its sums of squares and products, with
// Student's t from tables.
func TestControlVariate_Plain(t *testing.T) {
	t.Parallel()
	const t5, t4 = 2.570581836, 2.776445105 // at 97.5 %, with so many degrees of freedom
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
		want := Variate{Mean: y, Half: t5 * math.Sqrt(syy/5/6), Used: c.used}
		want.Adjusted, want.Narrowed, want.Correlation = want.Mean, want.Half, nan
		if !c.noControl {
			want.Correlation = sxy / math.Sqrt(sxx*syy)
		}
		if c.used {
			slope, m := sxy/sxx, float64(len(c.more))
			rest := max(0, syy-slope*sxy) / 4
			want.Adjusted = y + slope*(mu-x)
			want.Narrowed = t4 * math.Sqrt(rest*(1./6+(mu-x)*(mu-x)/sxx)+slope*slope*smm/(m-1)/m)
		}
		got := ControlVariate(c.y, c.x, c.more, 0.95)
		if !within(got.Mean, want.Mean, 1e-12) || !within(got.Half, want.Half, 1e-8) || !near(got.Adjusted, want.Adjusted) ||
			!within(got.Narrowed, want.Narrowed, 1e-7) || got.Used != want.Used ||
			!near(got.Correlation, want.Correlation) {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
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

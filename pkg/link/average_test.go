package link

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAverage: means that are known, some of them worked out elsewhere.
func TestAverage(t *testing.T) {
	t.Parallel()
	pareto := func(alpha float64, most time.Duration) Latency {
		return Latency{Law: &Pareto{Min: ms, Alpha: alpha, Max: most}}
	}
	for name, test := range map[string]struct {
		l    Latency
		want float64 // ms
	}{
		"constant":                   {Constant(3 * ms), 3},
		"uniform":                    {Uniform(ms, 5*ms), 3},
		"normal":                     {Latency{Law: &Normal{Mean: 10 * ms, Sigma: ms}}, 10},
		"normal, half cut off":       {Latency{Law: &Normal{Sigma: ms}}, 1 / math.Sqrt(2*math.Pi)},
		"normal, cut off alike":      {Latency{Law: &Normal{Mean: 2 * ms, Sigma: 3 * ms, Max: 4 * ms}}, 2},
		"normal, all cut off":        {Latency{Law: &Normal{Mean: 2 * ms, Max: ms}}, 1},
		"lognormal":                  {Latency{Law: &Lognormal{Median: 2 * ms, Sigma: 1}}, 2 * math.Exp(0.5)},
		"lognormal without sigma":    {Latency{Law: &Lognormal{Median: 2 * ms}}, 2},
		"lognormal, cut off at once": {Latency{Law: &Lognormal{Median: 2 * ms, Max: ms}}, 1},
		"exponential":                {Latency{Law: &Exponential{Mean: 5 * ms}}, 5},
		"exponential, cut off":       {Latency{Law: &Exponential{Mean: 5 * ms, Max: 5 * ms}}, 5 * (1 - math.Exp(-1))},
		"exponential, fixed in part": {Latency{Law: &Exponential{Mean: 5 * ms, Min: 3 * ms}}, 5},
		"exponential, all fixed":     {Latency{Law: &Exponential{Mean: 5 * ms, Min: 5 * ms}}, 5},
		"pareto":                     {pareto(1.5, 0), 3 - 2*math.Pow(1/86_400_000.0, 0.5)},
		"pareto without a mean":      {pareto(1, 100*ms), 1 + math.Log(100)},
		"pareto, far from one":       {pareto(0.5, 100*ms), 2*math.Sqrt(100) - 1},
		"quantiles":                  {Latency{Law: &Quantiles{Values: []time.Duration{ms, ms, 20 * ms}}}, 5.75},
	} {
		if err := test.l.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := float64(test.l.Average()) / 1e6; math.Abs(got-test.want) > 2e-6 {
			t.Errorf("%s: %v ms, want %v", name, got, test.want)
		}
	}
}

// TestAverage_Draws: of any distribution, the mean of the quantiles, which draws have.
func TestAverage_Draws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLatency(t)
		if unclipped := l.Draw(math.MaxUint64); float64(unclipped) > 1e3*float64(l.Draw(1<<63)+ms/1000) {
			t.Skip("its tail is beyond sums")
		}
		const n = 20_000
		sum := 0.0
		for k := range n { // more of them in the tail: 1-u = v³
			v := (float64(k) + 0.5) / n
			sum += 3 * v * v * float64(l.Draw(uint64((1-v*v*v)*(1<<63))<<1))
		}
		got, want := float64(l.Average()), sum/n
		if math.Abs(got-want) > 0.01*want+2 {
			t.Fatalf("%+v: average %v, of its draws %v", l, got, want)
		}
	})
}

// TestSlowest: the mean of the slowest link, whatever makes links differ.
func TestSlowest(t *testing.T) {
	t.Parallel()
	trips := [][]time.Duration{{0, 4 * ms, 20 * ms}, {4 * ms, 0, 8 * ms}, {20 * ms, 8 * ms, 0}}
	slow := Latency{Law: &Lognormal{Median: 5 * ms, Sigma: 0.5}}
	for name, test := range map[string]struct {
		n    Network
		want time.Duration
	}{
		"all alike": {Network{Latency: Uniform(ms, 3*ms)}, 2 * ms},
		"regions": {Network{Latency: Latency{Law: &Regions{Places: []string{"a", "b", "c"}, RoundTrips: trips}}},
			10 * ms},
		"a link of its own": {Network{Latency: Uniform(ms, 3*ms), Links: []Own{{Links: [][2]uint32{{1, 2}},
			Latency: &slow}}}, slow.Average()},
	} {
		if got := test.n.Slowest(); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if d, _ := test.n.Bound(); d < test.n.Slowest() {
			t.Errorf("%s: the mean of the slowest link, %v, is above d, %v", name, test.n.Slowest(), d)
		}
	}
	varied := Network{Latency: Uniform(ms, 3*ms), Variation: &Variation{Sigma: 0.5}}
	if got := varied.Slowest(); got.Round(ms/10) != 8300*time.Microsecond { // 2 ms e^(0.5 * 3.09 - 0.5²/2)
		t.Errorf("of a slow trial %v", got)
	}
}

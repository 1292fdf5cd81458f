package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// autoregressive are n values of which each resembles the one before it by rho.
func autoregressive(seed uint64, n int, rho float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	out := make([]float64, n)
	x := r.NormFloat64()
	for i := range out {
		out[i] = 100 + x
		x = float64(rho*x) + float64(math.Sqrt(1-float64(rho*rho))*r.NormFloat64())
	}
	return out
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// TestMSER: what has a beginning of its own is found, what has none is left as it is, in
// most samples, and what never becomes steady is told.
func TestMSER(t *testing.T) {
	t.Parallel()
	const samples = 200
	for name, test := range map[string]struct {
		bias   func(i int) float64
		lo, hi float64 // of the median
		never  int     // samples that are not steady, at most
	}{
		"steady":                     {func(int) float64 { return 0 }, 0, 0, 5},
		"another level for a while":  {func(i int) float64 { return 5 * float64(max(0, min(1, 62-i))) }, 60, 65, 5},
		"a level that is approached": {func(i int) float64 { return 10 * math.Exp(-float64(i)/20) }, 30, 80, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var found []float64
			never := 0
			for seed := range uint64(samples) {
				values := autoregressive(seed, 500, 0)
				for i := range values {
					values[i] += test.bias(i)
				}
				if cut := mser(values); math.IsNaN(cut) {
					never++
				} else {
					found = append(found, cut)
				}
			}
			if m := median(found); m < test.lo || m > test.hi || never > test.never {
				t.Errorf("median %v, want %v to %v; %d never steady, want at most %d", m, test.lo, test.hi,
					never, test.never)
			}
		})
	}
	rising, constant, late := make([]float64, 500), make([]float64, 500), make([]float64, 500)
	for i := range rising {
		rising[i], constant[i], late[i] = float64(i), 0.1, 0.1
		if i < 23 {
			late[i] = 0.3
		}
	}
	if a, b, c := mser(rising), mser(constant), mser(late); !math.IsNaN(a) || b != 0 || c != 25 {
		t.Errorf("what rises for ever: %v, want none; what never changes: %v, want 0; behind 23 others: %v, "+
			"want 25", a, b, c)
	}
}

// TestMSER_Chance: how often it cuts something, and more than half, where there is nothing
// to be cut, is what docs/explanation/load.md says.
func TestMSER_Chance(t *testing.T) {
	t.Parallel()
	const samples = 2000
	cut, never := 0, 0
	for seed := range uint64(samples) {
		switch found := mser(autoregressive(seed, 100, 0)); {
		case math.IsNaN(found):
			never++
		case found > 0:
			cut++
		}
	}
	t.Logf("of %d: something %d, more than half %d", samples, cut, never)
	if a, b := float64(cut)/samples, float64(never)/samples; a < 0.25 || a > 0.45 || b < 0.05 || b > 0.15 {
		t.Errorf("of 100 values something is cut in %.2f of samples, want 0.3; more than half in %.2f, want 0.1",
			a, b)
	}
}

// TestCorrelation: of a process whose autocorrelations are known, rho to the power of the
// lag, n values are worth n (1 - rho) / (1 + rho), in samples shorter and longer than what
// is summed over.
func TestCorrelation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n   int
		rho float64
	}{{500, 0}, {500, 0.5}, {5000, 0}, {5000, 0.8}, {20_000, 0.95}} {
		var firsts, worth []float64
		for seed := range uint64(41) {
			first, effective := correlation(autoregressive(seed, test.n, test.rho))
			firsts, worth = append(firsts, first), append(worth, effective)
		}
		want := float64(test.n) * (1 - test.rho) / (1 + test.rho)
		if f, w := median(firsts), median(worth); math.Abs(f-test.rho) > 0.03 || math.Abs(w/want-1) > 0.15 {
			t.Errorf("n %d, rho %v: lag 1 %.3f, worth %.4g, want %.4g", test.n, test.rho, f, w, want)
		}
	}
	if first, worth := correlation(make([]float64, 60)); !math.IsNaN(first) || !math.IsNaN(worth) {
		t.Errorf("of equal values: %v, %v, want none", first, worth)
	}
	swing := make([]float64, 60)
	for i := range swing {
		swing[i] = float64(i % 2)
	}
	if first, worth := correlation(swing); first > -0.9 || worth != 60 {
		t.Errorf("of what goes up and down: %v, worth %v, want about -1 and no more than there are", first, worth)
	}
}

// TestSteady: a metric needs its fifty operations; those of the warm-up are looked at, but
// not measured; and what did not come to its end is neither.
func TestSteady(t *testing.T) {
	t.Parallel()
	operations := func(n int, status trace.Progress) (ops []trace.Operation) {
		for i := range n {
			cause := time.Duration(i) * time.Second
			ops = append(ops, trace.Operation{Cause: cause, End: cause + time.Duration(i%7), Status: status})
		}
		return ops
	}
	for name, test := range map[string]struct {
		ops  []trace.Operation
		want []string
	}{
		"too few":      {operations(49, trace.Completed), nil},
		"enough":       {operations(50, trace.Completed), metric.Names(seriesMetrics)},
		"with warm-up": {slices.Concat(operations(1, trace.Warmup), operations(49, trace.Completed)), metric.Names(seriesMetrics[:1])},
		"pending":      {slices.Concat(operations(49, trace.Completed), operations(50, trace.Pending)), nil},
	} {
		var got []string
		for _, v := range steady(test.ops) {
			got = append(got, v.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

var seriesMetrics = []*metric.Metric{metric.WarmupFound, metric.Autocorrelation, metric.EffectiveOperations}

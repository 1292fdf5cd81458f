package stats

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// alone are values that are each a group of its own.
func alone(xs []float64) (groups [][]float64) {
	for _, x := range xs {
		groups = append(groups, []float64{x})
	}
	return groups
}

// TestGroupedQuantile_OfOne: groups of one are independent values, and their interval is
// that of order statistics.
func TestGroupedQuantile_OfOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n int
		p float64
	}{{5, .5}, {6, .5}, {40, .5}, {35, .9}, {36, .9}, {100, .9}, {71, .95}, {72, .95}, {500, .99}} {
		xs := upTo(c.n)
		lo, hi := QuantileInterval(xs, c.p, .95)
		got := GroupedQuantile(alone(xs), c.p, .95)
		if !same(got.Low, lo) || !same(got.High, hi) || got.Refused() != math.IsNaN(lo) {
			t.Errorf("p%v of %d: [%v, %v], want [%v, %v]", 100*c.p, c.n, got.Low, got.High, lo, hi)
		}
		if !near(got.Effect, 1) || got.Needed != minimumN(c.p, .95) || got.Value != Quantile(xs, c.p) {
			t.Errorf("p%v of %d: %+v", 100*c.p, c.n, got)
		}
	}
}

// TestGroupedQuantile_Exact: small cases worked out by hand.
func TestGroupedQuantile_Exact(t *testing.T) {
	t.Parallel()
	// Eight groups of four equal values, 1 to 8: the median is 4.5, and half of the
	// groups lie up to it as a whole. The variance between groups of the share is
	// 8/7 · 8·(4·½)²/32² = 1/28, that of 32 independent values ¼/31: the effect is 31/7.
	var same4 [][]float64
	for v := range 8 {
		same4 = append(same4, []float64{float64(v + 1), float64(v + 1), float64(v + 1), float64(v + 1)})
	}
	got := GroupedQuantile(same4, .5, .95)
	if got.N != 32 || got.Groups != 8 || got.Value != 4.5 || !near(got.Effect, 31./7) {
		t.Errorf("%+v, want 32 in 8, 4.5, effect 4.43", got)
	}
	// Student's t for 31 and 7 degrees of freedom at 97.5 % is 2.0395 and 2.3646, by tables.
	if want := 32 / (31. / 7) * math.Pow(2.0395/2.3646, 2); math.Abs(got.Independent-want) > 1e-3 {
		t.Errorf("worth %v, want %v", got.Independent, want)
	}
	// That is 5.4, fewer than six: there is no interval, and it takes nine such groups.
	if !got.Refused() || got.Needed != 6 || got.GroupsNeeded() != 9 || !math.IsNaN(got.Low) {
		t.Errorf("%+v: it takes %d, want 9", got, got.GroupsNeeded())
	}
	// Four groups that are alike do not vary at all, and are too few all the same.
	alike := slices.Repeat([][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}}, 4)
	if got := GroupedQuantile(alike, .5, .95); got.Effect != 0 || !got.Refused() || got.GroupsNeeded() != 6 {
		t.Errorf("%+v: it takes %d, want 6", got, got.GroupsNeeded())
	}
	// Six such are worth no more than their 54 members.
	alike = append(alike, alike[0], alike[0])
	if got := GroupedQuantile(alike, .5, .95); got.Independent != 54 || got.Low != 4 || got.High != 6 {
		t.Errorf("%+v, want the order statistics 20 and 35 of 54", got)
	}
	// What is pending is longer than all: the median is known, p95 is not.
	pending := alone(append(upTo(60), slices.Repeat([]float64{math.Inf(1)}, 20)...))
	if got := GroupedQuantile(pending, .5, .95); got.Value != 40.5 || got.Censored != 20 || got.High != 50 {
		t.Errorf("%+v, want 40.5, [.., 50]", got)
	}
	if got := GroupedQuantile(pending, .95, .95); !math.IsNaN(got.Value) || !math.IsNaN(got.Low) {
		t.Errorf("%+v, want nothing", got)
	}
	for _, none := range [][][]float64{nil, {{}, {nan}}, {{1}}} {
		if got := GroupedQuantile(none, .5, .95); !got.Refused() || !math.IsNaN(got.Effect) ||
			got.GroupsNeeded() != 0 {
			t.Errorf("%v: %+v", none, got)
		}
	}
}

// TestStudentQuantile: tables of Student's t at 97.5 %.
func TestStudentQuantile(t *testing.T) {
	t.Parallel()
	for freedom, want := range map[float64]float64{1: 12.7062, 5: 2.5706, 10: 2.2281, 30: 2.0423,
		1000: 1.9623} {
		if got := studentQuantile(.025, freedom); math.Abs(got-want) > 1e-4 {
			t.Errorf("%v degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
}

// correlated are groups whose members are log-normal each, and share rho of their variance.
func correlated(random *rand.Rand, groups, size int, rho float64) [][]float64 {
	out := make([][]float64, groups)
	for i := range out {
		common := math.Sqrt(rho) * random.NormFloat64()
		for range size {
			out[i] = append(out[i], math.Exp(common+math.Sqrt(1-rho)*random.NormFloat64()))
		}
	}
	return out
}

// TestGroupedQuantile_Covers: where operations of a trial belong together, the interval
// holds its promise, and that of as many independent values does not. docs/methodology.md
// has the table.
func TestGroupedQuantile_Covers(t *testing.T) {
	t.Parallel()
	type design struct {
		groups, size int
		rho, p       float64
		least, naive float64 // coverage that is demanded, and that of independent values at most
	}
	designs, times := []design{{20, 20, .3, .9, .93, .8}, {40, 20, .8, .5, .9, .6}}, 200
	if os.Getenv("CONCLAVE_NIGHTLY") != "" {
		designs, times = nil, 2000
		for _, groups := range []int{12, 20, 40, 80} {
			for _, rho := range []float64{0, .3, .8} {
				for _, p := range []float64{.5, .9, .95, .99} {
					designs = append(designs, design{groups, 20, rho, p, .92, 1})
				}
			}
		}
	}
	for _, d := range designs {
		random := rand.New(rand.NewPCG(1, 2))
		truth := math.Exp(NormalQuantile(d.p))
		hit, naive, answered := 0.0, 0.0, 0.0
		for range times {
			groups := correlated(random, d.groups, d.size, d.rho)
			if got := GroupedQuantile(groups, d.p, .95); !got.Refused() {
				answered++
				if got.Low <= truth && truth <= got.High {
					hit++
				}
			}
			all := slices.Concat(groups...)
			slices.Sort(all)
			if lo, hi := QuantileInterval(all, d.p, .95); lo <= truth && truth <= hi {
				naive++
			}
		}
		t.Logf("%d groups of %d, rho %v, p%v: %.3f of %v, independent %.3f", d.groups, d.size, d.rho,
			100*d.p, hit/answered, answered, naive/float64(times))
		if answered > float64(times)/2 && hit/answered < d.least || naive/float64(times) > d.naive {
			t.Errorf("%+v: covers %.3f, as if independent %.3f", d, hit/answered, naive/float64(times))
		}
	}
}

// TestQuantileRatio: a shift of all operations alike is found exactly in pairs; without
// them the interval covers it, and no difference where there is none.
func TestQuantileRatio(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	a := correlated(random, 20, 20, .3)
	b := make([][]float64, len(a))
	for i, g := range a {
		for _, v := range g {
			b[i] = append(b[i], 1.01*v)
		}
	}
	ratio, lo, hi := QuantileRatio(a, b, .95, .95, true, 0)
	if !near(ratio, 1.01) || !near(lo, 1.01) || !near(hi, 1.01) {
		t.Errorf("%v [%v, %v], want 1.01 exactly", ratio, lo, hi)
	}
	ratio, lo, hi = QuantileRatio(a, b, .95, .95, false, 0)
	if !near(ratio, 1.01) || !(lo < .9) || !(hi > 1.1) {
		t.Errorf("%v [%v, %v], want 1.01 and a wide interval", ratio, lo, hi)
	}
	if _, lo, hi := QuantileRatio(a[:5], b, .95, .95, false, 0); !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("[%v, %v] of five groups", lo, hi)
	}
	b[0] = slices.Repeat([]float64{math.Inf(1)}, 40)
	if ratio, _, hi := QuantileRatio(a, b, .95, .95, false, 0); !math.IsNaN(ratio) || !math.IsNaN(hi) {
		t.Errorf("%v [.., %v], want neither: more than a twentieth is pending", ratio, hi)
	}
	if ratio, _, _ := QuantileRatio(nil, b, .95, .95, false, 0); !math.IsNaN(ratio) {
		t.Errorf("%v to nothing", ratio)
	}
	const times = 60
	hit, replicates := 0, 0
	for range times {
		a, b := correlated(random, 20, 10, .3), correlated(random, 20, 10, .3)
		_, lo, hi := QuantileRatio(a, b, .9, .95, false, 0)
		replicates++
		if lo <= 1 && 1 <= hi {
			hit++
		}
	}
	if hit < times*9/10 {
		t.Errorf("covers %d of %d", hit, replicates)
	}
}

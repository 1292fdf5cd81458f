package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
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
		n             int
		p, confidence float64
	}{{5, .5, .95}, {6, .5, .95}, {40, .5, .95}, {35, .9, .95}, {36, .9, .95}, {100, .9, .95}, {71, .95, .95},
		{72, .95, .95}, {500, .99, .95},
		// where the tails are reached exactly
		{6, .5, .96875}, {10, .5, .998046875}, {10, .5, 1 - 22./1024}} {
		xs := upTo(c.n)
		lo, hi := QuantileInterval(xs, c.p, c.confidence)
		got := GroupedQuantile(alone(xs), c.p, c.confidence)
		if !same(got.Low, lo) || !same(got.High, hi) || got.Refused() != math.IsNaN(lo) {
			t.Errorf("p%v of %d: [%v, %v], want [%v, %v]", 100*c.p, c.n, got.Low, got.High, lo, hi)
		}
		if !near(got.Effect, 1) || got.Needed != minimumN(c.p, c.confidence) || got.Value != Quantile(xs, c.p) {
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
	if want := 32 / (31. / 7) * math.Pow(2.0395/2.3646, 2); !within(got.Independent, want, 1e-3) {
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
			!math.IsNaN(got.Independent) || got.GroupsNeeded() != 0 {
			t.Errorf("%v: %+v", none, got)
		}
	}
}

// TestTail_GroupsNeeded: as many groups as make what an interval needs, and never fewer than there
// must be.
func TestTail_GroupsNeeded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		independent, groups, needed, want int
		refused                           bool
	}{{0, 6, 6, 0, true}, {12, 6, 6, 6, false}, {12, 6, 36, 18, true}, {36, 6, 36, 6, false},
		{36, 5, 36, 6, true}, {7, 10, 36, 52, true}, {1, 10, math.MaxInt, math.MaxInt32, true}} {
		tail := Tail{Independent: float64(test.independent), Groups: test.groups, Needed: test.needed}
		if got := tail.GroupsNeeded(); got != test.want || tail.Refused() != test.refused {
			t.Errorf("%+v: it takes %d, refused: %v", test, got, tail.Refused())
		}
	}
	if got := (&Tail{Independent: 0.5, Groups: 6, Needed: 6}).GroupsNeeded(); got != 72 {
		t.Errorf("groups that are worth half an operation: it takes %d, want 72", got)
	}
}

// TestDesignEffect: worked out by hand. Where all members or none are up to a value, it is 1.
func TestDesignEffect(t *testing.T) {
	t.Parallel()
	all, sizes := pooled([][]float64{{3, 1}, nil, {nan, 2, 5, 7}, {4}})
	if want := []member{{1, 0, 1}, {2, 1, 0}, {3, 0, 0}, {4, 2, 0}, {5, 1, 1}, {7, 1, 2}}; !slices.Equal(all, want) ||
		!slices.Equal(sizes, []int{2, 3, 1}) {
		t.Fatalf("%v of %v", all, sizes)
	}
	for value, want := range map[float64]float64{
		0.5: 1, 7: 1, 8: 1,
		// One of six: off by 2/3, -1/2 and -1/6, and 3/2 · 13/18 / 36 against 5/36 / 5.
		1: 39. / 36,
		// Three: off by 1, -1/2 and -1/2, and 3/2 · 3/2 / 36 against 1/4 / 5.
		3: 5. / 4,
	} {
		if got := designEffect(all, sizes, value); !near(got, want) {
			t.Errorf("up to %v: %v, want %v", value, got, want)
		}
	}
}

// TestWorth: of as many independent observations as there are whole ones, it is rank or up to one
// more, also where the tail is reached exactly.
func TestWorth(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n       int
		p, tail float64
	}{{6, .5, 1. / 64}, {10, .5, 1. / 1024}, {10, .5, 11. / 1024}, {40, .5, .025}, {100, .9, .025}, {100, .1, .025}} {
		want := float64(rank(test.n, test.p, test.tail))
		got := worth(float64(test.n), test.p, test.tail)
		if !(got >= want && got < want+1) {
			t.Errorf("%+v: %v, want %v and less than one more", test, got, want)
		}
		if tail := betaInc(1-test.p, float64(test.n)-got+1, got); !near(tail, test.tail*(1+rounding)) {
			t.Errorf("%+v: it is missed with %v", test, tail)
		}
	}
}

// TestGroupedQuantile_Plain: all figures are what their definitions give.
func TestGroupedQuantile_Plain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 8))
	intervals := 0
	for i := range 60 {
		p, confidence := []float64{.5, .8, .3}[i%3], []float64{.95, .8}[i%2]
		var groups [][]float64
		for g := range 2 + i%12 {
			var group []float64
			for range 1 + (g*i)%9 {
				group = append(group, float64(g/3+random.IntN(6)))
			}
			groups = append(groups, group)
		}
		groups[0][0] = []float64{1, inf}[i/7%2]
		got := GroupedQuantile(groups, p, confidence)
		all := sample(slices.Concat(groups...))
		n, m := float64(len(all)), float64(len(groups))
		effect := func(value float64) float64 {
			upTo := func(values []float64) (n float64) {
				for _, v := range values {
					if v <= value {
						n++
					}
				}
				return n
			}
			share := upTo(all) / n
			if share == 1 {
				return 1
			}
			between := 0.0
			for _, g := range groups {
				between += math.Pow(upTo(g)-share*float64(len(g)), 2) / (n * n) * m / (m - 1)
			}
			return between / (share * (1 - share) / (n - 1))
		}
		tail := (1 - confidence) / 2
		worse := max(effect(Quantile(all, p)), effect(Quantile(all, .5)))
		independent := min(n, n/worse*math.Pow(studentQuantile(tail, n-1)/studentQuantile(tail, m-1), 2))
		if !near(got.Effect, worse) || !near(got.Independent, independent) || got.N != len(all) ||
			got.Groups != len(groups) || !same(got.Value, known(Quantile(all, p))) {
			t.Fatalf("%v: %+v, want effect %v, worth %v", groups, got, worse, independent)
		}
		if got.Refused() {
			if !math.IsNaN(got.Low) || !math.IsNaN(got.High) {
				t.Errorf("%v: an interval [%v, %v] all the same", groups, got.Low, got.High)
			}
			continue
		}
		intervals++
		// Each end is the innermost order statistic that misses seldom enough, at the size it is worth.
		misses := func(k int, p float64) float64 {
			at := float64(k) / n * independent
			return betaInc(1-p, independent-at+1, at)
		}
		for k := 1; k < len(all); k++ {
			if misses(k, p) <= tail && misses(k+1, p) > tail && !same(got.Low, known(all[k-1])) {
				t.Errorf("%v: from %v on, want %v", groups, got.Low, all[k-1])
			}
			if misses(k, 1-p) <= tail && misses(k+1, 1-p) > tail && !same(got.High, known(all[len(all)-k])) {
				t.Errorf("%v: up to %v, want %v", groups, got.High, all[len(all)-k])
			}
		}
	}
	if intervals < 10 {
		t.Errorf("only %d intervals", intervals)
	}
}

// TestStudentQuantile: tables of Student's t at 97.5 %.
func TestStudentQuantile(t *testing.T) {
	t.Parallel()
	for freedom, want := range map[float64]float64{1: 12.7062, 5: 2.5706, 10: 2.2281, 30: 2.0423,
		1000: 1.9623} {
		if got := studentQuantile(.025, freedom); !within(got, want, 1e-4) {
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
	if slowtest.Night() {
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

// plainRatio is QuantileRatio with every draw written down, with the same luck.
func plainRatio(a, b [][]float64, p, confidence float64, paired bool, seed uint64) [3]float64 {
	clean := func(groups [][]float64) (out [][]float64) {
		for _, g := range groups {
			g = slices.DeleteFunc(slices.Clone(g), math.IsNaN)
			if len(g) > 0 {
				out = append(out, g)
			}
		}
		return out
	}
	a, b = clean(a), clean(b)
	quantile := func(values []float64) float64 {
		slices.Sort(values)
		return Quantile(values, p)
	}
	drawn := func(groups [][]float64, stream int) float64 {
		var values []float64
		outer := newDraw(seed, uint64(stream))
		for range groups {
			g := groups[outer.index(len(groups))]
			inner := newDraw(outer.Uint64(), uint64(stream))
			for range g {
				values = append(values, g[inner.index(len(g))])
			}
		}
		return quantile(values)
	}
	all, other := slices.Concat(a...), slices.Concat(b...)
	replicates := make([]float64, resamples(len(all)+len(other), confidence))
	for i := range replicates {
		second := 2*i + 1
		if paired && len(a) == len(b) {
			second = 2 * i
		}
		replicates[i] = quotient(drawn(a, 2*i), drawn(b, second))
	}
	ratio := quotient(quantile(all), quantile(other))
	lo, hi := nan, nan
	if min(len(a), len(b)) >= MinimumGroups {
		lo, hi = biasCorrected(replicates, ratio, confidence)
	}
	return [3]float64{known(ratio), known(lo), known(hi)}
}

// TestQuantileRatio_Plain: the figures are what their definitions give, also of groups of unequal
// sizes, of missing and of censored members.
func TestQuantileRatio_Plain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	draw := func(groups, most int) [][]float64 {
		out := [][]float64{nil, {nan, nan}}
		for g := range groups {
			group := []float64{nan}
			for range 1 + g%most {
				group = append(group, float64(random.IntN(20)))
			}
			out = append(out, group)
		}
		return out
	}
	for i, test := range []struct {
		a, b   [][]float64
		p      float64
		paired bool
	}{
		{draw(6, 3), draw(6, 3), .5, true},
		{draw(6, 3), draw(6, 4), .5, false},
		{draw(7, 4), draw(6, 9), .9, true},
		{draw(9, 2), draw(9, 2), .25, true},
		{draw(6, 1), draw(6, 1), .5, false},
		{draw(8, 5), append(draw(7, 5), []float64{inf, inf, inf}), .5, true},
		{append(draw(7, 5), []float64{inf, inf, inf}), draw(8, 3), .5, false},
		{draw(7, 2), draw(8, 9), 1, true},
		{draw(7, 2), draw(8, 9), 0, true},
		{draw(5, 4), draw(6, 4), .5, true},
		{draw(6, 4), draw(5, 4), .5, true},
	} {
		want := plainRatio(test.a, test.b, test.p, .9, test.paired, uint64(i))
		ratio, lo, hi := QuantileRatio(test.a, test.b, test.p, .9, test.paired, uint64(i))
		if !near(ratio, want[0]) || !near(lo, want[1]) || !near(hi, want[2]) {
			t.Errorf("case %d: %v [%v, %v], want %v", i, ratio, lo, hi, want)
		}
	}
}

// TestQuantileRatio_Nothing: there is no ratio to nothing, nor of what is negative; one of zeros
// may be there.
func TestQuantileRatio_Nothing(t *testing.T) {
	t.Parallel()
	ok := alone([]float64{1, 2, 3, 4, 5, 6, 7})
	for name, test := range map[string]struct {
		a, b  [][]float64
		ratio float64
	}{
		"nothing":              {nil, nil, nan},
		"of nothing":           {ok, nil, nan},
		"to nothing":           {[][]float64{{nan}, nil}, ok, nan},
		"of what is negative":  {ok, alone([]float64{2, 3, 4, -1, 5, 6, 7}), nan},
		"to what is negative":  {alone([]float64{2, 3, 4, -1, 5, 6, 7}), ok, nan},
		"of one":               {ok, alone([]float64{8}), 2},
		"to one":               {alone([]float64{8}), ok, 0.5},
		"of some that is zero": {ok, alone([]float64{0, 0, 0, 8, 8, 8, 8}), 2},
		"to some that is zero": {alone([]float64{0, 0, 0, 8, 8, 8, 8}), ok, 0.5},
	} {
		if ratio, _, _ := QuantileRatio(test.a, test.b, .5, .95, false, 1); !same(ratio, test.ratio) {
			t.Errorf("%s: %v, want %v", name, ratio, test.ratio)
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

package stats

import (
	"math"
	"math/rand/v2"
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
	// Chi-square with 7 degrees of freedom is below 2.167 in 5 %, so that the effect may be 14.3, and 32 be
	// worth 2.2. But eight groups are worth eight at least: enough for an interval, not for p90.
	if got.Independent != 8 || got.Alike != 8 || got.Refused() || got.Needed != 6 || got.GroupsNeeded() != 6 {
		t.Errorf("%+v: it takes %d, want 6", got, got.GroupsNeeded())
	}
	// The order statistics of eight single values are the same.
	if lo, hi := QuantileInterval(upTo(8), .5, .95); got.Low != lo || got.High != hi {
		t.Errorf("%+v, want [%v, %v]", got, lo, hi)
	}
	if got := GroupedQuantile(same4, .9, .95); !got.Refused() || got.GroupsNeeded() != 36 || !math.IsNaN(got.Low) {
		t.Errorf("%+v: it takes %d, want 36", got, got.GroupsNeeded())
	}
	// Members that differ within groups as they do between them: as many are worth about half, for sure.
	mixed := make([][]float64, 12)
	for i := range 240 {
		mixed[i%12] = append(mixed[i%12], float64((i*97)%240))
	}
	if got := GroupedQuantile(mixed, .9, .95); got.Refused() || !(got.Low > 190 && got.Low < 216 && got.High > 216 &&
		got.High < 239) {
		t.Errorf("%+v", got)
	}
	// One of a hundred groups has as many members as all others: nothing is known but of it.
	heavy := slices.Repeat([][]float64{{1}}, 100)
	heavy = append(heavy, slices.Repeat([]float64{2}, 100))
	if got := GroupedQuantile(heavy, .5, .95); !got.Refused() || !got.Lopsided() || !(got.Alike < 2) {
		t.Errorf("%+v", got)
	}
	// Four groups that are alike do not vary at all, and are too few all the same.
	alike := slices.Repeat([][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}}, 4)
	if got := GroupedQuantile(alike, .5, .95); got.Effect != 0 || !got.Refused() || got.GroupsNeeded() != 6 {
		t.Errorf("%+v: it takes %d, want 6", got, got.GroupsNeeded())
	}
	// Six such are worth no more than their 54 members.
	alike = append(alike, alike[0], alike[0])
	if got := GroupedQuantile(alike, .5, .95); got.Independent != 54 || !(got.Low < 5) || !(got.High >= 5) {
		t.Errorf("%+v, want an interval about 5", got)
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
		tail := Tail{Independent: float64(test.independent), Groups: test.groups, Needed: test.needed,
			Alike: float64(test.groups)}
		if got := tail.GroupsNeeded(); got != test.want || tail.Refused() != test.refused {
			t.Errorf("%+v: it takes %d, refused: %v", test, got, tail.Refused())
		}
	}
	if got := (&Tail{Independent: 0.5, Groups: 6, Alike: 6, Needed: 6}).GroupsNeeded(); got != 72 {
		t.Errorf("groups that are worth half an operation: it takes %d, want 72", got)
	}
	if got := (&Tail{Independent: 30, Groups: 12, Alike: 3, Needed: 6}).GroupsNeeded(); got != 24 {
		t.Errorf("groups of which a quarter counts: it takes %d, want 24", got)
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
		worse := max(effect(Quantile(all, p)), effect(Quantile(all, .5)))
		squares, cubes := 0.0, 0.0
		for _, g := range groups {
			squares += math.Pow(float64(len(g)), 2)
			cubes += math.Pow(float64(len(g)), 3)
		}
		alike := math.Pow(squares, 3) / math.Pow(cubes, 2)
		independent := n
		if m < n {
			independent = min(n, max(n/(worse*(m-1)/(2*gammaQuantile(.05, (m-1)/2)))*alike/m, alike))
		}
		if !near(got.Effect, worse) || !near(got.Independent, independent) || !near(got.Alike, alike) || got.N != len(all) ||
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
		// Each end is the innermost value that the test rejects, counting half of its own.
		if m == n {
			continue
		}
		rejects := func(k int) (side int) { // the k-th smallest, as if it was the quantile
			var beyond []float64
			taken := map[float64]int{}
			for _, v := range all[:k] {
				taken[v]++
			}
			last := all[k-1]
			for _, g := range groups {
				excess := -p * float64(len(g))
				for _, v := range g {
					switch {
					case taken[v] > 1 || taken[v] == 1 && v != last:
						excess++
						taken[v]--
					case taken[v] == 1:
						excess += 0.5
						taken[v]--
					}
				}
				beyond = append(beyond, excess)
			}
			mean, variance, third := thirdMoments(beyond)
			lo, hi := skewedInterval(mean, math.Sqrt(variance/(m-1)), meanSkewness(variance, third, m), m-1, confidence)
			switch {
			case hi < 0:
				return -1
			case lo > 0:
				return 1
			}
			return 0
		}
		low, high := nan, nan
		for k := 1; k <= len(all) && rejects(k) < 0; k++ {
			low = known(all[k-1])
		}
		for k := len(all); k >= 1 && rejects(k) > 0; k-- {
			high = known(all[k-1])
		}
		if !same(got.Low, low) || !same(got.High, high) {
			t.Errorf("%v, p%v: [%v, %v], want [%v, %v]", groups, 100*p, got.Low, got.High, low, high)
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

// TestRatioInterval_Heights: between two samples of six the interval is found by hand. The k-th smallest of
// six lies Φ⁻¹(P(B < k)) above the median: -2.154, -1.229, -0.402 and so on up.
func TestRatioInterval_Heights(t *testing.T) {
	t.Parallel()
	a := []float64{10, 20, 30, 40, 50, 60}
	l := newLadder(pooled6(a), []int{1, 1, 1, 1, 1, 1}, 0.5)
	for i, want := range []float64{-2.1539, -1.2299, -0.4023, 0.4023, 1.2299, 2.1539} {
		if !within(l.heights[i], want, 1e-4) {
			t.Errorf("value %d lies at %v, want %v", i, l.heights[i], want)
		}
	}
	for height, want := range map[float64]float64{0: 35, 0.4023 + 0.4138: 45, -1.5: 10, 1.5: 60, -2.16: nan, 2.16: nan} {
		if got := l.at(height); !within(got, want, 0.01) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("at %v: %v, want %v", height, got, want)
		}
	}
	// Of a known value of b, all that is unknown is a: at 1.96 the outermost values.
	_, lo, hi := RatioInterval(a, slices.Repeat([]float64{60}, 6), 0.95, 0)
	if !within(lo, 1, 1e-9) || !within(hi, 6, 1e-9) {
		t.Errorf("[%v, %v], want [60/60, 60/10]", lo, hi)
	}
	if _, lo, hi := RatioInterval(a, a, 0.99, 0); !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("[%v, %v]: six values do not go that far", lo, hi)
	}
}

func pooled6(values []float64) []member {
	all, _ := pooled(singles(values))
	return all
}

// TestQuantileRatio_Pairs: of pairs that go up and down together the ratio may still move with them.
func TestQuantileRatio_Pairs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	a := correlated(random, 20, 10, .8)
	b := make([][]float64, len(a))
	for i, g := range a {
		for _, v := range g {
			b[i] = append(b[i], v*v*v)
		}
	}
	ratio, lo, hi := QuantileRatio(a, b, .5, .95, true, 0)
	// About the squares of the interval of a's median.
	if x := GroupedQuantile(a, .5, .95); !(lo < 0.6*ratio && lo > x.Low*x.Low && hi > x.High && hi < x.High*x.High) {
		t.Errorf("%v [%v, %v] of [%v, %v]", ratio, lo, hi, x.Low, x.High)
	}
}

// TestSmoothPairs_Plain: an interval between resamples of six pairs, with each quantile as the mean of all values of
// the resample that are weighted by the beta distribution (Harrell and Davis). At 95 % it is from the 15th to
// the 15th last of 999: a normal deviate is beyond 1.96 √(6/5) on one side with 1.59 %.
func TestSmoothPairs_Plain(t *testing.T) {
	t.Parallel()
	x, y := []float64{3, 1, 4, 1.5, 9, 2}, []float64{2, 7, 1, 8, 2, 8}
	const n, p = 6, 0.4
	of := func(values []float64) (sum float64) {
		slices.Sort(values)
		for i, v := range values {
			from, to := float64(i)/n, float64(i+1)/n
			sum += v * (betaInc(to, (n+1)*p, (n+1)*(1-p)) - betaInc(from, (n+1)*p, (n+1)*(1-p)))
		}
		return sum
	}
	for _, c := range []struct {
		confidence        float64
		resamples, beyond int
	}{{0.95, 999, 15}, {0.8, 249, 20}, {0.999, 9999, 1}} {
		luck := newDraw(7, 0)
		var ratios []float64
		for range c.resamples {
			var a, b []float64
			for range n {
				i := luck.index(n)
				a, b = append(a, x[i]), append(b, y[i])
			}
			ratios = append(ratios, of(b)/of(a))
		}
		slices.Sort(ratios)
		lo, hi := smoothPairs(x, y, p, c.confidence, 7)
		if low, high := ratios[c.beyond-1], ratios[c.resamples-c.beyond]; !near(lo, low) || !near(hi, high) {
			t.Errorf("%v: [%v, %v], want [%v, %v]", c.confidence, lo, hi, low, high)
		}
	}
	if lo, hi := smoothPairs(x, y, p, 0.9999, 7); !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("of too few resamples: [%v, %v]", lo, hi)
	}
}

// TestQuantileRatio_Smooth: the interval of tight pairs is narrow, and holds the ratio itself, which jumps.
func TestQuantileRatio_Smooth(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	wide, outside := 0.0, 0
	const times = 40
	for range times {
		a, b := make([]float64, 40), make([]float64, 40)
		for i := range a {
			luck := math.Exp(0.3 * random.NormFloat64())
			a[i], b[i] = luck*math.Exp(0.01*random.NormFloat64()), luck*math.Exp(0.01*random.NormFloat64())
		}
		ratio, lo, hi := QuantileRatio(alone(a), alone(b), 0.9, 0.95, true, 1)
		if !(lo <= ratio && ratio <= hi) {
			t.Fatalf("%v [%v, %v]", ratio, lo, hi)
		}
		if from, to := smoothPairs(a, b, 0.9, 0.95, 1); ratio < from || ratio > to {
			outside++
		}
		wide += (hi - lo) / times
	}
	if wide > 0.04 || outside == 0 {
		t.Errorf("%v wide on average; %d ratios beyond what resamples show", wide, outside)
	}
}

package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFitRates_Published: deaths of AIDS in Australia by quarters from 1983 on (A. J. Dobson, An Introduction
// to Generalized Linear Models, 1990, after Whyte and others 1987). R's glm(deaths ~ quarter, poisson)
// prints an intercept of 0.33963 and a slope of 0.25652, with errors of 0.25119 and 0.02204.
func TestFitRates_Published(t *testing.T) {
	t.Parallel()
	var counts []Count
	for i, deaths := range []float64{0, 1, 2, 3, 1, 4, 9, 18, 23, 31, 20, 25, 37, 45} {
		counts = append(counts, Count{X: float64(i + 1), Exposure: 1, Events: deaths})
	}
	l, ok := FitRates(counts)
	if !ok || !within(l.Slope, 0.25652, 5e-6) || !within(math.Log(l.At(0)), 0.33963, 5e-6) {
		t.Fatalf("%v, slope %.5f, intercept %.5f", ok, l.Slope, math.Log(l.At(0)))
	}
	if slope := math.Sqrt(l.varSlope); !within(slope, 0.02204, 5e-6) {
		t.Errorf("error of the slope %.5f", slope)
	}
	if intercept := math.Sqrt(l.varLevel + l.varSlope*l.center*l.center); !within(intercept, 0.25119, 5e-6) {
		t.Errorf("error of the intercept %.5f", intercept)
	}
	if at := l.Where(l.At(7.5)); !near(at, 7.5) {
		t.Errorf("where the rate is that at 7.5: %v", at)
	}
	// Pearson's statistic over 12 degrees of freedom, by hand from those estimates.
	if !within(l.Dispersion, 2.4041, 1e-3) {
		t.Errorf("dispersion %.4f", l.Dispersion)
	}
	// Student's t with 12 degrees of freedom is beyond 2.1788 with 5 %. As far on the other side of the centre
	// the logarithm is known as well as at 0.
	reach := 2.1788 * 0.25119 * math.Sqrt(2.4041)
	for _, x := range []float64{0, 2 * l.center} {
		lo, hi := l.Interval(x, 0.95)
		if !within(math.Log(l.At(x)/lo), reach, 1e-3) || !within(math.Log(hi/l.At(x)), reach, 1e-3) {
			t.Errorf("at %v: [%v, %v] around %v", x, lo, hi, l.At(x))
		}
	}
	// With twice the exposure and twice the counts, the rate is the same, and known better.
	for i := range counts {
		counts[i].Exposure, counts[i].Events = 10, 10*counts[i].Events
	}
	if ten, _ := FitRates(counts); !near(ten.At(3), l.At(3)) || !near(ten.varSlope, l.varSlope/10) {
		t.Errorf("ten times as much: rate %v, not %v", ten.At(3), l.At(3))
	}
}

// clustered are counts of events in clusters, whose rate falls by the power of X.
func clustered(random *rand.Rand, xs []float64, rate func(x float64) float64, size, trials int) (counts []Count) {
	for _, x := range xs {
		for range trials {
			n := 0.0
			for at := random.ExpFloat64(); at < rate(x)/float64(size); at += random.ExpFloat64() {
				n += float64(size)
			}
			counts = append(counts, Count{X: x, Exposure: 1, Events: n})
		}
	}
	return counts
}

// TestFitRates_Coverage: the interval holds the rate in about 95 of 100, also where events come in clusters,
// at a setting that was measured and at one beside those.
func TestFitRates_Coverage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	rate := func(x float64) float64 { return 3 * math.Exp(-12*x) }
	xs := []float64{-0.1, -0.03, 0.02, 0.06}
	for _, size := range []int{1, 3} {
		const times = 1000
		held, beside, spread := 0, 0, 0.0
		for range times {
			l, ok := FitRates(clustered(random, xs, rate, size, 30))
			if !ok {
				t.Fatal("no line")
			}
			if lo, hi := l.Interval(0.02, 0.95); lo <= rate(0.02) && rate(0.02) <= hi {
				held++
			}
			if lo, hi := l.Interval(0.12, 0.95); lo <= rate(0.12) && rate(0.12) <= hi {
				beside++
			}
			spread += l.Dispersion / times
		}
		// the misfit of four settings, which only widens, makes the dispersion a little more
		if held < 930 || held > 990 || beside < 930 || beside > 990 {
			t.Errorf("clusters of %d: the interval held the rate %d and %d times in %d", size, held, beside, times)
		}
		if spread < float64(size)*0.95 || spread > float64(size)*1.4 {
			t.Errorf("clusters of %d: dispersion %v on average", size, spread)
		}
	}
}

// TestFitRates_Bent: counts that lie on no line say so, and have a wider interval.
func TestFitRates_Bent(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	xs := []float64{-0.3, -0.1, 0.1, 0.3}
	straight, _ := FitRates(clustered(random, xs, func(x float64) float64 { return 20 * math.Exp(-5*x) }, 1, 30))
	bent, _ := FitRates(clustered(random, xs, func(x float64) float64 {
		if x < 0 {
			return 20
		}
		return 1
	}, 1, 30))
	if straight.Misfit > 3 || bent.Misfit < 10 || bent.Dispersion < 10 {
		t.Errorf("misfit %v of a line, %v of a step", straight.Misfit, bent.Misfit)
	}
}

// TestFitRates_None: what has no line is none.
func TestFitRates_None(t *testing.T) {
	t.Parallel()
	for name, counts := range map[string][]Count{
		"no count":              nil,
		"no event":              {{0, 1, 0}, {1, 1, 0}},
		"all events at one end": {{0, 1, 5}, {1, 1, 0}},
	} {
		if l, ok := FitRates(counts); ok {
			t.Errorf("%s: %+v", name, l)
		}
	}
	l, ok := FitRates([]Count{{2, 4, 3}, {2, 4, 5}, {2, 4, 1}})
	if lo, hi := l.Interval(2, 0.95); !ok || l.Slope != 0 || !near(l.At(2), 0.75) || !(lo < 0.5 && hi > 1) ||
		!math.IsNaN(l.Where(1)) {
		t.Errorf("of one setting: %v, %+v: [%v, %v]", ok, l, lo, hi)
	}
}

// TestFitRates_Exact: lines, dispersions and misfits by hand.
func TestFitRates_Exact(t *testing.T) {
	t.Parallel()
	ln := math.Log
	for name, c := range map[string]struct {
		counts                    []Count
		slope, dispersion, misfit float64
		at0                       float64 // the rate
	}{
		"one count":               {[]Count{{0, 4, 3}}, 0, 1, 1, 0.75},
		"two settings":            {[]Count{{0, 1, 10}, {0.01, 1, 20}}, 100 * ln(2), 1, 1, 10},
		"an event, and five":      {[]Count{{0, 1, 1}, {1, 1, 5}}, ln(5), 1, 1, 1},
		"scattered, two":          {[]Count{{0, 1, 1}, {0, 1, 5}}, 0, 8. / 3, 1, 3},
		"scattered":               {[]Count{{0, 1, 3}, {0, 1, 5}, {0, 1, 1}}, 0, 4. / 3, 1, 3},
		"scattered less":          {[]Count{{0, 1, 3}, {0, 1, 3}, {0, 1, 4}, {0, 1, 2}}, 0, 1, 1, 3},
		"not a line":              {[]Count{{-1, 2, 10}, {0, 1, 2}, {0, 1, 2}, {1, 1, 5}, {1, 1, 5}}, 0, 3, 3, 4},
		"a line, as far as known": {[]Count{{-1, 2, 9}, {0, 2, 6}, {1, 2, 9}}, 0, 1, 0.75, 4},
		"rare":                    {[]Count{{0, 1e60, 3}}, 0, 1, 1, 3e-60},
		"steep":                   {[]Count{{0, 1, 1}, {1, 1e6, 1}}, -6 * ln(10), 1, 1, 1},
	} {
		l, ok := FitRates(c.counts)
		if !ok || !within(l.Slope, c.slope, 1e-8) || !within(l.At(0)/c.at0, 1, 1e-8) ||
			!within(l.Dispersion, c.dispersion, 1e-8) || !within(l.Misfit, c.misfit, 1e-8) {
			t.Errorf("%s: %v, %+v, rate %v", name, ok, l, l.At(0))
		}
		if lo, hi := l.Interval(0, 0.95); !(lo < l.At(0) && l.At(0) < hi) {
			t.Errorf("%s: [%v, %v] around %v", name, lo, hi, l.At(0))
		}
	}
	// Of one setting the rate is known as well at any other.
	l, _ := FitRates([]Count{{2, 1, 3}, {2, 1, 5}})
	lo, hi := l.Interval(2, 0.95)
	if from, to := l.Interval(5, 0.95); from != lo || to != hi {
		t.Errorf("[%v, %v] beside [%v, %v]", from, to, lo, hi)
	}
}

package link

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyRegions is a latency by measured round trips or by its own.
func anyRegions(t *rapid.T) Latency {
	l := &Regions{}
	if rapid.Bool().Draw(t, "jitter") {
		l.Sigma = rapid.Float64Range(0, 10).Draw(t, "sigma")
	}
	if rapid.Bool().Draw(t, "measured") {
		l.Places = rapid.SliceOfN(rapid.SampledFrom(Places), 1, 9).Draw(t, "places")
		return Latency{l}
	}
	l.Places = rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "places")
	for p := range l.Places {
		var row []time.Duration
		for q := range l.Places {
			least := int64(1)
			if p == q {
				least = 0
			}
			row = append(row, time.Duration(rapid.Int64Range(least, int64(longest)).Draw(t, "trip")))
		}
		l.RoundTrips = append(l.RoundTrips, row)
	}
	return Latency{l}
}

// TestMeasured_IsATable: who copies one by hand makes mistakes.
func TestMeasured_IsATable(t *testing.T) {
	t.Parallel()
	if len(measured) != len(Places) {
		t.Fatalf("%d rows for %d places", len(measured), len(Places))
	}
	sum := 0.0
	for p, row := range measured {
		if len(row) != len(Places) {
			t.Fatalf("%s: %d columns for %d places", Places[p], len(row), len(Places))
		}
		for q, trip := range row {
			if trip != measured[q][p] || (trip < 1) != (p == q) {
				t.Errorf("%s to %s: %v, back: %v", Places[p], Places[q], trip, measured[q][p])
			}
			if p < q {
				sum += trip
			}
		}
	}
	if math.Abs(sum-5570.7) > 0.05 {
		t.Errorf("sum of Table 1c is %v", sum)
	}
}

func TestFlow_HasTheLatencyOfItsPlaces(t *testing.T) {
	t.Parallel()
	own := Latency{Law: &Regions{Places: []string{"here", "there"},
		RoundTrips: [][]time.Duration{{ms, 10 * ms}, {20 * ms, 3 * ms}}}}
	known := Latency{Law: &Regions{Places: []string{"virginia", "tokyo", "virginia"}}}
	for _, test := range []struct {
		l        Latency
		from, to uint32
		want     time.Duration
	}{
		{known, 1, 2, 101_200 * time.Microsecond}, {known, 2, 1, 101_200 * time.Microsecond},
		{known, 1, 3, 275 * time.Microsecond}, {known, 2, 2, 275 * time.Microsecond},
		{known, 4, 5, 101_200 * time.Microsecond}, // round again
		{known, 2, 5, 275 * time.Microsecond},
		{own, 1, 2, 5 * ms}, {own, 2, 1, 10 * ms}, {own, 1, 3, ms / 2}, {own, 4, 2, 3 * ms / 2},
	} {
		n := Network{Latency: test.l}
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
		f := n.Flow(0, test.from, 0, test.to)
		if got := n.Send(&f, 0, 0, nil).Due; got != test.want {
			t.Errorf("%v: %d to %d takes %v, want %v", test.l.Places(), test.from, test.to, got, test.want)
		}
	}
}

// TestRegions_JitterHasMedianOne: what is far stays far, and varies in proportion.
func TestRegions_JitterHasMedianOne(t *testing.T) {
	t.Parallel()
	l := Latency{Law: &Regions{Places: []string{"oregon", "singapore"}, Sigma: 0.2}}
	n := Network{Latency: l, Unordered: true, Seed: 1}
	f := n.Flow(0, 1, 0, 2)
	const count = 50_001
	drawn := make([]float64, count)
	for i := range drawn {
		drawn[i] = float64(n.Send(&f, 0, 0, nil).Due) / float64(117_200*time.Microsecond)
	}
	slices.Sort(drawn)
	var mean, square float64
	for _, x := range drawn {
		mean += math.Log(x) / count
		square += math.Log(x) * math.Log(x) / count
	}
	// Intervals that 99.9 % of all seeds hit: of a normal mean and of its deviation.
	if spread := 3.2905 * 0.2 / math.Sqrt(count); math.Abs(mean) > spread {
		t.Errorf("mean of the logarithms %v, want 0 ± %v", mean, spread)
	}
	sigma := math.Sqrt(square - mean*mean)
	if spread := 3.2905 * 0.2 / math.Sqrt(2*count); math.Abs(sigma-0.2) > spread {
		t.Errorf("sigma %v, want 0.2 ± %v", sigma, spread)
	}
}

func TestRegions_BoundAndAverage(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	places := func(names ...string) Latency { return Latency{Law: &Regions{Places: names}} }
	own := Latency{&Regions{Places: []string{"a", "b"}, RoundTrips: [][]time.Duration{{ms, 10 * ms}, {20 * ms, 30 * ms}}}}
	jitter := Latency{&Regions{Places: []string{"california", "oregon"}, Sigma: 0.5}}
	for name, test := range map[string]struct {
		l              Latency
		bound, average time.Duration
		bounded        bool
	}{
		"three": {places("california", "oregon", "virginia"), 42_250 * us, (22_500 + 84_500 + 82_900) * us / 6, true},
		"one":   {places("tokyo"), 275 * us, 275 * us, true},
		"two of three together": {places("tokyo", "tokyo", "sydney"), 72_100 * us,
			(550 + 144_200 + 144_200) * us / 6, true},
		"own":    {own, 15 * ms, 7500 * us, true},
		"jitter": {jitter, time.Duration(11_250_000 * math.Exp(0.5*3.0902323061678132)), time.Duration(11_250_000 * math.Exp(0.125)), false},
	} {
		if err := test.l.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		near := func(a, b time.Duration) bool { return (a - b).Abs() < 3*time.Nanosecond }
		if got, bounded := test.l.Bound(); !near(got, test.bound) || bounded != test.bounded {
			t.Errorf("%s: bound %v, %v, want %v, %v", name, got, bounded, test.bound, test.bounded)
		}
		if got := test.l.Average(); !near(got, test.average) {
			t.Errorf("%s: average %v, want %v", name, got, test.average)
		}
	}
}

// TestRegions_BoundHolds for every link of a system of any size.
func TestRegions_BoundHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyRegions(t)
		n := Network{Latency: l}
		bound, bounded := l.Bound()
		if l.Law.(*Regions).Sigma == 0 && !bounded {
			t.Fatalf("%+v is not bounded", l)
		}
		f := n.Flow(0, rapid.Uint32().Draw(t, "from"), 0, rapid.Uint32().Draw(t, "to"))
		if got, _ := f.law.bound(); got > bound {
			t.Fatalf("a link of %+v takes up to %v, beyond %v", l, got, bound)
		}
	})
}

func TestRegions_SurvivesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := anyNetwork(t)
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		var got Network
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, n) {
			t.Fatalf("%s reads as %+v (%v), want %+v", text, got, err, n)
		}
	})
}

func TestRegionsCheck(t *testing.T) {
	t.Parallel()
	own := func(places []string, trips ...[]time.Duration) Latency {
		return Latency{Law: &Regions{Places: places, RoundTrips: trips}}
	}
	two := []string{"a", "b"}
	for name, test := range map[string]struct {
		l    Latency
		want string
	}{
		"measured":    {own(Places[:3]), ""},
		"own":         {own(two, []time.Duration{0, 1}, []time.Duration{2, 0}), ""},
		"no places":   {own(nil), "regions without places"},
		"unknown":     {own([]string{"tokyo", "mars"}), `unknown place "mars" (has: california, oregon, `},
		"few rows":    {own(two, []time.Duration{0, 1}), "1 rows of round_trips for 2 places"},
		"few columns": {own(two, []time.Duration{0, 1}, []time.Duration{1}), `from "b": 1 of them for 2`},
		"a triangle": {own(two, []time.Duration{0, 1}, []time.Duration{0, 0}),
			`round trip from "b" to "a": 0s, expected a duration above 0`},
		"negative": {own(two, []time.Duration{-1, 1}, []time.Duration{1, 0}), `from "a" to "a": -1ns`},
		"too long": {own(two, []time.Duration{0, longest + 1}, []time.Duration{1, 0}), "at most 24h"},
		"sigma":    {Latency{Law: &Regions{Places: Places, Sigma: -1}}, "sigma -1: expected 0 to 10"},
		"NaN":      {Latency{Law: &Regions{Places: Places, Sigma: math.NaN()}}, "sigma NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, test.l.Check(), test.want)
			wantError(t, test.l.CheckSpan(), "depends on no link")
		})
	}
	l := Constant(ms)
	wantError(t, l.CheckSpan(), "")
	wantError(t, (&Latency{}).CheckSpan(), "unknown distribution")
}

package link

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// anyLatency is a latency of any distribution that Check accepts, but of no link.
func anyLatency(t *rapid.T) Latency {
	var names []string
	for _, d := range Distributions {
		if !d.Links() {
			names = append(names, d.Name)
		}
	}
	duration := func(name string, from, to time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(from), int64(to)).Draw(t, name))
	}
	l := Latency{Distribution: rapid.SampledFrom(names).Draw(t, "distribution")}
	switch l.Distribution {
	case "constant":
		l.Mean = duration("mean", 0, longest)
	case "uniform":
		l.Min = duration("min", 0, longest)
		l.Max = duration("max", l.Min, longest)
	case "normal":
		l.Mean, l.Spread = duration("mean", 0, longest), duration("spread", 0, longest)
		l.Min = duration("min", 0, longest)
	case "lognormal":
		l.Median = duration("median", 1, longest)
		l.Sigma = rapid.Float64Range(0, 10).Draw(t, "sigma")
	case "exponential":
		l.Mean = duration("mean", 0, longest)
		l.Min = duration("min", 0, l.Mean)
	case "pareto":
		l.Min = duration("min", 1, longest)
		l.Alpha = rapid.Float64Range(math.SmallestNonzeroFloat64, 1000).Draw(t, "alpha")
	case "quantiles":
		l.Values = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return duration("value", 0, longest)
		}), 2, 9).Draw(t, "values")
		slices.Sort(l.Values)
	}
	if l.Max == 0 && rapid.Bool().Draw(t, "cut off") {
		l.Max = duration("max", max(l.Min, 1), longest)
	}
	if err := l.CheckSpan(); err != nil {
		t.Fatalf("%+v: %v", l, err)
	}
	return l
}

func TestDraw_StaysInBoundsAndRisesWithU(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLatency(t)
		us := []uint64{0, 1, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1<<11, math.MaxUint64}
		us = append(us, rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "u")...)
		slices.Sort(us)
		bound, bounded := l.Bound()
		cut := l.Max > 0 && !slices.Contains([]string{"constant", "quantiles"}, l.Distribution)
		last := time.Duration(0)
		for _, u := range us {
			d := l.Draw(u)
			switch {
			case d < 0 || d > longest || d < last:
				t.Fatalf("%+v: draw(%#x) = %v after %v", l, u, d, last)
			case bounded && d > bound:
				t.Fatalf("%+v: draw(%#x) = %v above its bound %v", l, u, d, bound)
			case cut && d > l.Max:
				t.Fatalf("%+v: draw(%#x) = %v above its max", l, u, d)
			case cut && d < l.Min:
				t.Fatalf("%+v: draw(%#x) = %v below its min", l, u, d)
			}
			last = d
		}
		if !bounded && l.Draw(math.MaxUint64) <= bound {
			t.Fatalf("%+v: no draw is above %v, yet it is called unbounded", l, bound)
		}
		if average := l.Average(); average < 0 || average > longest {
			t.Fatalf("%+v: average %v", l, average)
		}
	})
}

func TestDraw_AtTheEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		l           Latency
		least, most time.Duration
	}{
		"constant":  {l: Constant(5 * ms), least: 5 * ms, most: 5 * ms},
		"zero":      {l: Constant(0)},
		"uniform":   {l: Uniform(ms, 3*ms), least: ms, most: 3 * ms},
		"one value": {l: Uniform(ms, ms), least: ms, most: ms},
		"longest":   {l: Uniform(0, longest), most: longest},
		"quantiles": {
			l:     Latency{Distribution: "quantiles", Values: []time.Duration{ms, ms, 4 * ms, 9 * ms}},
			least: ms, most: 9 * ms,
		},
		"normal without spread": {l: Latency{Distribution: "normal", Mean: ms}, least: ms, most: ms},
		"normal, cut off": {
			l:    Latency{Distribution: "normal", Mean: 2 * ms, Spread: ms, Max: 4 * ms},
			most: 4 * ms,
		},
		"normal, cut off below": {
			l:     Latency{Distribution: "normal", Mean: 2 * ms, Spread: ms, Min: ms, Max: 4 * ms},
			least: ms, most: 4 * ms,
		},
		"lognormal without sigma": {
			l: Latency{Distribution: "lognormal", Median: ms}, least: ms, most: ms,
		},
		"lognormal, steep": {
			l:    Latency{Distribution: "lognormal", Median: longest, Sigma: 10},
			most: longest,
		},
		"exponential, all fixed": {
			l: Latency{Distribution: "exponential", Mean: ms, Min: ms}, least: ms, most: ms,
		},
		"exponential": {
			l:     Latency{Distribution: "exponential", Mean: 3 * ms, Min: ms, Max: 9 * ms},
			least: ms, most: 9 * ms,
		},
		"pareto": {
			l:     Latency{Distribution: "pareto", Min: ms, Alpha: 0.001},
			least: ms, most: longest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := test.l.Check(); err != nil {
				t.Fatal(err)
			}
			least, most := test.l.Draw(0), test.l.Draw(math.MaxUint64)
			if name == "lognormal, steep" { // far below, but above 0
				least = 0
			}
			if least != test.least || most != test.most {
				t.Errorf("from %v to %v, want %v to %v", least, most, test.least, test.most)
			}
			if got, bounded := test.l.Bound(); test.most < longest && (got != most || !bounded) {
				t.Errorf("bound %v, %v, want %v, true", got, bounded, most)
			}
		})
	}
}

func TestUnit_IsOpen(t *testing.T) {
	t.Parallel()
	if lo, hi := unit(0), unit(math.MaxUint64); lo <= 0 || hi >= 1 || lo+hi != 1 {
		t.Errorf("from %v to %v, want both inside of (0, 1), alike far from the ends", lo, hi)
	}
}

// TestDraw_MatchesTheory draws at evenly spaced u, so that there is no luck in
// it, and compares with the formulas of the distributions.
func TestDraw_MatchesTheory(t *testing.T) {
	t.Parallel()
	const median, p99 = 0.5, 0.99
	z99 := 2.3263478740408408 // of the standard normal distribution
	scale := func(f float64) time.Duration { return time.Duration(f * float64(ms)) }
	for name, test := range map[string]struct {
		l                 Latency
		mean, median, p99 time.Duration
	}{
		"constant": {Constant(2 * ms), 2 * ms, 2 * ms, 2 * ms},
		"uniform":  {Uniform(ms, 5*ms), 3 * ms, 3 * ms, scale(4.96)},
		"normal": {Latency{Distribution: "normal", Mean: 10 * ms, Spread: ms},
			10 * ms, 10 * ms, scale(10 + z99)},
		"normal, cut off in the middle": {
			Latency{Distribution: "normal", Mean: 10 * ms, Spread: ms, Min: 10 * ms},
			scale(10 + 1/math.Sqrt(2*math.Pi)), 10 * ms, scale(10 + z99)},
		"lognormal": {Latency{Distribution: "lognormal", Median: ms, Sigma: 0.5},
			scale(math.Exp(0.125)), ms, scale(math.Exp(0.5 * z99))},
		"exponential": {Latency{Distribution: "exponential", Mean: ms},
			ms, scale(math.Ln2), scale(math.Log(100))},
		"exponential, partly fixed": {Latency{Distribution: "exponential", Mean: 3 * ms, Min: ms},
			3 * ms, scale(1 + 2*math.Ln2), scale(1 + 2*math.Log(100))},
		"pareto": {Latency{Distribution: "pareto", Min: ms, Alpha: 3},
			scale(1.5), scale(math.Cbrt(2)), scale(math.Cbrt(100))},
		"quantiles": {
			Latency{Distribution: "quantiles", Values: []time.Duration{0, ms, 2 * ms, 3 * ms, 103 * ms}},
			scale((0.5 + 1.5 + 2.5 + 53) / 4), 2 * ms, scale(3 + 100*0.96)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := test.l.Check(); err != nil {
				t.Fatal(err)
			}
			const count = 1 << 15
			mean := 0.0
			for i := range uint64(count) {
				mean += float64(test.l.Draw(i<<49+1<<48)) / count
			}
			near := func(what string, got, want time.Duration, tolerance float64) {
				t.Helper()
				if math.Abs(float64(got-want)) > tolerance*float64(want)+2 {
					t.Errorf("%s %v, want %v", what, got, want)
				}
			}
			near("mean", time.Duration(mean), test.mean, 1e-3)
			at := func(p float64) time.Duration { return test.l.Draw(uint64(p * 0x1p64)) }
			near("median", at(median), test.median, 1e-9)
			near("99th percentile", at(p99), test.p99, 1e-9)
			near("quantile function", test.l.quantile(p99), test.p99, 1e-9)

			// And by luck, through the network.
			n := Network{Latency: test.l, Unordered: true, Seed: 3}
			f := n.Flow(0, 1, 0, 2)
			drawn := make([]time.Duration, 50_000)
			mean = 0
			for i := range drawn {
				drawn[i] = n.Send(&f, 0, 0, nil).Due
				mean += float64(drawn[i]) / float64(len(drawn))
			}
			slices.Sort(drawn)
			near("mean of sends", time.Duration(mean), test.mean, 0.025)
			near("median of sends", drawn[len(drawn)/2], test.median, 0.025)
			near("99th percentile of sends", drawn[len(drawn)*99/100], test.p99, 0.05)
		})
	}
}

// TestDraw_LuckIsFixed: results that were published must come out again.
func TestDraw_LuckIsFixed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		l        Latency
		floating bool // then the hash is that of amd64
		want     uint64
	}{
		{Constant(1234567), false, 0x7a61f8202c984cc5},
		{Uniform(ms, 7*ms), false, 0xc762a21df3e4042a},
		{Latency{Distribution: "quantiles", Values: []time.Duration{ms, 2 * ms, 3 * ms, 9 * ms}},
			false, 0xb8ea5544d76a5df9},
		{Latency{Distribution: "normal", Mean: 5 * ms, Spread: 2 * ms, Min: ms},
			true, 0x549e5010857eaf0},
		{Latency{Distribution: "lognormal", Median: 2 * ms, Sigma: 0.7, Max: 20 * ms},
			true, 0x3be37ce485a1fb98},
		{Latency{Distribution: "exponential", Mean: 3 * ms, Min: ms},
			true, 0xcc6103c861bab1a2},
		{Latency{Distribution: "pareto", Min: ms, Alpha: 2.5},
			true, 0x83feabd53a4f9fb6},
	} {
		t.Run(test.l.Distribution, func(t *testing.T) {
			t.Parallel()
			if test.floating && runtime.GOARCH != "amd64" {
				t.Skipf("floating point of %s", runtime.GOARCH)
			}
			h := fnv.New64a()
			for k := range uint64(10_000) {
				h.Write(binary.LittleEndian.AppendUint64(nil, uint64(test.l.Draw(Mix(k)))))
			}
			if got := h.Sum64(); got != test.want {
				t.Errorf("hash of 10000 draws %#x, want %#x", got, test.want)
			}
		})
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	const z999 = 3.0902323061678132
	us := func(f float64) time.Duration { return time.Duration(f * float64(time.Microsecond)) }
	for name, test := range map[string]struct {
		l       Latency
		bound   time.Duration
		bounded bool
	}{
		"constant": {Constant(3 * ms), 3 * ms, true},
		"uniform":  {Uniform(ms, 5*ms), 5 * ms, true},
		"quantiles": {Latency{Distribution: "quantiles", Values: []time.Duration{0, ms, 8 * ms}},
			8 * ms, true},
		"normal": {Latency{Distribution: "normal", Mean: 10 * ms, Spread: ms},
			us(10_000 + 1000*z999), false},
		"normal, cut off": {Latency{Distribution: "normal", Mean: 10 * ms, Spread: ms, Max: 20 * ms},
			20 * ms, true},
		"normal without spread": {Latency{Distribution: "normal", Mean: ms}, ms, true},
		"lognormal": {Latency{Distribution: "lognormal", Median: ms, Sigma: 0.5},
			us(1000 * math.Exp(0.5*z999)), false},
		"lognormal, cut off": {Latency{Distribution: "lognormal", Median: ms, Sigma: 0.5, Max: 9 * ms},
			9 * ms, true},
		"lognormal without sigma": {Latency{Distribution: "lognormal", Median: ms}, ms, true},
		"exponential": {Latency{Distribution: "exponential", Mean: ms},
			us(1000 * math.Log(1000)), false},
		"exponential, all fixed": {Latency{Distribution: "exponential", Mean: ms, Min: ms}, ms, true},
		"exponential, cut off": {Latency{Distribution: "exponential", Mean: ms, Max: 5 * ms},
			5 * ms, true},
		"pareto": {Latency{Distribution: "pareto", Min: ms, Alpha: 2},
			us(1000 * math.Sqrt(1000)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := test.l.Check(); err != nil {
				t.Fatal(err)
			}
			near := func(a, b time.Duration) bool { return (a - b).Abs() < 2*time.Nanosecond }
			bound, bounded := test.l.Bound()
			if !near(bound, test.bound) || bounded != test.bounded {
				t.Errorf("bound %v, %v, want %v, %v", bound, bounded, test.bound, test.bounded)
			}
		})
	}
}

func TestLatencyCheck(t *testing.T) {
	t.Parallel()
	lognormal := func(median time.Duration, sigma float64) Latency {
		return Latency{Distribution: "lognormal", Median: median, Sigma: sigma}
	}
	pareto := func(least time.Duration, alpha float64) Latency {
		return Latency{Distribution: "pareto", Min: least, Alpha: alpha}
	}
	quantiles := func(values ...time.Duration) Latency {
		return Latency{Distribution: "quantiles", Values: values}
	}
	for name, test := range map[string]struct {
		l    Latency
		want string
	}{
		"zero":                 {Constant(0), ""},
		"longest":              {Constant(longest), ""},
		"too long":             {Constant(longest + 1), "want a duration from 0 to 24h0m0s"},
		"negative":             {Constant(-1), "-1ns, want a duration from 0"},
		"negative min":         {Uniform(-ms, ms), "-1ms, want a duration from 0"},
		"too long max":         {Uniform(0, math.MaxInt64), "want a duration from 0"},
		"negative median":      {lognormal(-ms, 1), "-1ms, want a duration from 0"},
		"negative spread":      {Latency{Distribution: "normal", Spread: -ms}, "-1ms, want a duration"},
		"negative value":       {quantiles(-ms, 0), "-1ms, want a duration from 0"},
		"too long a value":     {quantiles(0, longest+1), "want a duration from 0"},
		"uniform, one value":   {Uniform(ms, ms), ""},
		"uniform, nothing":     {Uniform(0, 0), ""},
		"uniform, swapped":     {Uniform(2*ms, ms), "max 1ms is below min 2ms"},
		"uniform, no max":      {Uniform(2*ms, 0), "uniform from 2ms to 0s: max is below min"},
		"normal":               {Latency{Distribution: "normal", Mean: ms, Spread: ms}, ""},
		"normal, swapped":      {Latency{Distribution: "normal", Min: 2, Max: 1}, "max 1ns is below"},
		"lognormal":            {lognormal(ms, 0), ""},
		"lognormal, no median": {lognormal(0, 1), "want a median above 0"},
		"lognormal, sigma":     {lognormal(ms, -1), "a sigma from 0 to 10"},
		"lognormal, wide":      {lognormal(ms, 10.1), "a sigma from 0 to 10"},
		"lognormal, NaN":       {lognormal(ms, math.NaN()), "a sigma from 0 to 10"},
		"exponential":          {Latency{Distribution: "exponential", Mean: ms, Min: ms}, ""},
		"exponential, fixed": {Latency{Distribution: "exponential", Mean: ms, Min: 2 * ms},
			"mean 1ms below its fixed part min 2ms"},
		"pareto":               {pareto(ms, 1000), ""},
		"pareto, no min":       {pareto(0, 1), "want both above 0"},
		"pareto, no alpha":     {pareto(ms, 0), "want both above 0"},
		"pareto, NaN":          {pareto(ms, math.NaN()), "want both above 0"},
		"pareto, infinite":     {pareto(ms, math.Inf(1)), "want both above 0"},
		"quantiles":            {quantiles(0, 0, ms), ""},
		"quantiles, one":       {quantiles(ms), "want two or more, ascending"},
		"quantiles, unordered": {quantiles(2*ms, ms), "want two or more, ascending"},
		"unknown": {Latency{Distribution: "gauss"}, `unknown distribution "gauss" (has: constant, ` +
			"uniform, normal, lognormal, exponential, pareto, quantiles, regions, cities, recorded)"},
		"none": {Latency{}, `unknown distribution ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, test.l.Check(), test.want)
		})
	}
}

func TestDraw_PanicsIfNotChecked(t *testing.T) {
	t.Parallel()
	defer func() {
		const want = `latency: unknown distribution "" was not checked`
		if got := fmt.Sprint(recover()); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	(&Latency{}).Draw(1)
}

// TestDistributions: each is declared in full: what it takes, and what it does.
func TestDistributions(t *testing.T) {
	t.Parallel()
	for _, d := range Distributions {
		if d.Doc == "" || d.Formula == "" || d.Mean == "" || d.Required < 0 || d.Required > len(d.Keys) {
			t.Errorf("%s: doc %q, formula %q, mean %q, %d of %v required", d.Name, d.Doc, d.Formula,
				d.Mean, d.Required, d.KeyNames())
		}
		if ways := given(d.quantile != nil) + given(d.draw != nil) + given(d.trips != nil) + given(d.series); ways != 1 {
			t.Errorf("%s: %d of quantile, draw, trips and series, want one", d.Name, ways)
		}
		if d.Links() == (d.average != nil) {
			t.Errorf("%s: of links %v, with an average of its own %v", d.Name, d.Links(), d.average != nil)
		}
		for _, k := range d.Keys {
			switch v := k.Of(&Latency{}).(type) {
			case *time.Duration, *[]time.Duration, *[]string, *[][]time.Duration, *[]Pair:
			case *float64:
				if k.Most <= 0 {
					t.Errorf("%s: %s: from 0 to %v", d.Name, k.Name, k.Most)
				}
			default:
				t.Errorf("%s: %s is a %T, which stands in no experiment file", d.Name, k.Name, v)
			}
		}
	}
}

func given(is bool) int { return map[bool]int{true: 1}[is] }

// TestLiteral: what an experiment file says of a latency.
func TestLiteral(t *testing.T) {
	t.Parallel()
	trips := [][]time.Duration{{0, ms}, {ms, 0}}
	for want, l := range map[string]Latency{
		"20ms": Constant(20 * ms),
		"{distribution: uniform, min: 0s, max: 3ms}":           Uniform(0, 3*ms),
		"{distribution: normal, mean: 2ms, sigma: 1ms}":        {Distribution: "normal", Mean: 2 * ms, Spread: ms},
		"{distribution: pareto, min: 1ms, alpha: 2.5}":         {Distribution: "pareto", Min: ms, Alpha: 2.5},
		"{distribution: quantiles, values: [0s, 1ms]}":         {Distribution: "quantiles", Values: trips[0]},
		`{distribution: regions, places: ["tokyo", "oregon"]}`: {Distribution: "regions", Places: []string{"tokyo", "oregon"}},
		`{distribution: regions, places: ["a", "b b"], round_trips: [[0s, 1ms], [1ms, 0s]]}`: {
			Distribution: "regions", Places: []string{"a", "b b"}, RoundTrips: trips},
	} {
		if got := l.Literal(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestDistributions_AreDefined: docs/methodology.md defines every distribution as it is
// declared.
func TestDistributions_AreDefined(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/methodology.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Distributions {
		var keys string
		if d.Required > 0 {
			keys = "`" + strings.Join(d.KeyNames()[:d.Required], "`, `") + "` "
		}
		if more := d.KeyNames()[d.Required:]; len(more) > 0 {
			keys += "(`" + strings.Join(more, "`, `") + "`)"
		}
		keys = strings.TrimSpace(keys)
		row := fmt.Sprintf("| `%s` | %s | %s | %s |", d.Name, keys, d.Formula, d.Mean)
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/methodology.md, Latency: want the row\n%s", row)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, l := range []Latency{
		Constant(ms), Uniform(0, ms),
		{Distribution: "normal", Mean: ms, Spread: ms / 10},
		{Distribution: "lognormal", Median: ms, Sigma: 0.5},
		{Distribution: "exponential", Mean: ms},
		{Distribution: "pareto", Min: ms, Alpha: 2},
		{Distribution: "quantiles", Values: []time.Duration{0, ms, 2 * ms}},
	} {
		b.Run(l.Distribution, func(b *testing.B) {
			u := uint64(0)
			for b.Loop() {
				u += golden
				l.Draw(u)
			}
		})
	}
}

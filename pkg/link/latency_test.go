package link

import (
	"encoding/binary"
	"encoding/json"
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

	"github.com/conclave-bench/conclave/pkg/param"
)

const ms = time.Millisecond

// anyLatency is a latency of any distribution that Check accepts, but of no link.
func anyLatency(t *rapid.T) Latency {
	all := slices.DeleteFunc(slices.Clone(Distributions()), (*Distribution).Links)
	return rapid.Custom(func(t *rapid.T) Latency {
		l := Latency{param.New(rapid.SampledFrom(all).Draw(t, "distribution").Law)}
		for _, p := range l.Law.Params() {
			if p.Required || rapid.Bool().Draw(t, "with "+p.Name) {
				give(t, &p)
			}
		}
		return l
	}).Filter(func(l Latency) bool { return l.CheckSpan() == nil }).Draw(t, "latency")
}

// give draws a value of a declared parameter.
func give(t *rapid.T, p *param.Param) {
	duration := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(longest)).Draw(t, p.Name))
	})
	switch at := p.At.(type) {
	case *time.Duration:
		*at = duration.Draw(t, p.Name)
	case *[]time.Duration:
		*at = rapid.SliceOfN(duration, 2, 9).Draw(t, p.Name)
		slices.Sort(*at)
	case *float64:
		*at = rapid.Float64Range(0, float64(p.Max.(int))).Draw(t, p.Name)
	default:
		t.Fatalf("%s is a %T: say here how one is drawn", p.Name, at)
	}
}

// ends are the parameters min and max, where there are such.
func ends(l Latency) (least, most time.Duration) {
	for _, p := range l.Law.Params() {
		switch p.Name {
		case "min":
			least = p.Value().(time.Duration)
		case "max":
			most = p.Value().(time.Duration)
		}
	}
	return least, most
}

func TestDraw_StaysInBoundsAndRisesWithU(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLatency(t)
		us := []uint64{0, 1, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1<<11, math.MaxUint64}
		us = append(us, rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "u")...)
		slices.Sort(us)
		bound, bounded := l.Bound()
		least, most := ends(l)
		last := time.Duration(0)
		for _, u := range us {
			d := l.Draw(u)
			switch {
			case d < 0 || d > longest || d < last:
				t.Fatalf("%+v: draw(%#x) = %v after %v", l, u, d, last)
			case bounded && d > bound:
				t.Fatalf("%+v: draw(%#x) = %v above its bound %v", l, u, d, bound)
			case most > 0 && d > most:
				t.Fatalf("%+v: draw(%#x) = %v above its max", l, u, d)
			case most > 0 && d < least:
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
			l:     Latency{Law: &Quantiles{Values: []time.Duration{ms, ms, 4 * ms, 9 * ms}}},
			least: ms, most: 9 * ms,
		},
		"normal without spread": {l: Latency{Law: &Normal{Mean: ms}}, least: ms, most: ms},
		"normal, cut off": {
			l:    Latency{Law: &Normal{Mean: 2 * ms, Sigma: ms, Max: 4 * ms}},
			most: 4 * ms,
		},
		"normal, cut off below": {
			l:     Latency{Law: &Normal{Mean: 2 * ms, Sigma: ms, Min: ms, Max: 4 * ms}},
			least: ms, most: 4 * ms,
		},
		"lognormal without sigma": {
			l: Latency{Law: &Lognormal{Median: ms}}, least: ms, most: ms,
		},
		"lognormal, steep": {
			l:    Latency{Law: &Lognormal{Median: longest, Sigma: 10}},
			most: longest,
		},
		"exponential, all fixed": {
			l: Latency{Law: &Exponential{Mean: ms, Min: ms}}, least: ms, most: ms,
		},
		"exponential": {
			l:     Latency{Law: &Exponential{Mean: 3 * ms, Min: ms, Max: 9 * ms}},
			least: ms, most: 9 * ms,
		},
		"pareto": {
			l:     Latency{Law: &Pareto{Min: ms, Alpha: 0.001}},
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
		"normal": {Latency{Law: &Normal{Mean: 10 * ms, Sigma: ms}},
			10 * ms, 10 * ms, scale(10 + z99)},
		"normal, cut off in the middle": {
			Latency{Law: &Normal{Mean: 10 * ms, Sigma: ms, Min: 10 * ms}},
			scale(10 + 1/math.Sqrt(2*math.Pi)), 10 * ms, scale(10 + z99)},
		"lognormal": {Latency{Law: &Lognormal{Median: ms, Sigma: 0.5}},
			scale(math.Exp(0.125)), ms, scale(math.Exp(0.5 * z99))},
		"exponential": {Latency{Law: &Exponential{Mean: ms}},
			ms, scale(math.Ln2), scale(math.Log(100))},
		"exponential, partly fixed": {Latency{Law: &Exponential{Mean: 3 * ms, Min: ms}},
			3 * ms, scale(1 + 2*math.Ln2), scale(1 + 2*math.Log(100))},
		"pareto": {Latency{Law: &Pareto{Min: ms, Alpha: 3}},
			scale(1.5), scale(math.Cbrt(2)), scale(math.Cbrt(100))},
		"quantiles": {
			Latency{Law: &Quantiles{Values: []time.Duration{0, ms, 2 * ms, 3 * ms, 103 * ms}}},
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
		{Latency{Law: &Quantiles{Values: []time.Duration{ms, 2 * ms, 3 * ms, 9 * ms}}},
			false, 0xb8ea5544d76a5df9},
		{Latency{Law: &Normal{Mean: 5 * ms, Sigma: 2 * ms, Min: ms}},
			true, 0x549e5010857eaf0},
		{Latency{Law: &Lognormal{Median: 2 * ms, Sigma: 0.7, Max: 20 * ms}},
			true, 0x3be37ce485a1fb98},
		{Latency{Law: &Exponential{Mean: 3 * ms, Min: ms}},
			true, 0xcc6103c861bab1a2},
		{Latency{Law: &Pareto{Min: ms, Alpha: 2.5}},
			true, 0x83feabd53a4f9fb6},
	} {
		t.Run(test.l.Distribution(), func(t *testing.T) {
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
		"quantiles": {Latency{Law: &Quantiles{Values: []time.Duration{0, ms, 8 * ms}}},
			8 * ms, true},
		"normal": {Latency{Law: &Normal{Mean: 10 * ms, Sigma: ms}},
			us(10_000 + 1000*z999), false},
		"normal, cut off": {Latency{Law: &Normal{Mean: 10 * ms, Sigma: ms, Max: 20 * ms}},
			20 * ms, true},
		"normal without spread": {Latency{Law: &Normal{Mean: ms}}, ms, true},
		"lognormal": {Latency{Law: &Lognormal{Median: ms, Sigma: 0.5}},
			us(1000 * math.Exp(0.5*z999)), false},
		"lognormal, cut off": {Latency{Law: &Lognormal{Median: ms, Sigma: 0.5, Max: 9 * ms}},
			9 * ms, true},
		"lognormal without sigma": {Latency{Law: &Lognormal{Median: ms}}, ms, true},
		"exponential": {Latency{Law: &Exponential{Mean: ms}},
			us(1000 * math.Log(1000)), false},
		"exponential, all fixed": {Latency{Law: &Exponential{Mean: ms, Min: ms}}, ms, true},
		"exponential, cut off": {Latency{Law: &Exponential{Mean: ms, Max: 5 * ms}},
			5 * ms, true},
		"pareto": {Latency{Law: &Pareto{Min: ms, Alpha: 2}},
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
		return Latency{Law: &Lognormal{Median: median, Sigma: sigma}}
	}
	pareto := func(least time.Duration, alpha float64) Latency {
		return Latency{Law: &Pareto{Min: least, Alpha: alpha}}
	}
	quantiles := func(values ...time.Duration) Latency {
		return Latency{Law: &Quantiles{Values: values}}
	}
	for name, test := range map[string]struct {
		l    Latency
		want string
	}{
		"zero":                 {Constant(0), ""},
		"longest":              {Constant(longest), ""},
		"too long":             {Constant(longest + 1), "expected a duration from 0 to 24h0m0s"},
		"negative":             {Constant(-1), "-1ns, expected a duration from 0"},
		"negative min":         {Uniform(-ms, ms), "-1ms, expected a duration from 0"},
		"too long max":         {Uniform(0, math.MaxInt64), "expected a duration from 0"},
		"negative median":      {lognormal(-ms, 1), "-1ms, expected a duration from 0"},
		"negative spread":      {Latency{Law: &Normal{Sigma: -ms}}, "-1ms, expected a duration"},
		"negative value":       {quantiles(-ms, 0), "-1ms, expected a duration from 0"},
		"too long a value":     {quantiles(0, longest+1), "expected a duration from 0"},
		"uniform, one value":   {Uniform(ms, ms), ""},
		"uniform, nothing":     {Uniform(0, 0), ""},
		"uniform, swapped":     {Uniform(2*ms, ms), "max 1ms is below min 2ms"},
		"uniform, no max":      {Uniform(2*ms, 0), "uniform from 2ms to 0s: max is below min"},
		"normal":               {Latency{Law: &Normal{Mean: ms, Sigma: ms}}, ""},
		"normal, swapped":      {Latency{Law: &Normal{Min: 2, Max: 1}}, "max 1ns is below"},
		"lognormal":            {lognormal(ms, 0), ""},
		"lognormal, no median": {lognormal(0, 1), "expected a median above 0"},
		"lognormal, sigma":     {lognormal(ms, -1), "a sigma from 0 to 10"},
		"lognormal, wide":      {lognormal(ms, 10.1), "a sigma from 0 to 10"},
		"lognormal, NaN":       {lognormal(ms, math.NaN()), "a sigma from 0 to 10"},
		"exponential":          {Latency{Law: &Exponential{Mean: ms, Min: ms}}, ""},
		"exponential, fixed": {Latency{Law: &Exponential{Mean: ms, Min: 2 * ms}},
			"mean 1ms below its fixed part min 2ms"},
		"pareto":               {pareto(ms, 1000), ""},
		"pareto, no min":       {pareto(0, 1), "expected both above 0"},
		"pareto, no alpha":     {pareto(ms, 0), "expected both above 0"},
		"pareto, NaN":          {pareto(ms, math.NaN()), "expected both above 0"},
		"pareto, infinite":     {pareto(ms, math.Inf(1)), "expected both above 0"},
		"quantiles":            {quantiles(0, 0, ms), ""},
		"quantiles, one":       {quantiles(ms), "expected two or more, ascending"},
		"quantiles, unordered": {quantiles(2*ms, ms), "expected two or more, ascending"},
		"none": {Latency{}, `unknown distribution "" (has: constant, ` +
			"uniform, normal, lognormal, exponential, pareto, quantiles, regions, cities, recorded)"},
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
		const want = "latency: no distribution, and it was not checked"
		if got := fmt.Sprint(recover()); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	(&Latency{}).Draw(1)
}

// TestDistributions: each is declared in full: what it takes, and what it does.
func TestDistributions(t *testing.T) {
	t.Parallel()
	for _, d := range Distributions() {
		if d.Doc == "" || d.Formula == "" || d.Mean == "" || DistributionOf(d.Name) != d {
			t.Errorf("%s: doc %q, formula %q, mean %q", d.Name, d.Doc, d.Formula, d.Mean)
		}
		optional := false
		for _, p := range d.Law.Params() {
			if p.Required && optional {
				t.Errorf("%s: %s is required, and stands behind one that is not", d.Name, p.Name)
			}
			if _, number := p.At.(*float64); number && p.Max == nil {
				t.Errorf("%s: %s has no largest value", d.Name, p.Name)
			}
			optional = optional || !p.Required
		}
		var l Latency
		if err := json.Unmarshal(fmt.Appendf(nil, `{"distribution": %q}`, d.Name), &l); err != nil || l.Distribution() != d.Name {
			t.Errorf("%s became %q: %v", d.Name, l.Distribution(), err)
		}
	}
	if err := json.Unmarshal([]byte(`{"distribution": "gauss"}`), &Latency{}); err == nil {
		t.Error("an unknown distribution is read")
	}
}

// TestLiteral: what an experiment file says of a latency.
func TestLiteral(t *testing.T) {
	t.Parallel()
	trips := [][]time.Duration{{0, ms}, {ms, 0}}
	for want, l := range map[string]Latency{
		"20ms": Constant(20 * ms),
		"{distribution: uniform, min: 0s, max: 3ms}":                                         Uniform(0, 3*ms),
		"{distribution: normal, mean: 2ms, sigma: 1ms}":                                      {Law: &Normal{Mean: 2 * ms, Sigma: ms}},
		"{distribution: pareto, min: 1ms, alpha: 2.5}":                                       {Law: &Pareto{Min: ms, Alpha: 2.5}},
		"{distribution: quantiles, values: [0s, 1ms]}":                                       {Law: &Quantiles{Values: trips[0]}},
		`{distribution: regions, places: ["tokyo", "oregon"]}`:                               {Law: &Regions{Places: []string{"tokyo", "oregon"}}},
		`{distribution: regions, places: ["a", "b b"], round_trips: [[0s, 1ms], [1ms, 0s]]}`: {Law: &Regions{Places: []string{"a", "b b"}, RoundTrips: trips}},
	} {
		if got := l.Literal(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestDistributions_AreDefined: docs/explanation/model.md defines every distribution as it is
// declared.
func TestDistributions_AreDefined(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/explanation/model.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Distributions() {
		var words [2][]string
		for _, p := range d.Law.Params() {
			k := map[bool]int{true: 0, false: 1}[p.Required]
			words[k] = append(words[k], "`"+p.Name+"`")
		}
		keys := strings.Join(words[0], ", ")
		if len(words[1]) > 0 {
			keys = strings.TrimSpace(keys + " (" + strings.Join(words[1], ", ") + ")")
		}
		row := fmt.Sprintf("| `%s` | %s | %s | %s |", d.Name, keys, d.Formula, d.Mean)
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/explanation/model.md, Latency: want the row\n%s", row)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, l := range []Latency{
		Constant(ms), Uniform(0, ms),
		{Law: &Normal{Mean: ms, Sigma: ms / 10}},
		{Law: &Lognormal{Median: ms, Sigma: 0.5}},
		{Law: &Exponential{Mean: ms}},
		{Law: &Pareto{Min: ms, Alpha: 2}},
		{Law: &Quantiles{Values: []time.Duration{0, ms, 2 * ms}}},
	} {
		b.Run(l.Distribution(), func(b *testing.B) {
			u := uint64(0)
			for b.Loop() {
				u += golden
				l.Draw(u)
			}
		})
	}
}

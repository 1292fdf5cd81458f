package algo

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func tunable() *Spec {
	return &Spec{Params: []Param{
		{Name: "timeout", Type: Duration, Min: time.Duration(0), Max: time.Hour, PerProcess: true,
			Default: func(n Network) any { return 3*n.Latency + time.Duration(n.Nodes) }},
		{Name: "backoff", Type: Duration, PerProcess: true,
			Default: func(n Network) any { return 2 * n.Params.Duration("timeout") }},
		{Name: "tries", Type: Int, Min: int64(1), Max: int64(9), Default: Const(int64(3))},
		{Name: "share", Type: Float, Min: 0.0, Max: 1.0, Default: Const(0.5)},
		{Name: "eager", Type: Bool, Default: func(n Network) any { return n.Bounded }},
		{Name: "mode", Type: Enum, Choices: []string{"join", "race"}, Default: Const("join")},
		{Name: "first", Type: Int, Min: int64(1), Process: true, Default: Const(int64(1))},
	}}
}

var fiveNodes = Network{Nodes: 5, Latency: time.Millisecond, Bounded: true}

func TestResolve(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	defaults := Params{"timeout": 3*ms + 5, "backoff": 6*ms + 10, "tries": int64(3),
		"share": 0.5, "eager": true, "mode": "join", "first": int64(1)}
	with := func(p Params) Params {
		out := Params{}
		for k, v := range defaults {
			out[k] = v
		}
		for k, v := range p {
			out[k] = v
		}
		return out
	}
	waits := []any{ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms}
	for name, test := range map[string]struct {
		given map[string]any
		net   Network
		want  Params
		errs  []string
	}{
		"defaults": {nil, fiveNodes, defaults, nil},
		"of another network": {nil, Network{Nodes: 2, Latency: ms / 2},
			with(Params{"timeout": 3*ms/2 + 2, "backoff": 3*ms + 4, "eager": false}), nil},
		"given values come first": {map[string]any{"timeout": ms, "mode": "race"}, fiveNodes,
			with(Params{"timeout": ms, "backoff": 2 * ms, "mode": "race"}), nil},
		"a later value moves no earlier default": {map[string]any{"backoff": ms}, fiveNodes,
			with(Params{"backoff": ms}), nil},
		"bounds are inclusive": {map[string]any{"tries": int64(9), "share": 0.0, "timeout": time.Hour},
			fiveNodes, with(Params{"tries": int64(9), "share": 0.0, "timeout": time.Hour,
				"backoff": 2 * time.Hour}), nil},
		"a list": {map[string]any{"backoff": waits}, fiveNodes, with(Params{"backoff": waits}), nil},
		"a default that follows from a list": {map[string]any{"timeout": waits}, fiveNodes,
			with(Params{"timeout": waits, "backoff": []any{2 * ms, 4 * ms, 6 * ms, 8 * ms, 10 * ms}}),
			nil},
		"all mistakes, and defaults in their place": {
			map[string]any{"timeout": "soon", "tries": int64(0), "share": math.NaN(),
				"eager": "yes", "mode": "jion"}, fiveNodes, defaults, []string{
				"parameter timeout: soon is not a duration",
				"parameter tries: 0 is below its minimum 1",
				"parameter share: NaN is not a finite number",
				"parameter eager: yes is not a true or false",
				`parameter mode: "jion" is not a choice (has: [join race])`,
			}},
		"types are not converted": {
			map[string]any{"tries": 3, "share": int64(1), "timeout": int64(1), "mode": true},
			fiveNodes, defaults, []string{
				"parameter timeout: 1 is not a duration",
				"parameter tries: 3 is not a whole number",
				"parameter share: 1 is not a number",
				"parameter mode: true is not a choice",
			}},
		"above": {map[string]any{"tries": int64(10), "share": math.Inf(1), "timeout": 61 * time.Minute},
			fiveNodes, defaults, []string{
				"parameter timeout: 1h1m0s is above its maximum 1h0m0s",
				"parameter tries: 10 is above its maximum 9",
				"parameter share: +Inf is not a finite number",
			}},
		"the last process": {map[string]any{"first": int64(5)}, fiveNodes,
			with(Params{"first": int64(5)}), nil},
		"no process": {map[string]any{"first": int64(6)}, fiveNodes, defaults,
			[]string{"parameter first: 6 is no process (has: 1 to 5)"}},
		"nothing as a value": {map[string]any{"tries": nil}, fiveNodes, defaults,
			[]string{"parameter tries: <nil> is not a whole number"}},
		"a list of too few": {map[string]any{"timeout": waits[:4]}, fiveNodes, defaults,
			[]string{"parameter timeout: 4 values for 5 processes"}},
		"an empty list": {map[string]any{"timeout": []any{}}, Network{Bounded: true},
			with(Params{"timeout": time.Duration(0), "backoff": time.Duration(0)}),
			[]string{"parameter timeout: 0 values for 0 processes"}},
		"a list where there is one value": {map[string]any{"tries": []any{int64(1)}}, fiveNodes,
			defaults, []string{"parameter tries: a list, but it is the same for every process"}},
		"mistakes in a list": {map[string]any{"timeout": []any{ms, -ms, ms, "x", ms}}, fiveNodes,
			defaults, []string{
				"process 2: parameter timeout: -1ms is below its minimum 0s",
				"process 4: parameter timeout: x is not a duration",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, errs := tunable().Resolve(test.given, test.net)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %v\nwant %v", got, test.want)
			}
			if len(errs) != len(test.errs) {
				t.Fatalf("mistakes %v, want %d", errs, len(test.errs))
			}
			for i, err := range errs {
				if !strings.Contains(err.Error(), test.errs[i]) {
					t.Errorf("mistake %q, want %q", err, test.errs[i])
				}
			}
		})
	}
}

func TestResolve_DefaultThatCannotFollowAList(t *testing.T) {
	t.Parallel()
	s := tunable()
	s.Params[1].PerProcess = false
	const ms = time.Millisecond
	net := Network{Nodes: 2, Latency: ms}
	const want = "parameter backoff: its default would differ between processes: set it"
	_, errs := s.Resolve(map[string]any{"timeout": []any{ms, 2 * ms}}, net)
	if len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("mistakes %v, want %q", errs, want)
	}
	got, errs := s.Resolve(map[string]any{"timeout": []any{ms, ms}}, net)
	if len(errs) != 0 || got.Duration("backoff") != 2*ms {
		t.Errorf("of a list of equals: %v (%v), want 2ms", got["backoff"], errs)
	}
	got, errs = s.Resolve(map[string]any{"timeout": []any{ms, 2 * ms}, "backoff": ms}, net)
	if len(errs) != 0 || got.Duration("backoff") != ms {
		t.Errorf("set: %v (%v), want 1ms", got["backoff"], errs)
	}
}

func TestParamsOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		ranks, waits := make([]any, n), make([]any, n)
		for i := range n {
			ranks[i] = rapid.Int64().Draw(t, "rank")
			waits[i] = time.Duration(rapid.Int64().Draw(t, "wait"))
		}
		p := Params{"rank": ranks, "wait": waits, "tries": int64(3)}
		for i := range n {
			own := p.Of(ID(i + 1))
			if own.Int("rank") != ranks[i] || own.Duration("wait") != waits[i] || own.Int("tries") != 3 {
				t.Fatalf("process %d sees %v of %v", i+1, own, p)
			}
			for k := range n {
				if got := own.IntOf("rank", ID(k+1)); got != ranks[k] {
					t.Fatalf("process %d sees %v as rank of %d, want %v", i+1, got, k+1, ranks[k])
				}
			}
			if own.IntOf("tries", ID(n)) != 3 {
				t.Fatalf("process %d: tries of %d is not 3", i+1, n)
			}
		}
		if len(p) != 3 || !reflect.DeepEqual(p["rank"], ranks) {
			t.Fatalf("Of changed its receiver: %v", p)
		}
	})
}

func TestParams_PanicOnWhatTheSpecDoesNotDeclare(t *testing.T) {
	t.Parallel()
	p := Params{"b": true, "i": int64(1), "f": 1.5, "d": time.Second, "e": "x"}
	if !p.Bool("b") || p.Int("i") != 1 || p.Float("f") != 1.5 || p.Duration("d") != time.Second ||
		p.Enum("e") != "x" {
		t.Error("a value is not what it was")
	}
	wantPanic(t, `parameter "d" is time.Duration, want int64`, func() { p.Int("d") })
	wantPanic(t, `parameter "i" is int64, want time.Duration`, func() { p.Duration("i") })
	wantPanic(t, `parameter "i" is int64, want float64`, func() { p.Float("i") })
	wantPanic(t, `parameter "e" is string, want bool`, func() { p.Bool("e") })
	wantPanic(t, `parameter "none" is <nil>, want string`, func() { p.Enum("none") })
}

func TestClaims(t *testing.T) {
	t.Parallel()
	if lo, hi := Exactly(func(n int) float64 { return float64(3 * n) })(4); lo != 12 || hi != 12 {
		t.Errorf("exactly: %v to %v, want 12", lo, hi)
	}
	if lo, hi := Within(0.25, func(n int) float64 { return float64(n) })(8); lo != 6 || hi != 10 {
		t.Errorf("within: %v to %v, want 6 to 10", lo, hi)
	}
	for n, want := range map[int]float64{0: 0, 1: 1, 2: 1.5, 4: 25.0 / 12, 10: 7381.0 / 2520} {
		if got := Harmonic(n); math.Abs(got-want) > 1e-15*want {
			t.Errorf("H(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestFaults_CrashesOf(t *testing.T) {
	t.Parallel()
	if got := (Faults{}).CrashesOf(9, nil); got != 0 {
		t.Errorf("none stated: %d, want 0", got)
	}
	minority := func(n int, _ Params) int { return (n - 1) / 2 }
	if got := (Faults{Crashes: minority}).CrashesOf(9, nil); got != 4 {
		t.Errorf("a minority of 9 is %d, want 4", got)
	}
	spares := Faults{Crashes: func(n int, p Params) (spare int) {
		for id := range ID(n) {
			spare += int(p.IntOf("spare", id+1))
		}
		return spare
	}}
	for want, p := range map[int]Params{
		6: {"spare": int64(2)}, 5: {"spare": []any{int64(0), int64(1), int64(4)}},
	} {
		if got := spares.CrashesOf(3, p); got != want {
			t.Errorf("%v: %d, want %d", p, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, names := range [][]fmt.Stringer{
		{Asynchronous, PartiallySynchronous, Synchronous},
		{NoDetector, EventuallyPerfect, Perfect},
		{Eventual, AtMostOne, PerTerm, PerGroup},
		{Bool, Int, Float, Duration, Enum},
		{Complete, LogicalRing, Ring, BidirectionalRing, Tree, Connected, Weighted},
	} {
		seen := map[string]bool{}
		for _, s := range names {
			if name := s.String(); name == "" || seen[name] {
				t.Errorf("%T: name %q is empty or taken", s, name)
			} else {
				seen[name] = true
			}
		}
	}
}

func TestParam_WithoutBounds(t *testing.T) {
	t.Parallel()
	p := Param{Name: "x", Type: Int}
	if err := p.Check(int64(math.MinInt64)); err != nil {
		t.Errorf("a value without bounds: %v", err)
	}
	if err := checkBounds(&p); err != nil {
		t.Errorf("no bounds are good bounds: %v", err)
	}
}

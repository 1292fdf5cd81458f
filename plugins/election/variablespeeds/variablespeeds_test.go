package variablespeeds_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/plugins/election/lap"
	"github.com/conclave-bench/conclave/plugins/election/variablespeeds"
)

const id = "election/variable-speeds"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

// steps is how many steps all tokens take on a ring on which all begin, by rounds: the token of v takes
// its k-th step in round k 2^v, if nobody smaller has been where it is.
func steps(order []algo.ID) (all int64) {
	n := len(order)
	type token struct{ at, steps int }
	tokens, smallest := map[algo.ID]*token{}, map[int]algo.ID{}
	for i, v := range order {
		tokens[v], smallest[i] = &token{at: i}, v
	}
	for round := 1; ; round++ {
		arrived := map[algo.ID]*token{}
		for v, x := range tokens {
			if (x.steps+1)<<v != round {
				continue
			}
			if smallest[x.at] < v {
				delete(tokens, v)
				continue
			}
			x.at, x.steps, all = (x.at+1)%n, x.steps+1, all+1
			arrived[v] = x
		}
		for v, x := range arrived {
			switch {
			case order[x.at] == v:
				return all
			case smallest[x.at] < v:
				delete(tokens, v)
			default:
				smallest[x.at] = v
			}
		}
	}
}

// TestSteps: on every ring on which all begin, the smallest leads, in fewer than 2N steps of all
// tokens, as many as a simulator by rounds counts.
func TestSteps(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 6; n++ {
		for order := range algotest.Rings(n) {
			o := algotest.OnRing(t, id, order, algotest.Everybody(n)...)
			tokens, last := o.Kinds[0].Sent, o.Kinds[1].Sent
			if want := steps(order); o.Last() != 1 || tokens != want || last != int64(n) || want >= int64(2*n) {
				t.Errorf("ring %v: %d leads after %d TOKENs and %d ELECTEDs, want %d", order, o.Last(), tokens, last,
					want)
			}
		}
	}
}

// TestInitiators: the smallest of those that begin leads, however many they are.
func TestInitiators(t *testing.T) {
	t.Parallel()
	order := algotest.Everybody(5)
	for begin := range algotest.Initiators(5) {
		if o := algotest.OnRing(t, id, order, begin...); o.Last() != begin[0] {
			t.Errorf("%v begin: %d leads", begin, o.Last())
		}
	}
}

// TestSlowest: among tokens of one speed, each goes on until a smaller ID stops it: N(N+1)/2 steps on a ring in
// ascending order.
func TestSlowest(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 8; n++ {
		p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{
			Events: algotest.Each(harness.DoElect, algotest.Everybody(n)...)}}, map[string]any{"slowest": int64(1)})
		p.Shape.Order = algotest.Everybody(n)
		if o := algotest.MustSimulate(t, p); o.Last() != 1 || o.Kinds[0].Sent != int64(n*(n+1)/2) {
			t.Errorf("%d processes: %d leads after %d TOKENs", n, o.Last(), o.Kinds[0].Sent)
		}
	}
}

// TestRules is each message in each state, at process 2 of the ring 1-2-3.
func TestRules(t *testing.T) {
	t.Parallel()
	token := func(p algo.ID) algo.Event { return algotest.Hear(1, variablespeeds.Token{ID: p}) }
	elected := func(p algo.ID) algo.Event { return algotest.Hear(1, lap.Elected{ID: p}) }
	begin, over := algo.Event{Type: algo.Elect}, algotest.Expire("hold")
	s := algotest.NewSituations(t, id, 3, algo.Config{ID: 2}, map[string]any{"t_round": time.Millisecond},
		func(m algo.Message) string { return fmt.Sprint(m) })
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"begins":                        {[]algo.Event{begin}, "set hold"},
		"begins once":                   {[]algo.Event{begin, begin}, ""},
		"its own leaves":                {[]algo.Event{begin, over}, "TOKEN {2} to 3"},
		"holds another's":               {[]algo.Event{token(3)}, "set hold"},
		"holds another's, begins not":   {[]algo.Event{token(3), begin}, ""},
		"a smaller one takes its place": {[]algo.Event{begin, token(1)}, "set hold"},
		"a larger one is swallowed":     {[]algo.Event{begin, token(3)}, ""},
		"its own comes round":           {[]algo.Event{begin, over, token(2)}, "elected 2 in 1; ELECTED {2} to 3"},
		"hears who leads":               {[]algo.Event{elected(1)}, "elected 1 in 1; ELECTED {1} to 3"},
		"hears that it leads":           {[]algo.Event{begin, over, token(2), elected(2)}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}

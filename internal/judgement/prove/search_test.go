package prove_test

import (
	"context"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/all"
	"github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// TestSearch_States: there are as many states as two other programs count, of three processes with two
// requests each: the exhaustive walk of package modelcheck, with a bound raised, and one in C++.
func TestSearch_States(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{
		"mutex/raymond": 1004, "mutex/naimi-trehel": 1530, "mutex/neilsen-mizuno": 1112,
		"mutex/chandy-misra": 4571, "mutex/central": 4739, "mutex/singhal": 36_529,
		"mutex/ricart-agrawala-token": 39_421, "mutex/suzuki-kasami": 58_933,
		"mutex/carvalho-roucairol": 94_004, "mutex/ricart-agrawala": 150_719,
		"mutex/maekawa": 228_366, "mutex/lodha-kshemkalyani": 331_106,
	} {
		s, err := prove.Search(context.Background(), id, prove.System{Nodes: 3, Requests: 2},
			prove.Limits{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if s.Find != nil {
			t.Errorf("%s: %v", id, s.Find)
		}
		t.Logf("%-28s %7d states %8d steps depth %d, %6d states of processes, %d calls, %v: %.0f states/s, %d MiB",
			id, s.States, s.Steps, s.Depth, s.Locals, s.Calls, s.Elapsed,
			float64(s.States)/s.Elapsed.Seconds(), s.Memory>>20)
		if s.States != want || s.Bound != "" {
			t.Errorf("%s: %d states, want %d; %s", id, s.States, want, s.Bound)
		}
	}
}

// wrapped is an algorithm behind another's methods.
type wrapped struct{ algo.Mutex }

// TestSearch_Wrapped: a process that another one holds is restored as a whole, and reaches as many states.
func TestSearch_Wrapped(t *testing.T) {
	t.Parallel()
	s, err := prove.Search(context.Background(), "mutex/test-wrapped", prove.System{Nodes: 3, Requests: 2},
		prove.Limits{})
	if err != nil || s.States != 1530 || s.Find != nil {
		t.Errorf("%d states, %v, %v, want 1530", s.States, s.Find, err)
	}
}

func init() {
	a, err := algo.Lookup("mutex/naimi-trehel")
	if err != nil {
		panic(err)
	}
	spec := a.Spec
	spec.Name = "test-wrapped"
	algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex { return &wrapped{naimitrehel.New(c)} })
}

// distracted is a token ring in which a message may make a process forget what its application wants: the
// token then goes round without end.
type distracted struct {
	algo.Config
	wants bool
}

type (
	token    struct{}
	distract struct{}
)

func (token) Kind() string    { return "TOKEN" }
func (distract) Kind() string { return "DISTRACT" }

func (n *distracted) Start(env algo.Env) {
	if n.ID == 1 {
		env.Send(2, token{})
		env.Send(2, distract{})
	}
}

func (n *distracted) Request(algo.Env)     { n.wants = true }
func (n *distracted) Release(env algo.Env) { n.pass(env) }

func (n *distracted) pass(env algo.Env) { env.Send(n.Peers[int(n.ID)%len(n.Peers)], token{}) }

func (n *distracted) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m.(type) {
	case distract:
		n.wants = false
	case token:
		if !n.wants {
			n.pass(env)
			return
		}
		n.wants = false
		env.Granted()
	}
}

func init() {
	algo.RegisterMutex(algo.Spec{
		Name: "test-distracted", Summary: "broken", Paper: algo.Paper{Authors: "X", Title: "X", Year: 2000},
		Messages: []algo.Message{token{}, distract{}}, Promises: algo.Promises{StarvationFree: true},
		Breaks: "by itself",
	}, func(c algo.Config) algo.Mutex { return &distracted{Config: c} })
}

// TestSearch_Lasso: where nothing completes any more although events go on without end, the shortest way
// there is found, with what repeats; of the original, all can come about in every state.
func TestSearch_Lasso(t *testing.T) {
	t.Parallel()
	l := prove.Limits{Live: true, Workers: 1}
	s, err := prove.Search(context.Background(), "mutex/test-distracted", prove.System{Nodes: 2, Requests: 1}, l)
	if err != nil {
		t.Fatal(err)
	}
	want := "no schedule from here completes: p1 has not completed its entries, after\n" +
		"  1. p2 requests\n  2. p2 receives DISTRACT{} from p1"
	if s.Find == nil || s.Find.Error() != want || len(s.Find.Cycle) == 0 {
		t.Fatalf("found %v", s.Find)
	}
	for _, step := range s.Find.Cycle {
		if step.Event.Type != algo.Receive || step.Event.Msg.Kind() != "TOKEN" {
			t.Errorf("it repeats %v", s.Find.Cycle)
		}
	}
	for _, id := range []string{"mutex/maekawa", "mutex/naimi-trehel", "election/bully"} {
		w := prove.System{Nodes: 3, Requests: 2, Budget: prove.Budget{Timeouts: prove.Any}, Canonical: true}
		s, err := prove.Search(context.Background(), id, w, prove.Limits{Live: true})
		if err != nil || s.Find != nil || !s.Live {
			t.Errorf("%s: %v, %v, live: %v", id, s.Find, err, s.Live)
		}
	}
}

package check_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// The museum of wrong algorithms: each makes one mistake, and breaks the rule whose
// judge must see it. One without a mistake stands beside them.

// Note is the exhibits' message.
type Note struct {
	What string
	ID   algo.ID
	N    uint64
}

// Kind is NOTE.
func (Note) Kind() string { return "NOTE" }

// Baton is the token of those that have one.
type Baton struct{}

// Kind is BATON.
func (Baton) Kind() string { return "BATON" }

// An exhibit is an algorithm, what it promises, the scenario that it fails in, and
// what the judge has to say about it.
type exhibit struct {
	name  string
	flaw  string // ""; none
	spec  algo.Spec
	trial harness.Scenario
	rule  string
	says  string // is part of the violation
	least int    // of 100 trials in which it must be seen
	fixed bool   // nothing in its trial is left to chance: one is enough
	seed  uint64 // of a search that finds it soon; 0: any

	elector func(algo.Config) algo.Elector
	mutex   func(algo.Config) algo.Mutex
}

func (x *exhibit) id() string {
	if x.elector != nil {
		return "election/" + x.spec.Name
	}
	return "mutex/" + x.spec.Name
}

// museum is all that it has.
func museum() []exhibit { return slices.Concat(electors, mutexes, starvers) }

func init() {
	for _, list := range [][]exhibit{electors, mutexes, starvers} {
		for i := range list {
			x := &list[i]
			x.spec.Name = "test-" + x.name
			if x.flaw != "" {
				x.spec.Name = "test-" + strings.ReplaceAll(x.flaw, " ", "-")
			}
			x.spec.Summary = "wrong"
			x.spec.Paper = algo.Paper{Authors: "nobody", Title: "none", Year: 2026}
			if x.spec.Messages == nil {
				x.spec.Messages = []algo.Message{Note{}, Baton{}}
			}
			if x.elector != nil {
				algo.RegisterElector(x.spec, x.elector)
			} else {
				algo.RegisterMutex(x.spec, x.mutex)
			}
		}
	}
}

func simulate(t *testing.T, id string, seed uint64, sc harness.Scenario,
	change func(*harness.Plan)) algotest.Outcome {
	t.Helper()
	p, err := algotest.Plan(id, 5, sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Seed, p.TimeLimit = seed, time.Minute
	p.Network.Latency = link.Uniform(time.Millisecond/10, 2*time.Millisecond)
	if change != nil {
		change(&p)
	}
	o, err := algotest.Simulate(p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// script is the plan of a script's exhibit. Of electors process 5 leads, and a
// detector says who has crashed or is cut off. Of mutexes all messages keep step, so
// that who misses its turn once misses it every time.
func script(p *harness.Plan) {
	switch {
	case !p.Scenario.Declared().Scripted:
	case strings.HasPrefix(p.Algorithm, "mutex/"):
		p.Network.Latency = link.Constant(ms)
	default:
		p.Leader, p.Detector = 5, harness.HeartbeatDetector(5*ms, 30*ms)
	}
}

// TestMuseum: the judge sees every mistake, under the name of the rule that it
// breaks, and none where there is none.
func TestMuseum(t *testing.T) {
	t.Parallel()
	for _, x := range museum() {
		t.Run(x.id(), func(t *testing.T) {
			t.Parallel()
			seen := 0
			for seed := range uint64(100) {
				if x.fixed && seed > 0 {
					seen *= 100
					break
				}
				o := simulate(t, x.id(), seed, x.trial, script)
				if x.flaw == "" && o.Status != trace.OK {
					t.Fatalf("seed %d: %s: %s", seed, o.Status, o.Reason)
				}
				if slices.ContainsFunc(o.Violations, func(text string) bool {
					return strings.HasPrefix(text, x.rule+": ") && strings.Contains(text, x.says)
				}) {
					seen++
				} else if len(o.Violations) > 0 && x.least == 100 {
					t.Fatalf("seed %d: %q, want %s: %s", seed, o.Violations, x.rule, x.says)
				}
				known(t, o.Violations)
			}
			if seen < x.least {
				t.Errorf("seen in %d of 100 trials, want %d", seen, x.least)
			}
		})
	}
}

// known wants every violation to begin with the name of a rule.
func known(t *testing.T, violations []string) {
	t.Helper()
	for _, text := range violations {
		name, _, _ := strings.Cut(text, ": ")
		if !slices.ContainsFunc(check.Rules, func(r check.Rule) bool { return r.Name == name }) {
			t.Fatalf("violation %q begins with no rule", text)
		}
	}
}

// TestMuseumIsComplete: every rule has an exhibit that breaks it, but for that of
// scripts, which algorithms do not break, that of invariants, which is for trials beyond a model, and that of
// fencing, which is for systems.
func TestMuseumIsComplete(t *testing.T) {
	t.Parallel()
	for _, r := range check.Rules {
		if !slices.ContainsFunc(museum(), func(x exhibit) bool {
			return x.rule == r.Name && x.least > 0
		}) && !slices.Contains([]string{"expectation", "invariant", "fencing"}, r.Name) {
			t.Errorf("no exhibit breaks %s: %s", r.Name, r.Sentence)
		}
	}
}

// TestNonDeterminism: the kit sees who answers in a map's order.
func TestNonDeterminism(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"election/test-answers-in-a-maps-order": true, "election/test-candidate": false,
	} {
		seen := false
		_ = algotest.Verify(id, algotest.Options{Schedules: 1, Progress: func(r algotest.Rule, err error) {
			if r.Name == "Determinism" {
				seen = err != nil
			}
		}})
		if seen != want {
			t.Errorf("%s: not deterministic: %t, want %t", id, seen, want)
		}
	}
}

// TestNoFalseAlarm: no schedule within its model has a judge object to an algorithm
// that is built in: some of them in every run, ten thousand for each at night.
func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	seeds := uint64(75)
	if slowtest.Night() {
		seeds = 10_000
	}
	for _, a := range algo.All() {
		if strings.HasPrefix(a.Spec.Name, "test-") {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				p, err := algotest.Schedule(a.ID, 1<<32+seed, nil) // others than the kit's
				if err != nil {
					t.Fatal(err)
				}
				if o, err := algotest.Simulate(p); err != nil || len(o.Violations) > 0 || o.Status == trace.Failed {
					t.Fatalf("schedule %d: %s: %s: %v", 1<<32+seed, o.Status, o.Violations, err)
				}
			}
		})
	}
}

// TestRightOnes: of the real algorithms no trial is flagged, whatever the delays,
// with the crashes that they survive.
func TestRightOnes(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	crashes := func(p *harness.Plan) {
		rng := rand.New(rand.NewPCG(p.Seed, 1))
		p.Leader = 5
		p.Detector = harness.PerfectDetector(10 * ms)
		for at := time.Duration(0); at < 300*ms; at += time.Duration(rng.IntN(100)) * ms {
			do := []string{harness.DoCrash, harness.DoRestart, harness.DoElect}[rng.IntN(3)]
			p.Scenario.Add(harness.Event{At: at, Do: do,
				Node: algo.ID(rng.IntN(5) + 1)})
		}
		// at least one is up in the end, and has to find that out
		p.Scenario.Add(harness.Event{At: 400 * ms, Do: harness.DoRestart, Node: algo.ID(rng.IntN(5) + 1)},
			harness.Event{At: 450 * ms, Do: harness.DoElect, Node: algo.ID(rng.IntN(5) + 1)})
	}
	deaths := func(p *harness.Plan) { // up to four of five, for good
		rng := rand.New(rand.NewPCG(p.Seed, 1))
		p.Leader = 5
		p.Detector = harness.PerfectDetector(10 * ms)
		order := rng.Perm(5)
		for _, q := range order[:rng.IntN(5)] {
			p.Scenario.Add(harness.Event{
				At: time.Duration(rng.IntN(400)) * ms / 4, Do: harness.DoCrash, Node: algo.ID(q + 1)})
		}
		for range rng.IntN(3) {
			p.Scenario.Add(harness.Event{
				At: time.Duration(rng.IntN(400)) * ms / 4, Do: harness.DoElect, Node: algo.ID(rng.IntN(5) + 1)})
		}
	}
	unordered := func(p *harness.Plan) { p.Network.Unordered = true }
	for name, test := range map[string]struct {
		id     string
		sc     harness.Scenario
		change func(*harness.Plan)
		seeds  uint64
	}{
		"bully, cold start": {"election/bully", harness.Scenario{Plot: &harness.ColdStart{}}, unordered,
			300},
		"bully, some start": {"election/bully", harness.Scenario{Plot: &harness.ColdStart{Initiators: 2}},
			nil, 300},
		"bully, leader crash": {"election/bully", harness.Scenario{Plot: &harness.LeaderCrash{
			Settle: 50 * ms}}, nil, 400},
		"bully, deaths": {"election/bully", harness.Scenario{Plot: &harness.Script{}}, deaths, 1000},
		"bully, crashes": {"election/bully", harness.Scenario{Plot: &harness.Script{}}, crashes,
			1000},
		"ring-list, cold start": {"election/ring-list", harness.Scenario{Plot: &harness.ColdStart{}},
			unordered, 300},
		"ring-list, some start": {"election/ring-list",
			harness.Scenario{Plot: &harness.ColdStart{Initiators: 2}},
			nil, 300},
		"ring-list, leader crash": {"election/ring-list", harness.Scenario{Plot: &harness.LeaderCrash{
			Settle: 50 * ms}}, nil, 400},
		"ring-list, deaths": {"election/ring-list", harness.Scenario{Plot: &harness.Script{}}, deaths, 1000},
		"naimi-trehel, closed": {"mutex/naimi-trehel",
			harness.Scenario{Plot: &harness.Closed{Requests: 40,
				Think: link.Uniform(0, 5*ms)}}, unordered, 500},
		"naimi-trehel, open": {"mutex/naimi-trehel", harness.Scenario{Plot: &harness.Open{Requests: 40,
			Rate: 500}}, unordered, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range test.seeds {
				if o := simulate(t, test.id, seed, test.sc, test.change); o.Status != trace.OK &&
					o.Status != trace.Unknown {
					t.Errorf("seed %d: %s: %s", seed, o.Status, o.Reason)
				}
			}
		})
	}
}

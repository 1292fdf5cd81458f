package check_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// The second hall: exhibits whose mistakes show only when something fails, or that
// only another rule than those of the first hall notices.

// A regent asks everybody for its number whenever it is to find a leader, and takes
// the highest of those that answer within a while. Flaws: "ignores a restart"
// answers nobody's question twice; "names the dead" takes the highest number that
// it ever heard of; "takes the least" does that.
type regent struct {
	algo.Config
	flaw     string
	answered map[algo.ID]bool
	best     algo.ID
	ever     algo.ID
}

func (r *regent) Start(env algo.Env) {
	r.ever = r.Leader
	if r.Incarnation > 0 {
		r.Elect(env)
	}
}

func (r *regent) Elect(env algo.Env) {
	r.best = r.ID
	env.Elected(algo.None, 0)
	algo.Broadcast(env, r.ID, r.Peers, Note{"who", r.ID})
	env.SetTimer("decide", 10*time.Millisecond)
}

func (r *regent) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch n := m.(Note); n.What {
	case "who":
		if r.flaw == "ignores a restart" && r.answered[from] {
			return
		}
		r.answered[from] = true
		env.Send(from, Note{"me", r.ID})
	case "me":
		r.ever = max(r.ever, n.ID)
		if r.best = max(r.best, n.ID); r.flaw == "takes the least" {
			r.best = min(r.ID, n.ID)
		}
	case "leads":
		env.Elected(n.ID, 0)
	}
}

func (r *regent) Timeout(env algo.Env, _ algo.Timer) {
	if r.flaw == "names the dead" {
		r.best = max(r.best, r.ever)
	}
	env.Elected(r.best, 0)
	algo.Broadcast(env, r.ID, r.Peers, Note{"leads", r.best})
}

// A watchman is a regent who listens to the detector himself: otherwise the harness
// would see to it that who is dead, or back, does not go unnoticed.
type watchman struct{ regent }

func (w *watchman) Suspect(env algo.Env, p algo.ID) {
	if p == w.ever {
		w.Elect(env)
	}
}

func (w *watchman) Restore(algo.Env, algo.ID) {}

// A voter needs the permission of all others, each time anew. Flaws: "acts on stale
// replies" counts them without looking whose request they answer; "answers in a
// map's order" does so to those that had to wait.
type voter struct {
	algo.Config
	flaw    string
	clock   uint64
	own     uint64 // 0: no request
	missing map[algo.ID]bool
	waiting map[algo.ID]uint64
	replies int
}

// Ask is the voter's question, and its answer.
type Ask struct {
	Clock uint64
	Reply bool
}

// Kind is ASK.
func (Ask) Kind() string { return "ASK" }

func (v *voter) Request(env algo.Env) {
	v.clock++
	v.own, v.replies = v.clock, 0
	for _, p := range v.Peers {
		if p != v.ID {
			v.missing[p] = true
			env.Send(p, Ask{Clock: v.own})
		}
	}
}

func (v *voter) Release(env algo.Env) {
	v.own = 0
	if v.flaw == "answers in a map's order" {
		for p, clock := range v.waiting {
			env.Send(p, Ask{clock, true})
		}
		clear(v.waiting)
		return
	}
	for _, p := range v.Peers {
		if clock, ok := v.waiting[p]; ok {
			env.Send(p, Ask{clock, true})
			delete(v.waiting, p)
		}
	}
}

func (v *voter) Receive(env algo.Env, from algo.ID, m algo.Message) {
	a := m.(Ask)
	v.clock = max(v.clock, a.Clock)
	switch {
	case a.Reply && v.flaw == "acts on stale replies":
		if v.replies++; v.own > 0 && v.replies == len(v.Peers)-1 {
			env.Granted()
		}
	case a.Reply:
		if v.missing[from] && a.Clock == v.own {
			if delete(v.missing, from); len(v.missing) == 0 {
				env.Granted()
			}
		}
	case v.own > 0 && (v.own < a.Clock || v.own == a.Clock && v.ID < from):
		v.waiting[from] = a.Clock
	default:
		env.Send(from, Ask{a.Clock, true})
	}
}

// A baton is handed round in a ring for ever. Flaw: "doubles the baton" makes a
// second one when it has been round often enough, which nobody needs to enter twice
// for.
type baton struct {
	algo.Config
	flaw   string
	wants  bool
	rounds int
}

func (b *baton) Start(env algo.Env) {
	if b.ID == b.Holder {
		env.SetTimer("pass", time.Millisecond)
	}
}

func (b *baton) Request(algo.Env) { b.wants = true }

func (b *baton) Release(env algo.Env) { b.pass(env) }

func (b *baton) Receive(env algo.Env, _ algo.ID, _ algo.Message) {
	if b.wants {
		b.wants = false
		env.Granted()
		return
	}
	b.pass(env)
}

func (b *baton) Timeout(env algo.Env, _ algo.Timer) { b.pass(env) }

func (b *baton) pass(env algo.Env) {
	next := b.ID%algo.ID(len(b.Peers)) + 1
	env.Send(next, Note{})
	if b.rounds++; b.flaw == "doubles the baton" && b.ID == 2 && b.rounds == 3 {
		env.Send(next, Note{})
	}
}

func init() {
	spec := func(flaw string, m algo.Message) algo.Spec {
		if flaw == "" {
			flaw = "flawless " + strings.ToLower(m.Kind())
		}
		return algo.Spec{
			Name: "test-" + strings.NewReplacer(" ", "-", "'", "").Replace(flaw), Summary: "wrong",
			Messages: []algo.Message{m}, Paper: algo.Paper{Authors: "nobody", Title: "none", Year: 2026},
		}
	}
	for _, flaw := range []string{"no flaw of regents", "ignores a restart", "names the dead", "takes the least"} {
		s := spec(flaw, Note{})
		s.Promises = algo.Promises{Announced: true, Highest: true}
		s.Survives = algo.Faults{Recovery: true, Crashes: func(n int) int { return n - 1 }}
		s.Needs.Detector = algo.Perfect
		algo.RegisterElector(s, func(c algo.Config) algo.Elector {
			r := regent{Config: c, flaw: flaw, answered: map[algo.ID]bool{}}
			if flaw == "takes the least" {
				return &r
			}
			return &watchman{r}
		})
	}
	for _, flaw := range []string{"no flaw of voters", "acts on stale replies", "answers in a map's order"} {
		s := spec(flaw, Ask{})
		s.Promises = algo.Promises{StarvationFree: true}
		s.Survives.Duplication = true
		algo.RegisterMutex(s, func(c algo.Config) algo.Mutex {
			return &voter{Config: c, flaw: flaw, missing: map[algo.ID]bool{}, waiting: map[algo.ID]uint64{}}
		})
	}
	for _, flaw := range []string{"no flaw of batons", "doubles the baton"} {
		s := spec(flaw, Note{})
		s.Promises, s.Perpetual, s.Token = algo.Promises{StarvationFree: true}, true, "NOTE"
		s.Needs.Topology = algo.Ring
		algo.RegisterMutex(s, func(c algo.Config) algo.Mutex { return &baton{Config: c, flaw: flaw} })
	}
}

// TestMuseum_SecondHall: each mistake is seen within a hundred seeds, by the rule
// that it breaks, and none is where there is none.
func TestMuseum_SecondHall(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	returns := func(p *harness.Plan) {
		p.Leader, p.Crashed = 4, []algo.ID{5}
		p.Failures.Events = []harness.Event{
			{At: 100 * ms, Do: harness.DoCrash, Node: 1, For: 50 * ms},
			{At: 250 * ms, Do: harness.DoCrash, Node: 1, For: 50 * ms},
		}
	}
	doubling := func(p *harness.Plan) { p.Network.Duplication = 0.2 }
	load := harness.Scenario{Kind: harness.Closed, Requests: 60, Think: bus.Constant(ms)}
	crash := harness.Scenario{Kind: harness.LeaderCrash, Settle: 20 * ms}
	back := harness.Scenario{Kind: harness.LeaderReturn, Settle: 20 * ms}
	for name, test := range map[string]struct {
		sc     harness.Scenario
		change func(*harness.Plan)
		says   string // "": nothing
	}{
		"election/test-no-flaw-of-regents": {back, returns, ""},
		"election/test-ignores-a-restart":  {back, returns, "highest: "},
		"election/test-names-the-dead":     {crash, nil, "leader-alive: "},
		"election/test-takes-the-least":    {crash, nil, "highest: "},
		"mutex/test-no-flaw-of-voters":     {load, doubling, ""},
		"mutex/test-acts-on-stale-replies": {load, doubling, "mutual-exclusion: "},
		"mutex/test-no-flaw-of-batons":     {load, nil, ""},
		"mutex/test-doubles-the-baton":     {load, nil, "token-uniqueness: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := 0
			for seed := range uint64(100) {
				o := simulate(t, name, seed, test.sc, test.change)
				switch {
				case test.says == "" && o.Status != check.OK:
					t.Fatalf("seed %d: %s: %s", seed, o.Status, o.Reason)
				case test.says == "":
				case strings.Contains(strings.Join(o.Violations, "\n"), test.says):
					seen++
				}
			}
			if test.says != "" && seen == 0 {
				t.Errorf("%s is not seen in 100 trials", test.says)
			}
		})
	}
}

// TestMuseum_MapOrder: an algorithm that ranges over a map is found out by the kit,
// since it does not do the same twice.
func TestMuseum_MapOrder(t *testing.T) {
	t.Parallel()
	told := map[string]error{}
	err := algotest.Verify("mutex/test-answers-in-a-maps-order", algotest.Options{
		Schedules: 20, Progress: func(r algotest.Rule, err error) { told[r.Name] = err },
	})
	if err == nil || told["Determinism"] == nil {
		t.Errorf("the kit says of a map's order: %v", told["Determinism"])
	}
}

package check_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/ringlist"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// The museum of wrong algorithms: each makes one mistake that a judge must see.

// Note is the exhibits' message.
type Note struct {
	What string
	ID   algo.ID
}

// Kind is NOTE.
func (Note) Kind() string { return "NOTE" }

// A candidate asks everybody, waits, and takes the largest ID that it heard of.
// Its mistake is decided by flaw.
type candidate struct {
	algo.Config
	flaw  string
	best  algo.ID
	heard int
}

func (c *candidate) Elect(env algo.Env) {
	if c.best != algo.None {
		return
	}
	c.best = c.ID
	env.Elected(algo.None, 0)
	algo.Broadcast(env, c.ID, c.Peers, Note{ID: c.ID})
}

func (c *candidate) Receive(env algo.Env, from algo.ID, m algo.Message) {
	c.Elect(env)
	c.best = max(c.best, m.(Note).ID)
	c.heard++
	enough := len(c.Peers) - 1
	if c.flaw == "disagrees" {
		enough-- // decides before the last has spoken
	}
	if c.heard == enough {
		c.decide(env)
	}
}

func (c *candidate) decide(env algo.Env) {
	top := c.Peers[len(c.Peers)-1]
	switch c.flaw {
	case "never decides":
		return
	case "one never hears":
		if c.ID == 1 {
			return
		}
	case "two kings", "two kings of a term":
		if c.ID == top-1 {
			c.best = c.ID // holds itself leader for a while
			env.Elected(c.ID, 1)
			env.SetTimer("sober up", 50*time.Millisecond)
			return
		}
	case "names a stranger":
		c.best = top + 1
	}
	env.Elected(c.best, 1)
}

func (c *candidate) Timeout(env algo.Env, _ algo.Timer) {
	env.Elected(c.Peers[len(c.Peers)-1], 2)
}

// A desk is mutual exclusion by asking process 1, which lets in one after the
// other. Its mistake is decided by flaw.
type desk struct {
	algo.Config
	flaw  string
	busy  bool
	queue []algo.ID
	count int
}

func (d *desk) Request(env algo.Env) {
	if d.flaw == "asks nobody" && d.ID == 2 {
		env.Granted()
		return
	}
	env.Send(1, Note{"request", d.ID})
}

func (d *desk) Release(env algo.Env) {
	d.count++
	if d.flaw == "loses the token" && d.ID == 3 && d.count == 2 {
		return
	}
	env.Send(1, Note{"release", d.ID})
}

func (d *desk) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch n := m.(Note); n.What {
	case "grant":
		env.Granted()
		if d.flaw == "grants twice" {
			env.Granted()
		}
	case "request":
		d.onRequest(env, n.ID)
	case "release":
		d.busy = false
		d.next(env)
	}
}

func (d *desk) onRequest(env algo.Env, p algo.ID) {
	switch {
	case d.flaw == "starves the last" && p == d.Peers[len(d.Peers)-1]:
		return
	case d.flaw == "forgets a request" && len(d.queue) > 0:
		d.queue[0] = p // there is room for one
	default:
		d.queue = append(d.queue, p)
	}
	d.count++
	if d.flaw == "doubles the token" && d.count%5 == 0 {
		d.busy = false
	}
	d.next(env)
}

func (d *desk) next(env algo.Env) {
	if !d.busy && len(d.queue) > 0 {
		d.busy = true
		env.Send(d.queue[0], Note{"grant", d.queue[0]})
		d.queue = slices.Delete(d.queue, 0, 1)
	}
}

// An exhibit is a wrong algorithm, and what the judge has to say.
type exhibit struct {
	flaw     string
	promises algo.Promises
	says     string
	least    int // of 100 trials
}

var electors = []exhibit{
	{"", algo.Promises{Leadership: algo.AtMostOne}, "", 0},
	{"disagrees", algo.Promises{}, "no agreement on a leader", 20},
	{"never decides", algo.Promises{}, "no agreement on a leader: p1 names none", 100},
	{"one never hears", algo.Promises{}, "no agreement on a leader: p1 names none", 100},
	{"two kings", algo.Promises{Leadership: algo.AtMostOne}, "holds itself leader", 100},
	{"two kings of a term", algo.Promises{Leadership: algo.PerTerm}, "leads term 1", 100},
	{"names a stranger", algo.Promises{}, "which is no process", 100},
}

var mutexes = []exhibit{
	{"", algo.Promises{StarvationFree: true}, "", 0},
	{"asks nobody", algo.Promises{StarvationFree: true}, "while p", 50},
	{"loses the token", algo.Promises{StarvationFree: true}, "not granted", 100},
	{"doubles the token", algo.Promises{StarvationFree: true}, "while p", 50},
	{"forgets a request", algo.Promises{StarvationFree: true}, "not granted", 50},
	{"starves the last", algo.Promises{StarvationFree: true}, "not granted, the first of p5", 100},
	{"grants twice", algo.Promises{StarvationFree: true}, "p1 granted", 1},
}

func (x exhibit) name() string {
	if x.flaw == "" {
		return "test-flawless"
	}
	return "test-" + strings.ReplaceAll(x.flaw, " ", "-")
}

func init() {
	spec := func(x exhibit) algo.Spec {
		return algo.Spec{
			Name: x.name(), Summary: "wrong", Messages: []algo.Message{Note{}}, Promises: x.promises,
			Paper: algo.Paper{Authors: "nobody", Title: "none", Year: 2026},
		}
	}
	for _, x := range electors {
		algo.RegisterElector(spec(x),
			func(c algo.Config) algo.Elector { return &candidate{Config: c, flaw: x.flaw} })
	}
	for _, x := range mutexes {
		algo.RegisterMutex(spec(x), func(c algo.Config) algo.Mutex {
			return &desk{Config: c,
				flaw: x.flaw}
		})
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
	p.Network.Latency = bus.Uniform(time.Millisecond/10, 2*time.Millisecond)
	if change != nil {
		change(&p)
	}
	o, err := algotest.Simulate(p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestMuseum: the judge sees every mistake, and none where there is none.
func TestMuseum(t *testing.T) {
	t.Parallel()
	hang := func(problem string, list []exhibit, sc harness.Scenario) {
		for _, x := range list {
			id := problem + "/" + x.name()
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				seen := 0
				for seed := range uint64(100) {
					o := simulate(t, id, seed, sc, nil)
					switch {
					case x.flaw == "" && o.Status != check.OK:
						t.Fatalf("seed %d: %s: %s", seed, o.Status, o.Reason)
					case x.flaw != "" && o.Status == check.Violation:
						if !slices.ContainsFunc(o.Violations,
							func(text string) bool { return strings.Contains(text, x.says) }) {
							t.Fatalf("seed %d: %q do not say %q", seed, o.Violations, x.says)
						}
						seen++
					}
				}
				if seen < x.least {
					t.Errorf("seen in %d of 100 trials, want %d", seen, x.least)
				}
			})
		}
	}
	hang("election", electors, harness.Scenario{Kind: harness.ColdStart})
	hang("mutex", mutexes, harness.Scenario{Kind: harness.Closed, Requests: 60,
		Think: bus.Constant(time.Millisecond)})
}

// TestRightOnes: of the real algorithms no trial is flagged, whatever the delays,
// with the crashes that they survive.
func TestRightOnes(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	crashes := func(p *harness.Plan) {
		rng := rand.New(rand.NewPCG(p.Seed, 1))
		p.Leader = 5
		p.Detector = harness.Detector{Kind: "perfect", Delay: 10 * ms}
		for at := time.Duration(0); at < 300*ms; at += time.Duration(rng.IntN(100)) * ms {
			do := []string{harness.DoCrash, harness.DoRestart, harness.DoElect}[rng.IntN(3)]
			p.Scenario.Events = append(p.Scenario.Events, harness.Event{At: at, Do: do,
				Node: algo.ID(rng.IntN(5) + 1)})
		}
		// at least one is up in the end, and has to find that out
		p.Scenario.Events = append(p.Scenario.Events,
			harness.Event{At: 400 * ms, Do: harness.DoRestart, Node: algo.ID(rng.IntN(5) + 1)},
			harness.Event{At: 450 * ms, Do: harness.DoElect, Node: algo.ID(rng.IntN(5) + 1)})
	}
	deaths := func(p *harness.Plan) { // up to four of five, for good
		rng := rand.New(rand.NewPCG(p.Seed, 1))
		p.Leader = 5
		p.Detector = harness.Detector{Kind: "perfect", Delay: 10 * ms}
		order := rng.Perm(5)
		for _, q := range order[:rng.IntN(5)] {
			p.Scenario.Events = append(p.Scenario.Events, harness.Event{
				At: time.Duration(rng.IntN(400)) * ms / 4, Do: harness.DoCrash, Node: algo.ID(q + 1)})
		}
		for range rng.IntN(3) {
			p.Scenario.Events = append(p.Scenario.Events, harness.Event{
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
		"bully, cold start": {"election/bully", harness.Scenario{Kind: harness.ColdStart}, unordered,
			300},
		"bully, some start": {"election/bully", harness.Scenario{Kind: harness.ColdStart, Initiators: 2},
			nil, 300},
		"bully, leader crash": {"election/bully", harness.Scenario{Kind: harness.LeaderCrash,
			Settle: 50 * ms}, nil, 400},
		"bully, deaths": {"election/bully", harness.Scenario{Kind: harness.Script}, deaths, 1000},
		"bully, crashes": {"election/bully", harness.Scenario{Kind: harness.Script}, crashes,
			1000},
		"ring-list, cold start": {"election/ring-list", harness.Scenario{Kind: harness.ColdStart},
			unordered, 300},
		"ring-list, some start": {"election/ring-list",
			harness.Scenario{Kind: harness.ColdStart, Initiators: 2},
			nil, 300},
		"ring-list, leader crash": {"election/ring-list", harness.Scenario{Kind: harness.LeaderCrash,
			Settle: 50 * ms}, nil, 400},
		"ring-list, deaths": {"election/ring-list", harness.Scenario{Kind: harness.Script}, deaths, 1000},
		"naimi-trehel, closed": {"mutex/naimi-trehel",
			harness.Scenario{Kind: harness.Closed, Requests: 40,
				Think: bus.Uniform(0, 5*ms)}, unordered, 500},
		"naimi-trehel, open": {"mutex/naimi-trehel", harness.Scenario{Kind: harness.Open, Requests: 40,
			Rate: 500}, unordered, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range test.seeds {
				if o := simulate(t, test.id, seed, test.sc, test.change); o.Status != check.OK &&
					o.Status != check.Unknown {
					t.Errorf("seed %d: %s: %s", seed, o.Status, o.Reason)
				}
			}
		})
	}
}

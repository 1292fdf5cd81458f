package check_test

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A candidate tells everybody its ID, waits until all must have spoken, and takes the
// largest that it has heard of for the leader. Its mistake is decided by flaw.
type candidate struct {
	algo.Config
	flaw    string
	active  bool // in an election
	best    algo.ID
	heard   int    // of how many
	decided uint64 // when it was last: what was said before is of that election
}

const patience = 20 * time.Millisecond

// Start has a process that comes back ask who is there.
func (c *candidate) Start(env algo.Env) {
	if c.Incarnation > 0 && c.flaw != "ignores a restart" {
		c.Elect(env)
	}
}

func (c *candidate) Elect(env algo.Env) {
	if c.active || c.flaw == "follows the dead" {
		return
	}
	c.active, c.best, c.heard = true, c.ID, 0
	env.Elected(algo.None, 0)
	c.tell(env, Note{ID: c.ID, N: uint64(env.Now())})
	env.SetTimer("patience", patience)
}

func (c *candidate) tell(env algo.Env, n Note) {
	if c.flaw != "answers in a maps order" {
		algo.Broadcast(env, c.ID, c.Peers, n)
		return
	}
	others := map[algo.ID]bool{}
	for _, p := range c.Peers {
		others[p] = p != c.ID
	}
	for p, other := range others {
		if other {
			env.Send(p, n)
		}
	}
}

func (c *candidate) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	n := m.(Note)
	if !c.active && (c.decided == 0 || n.N > c.decided) {
		c.Elect(env)
	}
	if !c.active {
		return
	}
	if c.flaw == "takes the least" {
		c.best = min(c.best, n.ID)
	} else {
		c.best = max(c.best, n.ID)
	}
	if c.heard++; c.flaw == "disagrees" && c.heard == len(c.Peers)-2 {
		c.decide(env) // before the last has spoken
	}
}

func (c *candidate) Timeout(env algo.Env, t algo.Timer) {
	switch {
	case t == "sober up":
		env.Elected(c.Peers[len(c.Peers)-1], 2)
	case c.active:
		c.decide(env)
	}
}

func (c *candidate) decide(env algo.Env) {
	c.active, c.decided = false, uint64(env.Now())+1
	env.CancelTimer("patience")
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
			env.Elected(c.ID, 1) // for a while
			env.SetTimer("sober up", 50*time.Millisecond)
			return
		}
	case "names a stranger":
		c.best = top + 1
	case "names a follower":
		if c.ID == 1 {
			c.best = 2
		}
	}
	env.Elected(c.best, 1)
}

// Suspect and Restore make it an initiator: of an election among those it reaches.
func (c *candidate) Suspect(env algo.Env, _ algo.ID) { c.Elect(env) }

// Restore is a suspicion withdrawn.
func (c *candidate) Restore(env algo.Env, _ algo.ID) {
	if c.flaw != "does not reunite" && c.flaw != "ignores a restart" {
		c.Elect(env)
	}
}

var (
	_ algo.Starter = (*candidate)(nil)
	_ algo.Timed   = (*candidate)(nil)
	_ algo.Monitor = (*candidate)(nil)
)

func all(int, algo.Params) int { return 4 }

// candidates is an exhibit of them; name is that of one without a flaw.
func candidates(name, flaw string, least int, rule, says string, trial harness.Scenario,
	promises algo.Promises) exhibit {
	return exhibit{
		name: name, flaw: flaw, least: least, rule: rule, says: says, trial: trial,
		spec: algo.Spec{
			Promises: promises, Needs: algo.Needs{Detector: algo.EventuallyPerfect},
			Survives: algo.Faults{Crashes: all, Recovery: true, Partition: true},
		},
		elector: func(c algo.Config) algo.Elector { return &candidate{Config: c, flaw: flaw} },
	}
}

const ms = time.Millisecond

var (
	cold  = harness.Scenario{Plot: &harness.ColdStart{}}
	crash = harness.Scenario{Plot: &harness.LeaderCrash{Settle: 50 * ms}}
	back  = harness.Scenario{Plot: &harness.Script{Events: []harness.Event{
		{At: 10 * ms, Do: harness.DoCrash, Node: 2},
		{At: 60 * ms, Do: harness.DoRestart, Node: 2},
	}}}
	parts = harness.Scenario{Plot: &harness.Script{Events: []harness.Event{
		{At: 10 * ms, Do: harness.DoCut, Groups: [][]uint32{{1, 2}, {3, 4, 5}}},
		{At: 150 * ms, Do: harness.DoHeal},
	}}}
)

var electors = []exhibit{
	candidates("candidate", "", 0, "", "", cold,
		algo.Promises{Leadership: algo.AtMostOne, Highest: true}),
	candidates("candidate-crash", "", 0, "", "", crash, algo.Promises{Highest: true}),
	candidates("candidate-back", "", 0, "", "", back, algo.Promises{Highest: true}),
	candidates("candidate-parts", "", 0, "", "", parts, algo.Promises{Highest: true}),
	candidates("", "disagrees", 20, "agreement", "no agreement on a leader", cold, algo.Promises{}),
	candidates("", "never decides", 100, "agreement", "p1 names none", cold, algo.Promises{}),
	candidates("", "one never hears", 100, "agreement", "p1 names none", cold, algo.Promises{}),
	candidates("", "two kings", 100, "leadership", "holds itself leader", cold,
		algo.Promises{Leadership: algo.AtMostOne}),
	candidates("", "two kings of a term", 100, "leadership", "leads term 1", cold,
		algo.Promises{Leadership: algo.PerTerm}),
	candidates("", "names a follower", 100, "leadership", "p1 names p2, which names p5", cold,
		algo.Promises{Leadership: algo.PerGroup}),
	candidates("", "names a stranger", 100, "agreement", "names p6 at", cold, algo.Promises{}),
	candidates("", "follows the dead", 100, "leader-alive", "p1 names p5", crash,
		algo.Promises{}),
	candidates("", "takes the least", 100, "highest", "but p5 is live", cold,
		algo.Promises{Highest: true}),
	candidates("", "ignores a restart", 100, "agreement", "p2 names none", back, algo.Promises{}),
	candidates("", "does not reunite", 100, "after-heal", "p1 names p2 p2 names p2", parts,
		algo.Promises{}),
	candidates("", "answers in a maps order", 0, "", "", cold, algo.Promises{}),
	overconfident(),
}

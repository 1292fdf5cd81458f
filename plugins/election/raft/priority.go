package raft

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// How priorities count: rules 10 and 11.
const (
	byTarget   = "target"
	byTakeover = "takeover"
)

// unranked is the priority of a process that has none.
const unranked = int64(-1)

// A rank is what a process does with its priority.
type rank struct {
	own, target, highest, gap int64
	skipped                   int // time-outs, since the target fell
	above                     int // how many processes have a higher priority
	takeover                  bool
}

func newRank(c algo.Config) rank {
	r := rank{own: c.Params.Int("priority"), gap: c.Params.Int("decay_gap"),
		takeover: c.Params.Enum("priority_mode") == byTakeover}
	for _, p := range c.Peers {
		other := c.Params.IntOf("priority", p)
		r.highest = max(r.highest, other)
		if other > r.own {
			r.above++
		}
	}
	r.target = r.highest
	return r
}

// willing is rule 10, at an election time-out. Priority 0 never stands.
func (r *rank) willing() bool {
	switch {
	case r.takeover || r.own == unranked:
		return true
	case r.own == 0:
		return false
	case r.own >= r.target:
		return true
	}
	if r.skipped++; r.skipped < 2 {
		return false
	}
	r.skipped = 0
	r.decay()
	return r.own >= r.target
}

func (r *rank) decay() { r.target = max(1, r.target-max(r.gap, r.target/5)) }

// renew is the end of rule 10: there is a new leader.
func (r *rank) renew() { r.target, r.skipped = r.highest, 0 }

// skip is a time-out after which a process does not stand.
func (n *node) skip(env algo.Env) {
	if n.leader != algo.None {
		n.leader = algo.None
		env.Elected(algo.None, 0)
	}
	n.restartTimer(env)
}

// lower says whether the leader that this process follows has a lower priority.
func (n *node) lower() bool {
	if n.leader == algo.None { // it stands for election
		return false
	}
	theirs := n.Params.IntOf("priority", n.leader)
	return theirs != unranked && theirs < n.rank.own
}

// watch begins rule 11 when there is another leader to follow: the highest waits for τ, and
// each below it for one τ more.
func (n *node) watch(env algo.Env) {
	switch {
	case !n.rank.takeover:
	case n.lower():
		env.SetTimer(takeoverTimer, n.clock.after(env, time.Duration(n.rank.above+1)*n.tau))
	default:
		env.CancelTimer(takeoverTimer)
	}
}

// takeOver is the end of rule 11. It passes the leases: the leader is well.
func (n *node) takeOver(env algo.Env) {
	if n.lower() {
		n.run(env, true)
	}
}

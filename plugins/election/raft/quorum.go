package raft

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// The choices of rule 9.
const (
	stickyOff    = "off"
	stickyDrop   = "drop"   // say nothing
	stickyRefuse = "refuse" // tell the own term
	stickyKnown  = "known"  // tell the own term, until the own timer makes one forget the leader
)

// led says whether this process leads, or has heard a leader within τ: for rule 2.
func (n *node) led(env algo.Env) bool {
	return n.role == leader || n.clock.within(env, n.tau, n.heard)
}

// clings is rule 9: it is the leader that it follows which it has heard, or which by rule 14
// it knows.
func (n *node) clings(env algo.Env) bool {
	return n.sticky != stickyOff && n.leader != algo.None && (n.sticky == stickyKnown || n.led(env))
}

// look begins to count for rule 8 who answers.
func (n *node) look(env algo.Env) {
	if n.checks {
		n.answered = append(n.answered[:0], n.ID)
		env.SetTimer(quorumTimer, n.clock.after(env, n.Params.Duration("t_quorum")))
	}
}

// onAppendReply notes for rule 8 that a follower has heard this leader.
func (n *node) onAppendReply(env algo.Env, from algo.ID, m AppendReply) {
	n.observe(env, m.Term)
	if n.checks && n.role == leader && m.Term == n.term && !slices.Contains(n.answered, from) {
		n.answered = append(n.answered, from)
	}
}

// checkQuorum is rule 8: without answers of a majority the leader gives up, in the term
// that it is in.
func (n *node) checkQuorum(env algo.Env) {
	if len(n.answered) >= n.majority {
		n.look(env)
		return
	}
	n.draw(env)
	n.retire(env)
	n.role, n.leader = follower, algo.None
	env.Elected(algo.None, 0)
}

package raft

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// led says whether this process leads, or has heard a leader within τ: for rules 2 and 9.
func (n *node) led(env algo.Env) bool {
	return n.role == leader || env.Now()-n.heard < n.tau
}

// look begins to count for rule 8 who answers.
func (n *node) look(env algo.Env) {
	if n.checks {
		n.answered = append(n.answered[:0], n.ID)
		env.SetTimer(quorumTimer, n.tau)
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
	n.retire(env)
	n.role, n.leader = follower, algo.None
	env.Elected(algo.None, 0)
}

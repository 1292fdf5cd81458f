package raft

import "github.com/conclave-bench/conclave/pkg/algo"

// Rule 14 is what HashiCorp's Raft does with time, as read in github.com/hashicorp/raft v1.8.0.
// The timer of a follower is not restarted by what it hears (raft.go, runFollower): it expires
// again and again, and only then the follower looks whether its last contact with a leader is
// older than τ. Until then it knows its leader, and refuses votes and pre-votes
// (requestVote, requestPreVote). A vote that it gives is a contact. Whoever becomes a follower
// sets its timer anew. The interval between two heartbeats is drawn (replication.go, heartbeat),
// and beside them the leader repeats its commit index (replicate), which is a contact, too.

// heed notes a contact.
func (n *node) heed(env algo.Env) {
	if n.contact {
		n.heard = env.Now()
	} else {
		n.restartTimer(env)
	}
}

// replicate tells the followers how far the log is committed, unless the leader fell silent.
func (n *node) replicate(env algo.Env) {
	if n.rounds == n.Params.Int("heartbeat_rounds") {
		return
	}
	algo.Broadcast(env, n.ID, n.Peers, AppendEntries{n.term})
	n.awaitCommit(env)
}

// awaitCommit sets the timer for that.
func (n *node) awaitCommit(env algo.Env) {
	if n.commit > 0 {
		env.SetTimer(commitTimer, n.clock.after(env, drawn(env, n.commit, n.commit)))
	}
}

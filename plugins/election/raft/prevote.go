package raft

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// askBefore is rule 1 with pre-vote: the term stays as it is.
func (n *node) askBefore(env algo.Env) {
	n.attempt++
	n.stand(env, preCandidate, 0)
	algo.Broadcast(env, n.ID, n.Peers, PreVote{n.asked(n.term + 1), n.log, n.attempt})
	n.preCount(env)
}

// onPreVote is rule 2. It changes no state; a refusal tells of a higher term. A vote that could
// still be given in the present term is promised, too, as etcd does.
func (n *node) onPreVote(env algo.Env, from algo.ID, m PreVote) {
	force := m.Term&forcing != 0
	m.Term &^= forcing
	if !force && m.Term > n.term && n.clings(env) {
		if n.sticky != stickyDrop {
			env.Send(from, PreVoteReply{n.term, m.Attempt, false})
		}
		return
	}
	free := n.votedFor == from || n.votedFor == algo.None && n.leader == algo.None
	ok := (m.Term > n.term || m.Term == n.term && free) && !m.Log.behind(n.log) &&
		(force || !n.lease || !n.led(env))
	env.Send(from, PreVoteReply{n.term, m.Attempt, ok})
}

// onPreVoteReply is the end of rule 2: a majority leads to rule 3. Who grants may be in the
// term that it is asked for.
func (n *node) onPreVoteReply(env algo.Env, from algo.ID, m PreVoteReply) {
	if !m.OK {
		n.observe(env, m.Term)
	}
	if n.role == preCandidate && m.OK && m.Attempt == n.attempt && !slices.Contains(n.votes, from) {
		n.votes = append(n.votes, from)
		n.preCount(env)
	}
}

func (n *node) preCount(env algo.Env) {
	if len(n.votes) >= n.majority {
		n.campaign(env)
	}
}

// Suspect and Restore do nothing: the election timer is the failure detector.
func (n *node) Suspect(algo.Env, algo.ID) {}

// Restore does nothing, see Suspect.
func (n *node) Restore(algo.Env, algo.ID) {}

// Do makes the election timer expire at once, or a leader hand over to target, for scripts.
func (n *node) Do(env algo.Env, op string, target algo.ID) {
	switch op {
	case "election_timeout":
		if n.role != leader {
			n.expire(env)
		}
	case "transfer":
		if n.role == leader && slices.Contains(n.Peers, target) {
			env.Send(target, TimeoutNow{n.term})
		}
	default:
		panic(fmt.Sprintf("raft has no operation %q (has: election_timeout, transfer)", op))
	}
}

// onTimeoutNow is rule 12: stand at once, without pre-vote, and a process that hears the leader is to
// vote nevertheless.
func (n *node) onTimeoutNow(env algo.Env, m TimeoutNow) {
	n.observe(env, m.Term)
	if m.Term == n.term && n.role == follower {
		n.forced = true
		n.campaign(env)
	}
}

// Invariant: a leader leads by a majority, a candidate votes for itself, a
// process that stands for election follows none, and none follows in term 0.
func (n *node) Invariant() error {
	switch {
	case (n.role == leader) != (n.leader == n.ID):
		return fmt.Errorf("role %d with leader %d", n.role, n.leader)
	case n.role == candidate && n.votedFor != n.ID:
		return fmt.Errorf("candidate voted for %d", n.votedFor)
	case (n.role == candidate || n.role == preCandidate) && n.leader != algo.None:
		return fmt.Errorf("role %d but follows %d", n.role, n.leader)
	case n.leader != algo.None && n.term == 0:
		return fmt.Errorf("follows %d in term 0", n.leader)
	}
	return nil
}

var (
	_ algo.Starter   = (*node)(nil)
	_ algo.Timed     = (*node)(nil)
	_ algo.Monitor   = (*node)(nil)
	_ algo.Commanded = (*node)(nil)
	_ algo.Checked   = (*node)(nil)
)

package raft

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// asked is a term as a request tells it.
func (n *node) asked(term uint64) uint64 {
	if n.forced {
		return term | forcing
	}
	return term
}

// onRequestVote is rule 4: one vote a term, for no log that is behind our own. Before it
// comes rule 9: a process that hears a leader does not even enter the term.
func (n *node) onRequestVote(env algo.Env, from algo.ID, m RequestVote) {
	force := m.Term&forcing != 0
	m.Term &^= forcing
	if !force && m.Term > n.term && n.clings(env) {
		if n.sticky != stickyDrop {
			env.Send(from, VoteReply{n.term, false})
		}
		return
	}
	n.observe(env, m.Term)
	free := n.votedFor == algo.None || n.votedFor == from
	ok := m.Term == n.term && free && !m.Log.behind(n.log)
	if ok {
		n.votedFor = from
		n.persist(env)
		n.heed(env)
	}
	env.Send(from, VoteReply{n.term, ok})
}

// behind says whether l is less up to date than own.
func (l Log) behind(own Log) bool {
	if l.LastTerm != own.LastTerm {
		return l.LastTerm < own.LastTerm
	}
	return l.LastIndex < own.LastIndex
}

// onVoteReply is the first half of rule 5. A vote of an earlier term is none.
func (n *node) onVoteReply(env algo.Env, from algo.ID, m VoteReply) {
	n.observe(env, m.Term)
	if n.role == candidate && m.OK && m.Term == n.term && !slices.Contains(n.votes, from) {
		n.votes = append(n.votes, from)
		n.countVotes(env)
	}
}

// countVotes makes this process the leader if it has a majority: rule 5.
func (n *node) countVotes(env algo.Env) {
	if len(n.votes) < n.majority {
		return
	}
	n.role, n.leader, n.rounds = leader, n.ID, 0
	env.CancelTimer(electionTimer)
	n.beatHeart(env)
	n.awaitCommit(env)
	n.look(env)
	env.Elected(n.ID, n.term)
}

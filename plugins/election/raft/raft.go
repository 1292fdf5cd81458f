// Package raft is the election part of Raft, by Ongaro and Ousterhout (USENIX
// ATC 2014), with what systems that run it add as options. Comments cite numbered rules: 1
// and 2 are section 9.6 of Ongaro's dissertation (pre-vote), 3 to 7 the paper's section 5.2 and
// its Figure 2, 8 the dissertation's section 6.2 (leaders that check their quorum), 9 its
// section 4.2.3 (sticky leaders), 10 the priorities of SOFAJRaft, 11 those of MongoDB, 12 the
// dissertation's section 3.10 (a leader hands over), 13 the ticks of etcd, and 14 the timers of
// HashiCorp's Raft.
//
// Time is divided into terms. A follower that hears no leader for a random time
// enters the next term and asks all others for their vote. Each process gives
// one vote in a term, to the first that asks and whose log is not behind its
// own, and remembers it across crashes; so no term has two majorities. A
// process that has a majority leads, and says so with heartbeats until it hears
// of a higher term. With pre-vote a process first asks whether it would be
// elected, and enters a new term only then: one that was cut off returns
// without unseating a leader that the others hear well.
//
// A sticky process heeds no request for its vote while it hears a leader. A leader that checks
// its quorum gives up when it has not heard from a majority for an election time-out: otherwise
// those that hear it, but cannot do without a process that it does not reach, would keep it
// forever.
package raft

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type role uint8

const (
	follower     role = iota
	preCandidate      // asks whether it would be elected
	candidate
	leader
)

// String is what the role is called where states are shown.
func (r role) String() string {
	return [...]string{"follower", "pre-candidate", "candidate", "leader"}[r]
}

const (
	electionTimer  algo.Timer = "election"
	heartbeatTimer algo.Timer = "heartbeat"
	quorumTimer    algo.Timer = "quorum"
	commitTimer    algo.Timer = "commit"
	takeoverTimer  algo.Timer = "takeover"
)

type node struct {
	algo.Config
	term     uint64  // persistent, as votedFor is
	votedFor algo.ID // in this term; None: nobody yet
	log      Log
	role     role
	leader   algo.ID       // of this term, once heard of
	votes    []algo.ID     // who granted this process's vote or pre-vote, itself included
	attempt  uint64        // the last pre-vote: incarnation, then a count
	heard    time.Duration // when a valid leader was heard last

	rounds   int64     // of heartbeats in this leadership
	answered []algo.ID // who has answered one since the leader last looked, itself included
	preVote  bool
	lease    bool // of pre-votes
	forced   bool // the present candidacy passes the leases
	checks   bool // its quorum
	sticky   string
	majority int

	beat, jitter, commit time.Duration // between what a leader sends
	tau, spread, fixed   time.Duration // of the election timer
	contact              bool          // rule 14
	clock                clock
	rank                 rank
}

// New reads the term and the vote from stable storage. A leader that is settled
// from the start was elected in term 1, by all.
func New(c algo.Config) algo.Elector {
	n := &node{
		Config: c, leader: c.Leader, majority: len(c.Peers)/2 + 1,
		log:     Log{c.Params.Int("last_term"), c.Params.Int("last_index")},
		preVote: c.Params.Bool("pre_vote"), attempt: uint64(c.Incarnation) << 32,
		lease: c.Params.Bool("pre_vote_lease"), sticky: c.Params.Enum("sticky"),
		checks: c.Params.Bool("check_quorum"),
		beat:   c.Params.Duration("heartbeat"), jitter: c.Params.Duration("heartbeat_spread"),
		commit: c.Params.Duration("commit_timeout"), tau: c.Params.Duration("t_election"),
		spread: c.Params.Duration("t_election_spread"), fixed: c.Params.Duration("t_election_fixed"),
		contact: c.Params.Bool("last_contact"),
		clock:   clock{tick: c.Params.Duration("tick"), apart: c.Params.Enum("tick_phase") == apart},
		rank:    newRank(c),
	}
	n.heard = -n.tau - 2*n.clock.tick // never
	if saved, ok := c.Saved.(Stable); ok {
		n.term, n.votedFor = saved.Term, saved.VotedFor
	} else if c.Leader != algo.None {
		n.term, n.votedFor = 1, c.Leader
	}
	return n
}

// Start sets the timers. A settled leader that is up counts as heard. A process that comes
// back may have missed the heartbeats of one, and counts as having heard it, too.
func (n *node) Start(env algo.Env) {
	n.clock.begin(env)
	n.draw(env)
	if n.leader != algo.None {
		n.persist(env)
	}
	if n.leader == n.ID {
		n.role = leader
		n.beatHeart(env)
		n.awaitCommit(env)
		n.look(env)
		return
	}
	if n.Incarnation > 0 || n.leader != algo.None && !n.LeaderDown {
		n.heard = env.Now()
	}
	n.restartTimer(env)
	n.watch(env)
}

// Elect makes a follower act as if its election timer had expired. A leader,
// and a process that is electing already, continues.
func (n *node) Elect(env algo.Env) {
	if n.role == follower {
		n.expire(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case PreVote:
		n.onPreVote(env, from, m)
	case PreVoteReply:
		n.onPreVoteReply(env, from, m)
	case RequestVote:
		n.onRequestVote(env, from, m)
	case VoteReply:
		n.onVoteReply(env, from, m)
	case AppendEntries:
		n.onAppendEntries(env, from, m)
	case AppendReply:
		n.onAppendReply(env, from, m)
	case TimeoutNow:
		n.onTimeoutNow(env, m)
	}
}

// Timeout is rules 1 and 14, and for the leader's timers the second half of rule 5 and rule 8.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch {
	case t == heartbeatTimer:
		n.beatHeart(env)
	case t == commitTimer:
		n.replicate(env)
	case t == quorumTimer:
		n.checkQuorum(env)
	case t == takeoverTimer:
		n.takeOver(env)
	case n.contact && n.role == follower && env.Now()-n.heard < n.tau:
		n.restartTimer(env)
	default:
		n.expire(env)
	}
}

// expire is what an election timer does that expires, and nobody was heard.
func (n *node) expire(env algo.Env) {
	if n.rank.willing() {
		n.run(env, false)
	} else {
		n.skip(env)
	}
}

// run stands for election, with pre-vote or at once.
func (n *node) run(env algo.Env, forced bool) {
	n.forced = forced
	if n.preVote {
		n.askBefore(env)
	} else {
		n.campaign(env)
	}
}

// campaign is rule 3.
func (n *node) campaign(env algo.Env) {
	n.term++
	n.votedFor = n.ID
	n.persist(env)
	n.draw(env)
	n.stand(env, candidate, n.term)
	algo.Broadcast(env, n.ID, n.Peers, RequestVote{n.asked(n.term), n.log})
	n.countVotes(env)
}

// stand makes this process a candidate in term, or a pre-candidate, which stands in none:
// 0. It has one vote.
func (n *node) stand(env algo.Env, as role, term uint64) {
	n.role, n.leader = as, algo.None
	n.votes = append(n.votes[:0], n.ID)
	n.restartTimer(env)
	env.Elected(algo.None, term)
}

func (n *node) beatHeart(env algo.Env) {
	algo.Broadcast(env, n.ID, n.Peers, AppendEntries{n.term})
	if n.rounds++; n.rounds != n.Params.Int("heartbeat_rounds") {
		env.SetTimer(heartbeatTimer, n.clock.after(env, drawn(env, n.beat, n.jitter)))
	}
}

// onAppendEntries is rule 6; by rule 14 the timer of a follower goes on. A leader of the past
// learns from the reply that it is one.
func (n *node) onAppendEntries(env algo.Env, from algo.ID, m AppendEntries) {
	n.observe(env, m.Term)
	env.Send(from, AppendReply{n.term})
	if m.Term < n.term {
		return
	}
	if n.role != follower {
		n.draw(env)
	}
	if n.role != follower || !n.contact {
		n.restartTimer(env)
	}
	n.role, n.heard = follower, env.Now()
	if n.leader != from {
		n.leader = from
		n.rank.renew()
		env.Elected(from, n.term)
		n.watch(env)
	}
}

// observe is rule 7: a higher term makes everybody a follower in it, without a
// vote given and without a leader.
func (n *node) observe(env algo.Env, term uint64) {
	if term <= n.term {
		return
	}
	n.term, n.votedFor = term, algo.None
	n.persist(env)
	n.draw(env)
	n.retire(env)
	n.role = follower
	if n.leader != algo.None {
		n.leader = algo.None
		env.Elected(algo.None, 0)
	}
}

// retire stops what a leader does, and by rule 14 what a candidate waits for.
func (n *node) retire(env algo.Env) {
	if n.contact && (n.role == candidate || n.role == preCandidate) {
		n.restartTimer(env)
	}
	if n.role == leader {
		env.CancelTimer(heartbeatTimer)
		if n.commit > 0 {
			env.CancelTimer(commitTimer)
		}
		if n.checks {
			env.CancelTimer(quorumTimer)
		}
		n.restartTimer(env)
	}
}

// persist is always called before the message that tells of the change.
func (n *node) persist(env algo.Env) { env.Save(Stable{n.term, n.votedFor}) }

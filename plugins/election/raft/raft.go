// Package raft is the election part of Raft, by Ongaro and Ousterhout (USENIX
// ATC 2014), with what systems that run it add as options. Comments cite numbered rules: 1
// and 2 are section 9.6 of Ongaro's dissertation (pre-vote), 3 to 7 the paper's section 5.2 and
// its Figure 2, 8 the dissertation's section 6.2 (leaders that check their quorum), 9 its
// section 4.2.3 (sticky leaders), 10 the priorities of SOFAJRaft, 11 those of MongoDB, 12 the
// dissertation's section 3.10 (a leader hands over), and 13 the ticks of etcd.
//
// Time is divided into terms. A follower that hears no leader for a random time
// enters the next term and asks everybody for their vote. Each process gives
// one vote in a term, to the first that asks and whose log is not behind its
// own, and remembers it across crashes; so no term has two majorities. Whoever
// has a majority leads, and says so with heartbeats until a higher term is
// heard of. With pre-vote a process first asks whether it would be elected, and
// enters a new term only then: one that was cut off returns without unseating
// a leader that the others hear well.
//
// A sticky process heeds no request for its vote while it hears a leader. A leader that checks
// its quorum gives up when it has not heard from a majority for an election time-out: otherwise
// those that hear it, but cannot do without a process that it does not reach, would keep it for
// ever.
package raft

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "raft",
		Summary: "a random time-out, a new term, one vote each; a majority makes the leader",
		Paper: algo.Paper{
			Authors: "D. Ongaro, J. Ousterhout",
			Title:   "In search of an understandable consensus algorithm",
			Venue:   "USENIX Annual Technical Conference, 305-319", Year: 2014,
			Deviations: "The election alone: logs are not replicated, and where each process's " +
				"log ends is a parameter. A REQUEST_VOTE is not repeated within a term, the " +
				"next term repeats it. Pre-vote (dissertation, section 9.6) is the option " +
				"pre_vote; its replies name the attempt that they answer, and a process that " +
				"was just restarted counts as having heard a leader, but as sticky to none. A " +
				"takeover does not look at how fresh the log is, of which no message tells; nor does " +
				"it wait a random time longer. A leader that is settled " +
				"from the start leads term 1, and counts as heard unless it is down by then. A " +
				"candidate that a majority has refused stays one until its timer expires, as the " +
				"paper's does; etcd's follows at once. Suspicions of a failure detector other than the " +
				"election timer are ignored.",
		},
		Messages: []algo.Message{
			PreVote{}, PreVoteReply{}, RequestVote{}, VoteReply{}, AppendEntries{}, AppendReply{},
			TimeoutNow{},
		},
		Saves: []algo.Message{Stable{}},
		Params: []algo.Param{
			{Name: "pre_vote", Type: algo.Bool, Default: algo.Const(false),
				Doc: "ask whether one would be elected before entering a new term"},
			{Name: "pre_vote_lease", Type: algo.Bool, Default: algo.Const(true),
				Doc: "refuse pre-votes within τ of hearing a leader, and while leading; etcd does not"},
			{Name: "check_quorum", Type: algo.Bool, Default: algo.Const(false),
				Doc: "a leader gives up if no majority answers it for t_quorum"},
			{Name: "sticky", Type: algo.Enum, Choices: []string{stickyOff, stickyDrop, stickyRefuse},
				Doc: "what becomes of a request for a vote within τ of hearing the leader that one " +
					"follows, and while leading: drop, as etcd, if check_quorum, else off",
				Default: func(net algo.Network) any {
					if net.Params.Bool("check_quorum") {
						return stickyDrop
					}
					return stickyOff
				}},
			{Name: "heartbeat", Type: algo.Duration, Min: time.Microsecond,
				Doc: "between two heartbeats of a leader; default 3d + 20 ms, d the largest " +
					"latency",
				Default: timeout.RoundTrip},
			{Name: "t_election", Type: algo.Duration, Min: time.Microsecond, Tunes: algo.Patience,
				Doc: "τ: the least that the election timer is set to; default five heartbeats",
				Default: func(net algo.Network) any {
					return 5 * net.Params.Duration("heartbeat")
				}},
			{Name: "t_election_spread", Type: algo.Duration, Min: time.Duration(0), Tunes: algo.Spread,
				Doc: "the election timer is drawn from τ to τ and so much; default τ, N·d at least",
				Default: func(net algo.Network) any {
					return max(net.Params.Duration("t_election"), leastSpread(net))
				}},
			{Name: "t_election_fixed", Type: algo.Duration, Min: time.Duration(0), PerProcess: true,
				Default: algo.Const(time.Duration(0)),
				Doc:     "what the election timer is set to, in place of a random time; 0s: random"},
			{Name: "t_quorum", Type: algo.Duration, Min: time.Microsecond,
				Doc: "how often a leader checks its quorum; default τ",
				Default: func(net algo.Network) any {
					return net.Params.Duration("t_election")
				}},
			{Name: "tick", Type: algo.Duration, Min: time.Duration(0), Default: algo.Const(time.Duration(0)),
				Doc: "timers expire at multiples of it, after whole ticks; 0s: at any instant"},
			{Name: "priority", Type: algo.Int, Min: unranked, Default: algo.Const(unranked), PerProcess: true,
				Doc: "who is to lead rather than others: the higher; -1: the process has none"},
			{Name: "priority_mode", Type: algo.Enum, Choices: []string{byTarget, byTakeover},
				Default: algo.Const(byTarget),
				Doc: "target: whoever has a lower priority than the target skips time-outs, and the " +
					"target falls with every second; takeover: who follows a leader of lower " +
					"priority stands in its place"},
			{Name: "decay_gap", Type: algo.Int, Min: int64(1), Default: algo.Const(int64(10)),
				Doc: "by how much the target falls at least; a fifth if that is more"},
			{Name: "heartbeat_rounds", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)),
				Doc: "rounds of heartbeats after which a leader falls silent; 0: never"},
			{Name: "last_term", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "term of the last entry of a process's log"},
			{Name: "last_index", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "index of the last entry of a process's log"},
		},
		Perpetual: true,
		Periods:   []algo.Period{{Param: "heartbeat", Timer: heartbeatTimer}},
		Needs: algo.Needs{
			Synchrony: algo.PartiallySynchronous,
			Params:    live,
		},
		Survives: algo.Faults{
			Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 },
		},
		// Election Safety
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm, Live: connected},
		Service:  algo.Led,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "4N-6 when the leader crashed and one candidate wins, first heartbeat included",
			Bound: algo.Exactly(func(n int) float64 { return float64(4*n - 6) }),
		}},
		Breaks: "Without a majority nobody is elected. Time-outs that are short for the delays call " +
			"the next election before the votes of this one are in, and nobody ever leads. A " +
			"leader that is cut off believes that it leads until it hears of a higher term. Without " +
			"check_quorum a leader that reaches others and does not hear them is kept, under " +
			"pre_vote and stickiness also one that reaches too few: a leader is promised then only " +
			"where the parts of the network are whole. With check_quorum a connected majority is " +
			"enough, and with pre_vote as well one process that reaches a majority, if no log is behind.",
	}, New)
}

type role uint8

const (
	follower     role = iota
	preCandidate      // asks whether it would be elected
	candidate
	leader
)

const (
	electionTimer  algo.Timer = "election"
	heartbeatTimer algo.Timer = "heartbeat"
	quorumTimer    algo.Timer = "quorum"
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

	beat, tau, spread, fixed time.Duration
	clock                    clock
	rank                     rank
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
		beat:   c.Params.Duration("heartbeat"), tau: c.Params.Duration("t_election"),
		spread: c.Params.Duration("t_election_spread"), fixed: c.Params.Duration("t_election_fixed"),
		clock: clock{tick: c.Params.Duration("tick")}, rank: newRank(c),
	}
	n.heard = -n.tau
	if saved, ok := c.Saved.(Stable); ok {
		n.term, n.votedFor = saved.Term, saved.VotedFor
	} else if c.Leader != algo.None {
		n.term, n.votedFor = 1, c.Leader
	}
	return n
}

// Start sets the timers. A leader that is settled and up counts as heard. Whoever comes
// back may have missed the heartbeats of one, and counts as having heard it, too.
func (n *node) Start(env algo.Env) {
	n.clock.start = env.Now()
	n.draw(env)
	if n.leader != algo.None {
		n.persist(env)
	}
	if n.leader == n.ID {
		n.role = leader
		n.beatHeart(env)
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
// and who is electing already, goes on.
func (n *node) Elect(env algo.Env) {
	if n.role == follower {
		n.Timeout(env, electionTimer)
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

// Timeout is rule 1, and for the leader's timers the second half of rule 5 and rule 8.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch {
	case t == heartbeatTimer:
		n.beatHeart(env)
	case t == quorumTimer:
		n.checkQuorum(env)
	case t == takeoverTimer:
		n.takeOver(env)
	case !n.rank.willing():
		n.skip(env)
	default:
		n.run(env, false)
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
		env.SetTimer(heartbeatTimer, n.clock.after(env, n.beat))
	}
}

// onAppendEntries is rule 6. A leader of the past learns from the reply that it
// is one.
func (n *node) onAppendEntries(env algo.Env, from algo.ID, m AppendEntries) {
	n.observe(env, m.Term)
	env.Send(from, AppendReply{n.term})
	if m.Term < n.term {
		return
	}
	if n.role != follower {
		n.draw(env)
	}
	n.role, n.heard = follower, env.Now()
	n.restartTimer(env)
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

// retire stops what a leader does.
func (n *node) retire(env algo.Env) {
	if n.role == leader {
		env.CancelTimer(heartbeatTimer)
		if n.checks {
			env.CancelTimer(quorumTimer)
		}
		n.restartTimer(env)
	}
}

// persist is always called before the message that tells of the change.
func (n *node) persist(env algo.Env) { env.Save(Stable{n.term, n.votedFor}) }

package raft_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/raft"
)

// newRule is process 1 of five, in term 3, in which it voted for 2. Its log ends
// with entry 7 of term 2.
func newRule(t *testing.T, preVote bool) *algotest.Transcript {
	r := algotest.NewTranscript(t, id, 5,
		algo.Config{ID: 1, Incarnation: 4, Saved: raft.Stable{Term: 3, VotedFor: 2}},
		params{"pre_vote": preVote, "last_term": int64(2), "last_index": int64(7)})
	r.Starts("election+")
	return r
}

func same() raft.Log { return raft.Log{LastTerm: 2, LastIndex: 7} }

const asks4 = "SAVE{4 1} election+ leader=0/4 REQUEST_VOTE{4 {2 7}}>2 REQUEST_VOTE{4 {2 7}}>3 " +
	"REQUEST_VOTE{4 {2 7}}>4 REQUEST_VOTE{4 {2 7}}>5"

const beats4 = "APPEND_ENTRIES{4}>2 APPEND_ENTRIES{4}>3 APPEND_ENTRIES{4}>4 " +
	"APPEND_ENTRIES{4}>5 heartbeat+"

// TestCampaign is rules 3 and 5: a vote is of a term, and of a process, once.
func TestCampaign(t *testing.T) {
	r := newRule(t, false)
	r.Expires("election", asks4)
	r.Hears(2, raft.VoteReply{Term: 3, OK: true}, "") // late, of a term that is over
	r.Hears(3, raft.VoteReply{Term: 4}, "")
	r.Hears(4, raft.VoteReply{Term: 4, OK: true}, "")
	r.Hears(4, raft.VoteReply{Term: 4, OK: true}, "") // the network's second copy
	r.Elects("")                                      // goes on with the election it is in
	r.Hears(5, raft.VoteReply{Term: 4, OK: true}, "election- "+beats4+" leader=1/4")
	r.Elects("")
	r.Expires("heartbeat", beats4)
	r.Hears(3, raft.RequestVote{Term: 4, Log: same()}, "VOTE_REPLY{4 false}>3")
	r.Hears(3, raft.AppendReply{Term: 4}, "")
	// Rule 7: a higher term ends the leadership.
	r.Hears(3, raft.AppendReply{Term: 6}, "SAVE{6 0} heartbeat- election+ leader=0/0")
}

// TestVote is rule 4.
func TestVote(t *testing.T) {
	for _, c := range []struct {
		name string
		from algo.ID
		m    raft.RequestVote
		want string
	}{
		{"a term that is over", 2, raft.RequestVote{Term: 2, Log: same()}, "VOTE_REPLY{3 false}>2"},
		{"voted for another", 3, raft.RequestVote{Term: 3, Log: same()}, "VOTE_REPLY{3 false}>3"},
		{"asked again", 2, raft.RequestVote{Term: 3, Log: same()},
			"SAVE{3 2} election+ VOTE_REPLY{3 true}>2"},
		{"a new term", 3, raft.RequestVote{Term: 4, Log: same()},
			"SAVE{4 3} election+ VOTE_REPLY{4 true}>3"},
		{"a longer log", 3, raft.RequestVote{Term: 4, Log: raft.Log{LastTerm: 2, LastIndex: 8}},
			"SAVE{4 3} election+ VOTE_REPLY{4 true}>3"},
		{"a newer log", 3, raft.RequestVote{Term: 4, Log: raft.Log{LastTerm: 3, LastIndex: 1}},
			"SAVE{4 3} election+ VOTE_REPLY{4 true}>3"},
		{"a shorter log", 3, raft.RequestVote{Term: 4, Log: raft.Log{LastTerm: 2, LastIndex: 6}},
			"SAVE{4 0} VOTE_REPLY{4 false}>3"},
		{"an older log", 3, raft.RequestVote{Term: 4, Log: raft.Log{LastTerm: 1, LastIndex: 9}},
			"SAVE{4 0} VOTE_REPLY{4 false}>3"},
	} {
		t.Run(c.name, func(t *testing.T) { newRule(t, false).Hears(c.from, c.m, c.want) })
	}
}

// TestFollow is rules 6 and 7, seen by a candidate.
func TestFollow(t *testing.T) {
	r := newRule(t, false)
	r.Expires("election", asks4)
	r.Hears(2, raft.AppendEntries{Term: 3}, "APPEND_REPLY{4}>2") // a leader of the past
	r.Hears(2, raft.AppendEntries{Term: 4}, "APPEND_REPLY{4}>2 election+ leader=2/4")
	r.Hears(2, raft.AppendEntries{Term: 4}, "APPEND_REPLY{4}>2 election+")
	r.Hears(3, raft.VoteReply{Term: 4, OK: true}, "")
	r.Hears(4, raft.VoteReply{Term: 4, OK: true}, "") // a majority, but of no candidate any more
	r.Hears(3, raft.AppendEntries{Term: 5},
		"SAVE{5 0} leader=0/0 APPEND_REPLY{5}>3 election+ leader=3/5")
	r.Hears(2, raft.VoteReply{Term: 6}, "SAVE{6 0} leader=0/0")
	const asks7 = "SAVE{7 1} election+ leader=0/7 REQUEST_VOTE{7 {2 7}}>2 REQUEST_VOTE{7 {2 7}}>3 " +
		"REQUEST_VOTE{7 {2 7}}>4 REQUEST_VOTE{7 {2 7}}>5"
	r.Elects(asks7)
	r.Hears(2, raft.VoteReply{Term: 8}, "SAVE{8 0}") // no candidate any more, but a follower
	r.Elects(strings.ReplaceAll(asks7, "7 ", "9 "))
}

// TestSettled: whoever leads from the start does so in term 1, with all votes.
func TestSettled(t *testing.T) {
	f := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3}, nil)
	f.Starts("SAVE{1 3} election+")
	f.Hears(2, raft.RequestVote{Term: 1}, "VOTE_REPLY{1 false}>2")
	l := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, nil)
	l.Starts("SAVE{1 3} APPEND_ENTRIES{1}>1 APPEND_ENTRIES{1}>2 heartbeat+")
}

// TestFirst: whoever knows no leader begins in term 0, in which it has not voted;
// a leader that is settled counts though its ID is 1.
func TestFirst(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, nil)
	r.Starts("election+")
	r.Elects("SAVE{1 1} election+ leader=0/1 REQUEST_VOTE{1 {0 0}}>2 REQUEST_VOTE{1 {0 0}}>3")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 2, Leader: 1}, nil)
	r.Starts("SAVE{1 1} election+")
	r.Hears(1, raft.AppendEntries{Term: 1}, "APPEND_REPLY{1}>1 election+")
}

// TestElectionTimer: it is drawn from τ to 2τ, or to τ and the spread, both included.
func TestElectionTimer(t *testing.T) {
	const tau = 2 * time.Microsecond
	for name, c := range map[string]struct {
		given params
		most  time.Duration
	}{
		"as the paper's": {params{"heartbeat": tau, "t_election": tau, "t_election_spread": tau}, 2 * tau},
		"narrow": {params{"heartbeat": tau, "t_election": tau, "t_election_spread": tau / 2},
			tau + tau/2},
		"none": {params{"heartbeat": tau, "t_election": tau, "t_election_spread": 0 * tau}, tau},
	} {
		s := newStepper(t, c.given)
		least, most := time.Hour, time.Duration(0)
		for range 40_000 {
			for _, e := range s.Step(0, algotest.Expire("election")) {
				if e.Op == algo.OpSetTimer {
					least, most = min(least, e.After), max(most, e.After)
				}
			}
		}
		if least != tau || most != c.most {
			t.Errorf("%s: from %v to %v, want from %v to %v", name, least, most, tau, c.most)
		}
	}
}

// newStepper is process 1 of three.
func newStepper(t *testing.T, given params) *algo.Stepper {
	t.Helper()
	alg := algotest.Lookup(t, id)
	c := algo.Config{ID: 1, Peers: algotest.Everybody(3), Neighbors: algotest.Everybody(3)}
	c.Params, _ = alg.Spec.Resolve(given, algo.Network{Nodes: 3, Latency: ms, Bounded: true})
	return algo.NewStepper(alg, c, 1, &algo.Buffer{})
}

// TestOperations: one lets the election timer expire, one hands over, and a script that asks
// for another is told.
func TestOperations(t *testing.T) {
	do := func(op string) algo.Event { return algo.Event{Type: algo.Do, Op: op} }
	s := newStepper(t, nil)
	if got := s.Step(0, do("election_timeout")); len(got) == 0 || got[0].Op != algo.OpSave {
		t.Errorf("an election time-out: %v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown operation passes unseen")
		}
	}()
	s.Step(0, do("abdicate"))
}

// TestPreVote is rules 1 and 2, seen by who asks.
func TestPreVote(t *testing.T) {
	r := newRule(t, true)
	ask := "election+ leader=0/0 PRE_VOTE{4 {2 7} 17179869185}>2 PRE_VOTE{4 {2 7} 17179869185}>3 " +
		"PRE_VOTE{4 {2 7} 17179869185}>4 PRE_VOTE{4 {2 7} 17179869185}>5"
	const attempt = 4<<32 + 1 // of the fourth recovery
	r.Elects(ask)
	r.Hears(2, raft.PreVoteReply{Term: 3, Attempt: attempt - 1, OK: true}, "") // an earlier one
	r.Hears(3, raft.PreVoteReply{Term: 3, Attempt: attempt}, "")
	r.Hears(4, raft.PreVoteReply{Term: 3, Attempt: attempt, OK: true}, "")
	r.Hears(4, raft.PreVoteReply{Term: 3, Attempt: attempt, OK: true}, "")
	r.Hears(5, raft.PreVoteReply{Term: 2, Attempt: attempt, OK: true}, asks4)
	r.Hears(2, raft.PreVoteReply{Term: 3, Attempt: attempt, OK: true}, "")

	r = newRule(t, true)
	r.Elects(ask)
	r.Hears(3, raft.PreVoteReply{Term: 9, Attempt: attempt}, "SAVE{9 0}") // rule 7

	r = newRule(t, true)
	r.Elects(ask)
	r.Hears(3, raft.PreVoteReply{Term: 4, Attempt: attempt, OK: true}, "") // is in the term that it grants
	r.Hears(4, raft.PreVoteReply{Term: 4, Attempt: attempt, OK: true}, asks4)
}

// TestPreVoteAsked is rule 2, seen by who is asked. It never sets the timer.
func TestPreVoteAsked(t *testing.T) {
	r := newRule(t, true)
	ask := raft.PreVote{Term: 4, Log: same(), Attempt: 8}
	yes, no := "PRE_VOTE_REPLY{3 8 true}>2", "PRE_VOTE_REPLY{3 8 false}>2"
	const tau = 5 * 23 * time.Millisecond
	r.Hears(2, ask, no) // just restarted: it may not have heard the leader yet
	r.Now = tau - 1
	r.Hears(2, ask, no)
	r.Now = tau
	r.Hears(2, ask, yes)
	r.Hears(2, raft.PreVote{Term: 3, Log: same(), Attempt: 8}, yes) // it has its vote in term 3
	r.Hears(3, raft.PreVote{Term: 3, Log: same(), Attempt: 8}, "PRE_VOTE_REPLY{3 8 false}>3")
	r.Hears(2, raft.PreVote{Term: 2, Log: same(), Attempt: 8}, no)
	r.Hears(2, raft.PreVote{Term: 5, Log: raft.Log{LastTerm: 2, LastIndex: 6}, Attempt: 8}, no)
	r.Hears(3, raft.AppendEntries{Term: 3}, "APPEND_REPLY{3}>3 election+ leader=3/3")
	r.Hears(2, ask, no)
	r.Now = 2 * tau
	r.Hears(2, ask, yes)

	// A vote that is still to be given is promised, unless there is a leader to follow.
	free := algotest.NewTranscript(t, id, 5, algo.Config{ID: 1, Saved: raft.Stable{Term: 3}}, params{"pre_vote": true})
	free.Starts("election+")
	ask3 := raft.PreVote{Term: 3, Attempt: 8}
	free.Hears(2, ask3, yes)
	free.Hears(3, raft.AppendEntries{Term: 3}, "APPEND_REPLY{3}>3 election+ leader=3/3")
	free.Now = tau
	free.Hears(2, ask3, no)

	// Without the lease a live leader does not matter, as with etcd's PreVote alone: the leader
	// itself grants.
	for p, starts := range map[algo.ID]string{1: "SAVE{1 3} election+",
		3: "SAVE{1 3} APPEND_ENTRIES{1}>1 APPEND_ENTRIES{1}>2 heartbeat+"} {
		e := algotest.NewTranscript(t, id, 3, algo.Config{ID: p, Leader: 3},
			params{"pre_vote": true, "pre_vote_lease": false})
		e.Starts(starts)
		e.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, "PRE_VOTE_REPLY{1 8 true}>2")
	}

	// The first recovery counts as well as the fourth.
	f := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Incarnation: 1}, params{"pre_vote": true})
	f.Now = tau
	f.Starts("election+")
	f.Hears(2, raft.PreVote{Term: 1, Attempt: 8}, "PRE_VOTE_REPLY{0 8 false}>2")

	// A settled leader that is up counts as heard at the start, before its first heartbeat.
	for _, down := range []bool{false, true} {
		s := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3, LeaderDown: down},
			params{"pre_vote": true})
		s.Starts("SAVE{1 3} election+")
		s.Now = tau - 1
		s.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, fmt.Sprintf("PRE_VOTE_REPLY{1 8 %t}>2", down))
		s.Now = tau
		s.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, "PRE_VOTE_REPLY{1 8 true}>2")
	}

	// A leader never grants, however long ago it heard another.
	l := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, params{"pre_vote": true})
	l.Starts("SAVE{1 3} APPEND_ENTRIES{1}>1 APPEND_ENTRIES{1}>2 heartbeat+")
	l.Now = 5 * tau
	l.Hears(2, raft.PreVote{Term: 2, Attempt: 8}, "PRE_VOTE_REPLY{1 8 false}>2")
}

// TestCheckQuorum is rule 8: a majority answers in every τ, or the leader gives up.
func TestCheckQuorum(t *testing.T) {
	t.Parallel()
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 1}, params{"check_quorum": true})
	r.Starts("election+")
	r.Elects("SAVE{1 1} election+ leader=0/1 REQUEST_VOTE{1 {0 0}}>2 REQUEST_VOTE{1 {0 0}}>3 " +
		"REQUEST_VOTE{1 {0 0}}>4 REQUEST_VOTE{1 {0 0}}>5")
	r.Hears(2, raft.VoteReply{Term: 1, OK: true}, "")
	beats1 := strings.ReplaceAll(beats4, "{4}", "{1}")
	r.Hears(3, raft.VoteReply{Term: 1, OK: true}, "election- "+beats1+" quorum+ leader=1/1")
	r.Hears(2, raft.AppendReply{Term: 1}, "")
	r.Hears(2, raft.AppendReply{Term: 1}, "") // one process, whatever it says
	r.Hears(3, raft.AppendReply{Term: 1}, "")
	r.Expires("quorum", "quorum+")
	r.Hears(4, raft.AppendReply{Term: 1}, "")
	r.Hears(5, raft.AppendReply{Term: 0}, "") // to a leader of the past
	r.Expires("quorum", "heartbeat- quorum- election+ leader=0/0")
	r.Hears(5, raft.AppendReply{Term: 1}, "")
	r.Elects("SAVE{2 1} election+ leader=0/2 REQUEST_VOTE{2 {0 0}}>2 REQUEST_VOTE{2 {0 0}}>3 " +
		"REQUEST_VOTE{2 {0 0}}>4 REQUEST_VOTE{2 {0 0}}>5")

	// A leader that is settled does so as well, and stops when a higher term is heard of.
	l := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, params{"check_quorum": true})
	l.Starts("SAVE{1 3} APPEND_ENTRIES{1}>1 APPEND_ENTRIES{1}>2 heartbeat+ quorum+")
	l.Hears(1, raft.AppendReply{Term: 2}, "SAVE{2 0} heartbeat- quorum- election+ leader=0/0")

	s := newStepper(t, params{"check_quorum": true})
	s.Step(0, algotest.Expire("election"))
	for _, e := range s.Step(0, algotest.Hear(2, raft.VoteReply{Term: 1, OK: true})) {
		if e.Op == algo.OpSetTimer && e.Timer == "quorum" && e.After != 5*23*ms {
			t.Errorf("it looks after %v, want τ", e.After)
		}
	}
}

// TestStickiness is rule 9, for who follows, leads, or is a candidate.
func TestStickiness(t *testing.T) {
	t.Parallel()
	const tau = 5 * 23 * time.Millisecond
	sticky := params{"sticky": "drop"}
	asks := raft.RequestVote{Term: 2}
	const enters = "SAVE{2 2} leader=0/0 election+ VOTE_REPLY{2 true}>2"
	f := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3}, sticky)
	f.Starts("SAVE{1 3} election+")
	f.Hears(2, asks, "")
	f.Hears(2, raft.RequestVote{Term: 1}, "VOTE_REPLY{1 false}>2") // its own term is told
	f.Now = tau - 1
	f.Hears(2, asks, "")
	f.Now = tau
	f.Hears(2, asks, enters)

	l := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3}, sticky)
	l.Starts("SAVE{1 3} APPEND_ENTRIES{1}>1 APPEND_ENTRIES{1}>2 heartbeat+")
	l.Now = 5 * tau
	l.Hears(2, asks, "")
	l.Hears(2, raft.AppendEntries{Term: 2},
		"SAVE{2 0} heartbeat- election+ leader=0/0 APPEND_REPLY{2}>2 election+ leader=2/2")

	c := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, sticky)
	c.Starts("election+")
	c.Elects("SAVE{1 1} election+ leader=0/1 REQUEST_VOTE{1 {0 0}}>2 REQUEST_VOTE{1 {0 0}}>3")
	c.Hears(2, asks, "SAVE{2 2} election+ VOTE_REPLY{2 true}>2")
}

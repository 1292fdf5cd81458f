package raft_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/raft"
)

// alone is process 1 of n, which nobody hears.
func alone(t *testing.T, n int, given params, was raft.Stable) *network {
	t.Helper()
	net := newNetwork(t, n, given, []raft.Stable{was})
	net.play([]step{isolate(1)})
	return net
}

// TestEtcdOneRound is TestLeaderElectionInOneRoundRPC.
func TestEtcdOneRound(t *testing.T) {
	for _, c := range []struct {
		nodes int
		votes string // of 2, 3, ...: y, n, or none
		want  string
	}{
		{1, "", "1@1"},
		{3, "yy", "1@1"}, {3, "y-", "1@1"},
		{5, "yyyy", "1@1"}, {5, "yyy-", "1@1"}, {5, "yy--", "1@1"},
		// Differs: a candidate that a majority has refused stays one; etcd's follows.
		{3, "nn", "-@1"}, {5, "nnnn", "-@1"}, {5, "ynnn", "-@1"},
		{3, "--", "-@1"}, {5, "y---", "-@1"}, {5, "nn--", "-@1"}, {5, "----", "-@1"},
	} {
		t.Run(fmt.Sprint(c.nodes, c.votes), func(t *testing.T) {
			steps := []step{campaign(1)}
			for i, v := range c.votes {
				if v != '-' {
					steps = append(steps, hear(algo.ID(i+2), raft.VoteReply{Term: 1, OK: v == 'y'}))
				}
			}
			alone(t, c.nodes, nil, raft.Stable{}).play(append(steps, is(c.want)))
		})
	}
}

// TestEtcdFollowerVote is TestFollowerVote: first come, first served.
func TestEtcdFollowerVote(t *testing.T) {
	for _, c := range []struct {
		voted, asks algo.ID
		ok          bool
	}{{0, 2, true}, {0, 3, true}, {2, 2, true}, {3, 3, true}, {2, 3, false}, {3, 2, false}} {
		alone(t, 3, nil, raft.Stable{Term: 1, VotedFor: c.voted}).play([]step{
			hear(c.asks, raft.RequestVote{Term: 1}), says(fmt.Sprintf("VOTE_REPLY{1 %t}>%d", c.ok, c.asks))})
	}
}

// TestEtcdVoter is TestVoter, TestRecvMsgVote and the logs of TestRecvMsgPreVote: who has
// the newer log. A PRE_VOTE asks for a term that nobody is in; etcd's test asks for the
// voter's own, in which its vote counts.
func TestEtcdVoter(t *testing.T) {
	type end = struct{ LastTerm, LastIndex int64 } // of a log
	type row struct {
		own, asker end
		ok         bool
	}
	rows := []row{ // TestVoter
		{end{1, 1}, end{1, 1}, true}, {end{1, 1}, end{1, 2}, true},
		{end{1, 2}, end{1, 1}, false},
		{end{1, 1}, end{2, 1}, true}, {end{1, 1}, end{2, 2}, true},
		{end{1, 2}, end{2, 1}, true},
		{end{2, 1}, end{1, 1}, false}, {end{2, 1}, end{1, 2}, false},
		{end{2, 2}, end{1, 1}, false}, {end{1, 2}, end{1, 1}, false},
	}
	for index, ok := range []string{"nnny", "nnny", "nnyy", "nnyy"} { // TestRecvMsgVote
		for term, v := range ok {
			rows = append(rows, row{end{2, 2}, end{int64(term), int64(index)}, v == 'y'})
		}
	}
	for _, c := range rows {
		t.Run(fmt.Sprintf("%v asked by %v", c.own, c.asker), func(t *testing.T) {
			given := params{"last_term": c.own.LastTerm, "last_index": c.own.LastIndex}
			alone(t, 2, given, raft.Stable{Term: 3}).play([]step{
				hear(2, raft.PreVote{Term: 4, Log: raft.Log(c.asker)}),
				says(fmt.Sprintf("PRE_VOTE_REPLY{3 0 %t}>2", c.ok)),
				hear(2, raft.RequestVote{Term: 3, Log: raft.Log(c.asker)}),
				says(fmt.Sprintf("VOTE_REPLY{3 %t}>2", c.ok))})
		})
	}
}

// TestEtcdRecvMsgVote is the last rows of TestRecvMsgVote: whoever has voted in the term,
// for another or itself, refuses.
func TestEtcdRecvMsgVote(t *testing.T) {
	const refuses, grants = "VOTE_REPLY{3 false}>2", "VOTE_REPLY{3 true}>2"
	for name, c := range map[string]struct {
		preVote bool
		was     raft.Stable
		steps   []step
		want    string
	}{
		"voted for the asker": {false, raft.Stable{Term: 3, VotedFor: 2}, nil, grants},
		"voted for another":   {false, raft.Stable{Term: 3, VotedFor: 1}, nil, refuses},
		"leader": {false, raft.Stable{Term: 2},
			[]step{campaign(1), hear(3, raft.VoteReply{Term: 3, OK: true})}, refuses},
		"pre-candidate": {true, raft.Stable{Term: 3, VotedFor: 1}, []step{campaign(1)}, refuses},
		"candidate":     {false, raft.Stable{Term: 2}, []step{campaign(1)}, refuses},
	} {
		t.Run(name, func(t *testing.T) {
			log := params{"last_term": int64(2), "last_index": int64(2), "pre_vote": c.preVote}
			alone(t, 3, log, c.was).play(append(c.steps,
				hear(2, raft.RequestVote{Term: 3, Log: raft.Log{LastTerm: 3, LastIndex: 3}}), says(c.want)))
		})
	}
}

// TestEtcdRoles is what followers, candidates and leaders do by themselves.
func TestEtcdRoles(t *testing.T) {
	const asks1 = "REQUEST_VOTE{1 {0 0}}>2 REQUEST_VOTE{1 {0 0}}>3"
	const asks2 = "REQUEST_VOTE{2 {0 0}}>2 REQUEST_VOTE{2 {0 0}}>3"
	for name, steps := range map[string][]step{
		"TestFollowerStartElection": {hear(2, raft.AppendEntries{Term: 1}), is("2@1"),
			campaign(1), is("-@2"), says(asks2)},
		"TestCandidateStartNewElection": {campaign(1), says(asks1),
			campaign(1), is("-@2"), says(asks2)},
		"TestCandidateFallback: of its term": {campaign(1), hear(2, raft.AppendEntries{Term: 1}),
			is("2@1")},
		"TestCandidateFallback: of a later one": {campaign(1), hear(2, raft.AppendEntries{Term: 2}),
			is("2@2")},
		"TestLeaderBcastBeat, TestBcastBeat, TestRecvMsgBeat": {campaign(1),
			hear(2, raft.VoteReply{Term: 1, OK: true}), beat(1),
			says("APPEND_ENTRIES{1}>2 APPEND_ENTRIES{1}>3")},
	} {
		t.Run(name, func(t *testing.T) { alone(t, 3, nil, raft.Stable{}).play(steps) })
	}
	// TestVoteRequest: what is asked with, after the leader of an earlier term.
	for term := int64(1); term <= 2; term++ {
		given := params{"last_term": term, "last_index": term}
		alone(t, 3, given, raft.Stable{}).play([]step{
			hear(2, raft.AppendEntries{Term: uint64(term)}), campaign(1), says(fmt.Sprintf(
				"REQUEST_VOTE{%[1]d {%[2]d %[2]d}}>2 REQUEST_VOTE{%[1]d {%[2]d %[2]d}}>3", term+1, term))})
	}
}

// TestEtcdTimeouts is Test{Follower,Candidate}ElectionTimeoutRandomized,
// Test{Followers,Candidates}ElectionTimeoutNonconflict and TestPastElectionTimeout. Their
// time-outs are 10 to 19 ticks; a tick here is a tenth of τ.
func TestEtcdTimeouts(t *testing.T) {
	const rounds = 1000
	const tick = 5 * 23 * ms / 10
	for name, again := range map[string]func(p algo.ID, term uint64) algo.Event{
		"followers": func(p algo.ID, term uint64) algo.Event {
			return algotest.Hear(p%5+1, raft.AppendEntries{Term: term}) // some other process
		},
		"candidates": func(algo.ID, uint64) algo.Event { return algotest.Expire("election") },
	} {
		t.Run(name, func(t *testing.T) {
			net := newNetwork(t, 5, nil, nil)
			net.play([]step{isolate(1, 2, 3, 4, 5)})
			conflicts, drawn := 0, map[time.Duration]int{}
			for round := range uint64(rounds) {
				first, same := time.Hour, 0
				for i := range net.processes {
					p := algo.ID(i + 1)
					net.feed(p, again(p, round+1))
					after := net.timeout[i] / tick
					drawn[after]++
					switch {
					case after < first:
						first, same = after, 1
					case after == first:
						same++
					}
				}
				if same > 1 {
					conflicts++
				}
			}
			if conflicts > rounds*3/10 {
				t.Errorf("%d conflicts in %d rounds, want three tenths at most", conflicts, rounds)
			}
			for elapsed := time.Duration(10); elapsed < 20; elapsed++ {
				if share := float64(drawn[elapsed]) / (5 * rounds); share < 0.08 || share > 0.12 {
					t.Errorf("%.3f of the time-outs last %d ticks, want a tenth", share, elapsed)
				}
			}
		})
	}
}

package raft_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/plugins/election/raft"
)

// A scenario is one of etcd's, with pre-vote or without.
type scenario struct {
	name    string
	nodes   int
	preVote bool
	given   params
	saved   []raft.Stable
	steps   []step
	differs string // how the outcome is not etcd's, and why
}

// lease is why pre-votes are refused here that etcd grants.
const lease = "who leads, or has heard a leader within τ, refuses (dissertation, section 9.6); " +
	"etcd does so with CheckQuorum alone"

// TestEtcd is the scenarios of raft_test.go and testdata in which several processes hear
// each other.
func TestEtcd(t *testing.T) {
	for _, s := range slices.Concat(elections, duels, preVotes, checkQuorum, transfers) {
		name := s.name
		if s.preVote {
			name += ", pre-vote"
		}
		t.Run(name, func(t *testing.T) {
			if s.differs != "" {
				t.Log("differs: " + s.differs)
			}
			newNetwork(t, s.nodes, with(s.given, s.preVote), s.saved).play(s.steps)
		})
	}
}

var (
	behind  = logs(list(0, 1, 1, 1, 0), list(0, 1, 1, 2, 0))
	ahead   = []raft.Stable{{}, {Term: 1}, {Term: 1}, {Term: 1}, {}}
	newer   = logs(list(1, 1, 2, 0, 0), list(1, 1, 1, 0, 0))
	twice   = []raft.Stable{{Term: 1}, {Term: 1}, {Term: 2}, {Term: 2, VotedFor: 3}, {Term: 2, VotedFor: 3}}
	shorter = logs(list(1, 1, 0), list(1, 1, 0))
)

var elections = []scenario{
	{name: "TestStartAsFollower", nodes: 3, steps: []step{is("-@0 -@0 -@0")}},
	{name: "TestLeaderElection: three of three, campaign.txt", nodes: 3,
		steps: []step{campaign(1), is("1@1 1@1 1@1")}},
	{name: "TestLeaderElection: two of three", nodes: 3,
		steps: []step{isolate(3), campaign(1), is("1@1 1@1 -@0")}},
	{name: "TestLeaderElection: one of three", nodes: 3,
		steps: []step{isolate(2, 3), campaign(1), is("-@1 -@0 -@0")}},
	{name: "TestLeaderElection: two of four", nodes: 4,
		steps: []step{isolate(2, 3), campaign(1), is("-@1 -@0 -@0 -@1")}},
	{name: "TestLeaderElection: three of five", nodes: 5,
		steps: []step{isolate(2, 3), campaign(1), is("1@1 -@0 -@0 1@1 1@1")}},
	{name: "TestLeaderElection: longer logs", nodes: 5, given: behind, saved: ahead,
		steps:   []step{campaign(1), is("-@1 -@1 -@1 -@1 -@1")},
		differs: "1 stays a candidate until its timer expires; etcd's follows once a majority refused"},
	{name: "TestLeaderElectionPreVote: three of three", nodes: 3, preVote: true,
		steps: []step{campaign(1), is("1@1 1@1 1@1")}},
	{name: "TestLeaderElectionPreVote: two of three", nodes: 3, preVote: true,
		steps: []step{isolate(3), campaign(1), is("1@1 1@1 -@0")}},
	{name: "TestLeaderElectionPreVote: one of three", nodes: 3, preVote: true,
		steps: []step{isolate(2, 3), campaign(1), is("-@0 -@0 -@0")}},
	{name: "TestLeaderElectionPreVote: two of four", nodes: 4, preVote: true,
		steps: []step{isolate(2, 3), campaign(1), is("-@0 -@0 -@0 -@0")}},
	{name: "TestLeaderElectionPreVote: three of five", nodes: 5, preVote: true,
		steps: []step{isolate(2, 3), campaign(1), is("1@1 -@0 -@0 1@1 1@1")}},
	{name: "TestLeaderElectionPreVote: longer logs", nodes: 5, preVote: true, given: behind,
		saved: ahead, steps: []step{campaign(1), is("-@1 -@1 -@1 -@1 -@0")}},

	{name: "TestLeaderCycle", nodes: 3, steps: []step{campaign(1), is("1@1 1@1 1@1"),
		campaign(2), is("2@2 2@2 2@2"), campaign(3), is("3@3 3@3 3@3")}},
	{name: "TestLeaderCyclePreVote", nodes: 3, preVote: true, steps: []step{
		campaign(1), is("1@1 1@1 1@1"), campaign(2), is("1@1 -@1 1@1"), beat(1), is("1@1 1@1 1@1"),
		wait, campaign(2), is("2@2 2@2 2@2"), wait, campaign(3), is("3@3 3@3 3@3")},
		differs: lease + ". So there is no cycle before τ is over"},
	{name: "TestLeaderElectionOverwriteNewerLogs", nodes: 5, given: newer, saved: twice,
		steps: []step{campaign(1), is("-@2 -@2 -@2 -@2 -@2"), campaign(1), is("1@3 1@3 1@3 1@3 1@3")}},
	{name: "TestLeaderElectionOverwriteNewerLogsPreVote", nodes: 5, preVote: true, given: newer,
		saved: twice,
		steps: []step{campaign(1), is("-@2 -@1 -@2 -@2 -@2"), campaign(1), is("1@3 1@3 1@3 1@3 1@3")}},

	{name: "TestSingleNodeCandidate, single_node.txt", nodes: 1, steps: []step{campaign(1), is("1@1")}},
	{name: "TestSingleNodePreCandidate", nodes: 1, preVote: true,
		steps: []step{campaign(1), is("1@1")}},
	{name: "TestCampaignWhileLeader", nodes: 1,
		steps: []step{campaign(1), campaign(1), is("1@1"), says("")}},
	{name: "TestPreCampaignWhileLeader", nodes: 1, preVote: true,
		steps: []step{campaign(1), campaign(1), is("1@1"), says("")}},
}

var duels = []scenario{
	{name: "TestDuelingCandidates", nodes: 3, given: shorter, steps: []step{
		cut(1, 3), campaign(1), campaign(3), is("1@1 1@1 -@1"),
		heal, campaign(3), is("-@2 -@2 -@2")},
		differs: "3 stays a candidate, as in TestLeaderElection; its log is short from the start"},
	{name: "TestCandidateConcede", nodes: 3, steps: []step{
		isolate(1), campaign(1), is("-@1 -@0 -@0"), campaign(3), is("-@1 3@1 3@1"),
		heal, beat(3), is("3@1 3@1 3@1")}},
	{name: "TestOldMessages, TestRejectStaleTermMessage, TestStepIgnoreOldTermMsg", nodes: 3,
		steps: []step{campaign(1), campaign(2), campaign(1), is("1@3 1@3 1@3"),
			hear(2, raft.AppendEntries{Term: 2}), is("1@3 1@3 1@3"), says("APPEND_REPLY{3}>2")},
		differs: "the leader of the past is told the term; etcd ignores it without CheckQuorum"},
	{name: "TestCandidateResetTermMsg{Heartbeat,App}", nodes: 3, steps: []step{
		campaign(1), is("1@1 1@1 1@1"), isolate(3), campaign(2), campaign(1), is("1@3 1@3 1@1"),
		campaign(3), is("1@3 1@3 -@2"), heal, beat(1), is("1@3 1@3 1@3")}},
	{name: "TestCandidateSelfVoteAfterLostElection", nodes: 3, steps: []step{
		isolate(1, 2, 3), campaign(1), hear(2, raft.AppendEntries{Term: 1}), is("2@1"),
		hear(3, raft.VoteReply{Term: 1, OK: true}), is("2@1")},
		differs: "a process counts its own vote at once; so the vote that comes late is another's"},
	{name: "TestDisruptiveFollower", nodes: 3, saved: saved(3, 1), steps: []step{
		campaign(1), is("1@2 1@2 1@2"), isolate(3), campaign(3), is("1@2 1@2 -@3"),
		heal, beat(1), is("-@3 1@2 -@3")},
		differs: "none, also without CheckQuorum: 3's requests are cut off here, and delayed there"},
}

var preVotes = []scenario{
	{name: "TestDuelingPreCandidates", nodes: 3, preVote: true, given: shorter, steps: []step{
		cut(1, 3), campaign(1), is("1@1 1@1 -@0"), campaign(3), is("1@1 1@1 -@1"),
		heal, campaign(3), is("1@1 1@1 -@1"), beat(1), is("1@1 1@1 1@1")}},
	{name: "TestCandidateConcede", nodes: 3, preVote: true, steps: []step{
		isolate(1), campaign(1), is("-@0 -@0 -@0"), campaign(3), is("-@0 3@1 3@1"),
		heal, beat(3), is("3@1 3@1 3@1")}},
	{name: "TestCandidateSelfVoteAfterLostElectionPreVote", nodes: 3, preVote: true,
		saved: saved(3, 1), steps: []step{
			isolate(1, 2, 3), campaign(1), hear(2, raft.AppendEntries{Term: 1}), is("2@1"),
			hear(3, raft.PreVoteReply{Term: 1, Attempt: 1, OK: true}), is("2@1")}},
	{name: "TestCandidateDeliversPreCandidateSelfVoteAfterBecomingCandidate", nodes: 3,
		preVote: true, steps: []step{
			isolate(1, 2, 3), campaign(1), is("-@0"),
			hear(2, raft.PreVoteReply{Attempt: 1, OK: true}), is("-@1"),
			hear(3, raft.PreVoteReply{Attempt: 1, OK: true}), is("-@1"),
			hear(2, raft.VoteReply{Term: 1, OK: true}), is("1@1")},
		differs: "a process counts its own vote at once, so that one more is enough each time"},
	{name: "TestDisruptiveFollowerPreVote", nodes: 3, preVote: true, saved: saved(3, 1),
		given: logs(list(1, 1, 1), list(3, 3, 0)), steps: []step{
			campaign(1), is("1@2 1@2 1@2"), isolate(3), heal, campaign(3), is("1@2 1@2 -@2"),
			beat(1), is("1@2 1@2 1@2")}},
	{name: "TestNodeWithSmallerTermCanCompleteElection", nodes: 3, preVote: true,
		saved: saved(3, 1), steps: []step{
			isolate(3), campaign(1), is("1@2 1@2 -@1"), campaign(3), is("1@2 1@2 -@1"),
			campaign(2), is("1@2 -@2 -@1"),
			heal, isolate(2), campaign(3), campaign(1), beat(1), is("1@2 -@2 1@2")},
		differs: lease + ". So 2 does not lead a third term; 3, whose term is small, follows"},
	{name: "TestPreVoteWithSplitVote", nodes: 3, preVote: true, saved: saved(3, 1), steps: []step{
		campaign(1), is("1@2 1@2 1@2"), isolate(1), wait, campaign(2, 3), is("1@2 -@3 -@3"),
		campaign(2), is("1@2 2@4 2@4")}},
	{name: "TestPreVoteWithCheckQuorum", nodes: 3, preVote: true, saved: saved(3, 1), steps: []step{
		campaign(1), isolate(1), campaign(3), is("1@2 1@2 -@2"),
		campaign(2), is("1@2 -@2 -@2"), wait, campaign(2), is("1@2 2@3 2@3")},
		differs: "3 refuses 2 until τ is over, though it follows nobody by then"},
	{name: "prevote.txt", nodes: 3, preVote: true, given: logs(list(1, 1, 1), list(12, 12, 11)),
		steps: []step{campaign(1), is("1@1 1@1 1@1"), wait, campaign(3), is("1@1 1@1 -@1"),
			campaign(2), is("2@2 2@2 2@2")},
		differs: lease + ". 2 is elected by 3"},
}

// both is etcd's CheckQuorum.
var both = params{"check_quorum": true, "sticky": "drop"}

var checkQuorum = []scenario{
	{name: "TestLeaderStepdownWhenQuorumActive", nodes: 3, given: both, steps: []step{
		campaign(1), is("1@1 1@1 1@1"), look(1), beat(1), look(1), beat(1), look(1), is("1@1 1@1 1@1")}},
	{name: "TestLeaderStepdownWhenQuorumLost, checkquorum.txt", nodes: 3, given: both, steps: []step{
		campaign(1), look(1), is("1@1 1@1 1@1"), isolate(1), beat(1), look(1), is("-@1 1@1 1@1")}},
	{name: "TestLeaderStepdownWhenQuorumLost", nodes: 1, given: both, steps: []step{
		campaign(1), look(1), look(1), is("1@1")}, differs: "one of one is a majority, and stays"},
	{name: "TestLeaderSupersedingWithCheckQuorum", nodes: 3, given: both, steps: []step{
		campaign(1), is("1@1 1@1 1@1"), campaign(3), is("1@1 1@1 -@2"),
		wait, campaign(3), is("3@3 3@3 3@3")}},
	{name: "TestLeaderElectionWithCheckQuorum", nodes: 3, given: both, steps: []step{
		campaign(1), is("1@1 1@1 1@1"), wait, campaign(3), is("3@2 3@2 3@2")}},
	{name: "TestFreeStuckCandidateWithCheckQuorum", nodes: 3, given: both, steps: []step{
		campaign(1), isolate(1), campaign(3), is("1@1 1@1 -@2"), campaign(3), is("1@1 1@1 -@3"),
		heal, beat(1), is("-@3 1@1 -@3"), campaign(3), is("3@4 3@4 3@4")}},
	{name: "TestDisruptiveFollower", nodes: 3, given: both, saved: saved(3, 1), steps: []step{
		campaign(1), is("1@2 1@2 1@2"), isolate(3), campaign(3), is("1@2 1@2 -@3"),
		heal, beat(1), is("-@3 1@2 -@3")}},
	{name: "TestPreVoteWithCheckQuorum", nodes: 3, preVote: true, given: both, saved: saved(3, 1),
		steps: []step{campaign(1), isolate(1), campaign(3), is("1@2 1@2 -@2"),
			wait, campaign(2), is("1@2 2@3 2@3")},
		differs: "3 grants when τ is over; etcd's at once, since it follows nobody by then"},
}

var transfers = []scenario{
	{name: "TestLeaderTransferToUpToDateNode", nodes: 3, steps: []step{
		campaign(1), is("1@1 1@1 1@1"), transfer(1, 2), is("2@2 2@2 2@2"), transfer(2, 1), is("1@3 1@3 1@3")}},
	{name: "TestLeaderTransferToUpToDateNodeFromFollower", nodes: 3, steps: []step{
		campaign(1), transfer(2, 2), is("1@1 1@1 1@1")},
		differs: "a follower does not pass the wish on"},
	{name: "TestLeaderTransferWithCheckQuorum", nodes: 3, given: both, steps: []step{
		campaign(1), is("1@1 1@1 1@1"), transfer(1, 2), is("2@2 2@2 2@2"), transfer(2, 1), is("1@3 1@3 1@3")}},
	{name: "TestLeaderTransferWithCheckQuorum", nodes: 3, preVote: true, given: both, steps: []step{
		campaign(1), transfer(1, 3), is("3@2 3@2 3@2")}},
	{name: "TestLeaderTransferToSelf, ToNonExistingNode, TestTransferNonMember", nodes: 3, steps: []step{
		campaign(1), transfer(1, 1), is("1@1 1@1 1@1"), transfer(1, 4), is("1@1 1@1 1@1"), says("")}},
	{name: "TestLeaderTransferTimeout", nodes: 3, steps: []step{
		campaign(1), isolate(3), transfer(1, 3), is("1@1 1@1 1@1"), beat(1), is("1@1 1@1 1@1")}},
}

// TestEtcdAnyState is TestVoteFromAnyState, TestPreVoteFromAnyState, TestAllServerStepdown
// and Test{Follower,Candidate,Leader}UpdateTermFromMessage: process 1 of three, which is in
// term 1 or, once it has stood, in term 2.
func TestEtcdAnyState(t *testing.T) {
	log := raft.Log{LastTerm: 3, LastIndex: 42}
	for _, c := range []struct {
		state   string
		preVote bool
		steps   []step
		was     string
		term    uint64
		recent  string // the answer to PRE_VOTE
		late    string // and when τ has passed; refusals differ, see lease
	}{
		{"follower", false, []step{hear(3, raft.AppendEntries{Term: 1})}, "3@1", 1,
			"PRE_VOTE_REPLY{1 0 false}>2", "PRE_VOTE_REPLY{1 0 true}>2"},
		{"pre-candidate", true, []step{campaign(1)}, "-@1", 1,
			"PRE_VOTE_REPLY{1 0 true}>2", "PRE_VOTE_REPLY{1 0 true}>2"},
		{"candidate", false, []step{campaign(1)}, "-@2", 2,
			"PRE_VOTE_REPLY{2 0 true}>2", "PRE_VOTE_REPLY{2 0 true}>2"},
		{"leader", false, []step{campaign(1), hear(3, raft.VoteReply{Term: 2, OK: true})}, "1@2", 2,
			"PRE_VOTE_REPLY{2 0 false}>2", "PRE_VOTE_REPLY{2 0 false}>2"},
	} {
		t.Run(c.state, func(t *testing.T) {
			in := func() *network {
				net := newNetwork(t, 3, params{"pre_vote": c.preVote}, saved(3, 1))
				net.play([]step{isolate(1, 2, 3)})
				net.play(c.steps)
				net.play([]step{is(c.was)})
				return net
			}
			next := c.term + 1
			voted, follows := is(fmt.Sprintf("-@%d", next)), is(fmt.Sprintf("2@%d", next))
			leads := hear(2, raft.AppendEntries{Term: next})
			// A vote of a later term is given, whatever the state, and its leader followed.
			in().play([]step{hear(2, raft.RequestVote{Term: next, Log: log}), voted,
				says(fmt.Sprintf("VOTE_REPLY{%d true}>2", next)), leads, follows})
			in().play([]step{leads, follows})
			// A pre-vote changes nothing.
			asks := hear(2, raft.PreVote{Term: next, Log: log})
			in().play([]step{asks, is(c.was), says(c.recent)})
			in().play([]step{wait, asks, is(c.was), says(c.late)})
		})
	}
}

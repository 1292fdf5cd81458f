package zabfle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/plugins/election/zabfle"
)

// The tests of this file are the scenarios of Apache ZooKeeper's tests of fast leader
// election (FLE*Test), with IDs one above its own; rows named after lookForLeader are its
// branches that no test of theirs reaches. What cannot be said here is left out:
//
//   - FLEZeroWeightTest and hierarchical quorums: every process has one vote.
//   - FLEOutOfElectionTest.testElectionWIthDifferentVersion, and the mixed versions of
//     testOutofElection: messages have no version.
//   - configurations in notifications (the config lengths of
//     FLEMalformedNotificationMessageTest), observers: everybody votes, always.
//   - FLETest.testElectionTimeUnit: durations say their unit.

// heard is what a process that looks hears next, and what becomes of it: it looks, a
// majority has its vote and it waits, or it takes p for its leader: "leader=p".
type heard struct {
	from algo.ID
	m    zabfle.Notification
	then string
}

// note is a notification with a vote for leader.
func note(s zabfle.State, leader algo.ID, zxid, epoch int64, clock uint64) zabfle.Notification {
	return zabfle.Notification{
		Vote: zabfle.Vote{PeerEpoch: epoch, Zxid: zxid, ID: leader}, Clock: clock, State: s,
	}
}

// TestZooKeeperLooking is the tests of one server that is told what others say.
func TestZooKeeperLooking(t *testing.T) {
	const looks, follows, leads = zabfle.Looking, zabfle.Following, zabfle.Leading
	for name, c := range map[string]struct {
		nodes   int
		self    algo.ID
		round   int // that it begins; 0: the first, or 2
		hears   []heard
		differs string
	}{
		"FLELostMessageTest": {nodes: 3, self: 2, hears: []heard{
			{1, note(looks, 1, 0, 0, 1), "looks"}, {1, note(follows, 2, 0, 0, 1), "leader=2"}}},
		"FLEBackwardElectionRoundTest: the first time": {nodes: 3, self: 1, hears: []heard{
			{2, note(follows, 1, 0, 0, 1), "leader=1"}}},
		"FLEBackwardElectionRoundTest: the second time": {nodes: 3, self: 1, round: 2, hears: []heard{
			{2, note(follows, 1, 0, 0, 1), "looks"}, {3, note(follows, 1, 0, 0, 1), "looks"}}},

		"FLEOutOfElectionTest.testIgnoringZxidElectionEpoch": {nodes: 5, self: 3, hears: []heard{
			{1, note(follows, 5, 101, 2, 1), "looks"}, {2, note(follows, 5, 102, 2, 1), "looks"},
			{4, note(follows, 5, 201, 2, 2), "looks"}, {5, note(leads, 5, 201, 2, 2), "leader=5"}}},
		"FLEOutOfElectionTest.testIgnoringZxidElectionEpoch: of a bare majority": {
			nodes: 5, self: 3, hears: []heard{
				{1, note(follows, 5, 101, 2, 1), "looks"}, {5, note(leads, 5, 201, 2, 2), "leader=5"}},
			differs: "it counts itself, so that two of the others are enough; there it takes three"},
		"FLEOutOfElectionTest.testIgnoringZxidElectionEpoch: not the epoch": {
			nodes: 5, self: 3, hears: []heard{
				{1, note(follows, 5, 101, 1, 1), "looks"}, {5, note(leads, 5, 201, 2, 2), "looks"}}},
		"FLEOutOfElectionTest.testLookingNormal": {nodes: 5, self: 3, hears: []heard{
			{1, note(looks, 5, 201, 1, 1), "looks"}, {2, note(looks, 5, 201, 1, 1), "waits"},
			{4, note(looks, 5, 201, 1, 1), "waits"}, {5, note(leads, 5, 201, 1, 1), "leader=5"}}},
		"FLEOutOfElectionTest.testLookingDiffRounds": {nodes: 5, self: 3, hears: []heard{
			{1, note(looks, 5, 101, 1, 1), "looks"}, {2, note(looks, 5, 201, 2, 2), "looks"},
			{4, note(looks, 5, 201, 2, 3), "looks"}}},
		"FLEOutOfElectionTest.testOutofElection": {nodes: 5, self: 3, hears: []heard{
			{1, note(follows, 5, 15, 24, 10), "looks"}, {2, note(follows, 5, 15, 24, 10), "looks"},
			{4, note(follows, 5, 15, 24, 10), "looks"}, {5, note(leads, 5, 15, 24, 10), "leader=5"}}},

		// ZOOKEEPER-1732: one that follows has another zxid and round.
		"FLETest.testJoinInconsistentEnsemble": {nodes: 3, self: 3, hears: []heard{
			{1, note(follows, 2, 100, 0, 101), "looks"}, {2, note(leads, 2, 0, 0, 1), "leader=2"}}},
		"FLETest.testJoinInconsistentEnsemble: among five": {nodes: 5, self: 3, hears: []heard{
			{2, note(leads, 2, 0, 0, 1), "looks"}, {1, note(follows, 2, 100, 0, 101), "leader=2"}}},

		"lookForLeader: the votes of this round, once one says that it leads": {
			nodes: 5, self: 3, hears: []heard{
				{1, note(looks, 5, 0, 0, 1), "looks"}, {5, note(leads, 5, 0, 0, 1), "leader=5"}}},
		"lookForLeader: the votes of this round, of more that look": {
			nodes: 7, self: 3, hears: []heard{
				{1, note(looks, 5, 0, 0, 1), "looks"}, {2, note(looks, 5, 0, 0, 1), "looks"},
				{5, note(leads, 5, 0, 0, 1), "leader=5"}}},
		"lookForLeader: the votes of this round, when one follows": {
			nodes: 7, self: 3, hears: []heard{
				{1, note(looks, 5, 0, 0, 1), "looks"}, {5, note(leads, 5, 0, 0, 1), "looks"},
				{2, note(follows, 5, 0, 0, 1), "leader=5"}}},
		"lookForLeader: the votes of this round, with another zxid": {
			nodes: 7, self: 3, hears: []heard{
				{1, note(looks, 5, 9, 0, 1), "looks"}, {2, note(looks, 5, 9, 0, 1), "looks"},
				{5, note(leads, 5, 0, 0, 1), "looks"}}},
		"lookForLeader: the votes of this round, of one that follows with another zxid": {
			nodes: 7, self: 3, hears: []heard{
				{1, note(looks, 5, 0, 0, 1), "looks"}, {2, note(follows, 5, 9, 0, 1), "looks"},
				{5, note(leads, 5, 0, 0, 1), "leader=5"}}},
		"lookForLeader: the votes of this round, not of an earlier one": {
			nodes: 5, self: 3, round: 2, hears: []heard{
				{1, note(looks, 5, 0, 0, 2), "looks"}, {2, note(looks, 5, 0, 0, 1), "looks"},
				{2, note(looks, 5, 0, 0, 2), "waits"}}},
		"lookForLeader: the votes of this round, for one that led an earlier one": {
			nodes: 7, self: 3, round: 2, hears: []heard{
				{5, note(leads, 5, 0, 0, 1), "looks"},
				{1, note(looks, 5, 0, 0, 2), "looks"}, {2, note(looks, 5, 0, 0, 2), "looks"},
				{4, note(follows, 5, 0, 0, 2), "waits"}}},
		"lookForLeader: those that follow, unless the leader says that it leads": {
			nodes: 5, self: 3, hears: []heard{
				{1, note(follows, 5, 0, 0, 2), "looks"}, {2, note(follows, 5, 0, 0, 2), "looks"},
				{4, note(follows, 5, 0, 0, 2), "looks"}}},
	} {
		t.Run(name, func(t *testing.T) {
			leader := algo.None
			if c.round == 2 { // after one that it led
				leader = c.self
			}
			s := algotest.NewSolo(t, id, c.nodes, c.self, leader, 0, nil)
			s.Step(0, algo.Event{Type: algo.Elect})
			for i, h := range c.hears {
				if got := became(s.Step(0, algotest.Hear(h.from, h.m))); got != h.then {
					t.Errorf("after notification %d: %s, want %s", i+1, got, h.then)
				}
			}
		})
	}
}

// became is what the words of a process's effects say that it has become.
func became(words string) string {
	for _, w := range strings.Fields(words) {
		switch name, _, _ := strings.Cut(w, "="); {
		case name == "leader":
			return w
		case name == "finalize":
			return "waits"
		case name == "resend":
			return "looks"
		}
	}
	return words
}

// TestZooKeeperPredicate is FLEPredicateTest: which vote is larger.
func TestZooKeeperPredicate(t *testing.T) {
	for name, c := range map[string]struct {
		larger   bool
		one, two zabfle.Vote // held, and heard
	}{
		"lower epoch":  {false, zabfle.Vote{PeerEpoch: 2, ID: 4}, zabfle.Vote{ID: 5}},
		"later epoch":  {true, zabfle.Vote{ID: 2}, zabfle.Vote{PeerEpoch: 1, ID: 1}},
		"higher zxid":  {true, zabfle.Vote{ID: 2}, zabfle.Vote{Zxid: 1, ID: 1}},
		"higher id":    {true, zabfle.Vote{Zxid: 1, ID: 1}, zabfle.Vote{Zxid: 1, ID: 2}},
		"the same one": {false, zabfle.Vote{Zxid: 1, ID: 2}, zabfle.Vote{Zxid: 1, ID: 2}},
	} {
		s := algotest.NewSolo(t, id, 5, 1, algo.None, 0, nil)
		s.Step(0, algo.Event{Type: algo.Elect})
		s.Step(0, algotest.Hear(2, zabfle.Notification{Vote: c.one, Clock: 1, State: zabfle.Looking}))
		s.Step(0, algotest.Hear(3, zabfle.Notification{Vote: c.two, Clock: 1, State: zabfle.Looking}))
		if adopts := len(s.Sent) > 0; adopts != c.larger {
			t.Errorf("%s: adopts %t, want %t", name, adopts, c.larger)
		}
	}
}

// TestZooKeeperMalformed is FLEMalformedNotificationMessageTest: a message that is cut short,
// or too long, is refused before it comes to the process. A real node ends the trial as an
// error then, where ZooKeeper skips the message, since nobody but the algorithm sends any.
func TestZooKeeperMalformed(t *testing.T) {
	alg := algotest.Lookup(t, id)
	whole, err := alg.Codec.Encode(nil, note(zabfle.Looking, 1, 300, 2, 7))
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if m, _, err := alg.Codec.Decode(whole[:n]); err == nil {
			t.Errorf("%d bytes of %d are %+v", n, len(whole), m)
		}
	}
	for name, b := range map[string][]byte{
		"trailing bytes":     append(slices.Clone(whole), 0),
		"an unknown kind":    append([]byte{whole[0], 99}, whole[2:]...),
		"of another version": append([]byte{99}, whole[1:]...),
		"a number that is too long": append(append(slices.Clone(whole[:2]),
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), whole[2:]...),
	} {
		if m, _, err := alg.Codec.Decode(b); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if m, _, err := alg.Codec.Decode(whole); err != nil || m != note(zabfle.Looking, 1, 300, 2, 7) {
		t.Errorf("%+v: %v", m, err)
	}
}

// TestZooKeeperEnsembles is the tests of whole ensembles, with the vote alone and with
// discovery.
func TestZooKeeperEnsembles(t *testing.T) {
	at := func(when time.Duration, what string, processes ...algo.ID) (out []harness.Event) {
		for _, p := range processes {
			out = append(out, harness.Event{At: when, Do: what, Node: p})
		}
		return out
	}
	all, down := at(0, "elect", algotest.Everybody(7)...), func(n int) []harness.Event {
		return slices.Concat(at(500*ms, "crash", 7), at(1000*ms, "crash", 6))[:n]
	}
	for name, c := range map[string]struct {
		nodes   int
		crashed []algo.ID // at the start
		events  []harness.Event
		leader  algo.ID // in the end
	}{
		"FLETest.testSingleElection": {7, nil, all, 7},
		"FLETest.testDoubleElection": {7, nil, slices.Concat(all, down(1)), 6},
		"FLETest.testTripleElection": {7, nil, slices.Concat(all, down(2)), 5},
		"FLETest.testJoin": {3, []algo.ID{3}, slices.Concat(
			at(0, "elect", 1, 2), at(500*ms, "restart", 3)), 2},
		"FLENewEpochTest": {3, []algo.ID{1}, slices.Concat(
			at(0, "elect", 2, 3), at(500*ms, "crash", 3), at(500*ms, "restart", 1)), 2},
		"FLERestartTest": {3, nil, slices.Concat(
			at(0, "elect", 1, 2, 3), at(200*ms, "crash", 1), at(201*ms, "restart", 1)), 3},
	} {
		for _, discovery := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, discovery %t", name, discovery), func(t *testing.T) {
				p := plan(t, c.nodes, params{"discovery": discovery},
					harness.Scenario{Plot: &harness.Script{Events: c.events}})
				p.Crashed = c.crashed
				p.Detector = harness.PerfectDetector(10 * ms)
				o := run(t, p)
				if last := o.Operations[len(o.Operations)-1]; algo.ID(last.Process) != c.leader {
					t.Errorf("%d leads in the end, want %d", last.Process, c.leader)
				}
			})
		}
	}
}

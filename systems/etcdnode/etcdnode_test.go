package etcdnode

import (
	"testing"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/systems/bubble"
)

// TestNode_Image: a copy has the log and the state, and later writes do not reach it.
func TestNode_Image(t *testing.T) {
	entry := func(term, index uint64) *pb.Entry { return &pb.Entry{Term: &term, Index: &index} }
	state := func(term, commit uint64) *pb.HardState {
		return &pb.HardState{Term: &term, Vote: &term, Commit: &commit}
	}
	n := &node{disk: raft.NewMemoryStorage()}
	if empty, _ := n.image().(*raft.MemoryStorage).LastIndex(); empty != 0 {
		t.Errorf("the last of no entries is %d", empty)
	}
	write := func(s *pb.HardState, e ...*pb.Entry) {
		if err := n.disk.Append(e); err != nil {
			t.Fatal(err)
		}
		_ = n.disk.SetHardState(s)
	}
	write(state(2, 1), entry(1, 1), entry(2, 2))
	copied := n.image().(*raft.MemoryStorage)
	write(state(3, 2), entry(3, 2), entry(3, 3))
	last, _ := copied.LastIndex()
	term, _ := copied.Term(2)
	hard, _, _ := copied.InitialState()
	if last != 2 || term != 2 || hard.GetTerm() != 2 || hard.GetVote() != 2 || hard.GetCommit() != 1 {
		t.Errorf("last entry %d of term %d, state %v", last, term, hard)
	}
}

// TestRestart: when all members have crashed and returned, they know each other and the term, and go on
// from there.
func TestRestart(t *testing.T) {
	var events []harness.Event
	for _, p := range algotest.Everybody(3) {
		events = append(events, algotest.Crash(5*time.Second, p), algotest.Restart(6*time.Second, p))
	}
	p := algotest.MustPlan(t, "election/etcd-node", 3,
		harness.Scenario{Plot: &harness.Script{Until: time.Minute, Events: events}}, nil)
	p.Leader, p.InModel = algo.None, false
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	var records trace.List
	if end := bubble.Run(s, &records); end.Err != nil {
		t.Fatal(end.Err)
	}
	var before, after uint64
	for _, r := range records {
		switch {
		case r.Type != trace.Elected || r.Peer == 0:
		case r.Incarnation == 0:
			before = max(before, r.Arg)
		case r.Arg <= before:
			t.Fatalf("process %d names %d leader of term %d, and term %d was before", r.Process, r.Peer,
				r.Arg, before)
		default:
			after = r.Arg
		}
	}
	if before == 0 || after == 0 {
		t.Errorf("terms before the crash up to %d, after it %d; want leaders before and after", before, after)
	}
}

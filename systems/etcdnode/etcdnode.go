// Package etcdnode has the whole of go.etcd.io/raft elect leaders as it is: its Node, with the library's own
// goroutine, channels and random time-outs, surrounded by the loop that etcd has around it.
package etcdnode

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
	"github.com/conclave-bench/conclave/systems/etcdraft"
)

func init() {
	s := etcdraft.Spec()
	s.Name, s.Summary = "etcd-node", "the library of etcd, CockroachDB and TiDB, as it is"
	s.Paper.Deviations = "The library runs unmodified. Its network, its disk and the loop around it are " +
		"Conclave's. A leader, too, writes before it sends; etcd's does both at once. Followers forward no " +
		"proposals, and no snapshots are taken."
	s.Writes = true
	bubble.Register(s, etcdraft.Module, newNode)
}

// A node is one member.
type node struct {
	*bubble.Process
	raft    raft.Node
	disk    *raft.MemoryStorage
	writing sync.Mutex    // a crash copies what is on the disk between two writes
	started chan struct{} // closed when raft is there
	ended   chan struct{} // when its loop has ended
	leader  algo.ID
	term    uint64

	mu      sync.Mutex
	waiting map[string]chan<- struct{} // writes that are not applied yet, by what they write
	writes  int
}

func newNode(p *bubble.Process) bubble.Subject {
	return &node{Process: p, started: make(chan struct{}), ended: make(chan struct{}),
		waiting: map[string]chan<- struct{}{}}
}

// Start starts the member with what is on its disk. A new one knows the members of the cluster.
func (n *node) Start() error {
	n.disk = raft.NewMemoryStorage()
	if kept, is := n.Disk.Contents().(*raft.MemoryStorage); is {
		n.disk = kept
	}
	hard, _, err := n.disk.InitialState()
	if err != nil {
		return err
	}
	n.Disk.Mount(n.image)
	settings := etcdraft.Settings(n.ID, n.Params, n.disk)
	settings.DisableProposalForwarding = true
	if n.term = hard.GetTerm(); n.term > 0 {
		n.raft = raft.RestartNode(settings)
	} else { // it has never written
		var members []raft.Peer
		for _, p := range n.Peers {
			members = append(members, raft.Peer{ID: uint64(p)})
		}
		n.raft = raft.StartNode(settings, members)
	}
	close(n.started)
	go n.run()
	return nil
}

// image is a copy of what is stored. What is in memory has no errors.
func (n *node) image() any {
	n.writing.Lock()
	defer n.writing.Unlock()
	out := raft.NewMemoryStorage()
	hard, _, _ := n.disk.InitialState()
	first, _ := n.disk.FirstIndex()
	last, _ := n.disk.LastIndex()
	if entries, err := n.disk.Entries(first, last+1, math.MaxUint64); err == nil { // else there are none
		_ = out.Append(entries)
	}
	_ = out.SetHardState(hard)
	return out
}

// run is the loop that etcd has around the library (server/etcdserver/raft.go, raftNode.start): a ticker,
// and what the library wants.
func (n *node) run() {
	defer close(n.ended)
	defer n.raft.Stop()
	tick := time.NewTicker(n.Params.Duration("heartbeat"))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.raft.Tick()
		case rd := <-n.raft.Ready():
			n.carryOut(&rd)
			n.raft.Advance()
		case <-n.Done():
			return
		}
	}
}

func (n *node) carryOut(rd *raft.Ready) {
	n.write(rd)
	if rd.SoftState != nil {
		n.leader = algo.ID(rd.SoftState.Lead)
	}
	n.Names(n.leader, n.term)
	for _, m := range rd.Messages {
		packed := etcdraft.Pack(m)
		n.Send(algo.ID(m.GetTo()), packed, proto.Size(m), func(s bubble.Subject) {
			s.(*node).receive(packed)
		})
	}
	for _, e := range rd.CommittedEntries {
		n.applied(string(e.GetData()))
		if e.GetType() == pb.EntryConfChange {
			change := &pb.ConfChange{}
			if err := proto.Unmarshal(e.GetData(), change); err != nil {
				panic(fmt.Sprintf("entry %d: %v", e.GetIndex(), err))
			}
			n.raft.ApplyConfChange(change)
		}
	}
}

// write makes entries and state durable, in one write as etcd's log on disk does.
func (n *node) write(rd *raft.Ready) {
	if len(rd.Entries) == 0 && raft.IsEmptyHardState(rd.HardState) {
		return
	}
	bytes := proto.Size(rd.HardState)
	for _, e := range rd.Entries {
		bytes += proto.Size(e)
	}
	n.Disk.Must(bytes, func() {
		n.writing.Lock()
		defer n.writing.Unlock()
		_ = n.disk.Append(rd.Entries)
		if !raft.IsEmptyHardState(rd.HardState) {
			n.term = rd.HardState.GetTerm()
			_ = n.disk.SetHardState(rd.HardState)
		}
	})
}

// receive hands the library a message. An error is of a member that has stopped.
func (n *node) receive(m algo.Message) {
	select {
	case <-n.started:
		_ = n.raft.Step(context.Background(), etcdraft.Unpack(m))
	case <-n.Done():
	}
}

// Write proposes an entry that no other is like, and waits until the member has applied it, as etcd's server does.
func (n *node) Write(ctx context.Context) error {
	applied := make(chan struct{})
	n.mu.Lock()
	n.writes++
	entry := fmt.Sprintf("write %d of member %d, incarnation %d", n.writes, n.ID, n.Incarnation)
	n.waiting[entry] = applied
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.waiting, entry)
	}()
	if err := n.raft.Propose(ctx, []byte(entry)); err != nil {
		return err
	}
	select {
	case <-applied:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.Done():
		return bubble.ErrCrashed
	}
}

// applied tells who waits for an entry.
func (n *node) applied(entry string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if told := n.waiting[entry]; told != nil {
		close(told)
		delete(n.waiting, entry)
	}
}

func (n *node) Stop() { <-n.ended }

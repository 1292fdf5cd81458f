package etcdraft

import (
	"fmt"
	"io"
	"log"
	"reflect"
	"time"
	"unsafe"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/conclave-bench/conclave/pkg/algo"
)

const tick algo.Timer = "tick"

// base is the index of the snapshot that every log begins with, which names the members.
const base = 1

type node struct {
	algo.Config
	raft    *raft.RawNode
	disk    *raft.MemoryStorage
	entries []*pb.Entry // on it
	ticks   int         // of t_election
	fixed   int         // of t_election_fixed; 0: random
	timeout *int        // the library's random time-out, in ticks
	leader  algo.ID
	term    uint64
	stands  uint64 // the term in which it stands as a candidate; 0: in none
}

// New makes a process with what it has saved. A leader that is settled from the start was elected in term 1.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c, disk: raft.NewMemoryStorage()}
	members := &pb.ConfState{}
	for _, p := range c.Peers {
		members.Voters = append(members.Voters, uint64(p))
	}
	one, zero := uint64(base), uint64(0)
	must(n.disk.ApplySnapshot(&pb.Snapshot{Metadata: &pb.SnapshotMetadata{ConfState: members, Index: &one, Term: &zero}}))
	hard := &pb.HardState{Term: &zero, Vote: &zero, Commit: &one}
	if saved, ok := c.Saved.(Stable); ok {
		hard = &pb.HardState{}
		decode(saved.Hard, hard)
		for _, b := range saved.Entries {
			e := &pb.Entry{}
			decode(b, e)
			n.entries = append(n.entries, e)
		}
		must(n.disk.Append(n.entries))
	}
	must(n.disk.SetHardState(hard))
	settings := Settings(c.ID, c.Params, n.disk)
	settings.Applied, n.ticks = base, settings.ElectionTick
	if fixed := c.Params.Duration("t_election_fixed"); fixed > 0 {
		n.fixed = max(1, inTicks(fixed, c.Params))
	}
	var err error
	n.raft, err = raft.NewRawNode(settings)
	must(err)
	n.timeout = timeoutOf(n.raft)
	return n
}

// Settings are the library's for a process with such parameters. A tick is the time between two heartbeats.
func Settings(p algo.ID, params algo.Params, disk raft.Storage) *raft.Config {
	return &raft.Config{
		ID: uint64(p), ElectionTick: max(2, inTicks(params.Duration("t_election"), params)), HeartbeatTick: 1,
		Storage: disk, MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 256, PreVote: params.Bool("pre_vote"),
		CheckQuorum: params.Bool("check_quorum"), Logger: quiet,
	}
}

// inTicks is d in whole ticks.
func inTicks(d time.Duration, params algo.Params) int {
	beat := params.Duration("heartbeat")
	return int((d + beat/2) / beat)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

var quiet = &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)}

// timeoutOf is where the library keeps the time-out that it draws from a source that cannot be seeded.
func timeoutOf(r *raft.RawNode) *int {
	f := reflect.ValueOf(r).Elem().FieldByName("raft").Elem().FieldByName("randomizedElectionTimeout")
	return (*int)(unsafe.Pointer(f.UnsafeAddr()))
}

// undrawn stands in place of a time-out while the library does something: what is there afterwards, it has drawn.
const undrawn = -1

// doing lets the library do something, and draws the time-out itself if the library did.
func (n *node) doing(env algo.Env, f func()) {
	was := *n.timeout
	*n.timeout = undrawn
	f()
	if *n.timeout == undrawn {
		*n.timeout = was
	} else {
		n.draw(env)
	}
	n.ready(env)
}

func (n *node) draw(env algo.Env) {
	if *n.timeout = n.fixed; n.fixed == 0 {
		*n.timeout = n.ticks + env.Rand().IntN(n.ticks)
	}
}

func (n *node) Start(env algo.Env) {
	n.draw(env)
	if n.Leader != algo.None && n.Incarnation == 0 {
		n.settle(env)
	}
	env.SetTimer(tick, n.Params.Duration("heartbeat"))
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	n.doing(env, func() { _ = n.raft.Step(Unpack(m)) }) // an error is of a message that it ignores
}

// Elect makes it stand for election, as if its time-out had passed.
func (n *node) Elect(env algo.Env) { n.doing(env, func() { _ = n.raft.Campaign() }) }

// Do makes the time-out pass at once, or has a leader hand over to target, for scripts.
func (n *node) Do(env algo.Env, op string, target algo.ID) {
	switch op {
	case "election_timeout":
		n.Elect(env)
	case "transfer":
		n.doing(env, func() { n.raft.TransferLeader(uint64(target)) })
	default:
		panic(fmt.Sprintf("etcd-raft has no operation %q (has: election_timeout, transfer)", op))
	}
}

// Suspect and Restore do nothing: the library has time-outs of its own.
func (n *node) Suspect(algo.Env, algo.ID) {}

// Restore does nothing, see Suspect.
func (n *node) Restore(algo.Env, algo.ID) {}

// Timeout is a tick. The library compares its time-out then, so that it must be there; that it has drawn another
// shows by the term or the state, which it enters by that.
func (n *node) Timeout(env algo.Env, _ algo.Timer) {
	before := n.raft.BasicStatus()
	n.raft.Tick()
	after := n.raft.BasicStatus()
	if before.GetTerm() != after.GetTerm() || before.RaftState != after.RaftState && after.RaftState != raft.StatePreCandidate {
		n.draw(env)
	}
	n.ready(env)
	env.SetTimer(tick, n.Params.Duration("heartbeat"))
}

// ready carries out what the library wants.
func (n *node) ready(env algo.Env) {
	for n.raft.HasReady() {
		rd := n.raft.Ready()
		if len(rd.Entries) > 0 {
			n.append(rd.Entries)
		}
		if rd.HardState != nil {
			must(n.disk.SetHardState(rd.HardState))
		}
		if rd.MustSync {
			env.Save(n.stable())
		}
		n.name(env)
		for _, m := range rd.Messages {
			env.Send(algo.ID(m.GetTo()), Pack(m))
		}
		n.raft.Advance(rd)
	}
	n.name(env)
}

// append keeps entries, in place of those from the first of them on.
func (n *node) append(entries []*pb.Entry) {
	must(n.disk.Append(entries))
	keep := int(entries[0].GetIndex()) - base - 1
	n.entries = append(n.entries[:min(keep, len(n.entries))], entries...)
}

func (n *node) stable() Stable {
	hard, _, err := n.disk.InitialState()
	must(err)
	s := Stable{Hard: encode(hard)}
	for _, e := range n.entries {
		s.Entries = append(s.Entries, encode(e))
	}
	return s
}

// name says whom the library considers leader, and in which term it stands.
func (n *node) name(env algo.Env) {
	s := n.raft.BasicStatus()
	leader, term := algo.ID(s.Lead), s.GetTerm()
	stands := uint64(0)
	if s.RaftState == raft.StateCandidate {
		stands = term
	}
	if leader == n.leader && stands == n.stands && (leader == algo.None || term == n.term) {
		return
	}
	if s.RaftState == raft.StateLeader && n.stands != term { // alone, it is elected as soon as it stands
		env.Elected(algo.None, term)
	}
	n.leader, n.term, n.stands = leader, term, stands
	if leader == algo.None {
		term = stands
	}
	env.Elected(leader, term)
}

// settle brings the process to where it is under a leader that was elected in term 1, and has heard from all.
func (n *node) settle(env algo.Env) {
	quiet := &settling{Env: env}
	step := func(t pb.MessageType, from algo.ID, change func(*pb.Message)) {
		id, to, term := uint64(from), uint64(n.ID), uint64(1)
		m := &pb.Message{Type: t.Enum(), From: &id, To: &to, Term: &term}
		if change != nil {
			change(m)
		}
		n.doing(quiet, func() { _ = n.raft.Step(m) })
	}
	one, two, zero := uint64(base), uint64(base+1), uint64(0)
	if n.Leader != n.ID {
		step(pb.MsgApp, n.Leader, func(m *pb.Message) {
			term := uint64(1)
			m.LogTerm, m.Index, m.Commit = &zero, &one, &two
			m.Entries = []*pb.Entry{{Term: &term, Index: &two}}
		})
	} else {
		n.doing(quiet, func() { _ = n.raft.Campaign() })
		for _, t := range []pb.MessageType{pb.MsgPreVoteResp, pb.MsgVoteResp, pb.MsgAppResp} {
			for _, p := range n.Peers {
				if p != n.ID {
					step(t, p, func(m *pb.Message) {
						if t == pb.MsgAppResp {
							m.Index = &two
						}
					})
				}
			}
		}
	}
	if n.leader != n.Leader {
		panic(fmt.Sprintf("process %d names %d, and %d was to be settled", n.ID, n.leader, n.Leader))
	}
	env.Save(n.stable())
}

// settling is an Env to which nothing happens: what came before the trial.
type settling struct{ algo.Env }

func (settling) Send(algo.ID, algo.Message)         {}
func (settling) Elected(algo.ID, uint64)            {}
func (settling) Save(algo.Message)                  {}
func (settling) SetTimer(algo.Timer, time.Duration) {}

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

// The tests named after etcd's are the scenarios of github.com/etcd-io/raft that are about
// elections: raft_paper_test.go in etcd_paper_test.go, raft_test.go and testdata in
// etcd_scenarios_test.go. Where the outcome differs, the row says why. What cannot be said
// here is left out:
//
//   - logs that grow, are replicated, committed, compacted or sent as snapshots, reads, and
//     flow control: where a log ends is a parameter. So LeaderElectionOverwriteNewerLogs ends
//     with the leader, and OldMessages with the answer.
//   - forget_leader*.txt: no such message; and of LeaderTransfer* what waits for a log to be
//     replicated or for another transfer to end.
//   - learners and changes of membership (Learner*, AddNode*, RemoveNode*, Promotable,
//     ConfChange*, confchange_*.txt, NonPromotableVoterWithCheckQuorum): everybody votes, always.
//   - PreVoteMigration*: all processes have the same parameters.
//   - StateTransition forces states that no event leads to; async_storage_writes*.txt delays
//     what here is on stable storage when the event is over.

// A network is processes that hear each other at once, in the order of sending. No timer
// expires but by a step.
type network struct {
	t         *testing.T
	processes []*algo.Stepper
	now       time.Duration
	cuts      map[[2]algo.ID]bool
	queue     []flight
	sent      []string // in the last step, as words
	names     []algo.ID
	terms     []uint64
	timeout   []time.Duration // that each election timer was set to last
}

type flight struct {
	from, to algo.ID
	m        algo.Message
}

// newNetwork makes n processes with what they saved, by ID - 1.
func newNetwork(t *testing.T, n int, given params, saved []raft.Stable) *network {
	t.Helper()
	alg := algotest.Lookup(t, id)
	resolved, errs := alg.Spec.Resolve(given, algo.Network{Nodes: n, Latency: ms, Bounded: true})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	net := &network{t: t, cuts: map[[2]algo.ID]bool{}, names: make([]algo.ID, n),
		terms: make([]uint64, n), timeout: make([]time.Duration, n)}
	for i := range n {
		p := algo.ID(i + 1)
		c := algo.Config{ID: p, Peers: algotest.Everybody(n), Neighbors: algotest.Everybody(n),
			Params: resolved.Of(p)}
		if i < len(saved) {
			c.Saved, net.terms[i] = saved[i], saved[i].Term
		}
		net.processes = append(net.processes, algo.NewStepper(alg, c, uint64(p), &algo.Buffer{}))
		net.feed(p, algo.Event{Type: algo.Start})
	}
	return net
}

// feed hands p an event; what it sends waits for settle.
func (net *network) feed(p algo.ID, ev algo.Event) {
	net.t.Helper()
	for _, e := range net.processes[p-1].Step(net.now, ev) {
		switch e.Op {
		case algo.OpSend:
			net.sent = append(net.sent, fmt.Sprintf("%s%v>%d", e.Msg.Kind(), e.Msg, e.Peer))
			if !net.cuts[[2]algo.ID{p, e.Peer}] {
				net.queue = append(net.queue, flight{p, e.Peer, e.Msg})
			}
		case algo.OpElected:
			net.names[p-1] = e.Peer
		case algo.OpSave:
			net.terms[p-1] = e.Msg.(raft.Stable).Term
		case algo.OpSetTimer:
			if e.Timer == "election" {
				net.timeout[p-1] = e.After
			}
		}
	}
	if err := net.processes[p-1].Invariant(); err != nil {
		net.t.Errorf("p%d: %v", p, err)
	}
}

// settle delivers until nothing is on its way.
func (net *network) settle() {
	net.t.Helper()
	for len(net.queue) > 0 {
		f := net.queue[0]
		net.queue = net.queue[1:]
		net.feed(f.to, algotest.Hear(f.from, f.m))
	}
}

// A step is one thing that a scenario does or looks at.
type step func(*network)

// play runs a scenario.
func (net *network) play(steps []step) {
	net.t.Helper()
	for _, s := range steps {
		s(net)
	}
}

// act is a step that hands events to processes before any message is delivered.
func act(ev algo.Event, to ...algo.ID) step {
	return func(net *network) {
		net.t.Helper()
		net.sent = nil
		for _, p := range to {
			net.feed(p, ev)
		}
		net.settle()
	}
}

// campaign lets the election timers of these processes expire, etcd's MsgHup.
func campaign(processes ...algo.ID) step {
	return act(algo.Event{Type: algo.Do, Op: "election_timeout"}, processes...)
}

// transfer has the leader p hand over to q, etcd's MsgTransferLeader.
func transfer(p, q algo.ID) step { return act(algo.Event{Type: algo.Do, Op: "transfer", Peer: q}, p) }

// beat lets p's heartbeat timer expire, etcd's MsgBeat.
func beat(p algo.ID) step { return act(algotest.Expire("heartbeat"), p) }

// look lets p's timer expire by which it checks its quorum, etcd's MsgCheckQuorum.
func look(p algo.ID) step { return act(algotest.Expire("quorum"), p) }

// hear hands process 1 a message that nobody has sent.
func hear(from algo.ID, m algo.Message) step { return act(algotest.Hear(from, m), 1) }

// wait lets an election time-out pass in which no leader is heard.
func wait(net *network) { net.now += 5 * 23 * ms }

// cut, isolate and heal are etcd's cut, isolate and recover.
func cut(p, q algo.ID) step {
	return func(net *network) { net.cuts[[2]algo.ID{p, q}], net.cuts[[2]algo.ID{q, p}] = true, true }
}

func isolate(processes ...algo.ID) step {
	return func(net *network) {
		for _, p := range processes {
			for q := range net.processes {
				cut(p, algo.ID(q+1))(net)
			}
		}
	}
}

func heal(net *network) { clear(net.cuts) }

// is compares whom each process names, and its term: "1@2 1@2 -@2".
func is(want string) step {
	return func(net *network) {
		net.t.Helper()
		var got []string
		for i := range len(strings.Fields(want)) {
			leader := "-"
			if net.names[i] != algo.None {
				leader = fmt.Sprint(net.names[i])
			}
			got = append(got, fmt.Sprintf("%s@%d", leader, net.terms[i]))
		}
		if s := strings.Join(got, " "); s != want {
			net.t.Errorf("are %s, want %s", s, want)
		}
	}
}

// says compares what was sent in the last step.
func says(want string) step {
	return func(net *network) {
		net.t.Helper()
		if got := strings.Join(net.sent, " "); got != want {
			net.t.Errorf("said %s, want %s", got, want)
		}
	}
}

// saved is n processes that were in this term.
func saved(n int, term uint64) []raft.Stable {
	out := make([]raft.Stable, n)
	for i := range out {
		out[i].Term = term
	}
	return out
}

// logs is parameters with where each process's log ends: terms, then indexes.
func logs(terms, indexes []any) params {
	return params{"last_term": terms, "last_index": indexes}
}

func with(given params, preVote bool) params {
	out := params{"pre_vote": preVote}
	for k, v := range given {
		out[k] = v
	}
	return out
}

func list(values ...int64) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

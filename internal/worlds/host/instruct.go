package host

import (
	"context"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// obeyInstructions takes the coordinator's instructions: those of a later instant into
// the queue, the others at once. A trial that ends with them ends at the instant
// at, when what they answer happened, and not when the host has heard of it.
func (t *trial) obeyInstructions(list []harness.Instruction, at time.Duration) {
	now := t.now()
	var due []harness.Instruction
	for _, i := range list {
		if i.At > now {
			t.pushInstruction(i)
		} else {
			due = append(due, i)
		}
	}
	for len(due) > 0 {
		if due[0].Finish() {
			t.conclude(at)
			due = due[1:]
			continue
		}
		due = due[t.obeyTogether(due):]
	}
}

// signals is what agents do to nodes in the place of some faults.
var signals = map[string]agent.Signal{
	fault.Crash: agent.Kill, fault.Pause: agent.Pause, fault.Resume: agent.Resume,
}

// together says whether agents can do at once what a and b say, to several nodes.
func together(a, b harness.Instruction) bool {
	return a.Do == b.Do && a.At == b.At && signals[a.Do] != ""
}

// obeyTogether obeys the first of the instructions and those right behind it that are about
// the same, as of all processes of a host. Each agent then signals its nodes at once. It
// returns how many they are.
func (t *trial) obeyTogether(list []harness.Instruction) int {
	count := 1
	for count < len(list) && together(list[0], list[count]) {
		count++
	}
	if count == 1 {
		t.obeyInstruction(list[0])
		return 1
	}
	t.signalNodes(list[:count])
	for _, i := range list[:count] {
		t.obeyInstruction(i)
		delete(t.signalled, t.nodes[i.Node-1].Ref)
	}
	return count
}

// signalNodes has the agents signal those nodes that are up. When they did stands in
// t.signalled.
func (t *trial) signalNodes(list []harness.Instruction) {
	for _, s := range t.sites {
		var refs []agent.Ref
		for _, i := range list {
			if n := t.nodes[i.Node-1]; n.site == s && !n.dead {
				refs = append(refs, n.Ref)
			}
		}
		if len(refs) == 0 {
			continue
		}
		at, err := s.agent.Signal(signals[list[0].Do], refs...)
		if err != nil {
			t.checkAgent(err)
			return
		}
		for k, ref := range refs {
			t.signalled[ref] = at[k]
		}
	}
}

// signal has a node's agent signal it, and says when, unless that is done.
func (t *trial) signal(what agent.Signal, n *node) (time.Duration, error) {
	if at, done := t.signalled[n.Ref]; done {
		return at, nil
	}
	at, err := n.site.agent.Signal(what, n.Ref)
	if err != nil {
		return 0, err
	}
	return at[0], nil
}

// popInstruction takes the next instruction out of the queue.
func (t *trial) popInstruction() harness.Instruction {
	_, i := t.queue.Pop()
	if !i.Alarm() {
		t.planned--
	}
	return i
}

func (t *trial) pushInstruction(i harness.Instruction) {
	if !i.Alarm() {
		t.planned++
	}
	t.queue.Push(i.At, harness.ClassOf(&i), i.Node, i)
}

func (t *trial) conclude(at time.Duration) {
	why := harness.Finished
	if t.coordinator.Stuck() {
		why = harness.Stuck
	}
	t.finish(at, why)
}

func (t *trial) obeyInstruction(i harness.Instruction) {
	t.pace = 0
	var n *node // nil: it is about no process
	if i.Node != algo.None {
		n = t.nodes[i.Node-1]
	}
	if !i.Alarm() {
		t.obeyed++ // also if its process is down: the scenario has moved on
	}
	switch {
	case i.Finish(): // at its instant; what follows from a record ends in instruct
		t.inTime = true
		t.conclude(i.At)
	case i.Alarm():
		t.quietAt = 0
	case i.Strike():
		t.obeyInstructions(t.coordinator.Strike(t.now(), i), t.now())
	case i.OfLinks():
		t.changeLinks(i)
	case !i.Inside():
		i.Apply(t)
	case !n.dead:
		t.orderNode(n, control.Order{Do: &i})
	}
}

// The trial is the system that faults act on.
var _ fault.Executor = (*trial)(nil)

// noteRecord keeps a record of what the host did, and tells the coordinator.
func (t *trial) noteRecord(r trace.Record) {
	t.records.Record(&r)
	if t.coordinator.Watches(r.Type) {
		t.obeyInstructions(t.coordinator.Observe(&r), max(r.At, t.heardAt))
	}
}

// noteNode keeps a record of what the host did to a node.
func (t *trial) noteNode(n *node, at time.Duration, what trace.Type, arg time.Duration) {
	t.noteRecord(trace.Record{
		At: at, Type: what, Process: uint32(n.ID), Incarnation: n.Incarnation, Arg: uint64(arg),
	})
}

// Crash kills the node's process. The instant is that at which the system took
// the signal; due is that at which it was to.
func (t *trial) Crash(p algo.ID, due time.Duration) {
	n := t.nodes[p-1]
	if n.dead {
		if n.joining() {
			n.abandoned = true
			_, err := t.signal(agent.Kill, n)
			t.checkAgent(err)
		}
		return
	}
	n.dead = true
	at, err := t.signal(agent.Kill, n) // also if it is paused
	t.checkAgent(err)
	n.downAt = n.site.since(at)
	t.orderNodes(control.Order{Crashed: &control.News{Process: n.ID, At: n.downAt}})
	t.noteNode(n, n.downAt, trace.Crash, due)
}

// Restart starts a fresh process with nothing but what the last one had saved. It is up
// once it has joined the bus: that takes a while, so it is later than due.
func (t *trial) Restart(p algo.ID, due time.Duration) {
	n := t.nodes[p-1]
	if !n.dead || n.joining() {
		return
	}
	fresh := t.newNode(agent.Ref{ID: n.ID, Incarnation: n.Incarnation + 1})
	fresh.dead, fresh.due, fresh.deadline = true, due, t.now()+t.patience()
	t.checkAgent(t.startNode(fresh))
}

// welcomeNode takes in a node that is up again: it hears what has changed meanwhile and who is
// down, and the other detectors hear of it.
func (t *trial) welcomeNode(n *node) {
	n.ready = true
	if end, err := t.awaitHearing(context.Background()); err != nil || len(end.Invalid) > 0 {
		t.spoil("node p%d is up again: %v", n.ID, end.Invalid)
	}
	n.dead, n.upAt = false, t.now()
	start := n.site.startOrder()
	start.Disk = t.coordinator.Mounted(n.ID, n.upAt)
	orders := append([]control.Order{start}, t.sudden...)
	for _, other := range t.nodes {
		if other.dead {
			orders = append(orders, control.Order{Crashed: &control.News{Process: other.ID, At: n.upAt}})
		}
	}
	t.orderNode(n, orders...)
	for _, other := range t.nodes {
		if other != n && !other.dead {
			t.orderNode(other, control.Order{Restarted: &control.News{Process: n.ID, At: n.upAt}})
		}
	}
}

// orderNodes orders the same of every node that is up.
func (t *trial) orderNodes(o control.Order) {
	for _, n := range t.nodes {
		if !n.dead {
			t.orderNode(n, o)
		}
	}
}

// Pause stops the node's process. No other process learns of it.
func (t *trial) Pause(p algo.ID) {
	n := t.nodes[p-1]
	if n.dead || n.paused {
		return
	}
	at, err := t.signal(agent.Pause, n)
	if err != nil {
		t.checkAgent(err)
		return
	}
	n.paused, n.stalledAt = true, n.site.since(at)
	t.noteNode(n, n.stalledAt, trace.Pause, 0)
}

// Resume lets the node's process go on.
func (t *trial) Resume(p algo.ID) {
	n := t.nodes[p-1]
	if n.dead || !n.paused {
		return
	}
	at, err := t.signal(agent.Resume, n)
	if err != nil {
		t.checkAgent(err)
		return
	}
	n.paused, n.resumedAt = false, n.site.since(at)
	t.noteNode(n, n.resumedAt, trace.Resume, 0)
}

// Slow makes each event take the node so long.
func (t *trial) Slow(p algo.ID, by time.Duration) {
	n := t.nodes[p-1]
	if n.dead {
		return
	}
	n.slow, n.stalledAt = n.slow || by > 0, t.now()
	t.orderNode(n, control.Order{Slow: &by})
	t.noteNode(n, n.stalledAt, trace.Slow, by)
}

// changeLinks changes links. What is known before the start the nodes know; they act by
// their own clocks, and the host only notes it.
func (t *trial) changeLinks(i harness.Instruction) {
	at := i.At
	known := slices.ContainsFunc(t.links, func(planned harness.Instruction) bool {
		return planned.Do == i.Do && planned.At == i.At
	})
	if !known {
		at = t.now() + time.Millisecond // the same instant at every node
		t.changeAt = at
	}
	r, e := i.Network(at)
	r.At = at
	if !known && e != (fault.Effect{}) { // the nodes have to be told
		e.Apply(&t.cuts, &t.overrides)
		if t.setup.Network.Wire {
			t.checkAgent(t.machine.wire.Apply(e))
		} else {
			o := control.Order{Links: &e}
			t.sudden = append(t.sudden, o)
			t.orderNodes(o)
		}
	}
	t.noteRecord(r)
}

package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A trial leads one trial on real nodes: it has agents start them, lets the coordinator
// lead, carries out what is not a node's own business, and finds quiet. What it knows of
// nodes it knows from their agents.
type trial struct {
	machine     *Machine
	setup       *harness.Setup
	coordinator *harness.Coordinator
	sites       []*site
	place       []int // of each process by ID - 1, the index of its site
	timeline    []harness.Instruction
	links       []harness.Instruction       // what is known before the start to happen to links
	known       []fault.Effect              // of those
	nodes       []*node                     // by ID - 1: the present incarnation, or the last
	all         []*node                     // all incarnations, in the order of their start
	signalled   map[agent.Ref]time.Duration // when, of those that were signalled with others
	reports     chan agent.Report
	queue       harness.Queue[harness.Instruction]
	alarm       *clock.Alarm
	start       time.Duration // the common start, by Monotonic
	records     trace.List    // what the host did
	cuts        link.Cuts
	overrides   link.Overrides
	sudden      []control.Order // changes of the network that are not in the timeline
	omissions   []fault.Omission
	heardAt     time.Duration // of the last record that a node reported
	invalid     []string
	pace        time.Duration // from one look for quiet to the next
	obeyed      uint64        // instructions, but for alarms
	planned     int           // of those, in queue
	changeAt    time.Duration // when the last change of the network takes effect
	quietAt     uint64        // activity when the coordinator was last told of quiet, plus one
	quietIdle   bool          // it was told then that nothing else is planned either
	end         harness.End
	over        bool
	inTime      bool          // the end was known before the start
	asked       time.Duration // when the clocks of the hosts were compared, before the start
	clockError  time.Duration
	stocks      []agent.Stock   // of a probe: of the sites, before the first node
	shares      []harness.Share // likewise: what they bear
	flights     flights         // where the network is real
	pairs       [][]bound       // errors of times between clocks, by their numbers
}

// A node is one incarnation of a node.
type node struct {
	agent.Ref
	site      *site
	ready     bool
	started   bool          // its process runs, or will at the common start
	dead      bool          // crashed by plan, or not yet started
	abandoned bool          // crashed before it was ready again
	deadline  time.Duration // of being ready again
	due       time.Duration // when it was to be up
	upAt      time.Duration
	downAt    time.Duration
	paused    bool
	slow      bool
	stalledAt time.Duration // since when it is paused or slow
	resumedAt time.Duration // 0: it was never paused
	last      time.Duration // of its last record
	busyFrom  time.Duration // until busyTo its algorithm was busy, which may be 0: it never was for long
	busyTo    time.Duration
	orders    uint64 // that it has to count as executed
	heard     uint64 // records that it reported
	own       []harness.Instruction
	counters  *agent.Counters // of the last look
	bye       *control.Farewell
	failure   string
}

func newTrial(m *Machine, s *harness.Setup) (*trial, error) {
	t := &trial{
		machine: m, setup: s, coordinator: harness.NewCoordinator(s),
		nodes: make([]*node, s.Nodes), signalled: map[agent.Ref]time.Duration{},
		reports: make(chan agent.Report, 4*s.Nodes+64),
	}
	for i, h := range m.hosts {
		t.sites = append(t.sites, &site{index: i, agent: h.Agent})
	}
	var err error
	if t.place, err = m.place(s); err != nil {
		return nil, err
	}
	t.timeline = t.coordinator.Timeline()
	t.links = slices.DeleteFunc(slices.Concat(t.timeline, t.coordinator.Foreseen()),
		func(i harness.Instruction) bool {
			return !i.OfLinks()
		})
	for _, i := range t.links {
		_, e := i.Network(i.At)
		e.Apply(&t.cuts, &t.overrides)
		t.known = append(t.known, e)
	}
	t.omissions = s.Omissions()
	if len(t.omissions) > 0 && len(t.sites) > 1 {
		return nil, errors.New("an omission of the k-th message of a kind needs all nodes on one machine, " +
			"where " +
			"they count together")
	}
	return t, nil
}

// incarnation is the node that n means; nil if there is none.
func (t *trial) incarnation(n agent.Ref) *node {
	if n.ID < 1 || int(n.ID) > len(t.nodes) {
		return nil
	}
	if have := t.nodes[n.ID-1]; have != nil && have.Ref == n {
		return have
	}
	for _, have := range t.all {
		if have.Ref == n {
			return have
		}
	}
	return nil
}

// close leaves no node behind.
func (t *trial) close() {
	for _, s := range t.sites {
		_ = s.agent.End()
		if s.asker != nil {
			s.asker.Close()
		}
	}
	t.machine.closeWire()
	if t.alarm != nil {
		t.alarm.Close()
	}
}

// beginAtAgents prepares the agents for the trial.
func (t *trial) beginAtAgents() (err error) {
	if t.alarm, err = clock.NewAlarm(); err != nil {
		return err
	}
	plan, err := json.Marshal(&t.setup.Plan)
	if err != nil {
		return err
	}
	trial := agent.Trial{Plan: plan, Nodes: t.setup.Nodes, Tallies: len(t.omissions),
		PerProcess: t.setup.PerProcess, Reuse: t.setup.Reuse, Apart: t.setup.Alg.Service}
	for _, s := range t.sites {
		if err := s.agent.Begin(trial, t.reports); err != nil {
			return err
		}
	}
	return t.openWire()
}

// startNodes starts the nodes and waits until all are ready.
func (t *trial) startNodes(ctx context.Context) (harness.End, error) {
	for from := 0; from < len(t.nodes); {
		to := t.nextBatch(from)
		end, err := t.startSome(ctx, from, to)
		if err != nil || len(end.Invalid) > 0 {
			return end, err
		}
		if end.Invalid, err = t.measureShares(to); err != nil || len(end.Invalid) > 0 {
			return end, err
		}
		from = to
	}
	if end, err := t.measureLead(ctx); err != nil || len(end.Invalid) > 0 {
		return end, err
	}
	return t.awaitHearing(ctx)
}

// startSome starts the nodes from one place to another, and waits until they are ready.
func (t *trial) startSome(ctx context.Context, from, to int) (harness.End, error) {
	missing := 0
	for i := from; i < to; i++ {
		n := t.newNode(agent.Ref{ID: algo.ID(i + 1)})
		if slices.Contains(t.setup.Crashed, n.ID) {
			n.dead, n.downAt = true, -1
			continue
		}
		if err := t.startNode(n); err != nil {
			return harness.End{}, err
		}
		missing++
	}
	return t.await(ctx, missing, func(n *node, r *control.Report) bool {
		if r.Ready {
			n.ready, n.dead = true, false
		}
		return r.Ready
	})
}

// await waits until so many nodes have reported what is awaited of each.
func (t *trial) await(ctx context.Context, missing int, heard func(*node, *control.Report) bool) (
	harness.End, error) {
	deadline := time.NewTimer(t.patience())
	defer deadline.Stop()
	for missing > 0 {
		select {
		case <-ctx.Done():
			return harness.End{}, context.Cause(ctx)
		case <-deadline.C:
			return t.notReady(), nil
		case r := <-t.reports:
			switch n := t.incarnation(r.Node); {
			case r.Lost != "":
				return harness.End{Invalid: []string{r.Lost}}, nil
			case n == nil:
			case heard(n, &r.Report):
				missing--
			case r.Complains() || r.Ended != nil:
				return t.stillborn(&r), nil
			}
		}
	}
	return harness.End{}, nil
}

// measureLead finds out how long it takes until the last node has read an order, unless that
// is known of so many.
func (t *trial) measureLead(ctx context.Context) (harness.End, error) {
	if t.machine.leads[len(t.nodes)].known {
		return harness.End{}, nil
	}
	begun, asked := clock.Monotonic(), 0
	for _, n := range t.nodes {
		if n.ready {
			t.orderNode(n, control.Order{Answer: true})
			asked++
		}
	}
	end, err := t.await(ctx, asked, func(_ *node, r *control.Report) bool { return r.Read })
	t.machine.took(len(t.nodes), clock.Monotonic()-begun)
	return end, err
}

// newNode is the next incarnation of a process.
func (t *trial) newNode(which agent.Ref) *node {
	n := &node{Ref: which, site: t.sites[t.place[which.ID-1]]}
	t.nodes[n.ID-1] = n
	t.all = append(t.all, n)
	return n
}

func (t *trial) notReady() harness.End {
	var late []string
	for _, n := range t.nodes {
		if !n.dead && !n.ready {
			late = append(late, fmt.Sprintf("p%d", n.ID))
		}
	}
	if len(late) == 0 {
		return harness.End{Invalid: []string{fmt.Sprintf("nodes that are ready have not read an order "+
			"within %v", t.patience())}}
	}
	return harness.End{Invalid: []string{fmt.Sprintf("%d of %d nodes were not ready within %v: %s",
		len(late), len(t.nodes), t.patience(), strings.Join(late, ", "))}}
}

func (t *trial) stillborn(r *agent.Report) harness.End {
	why := r.Error + r.Broken
	if why == "" {
		why = r.Ended.Why
	}
	err := fmt.Errorf("node p%d was not ready: %s", r.Node.ID, proc.Harmless(why))
	return harness.End{Invalid: []string{t.machine.of(t.machine.hosts[t.place[r.Node.ID-1]], err).Error()}}
}

// startNode has the process of n started, with its assignment.
func (t *trial) startNode(n *node) error {
	a := control.Assignment{
		ID: n.ID, Incarnation: n.Incarnation, Due: n.due, Limit: t.machine.cfg.Limit,
		Bus: t.machine.access(int(n.ID-1), n.site.index), Kinds: t.coordinator.WatchedKinds(), Links: t.known,
	}
	a.Bus.Stamp = t.setup.Network.Real
	if t.setup.Network.Wire {
		a.Mesh, a.Links = t.mesh(), nil
	}
	if t.setup.Alg.Service {
		a.Mesh, a.Site = nil, t.addresses()
	}
	for kind := range trace.Types() {
		if t.coordinator.Watches(kind) {
			a.Watch = append(a.Watch, kind)
		}
	}
	for _, i := range t.timeline {
		if i.Inside() && i.Node == n.ID && (n.Incarnation == 0 || i.At >= t.now()) {
			a.Timeline = append(a.Timeline, i)
		}
	}
	n.own = a.Timeline
	if err := n.site.agent.Start(a); err != nil {
		return err
	}
	n.started = true
	n.site.spawned++
	return nil
}

// now is the time since the common start.
func (t *trial) now() time.Duration { return clock.Monotonic() - t.start }

// orderNode has orders sent to n. A node that is gone is noticed elsewhere.
func (t *trial) orderNode(n *node, orders ...control.Order) {
	for i := range orders {
		if orders[i].Counted() {
			n.orders++
		}
	}
	t.checkAgent(n.site.agent.Order(n.Ref, orders...))
}

// checkAgent ends the trial if an agent could not do what it was asked for.
func (t *trial) checkAgent(err error) {
	if err != nil {
		t.spoil("%v", err)
	}
}

// run is the trial from the common start to its end.
func (t *trial) run(ctx context.Context) error {
	if err := t.fixStart(); err != nil {
		t.spoil("%v", err)
		return nil
	}
	for _, n := range t.nodes {
		if !n.dead {
			t.orderNode(n, n.site.startOrder())
		}
	}
	for _, i := range t.timeline {
		if !i.Inside() {
			t.pushInstruction(i)
		}
	}
	for !t.over {
		now := t.now()
		for !t.over && t.queue.Due(now) {
			list := []harness.Instruction{t.popInstruction()}
			for t.queue.Due(now) && together(list[0], t.queue.Peek()) {
				list = append(list, t.popInstruction())
			}
			t.obeyTogether(list)
		}
		if t.over {
			break
		}
		if now >= t.setup.TimeLimit {
			t.finish(t.setup.TimeLimit, harness.TimeLimit)
			break
		}
		t.lookForQuiet()
		t.lookForLate(now)
		if t.over {
			break
		}
		t.alarm.Set(t.start + t.wake(now))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r := <-t.reports:
			t.hearReport(&r)
		case <-t.alarm.C:
		}
	}
	return nil
}

// patience is how long a node may take to be ready: servers make databases, and elect a leader, first.
func (t *trial) patience() time.Duration {
	if t.setup.Alg.Service {
		return max(t.machine.cfg.Ready, servicePatience)
	}
	return t.machine.cfg.Ready
}

// servicePatience is that of systems that people run.
const servicePatience = 90 * time.Second

// lookForLate ends a trial that waits in vain for a node to be up again.
func (t *trial) lookForLate(now time.Duration) {
	for _, n := range t.nodes {
		if n.joining() && now > n.deadline {
			t.spoil("node p%d was not ready again within %v", n.ID, t.patience())
		}
	}
}

// joining says that n is on its way up.
func (n *node) joining() bool { return n.started && !n.ready && !n.abandoned }

// wake is when to look again: at the next instruction, or for quiet. The longer
// the algorithm is busy, the less often it is looked at, so that looking does
// not take the processor from it.
func (t *trial) wake(now time.Duration) time.Duration {
	n := time.Duration(len(t.nodes))
	t.pace = min(t.pace*5/4, max(time.Millisecond, n*20*time.Microsecond))
	t.pace = max(t.pace, 100*time.Microsecond)
	at := now + t.pace
	if t.queue.Len() > 0 {
		at = min(at, t.queue.Next())
	}
	return max(min(at, t.setup.TimeLimit), 0)
}

// spoil ends the trial because the harness skewed it.
func (t *trial) spoil(format string, args ...any) {
	t.invalid = append(t.invalid, fmt.Sprintf(format, args...))
	t.finish(t.now(), harness.Broken)
}

// lose ends the trial because what it cannot do without is gone. All that nodes complain of
// later follows from that.
func (t *trial) lose(what string) {
	t.finish(t.now(), harness.Broken)
	if !slices.Contains(t.invalid, what) {
		t.invalid = slices.Insert(t.invalid, 0, what)
	}
}

func (t *trial) finish(at time.Duration, why harness.Reason) {
	if !t.over {
		t.over = true
		t.end = harness.End{At: at, Reason: why}
	}
}

// hearReport takes a report of a node, or of its end.
func (t *trial) hearReport(r *agent.Report) {
	n := t.incarnation(r.Node)
	switch {
	case r.Lost != "":
		t.lose(r.Lost)
	case n == nil: // an agent that makes nodes up
		t.spoil("a report of node p%d, incarnation %d, which was not started", r.Node.ID, r.Node.Incarnation)
	case n.abandoned || n != t.nodes[n.ID-1]: // what it has to say is of a former life
		if r.Record != nil {
			n.heard++
		}
	case r.Complains() && n.dead && !n.joining(): // it would not have mattered
	case r.Ended != nil && n.failure != "": // after it said why
	case r.Ended != nil && n.joining():
		t.spoil("node p%d was not ready again: %s", n.ID, r.Ended.Why)
	case r.Ended != nil && !n.dead && n.bye == nil:
		t.nodeDied(n, r.Ended)
	case r.Complains():
		t.nodeBroke(n, r)
	case r.Ready:
		t.welcomeNode(n)
	case r.Bye != nil:
		n.bye = r.Bye
	case r.Record != nil:
		n.heard++
		t.heardAt = max(t.heardAt, r.Record.At)
		t.obeyInstructions(t.observeRecord(r.Record), t.heardAt)
	}
}

func (t *trial) observeRecord(r *trace.Record) []harness.Instruction {
	if r.Type == trace.Done {
		return t.coordinator.Done(algo.ID(r.Process))
	}
	return t.coordinator.Observe(r)
}

// nodeDied is a node whose process ended though nobody meant it to.
func (t *trial) nodeDied(n *node, how *agent.Death) {
	n.failure = how.Why
	if how.Told {
		return
	}
	if how.Plugin {
		t.blamePlugin(fmt.Sprintf("process %d: %s", n.ID, how.Why))
		return
	}
	t.spoil("node p%d died: %s", n.ID, how.Why)
}

// nodeBroke is a node on which the plugin failed, or what it needs of the harness.
func (t *trial) nodeBroke(n *node, r *agent.Report) {
	if n.failure = r.Broken; n.failure != "" {
		t.blamePlugin(r.Broken)
		return
	}
	n.failure = r.Error
	t.spoil("node p%d: %s", n.ID, r.Error)
}

// blamePlugin ends the trial by a fault of the plugin.
func (t *trial) blamePlugin(why string) {
	t.finish(t.now(), harness.Broken)
	t.end.Reason, t.end.Err = harness.Broken, errors.New(why)
}

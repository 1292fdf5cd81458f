// Package node is real time for processes of an algorithm: the event loop of each node, and
// what nodes have in common that share a process.
package node

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
	"github.com/conclave-bench/conclave/internal/worlds/wire/mesh"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A node is the event loop around one process of the algorithm: one goroutine
// that waits for messages, alarms and orders, and lets what is due happen. It
// is the runtime of its process, as the simulation is of all of them.
type node struct {
	control.Assignment
	setup   *harness.Setup
	process *harness.Process
	conn    transport.Conn
	in      <-chan transport.Message
	orders  chan control.Order
	out     mouth
	tele    *telemetry.Writer
	alarm   *clock.Alarm
	lead    clock.Lead    // of alarm, before what is due
	fault   chan error    // of the connection, where others share the process
	over    chan struct{} // closed when it has nothing any more
	queue   harness.Queue[happening]
	buf     harness.Buffer

	handling handling

	news chan func(algo.LiveEnv) // what a Live process posts
	life algo.Live               // nil: it is none
	done chan struct{}           // closed when nobody hears news any more

	cuts      link.Cuts
	overrides link.Overrides
	start     time.Duration // the common start, by Monotonic
	gains     float64       // ns that Monotonic gains in one of the host's clock
	now       time.Duration // of the present event, since the start
	due       time.Duration // when it was due
	lag       time.Duration // see trace.Record.Lag
	upSince   time.Duration
	flows     [2][]*flow // by plane and receiver, once something was sent to it
	frame     []byte
	record    trace.Record // of a message, written down before the next
	watch     [256]bool
	kinds     [256]bool // of messages, where watch says that they are reported
	declared  int       // kinds of messages that the algorithm has
	omission  []fault.Omission
	tally     *telemetry.Tally // of the messages that each omission fits
	slow      time.Duration    // what each event takes
	mounted   *harness.Instruction
	pending   int
	sent, got uint64 // copies of algorithm messages
	lastDue   time.Duration
	came      time.Duration // of the last message, where nothing is done to messages
	executed  uint64
	reports   uint64
	late      time.Duration
	crashed   bool
	failed    error // of the node
	broken    error // of the plugin
}

// A flow is the sender's side of a link.
type flow struct {
	link.Flow
	ordinal uint64 // of the last copy
}

// A mouth is where a node's reports go. The guard may have something to say as well.
type mouth interface{ say(control.Report) error }

// A voice is the mouth of a node that has its process for itself.
type voice struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (v *voice) say(r control.Report) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.out.Encode(r)
}

// A happening is what a node's queue holds: a message, an alarm, an
// instruction.
type happening struct {
	what  uint8
	from  algo.ID
	late  time.Duration // by which the bus was late
	lag   time.Duration // of the event that set the alarm
	frame transport.Frame
	alarm harness.Alarm
	instr *harness.Instruction
}

const (
	aMessage uint8 = iota
	anAlarm
	anInstruction
)

// Run is the life of a process of nodes: it reads the plan and, from in, what it is to be: one
// node, or as many as come. A node joins the bus, says that it is ready, runs from the common
// start until its order to stop. If the plan says so, the process then is a node of the next
// plan. When in ends, so does the process.
func Run(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(400) // short-lived, and a collection disturbs what is measured
	in, out = proc.Streams(in, out)
	lines := bufio.NewReaderSize(in, 64<<10)
	v := &voice{out: json.NewEncoder(out)}
	for again := false; ; again = true {
		var plan harness.Plan
		if err := readLine(lines, &plan); again && errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return (&node{out: v}).refuse(fmt.Errorf("read plan: %w", err))
		}
		setup, err := plan.Setup()
		if err != nil {
			return (&node{out: v}).refuse(err)
		}
		if setup.Alg.Service {
			// Servers that it starts inherit what limits it. They may take all processors and more memory.
			_ = os.Unsetenv("GOMAXPROCS")
		} else if !again {
			guard.Confine(mostMemory(plan.PerProcess))
		}
		if plan.PerProcess > 0 {
			return runCrew(lines, json.NewEncoder(out), setup)
		}
		n := newNode(setup, v)
		if err = n.liveAlone(lines); err != nil || !plan.Reuse {
			return err
		}
		n.release()
		runtime.GC() // else what this trial has left is collected during one that is to come
	}
}

// liveAlone is the life of a node that has its process for itself.
func (n *node) liveAlone(lines *bufio.Reader) error {
	if err := readLine(lines, &n.Assignment); err != nil {
		return n.refuse(fmt.Errorf("read assignment: %w", err))
	}
	ward := guard.Watch(&n.buf.Buffer, n.abandon)
	defer ward.Release()
	return n.live(func() { go readOrders(lines, n.orders, ward) }, func() bool { return true })
}

// mostMemory is what a process of nodes may take of the memory, in bytes. A node itself takes 30 MiB, and
// one of many in a process 1 MiB.
func mostMemory(perProcess int) uint64 {
	most := 512<<20 + uint64(perProcess)*(4<<20)
	if share := guard.Share(1); share > 0 {
		most = min(most, share)
	}
	return most
}

func newNode(s *harness.Setup, out mouth) *node {
	return &node{setup: s, out: out, orders: make(chan control.Order, 1024), over: make(chan struct{}),
		fault: make(chan error, 1)}
}

// refuse says why there is no node.
func (n *node) refuse(err error) error {
	_ = n.out.say(control.Report{Error: err.Error()})
	return err
}

// live is the life of a node that knows its assignment. Joined is called once it has joined,
// and last says at its end whether no other node runs in this process.
func (n *node) live(joined func(), last func() bool) error {
	if err := n.joinTrial(); err != nil {
		return n.refuse(err)
	}
	joined()
	if err := n.out.say(control.Report{Ready: true}); err != nil {
		return err
	}
	err := n.run()
	if n.crashed {
		return nil
	}
	n.shareUsage(control.WordAfter)
	alone := last()
	if n.life != nil {
		close(n.done)
		n.life.Close()
	} else if err == nil && n.broken == nil && n.process != nil && alone {
		if n.broken = guard.Strays(n.process.Plugin()); n.broken == nil && !n.shared() {
			n.broken = n.leftOpen()
		}
	}
	switch {
	case n.broken != nil:
		_ = n.out.say(control.Report{Broken: n.broken.Error()})
		return n.broken
	case err != nil:
		return n.refuse(err)
	}
	bye := control.Farewell{Faults: n.conn.Faults(), Late: n.late}
	if dropped, derr := n.conn.Dropped(); derr == nil && dropped > 0 {
		bye.Faults = append(bye.Faults, fmt.Sprintf("slow consumer: %d messages dropped", dropped))
	}
	return n.out.say(control.Report{Bye: &bye})
}

// abandon ends a node whose plugin does not return to it.
func (n *node) abandon(err error) {
	_ = n.out.say(control.Report{Broken: err.Error()})
	os.Exit(1)
}

// joinTrial connects this node.
func (n *node) joinTrial() (err error) {
	n.declared = len(n.setup.Alg.Codec.Kinds())
	for _, t := range n.Watch {
		n.watch[t] = true
	}
	for _, k := range n.Kinds {
		n.kinds[k] = true
	}
	for _, e := range n.Links {
		e.Apply(&n.cuts, &n.overrides)
	}
	if n.omission = n.setup.Omissions(); len(n.omission) > 0 {
		if n.tally, err = telemetry.OpenTally(n.Tally, len(n.omission)); err != nil {
			return err
		}
	}
	for plane := range n.flows {
		n.flows[plane] = make([]*flow, n.setup.Nodes)
	}
	if n.handling.watch = clock.NewStopwatch(n.shared()); n.setup.Alg.Apart {
		n.handling.watch = clock.NewTimer() // another process handles events, and this one waits
	}
	n.tele, err = telemetry.Create(n.Telemetry, telemetry.Config{
		Process: uint32(n.ID), Incarnation: n.Incarnation, Words: control.Words, Limit: n.Limit,
		Many: n.shared(),
	})
	if err != nil {
		return err
	}
	if n.alarm, err = clock.NewAlarm(); err != nil {
		return err
	}
	if err := n.connect(n.setup.Trial); err != nil || n.Site == nil {
		return err
	}
	return n.open()
}

// open makes the process of a system, and begins its life before the common start: what it does to be
// ready is no part of the trial.
func (n *node) open() error {
	n.news, n.done = make(chan func(algo.LiveEnv), 1024), make(chan struct{})
	n.process = harness.NewProcess(n.setup, n, n.ID, n.Incarnation, nil, &n.buf)
	n.life = n.process.Plugin().(algo.Live)
	return n.life.Open(*n.Site, n)
}

// Post implements algo.Host.
func (n *node) Post(f func(algo.LiveEnv)) {
	select {
	case n.news <- f:
	case <-n.done:
	}
}

// Fail implements algo.Host.
func (n *node) Fail(err error) {
	select {
	case n.fault <- err:
	default: // it has failed already
	}
}

func (n *node) connect(trial string) (err error) {
	n.Bus.Name = fmt.Sprintf("p%d", n.ID)
	if n.shared() { // else rooms for all would fill the memory
		n.Bus.Room = 4096 + 4*n.setup.Nodes
	}
	if n.Site != nil {
		n.conn = transport.None{}
	} else if n.Mesh != nil {
		n.conn = mesh.New(*n.Mesh)
	} else if n.conn, err = bus.Dial(n.Bus); err != nil {
		n.conn = nil // and no nil of the bus
		return err
	}
	n.in, err = n.conn.Join(trial, uint32(n.ID), n.setup.Nodes)
	return err
}

// release gives up all that a node has: its connection, its timers, its files.
func (n *node) release() {
	close(n.over)
	if n.conn != nil {
		n.conn.Close()
	}
	if n.alarm != nil {
		n.alarm.Close()
	}
	if n.tele != nil {
		_ = n.tele.Close() // what is written is there
	}
	if n.tally != nil {
		n.tally.Close()
	}
}

func readLine(in *bufio.Reader, v any) error {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// shared says whether other nodes run in this process.
func (n *node) shared() bool { return n.setup.PerProcess > 0 }

// flow is the link to a process on a plane.
func (n *node) flow(plane uint8, to algo.ID) *flow {
	f := &n.flows[plane][to-1]
	if *f == nil {
		*f = &flow{Flow: n.setup.Network.Flow(plane, uint32(n.ID), n.Incarnation, uint32(to))}
	}
	return *f
}

// readOrders hands orders to the loop, up to the last one. The end of the input is the end of
// the host: the node must not outlive it.
func readOrders(in *bufio.Reader, orders chan<- control.Order, ward *guard.Ward) {
	for {
		var o control.Order
		if err := readLine(in, &o); err != nil {
			os.Exit(0)
		}
		if o.Stop { // the host does not wait for long
			ward.Hurry(control.StopPatience / 2)
		}
		orders <- o
		if o.Stop {
			return
		}
	}
}

// clock is the time since the common start, by the host's clock.
func (n *node) clock() time.Duration {
	passed := clock.Monotonic() - n.start
	if n.gains != 0 {
		passed -= time.Duration(float64(passed) * n.gains / (1 + n.gains))
	}
	return passed
}

// instant is when so much time since the common start will have passed, by Monotonic.
func (n *node) instant(since time.Duration) time.Duration {
	if n.gains != 0 {
		since += time.Duration(math.Ceil(float64(since) * n.gains))
	}
	return n.start + since
}

// run waits for the common start and then lets things happen until Stop.
func (n *node) run() (err error) {
	returns := false
	defer func() {
		if r := recover(); r != nil {
			n.broken = harness.Blame(n.ID, r)
		} else if !returns {
			n.abandon(guard.Exited(&n.buf.Buffer))
		}
	}()
	err = n.handleEvents()
	returns = true
	return err
}

func (n *node) handleEvents() error {
	for o := range n.orders {
		if n.endsBy(o) {
			return nil
		}
		if o.Answer {
			if err := n.out.say(control.Report{Read: true}); err != nil {
				return err
			}
		}
		if o.Start != nil {
			n.start, n.gains, n.mounted = *o.Start, o.Gains, o.Disk
			break
		}
	}
	n.late = max(n.clock(), 0)
	for wait := -n.clock(); wait > 0; wait = -n.clock() {
		n.alarm.Set(n.start)
		<-n.alarm.C
	}
	n.shareUsage(control.WordBefore)
	n.startProcess()
	faults := n.faults()
	for n.failed == nil && n.broken == nil {
		if n.takeArrived() {
			return n.failed
		}
		if now := n.clock(); n.queue.Due(now) {
			due, h := n.queue.Pop()
			if n.slow > 0 && n.waitUntil(now+n.slow) {
				return n.failed
			}
			n.executeDue(&h, due)
			continue
		}
		wakeAt := time.Duration(math.MaxInt64)
		if n.queue.Len() > 0 {
			due := n.instant(n.queue.Next())
			if n.lead.Await(due) {
				continue
			}
			wakeAt = due - n.lead.Before()
			n.alarm.Set(wakeAt)
		}
		select {
		case msg := <-n.in:
			n.queueMessage(msg, n.clock())
		case <-n.alarm.C:
			if !n.shared() { // who waits with the processor in hands takes it from the others
				n.lead.Woke(clock.Monotonic() - wakeAt)
			}
		case o := <-n.orders:
			if n.obeyOrder(o) {
				return n.failed
			}
		case f := <-n.news:
			n.hear(f)
		case broken := <-faults:
			return broken
		}
	}
	return n.failed
}

// hear has the process learn what happened to it.
func (n *node) hear(f func(algo.LiveEnv)) {
	now := n.clock()
	n.beginEvent(now, now, 0)
	n.process.Happened(n.now, f)
	n.shareState()
}

// faults tells of a fault of the connection, which spoils the trial, so that it does not go on
// for nothing. In a process of many one goroutine looks for all.
func (n *node) faults() <-chan error {
	out := n.fault
	if n.shared() {
		return out
	}
	go func() {
		tick := time.Tick(faultsEvery)
		for {
			select {
			case <-n.over:
				return
			case <-tick:
			}
			if err := n.spoilt(); err != nil {
				out <- err
				return
			}
		}
	}()
	return out
}

// faultsEvery is how often connections are asked for faults.
const faultsEvery = 250 * time.Millisecond

// spoilt is what is wrong with the connection.
func (n *node) spoilt() error {
	if faults := n.conn.Faults(); len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// startProcess starts the process and takes its part of the timeline over.
func (n *node) startProcess() {
	if now := n.clock(); n.Incarnation > 0 {
		n.late, n.upSince = 0, now
		n.beginEvent(now, now, 0)
	} else {
		n.beginEvent(now, 0, 0)
	}
	n.addPending(1)
	var saved algo.Message
	if len(n.Saved) > 0 {
		if saved, _, n.failed = n.setup.Alg.Codec.Decode(n.Saved); n.failed != nil {
			return
		}
	}
	if n.process == nil {
		n.process = harness.NewProcess(n.setup, n, n.ID, n.Incarnation, saved, &n.buf)
	}
	n.process.Due, n.process.Mounted = n.Due, n.mounted
	n.process.Start(n.now)
	for _, i := range n.Timeline {
		n.queue.Push(i.At, harness.ClassOf(&i), n.ID, happening{what: anInstruction, instr: &i})
	}
	n.executed++ // the order to start
	n.shareState()
	n.addPending(-1)
}

// waitUntil lets time pass until an instant, and says whether the node is to stop.
func (n *node) waitUntil(until time.Duration) (stop bool) {
	for n.clock() < until {
		n.alarm.Set(n.instant(until))
		select {
		case <-n.alarm.C:
		case o := <-n.orders:
			if n.obeyOrder(o) {
				return true
			}
		}
	}
	return false
}

// addPending counts what keeps the algorithm from being quiet: messages that
// wait for their instant, and whatever goes on at present, so that no state is
// taken for quiet while the words that tell of it change one by one.
func (n *node) addPending(d int) {
	n.pending += d
	n.tele.Word(control.WordPending).Store(uint64(n.pending))
}

// takeArrived takes in what has arrived, without waiting, so that messages that are
// due are delivered in the order in which they are due. It says whether the node
// is to stop.
func (n *node) takeArrived() (stop bool) {
	if waiting := len(n.in); waiting > 0 {
		now := n.clock()
		for range waiting {
			n.queueMessage(<-n.in, now)
		}
	}
	for range len(n.orders) {
		if n.obeyOrder(<-n.orders) {
			return true
		}
	}
	return false
}

// queueMessage puts a message that came at now into the queue, until it is due.
func (n *node) queueMessage(msg transport.Message, now time.Duration) {
	from := msg.From
	var f transport.Frame
	err := f.Parse(msg.Data)
	if err == nil && (from == 0 || int(from) > n.setup.Nodes || !n.canBeSent(&f)) {
		err = errors.New("no process sends such")
	}
	if err != nil {
		n.failed = fmt.Errorf("message on %s is not of this trial: %w", msg.Where, err)
		return
	}
	if f.Plane == trace.Data {
		n.addPending(1)
		n.got++
		n.tele.Word(control.WordGot).Store(n.got)
	}
	if n.setup.Network.Bare() { // nothing but the network delays it
		n.came = max(n.came, cameAt(&msg, now)) // what came later is not due earlier, by two clocks
		f.Due = n.came
	}
	late := max(now-f.Due, 0)
	late -= n.handling.last.overlap(stretch{f.Due, now}) // it could not take it in
	n.queue.Push(f.Due, harness.Delivery, algo.ID(from),
		happening{what: aMessage, from: algo.ID(from), late: late, lag: f.Lag, frame: f})
}

// cameAt is when a message came to the socket of this process that is taken in now.
func cameAt(msg *transport.Message, now time.Duration) time.Duration {
	if msg.Came.IsZero() {
		return now
	}
	return max(now-max(time.Since(msg.Came), 0), 0)
}

// canBeSent says whether a node can have sent f: a process that has got hold of its key may
// have sent something else.
func (n *node) canBeSent(f *transport.Frame) bool {
	heartbeat := f.Plane == trace.Detection && f.Kind == harness.Heartbeat
	return f.Seq > 0 && f.Ordinal > 0 && (heartbeat || int(f.Kind) < n.declared)
}

// beginEvent is an event that happens at now, was due then, and follows from one with
// such a lag.
func (n *node) beginEvent(now, due, lag time.Duration) {
	n.now, n.due, n.lag = now, due, n.handling.lag(now, due, lag)
}

// executeDue lets one thing happen that was due then.
func (n *node) executeDue(h *happening, due time.Duration) {
	if h.what == anInstruction {
		due = h.instr.At // an order may have come later
	}
	n.beginEvent(n.clock(), due, h.lag)
	if h.what != aMessage || h.frame.Plane != trace.Data {
		n.addPending(1)
	}
	switch h.what {
	case aMessage:
		n.deliver(h)
	case anAlarm:
		n.process.Alarm(n.now, h.alarm)
	case anInstruction:
		n.process.Obey(n.now, h.instr)
		n.executed++
	}
	n.shareState()
	n.addPending(-1)
	if err := n.process.CheckInvariant(n.now); err != nil && n.broken == nil {
		n.broken = err
	}
}

// shareState writes the state that quiet is found by. It comes after the sends of
// the event and before the event counts as done.
func (n *node) shareState() {
	inside := uint64(0)
	if n.process.Inside {
		inside = 1
	}
	n.tele.Word(control.WordActivity).Store(n.process.Fed)
	n.storeWord(control.WordTimers, uint64(n.process.Timers))
	n.storeWord(control.WordPlanned, uint64(n.process.Planned))
	n.storeWord(control.WordInside, inside)
	n.storeWord(control.WordExecuted, n.executed)
}

// shareUsage writes down what this node has used until now. The processor time comes last:
// where there is none, the others may be missing.
func (n *node) shareUsage(word int) {
	if n.shared() { // nobody counts for goroutines
		return
	}
	u := proc.ReadUsage()
	n.tele.Word(word + 1).Store(u.Voluntary)
	n.tele.Word(word + 2).Store(u.Involuntary)
	n.tele.Word(word).Store(uint64(u.CPU))
}

// storeWord stores v in word i, if it stands there not yet: a store that all
// processors have to see costs ten times a look.
func (n *node) storeWord(i int, v uint64) {
	if w := n.tele.Word(i); w.Load() != v {
		w.Store(v)
	}
}

// obeyOrder carries out an order, and says whether the node is to end.
func (n *node) obeyOrder(o control.Order) (ends bool) {
	switch {
	case o.Pause:
		return n.pause()
	case o.Resume: // it was not paused
		n.confirm()
		return false
	case !o.Counted():
		return n.endsBy(o)
	}
	now := n.clock()
	n.beginEvent(now, now, 0)
	switch {
	case o.Do != nil: // an event as others are: a slow process takes its time for it
		n.queue.Push(n.now, harness.ClassOf(o.Do), n.ID, happening{what: anInstruction, instr: o.Do})
		return false
	case o.Crashed != nil:
		n.process.Crashed(o.Crashed.Process, o.Crashed.At)
	case o.Restarted != nil:
		n.process.Restarted(o.Restarted.Process, o.Restarted.At)
	case o.Links != nil:
		o.Links.Apply(&n.cuts, &n.overrides)
	case o.Slow != nil:
		n.slow = *o.Slow
	default:
		return false
	}
	n.executed++
	n.shareState()
	return false
}

// endsBy says whether the node is to end by such an order.
func (n *node) endsBy(o control.Order) bool {
	n.crashed = n.crashed || o.Crash
	return o.Stop || o.Crash
}

// deliver is the instant at which a message is due, or later if the machine is
// slow.
func (n *node) deliver(h *happening) {
	f := &h.frame
	switch {
	case f.Lost || f.Omitted ||
		!n.cuts.Whole() && n.cuts.Severed(uint32(h.from), uint32(n.ID), f.Sent, f.Due):
		n.recordOutcome(trace.Lose, h)
		return
	case f.Sent < n.upSince: // down at an instant of its way
		n.recordOutcome(trace.Undelivered, h)
		return
	}
	n.recordOutcome(trace.Deliver, h)
	var msg algo.Message
	if f.Plane == trace.Data || f.Kind != harness.Heartbeat {
		var err error
		var kind uint8
		msg, kind, err = n.setup.Alg.Codec.Decode(f.Payload)
		if err == nil && kind != f.Kind {
			err = fmt.Errorf("its frame says kind %d, its payload kind %d", f.Kind, kind)
		}
		if err != nil {
			n.failed = fmt.Errorf("message of process %d: %w", h.from, err)
			return
		}
	}
	n.process.Deliver(n.now, h.from, f.Plane, f.Kind, msg, f.Depth)
}

func (n *node) recordOutcome(t trace.Type, h *happening) {
	f := &h.frame
	late := time.Duration(0)
	switch { // of a message that was lost, Arg says something else
	case t == trace.Deliver:
		late = h.late
	case t == trace.Lose && f.Omitted:
		late = trace.Omitted
	case t == trace.Lose && !f.Lost:
		late = trace.Severed
	}
	n.record = trace.Record{
		At: n.now, Type: t, Process: uint32(n.ID), Peer: uint32(h.from), Incarnation: f.Incarnation,
		Sent: f.Sent, Due: f.Due, Seq: f.Seq, Bytes: uint32(len(f.Payload)), Depth: f.Depth,
		Plane: f.Plane, Kind: f.Kind, Copy: f.Copy, Arg: uint64(late),
	}
	n.recordMessage()
}

// recordMessage writes n.record down, which is about a message, and reports it if the host
// watches for such.
func (n *node) recordMessage() {
	r := &n.record
	n.writeRecord(r)
	if n.watch[r.Type] && n.kinds[r.Kind] && r.Plane == trace.Data {
		n.reportRecord(r)
	}
}

func (n *node) writeRecord(r *trace.Record) {
	if err := n.tele.Append(r); err != nil && n.failed == nil {
		n.failed = err
	}
}

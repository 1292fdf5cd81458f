package bubble

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A world is a trial in a bubble: the same coordinator, network and records as those of the simulator, with
// goroutines of a library in place of state machines.
type world struct {
	setup *harness.Setup
	new   func(*Process) Subject
	kinds map[string]uint8
	beat  *atomic.Uint64 // what the watch outside looks at
	began time.Time
	woken chan struct{}

	mu          sync.Mutex
	sink        trace.Sink
	coordinator *harness.Coordinator
	queue       harness.Queue[func()]
	cuts        link.Cuts
	overrides   link.Overrides
	omissions   []fault.Omission
	fitted      []uint64
	watched     [256]bool
	running     []*Process // by ID - 1; nil: down
	all         []*Process
	next        []uint32 // incarnations
	disks       []*Disk
	pending     int64
	over        bool
	end         harness.End
}

// maxEnding is how long the goroutines of a library may take to end, in virtual time.
const maxEnding = 10 * time.Minute

// newWorld must be called in the bubble: its time begins there.
func newWorld(s *harness.Setup, sink trace.Sink, newProcess func(*Process) Subject,
	beat *atomic.Uint64) *world {
	w := &world{setup: s, new: newProcess, sink: sink, coordinator: harness.NewCoordinator(s), beat: beat,
		kinds: map[string]uint8{}, began: time.Now(), woken: make(chan struct{}, 1),
		running: make([]*Process, s.Nodes), next: make([]uint32, s.Nodes), disks: make([]*Disk, s.Nodes),
		omissions: s.Omissions()}
	for i, name := range s.Alg.Codec.Kinds() {
		w.kinds[name] = uint8(i)
	}
	w.fitted = make([]uint64, len(w.omissions))
	for _, k := range w.coordinator.WatchedKinds() {
		w.watched[k] = true
	}
	return w
}

// now is the instant of the trial.
func (w *world) now() time.Duration { return time.Since(w.began) }

// run is the whole trial, in the bubble's first goroutine.
func (w *world) run() harness.End {
	w.mu.Lock()
	timeline := w.coordinator.Timeline()
	w.push(w.setup.TimeLimit, harness.Application, algo.None, func() { w.finish(harness.TimeLimit) })
	for i := range w.running {
		if p := algo.ID(i + 1); !slices.Contains(w.setup.Crashed, p) {
			w.boot(p, 0)
		}
	}
	w.instruct(timeline)
	if every := w.setup.WritesEvery; every > 0 {
		w.push(every, harness.Application, algo.None, w.round)
	}
	timer := time.NewTimer(0)
	for !w.over {
		w.beat.Add(1)
		if next := w.queue.Next(); next > w.now() {
			timer.Reset(next - w.now())
			w.mu.Unlock()
			select {
			case <-timer.C:
			case <-w.woken:
			}
			w.mu.Lock()
			continue
		}
		_, happen := w.queue.Pop()
		w.end.Events++
		happen()
	}
	w.end.Pending = w.pending
	w.end.Skipped, w.end.Toll = w.coordinator.Skipped(w.end.At), w.coordinator.Toll()
	for i, o := range w.omissions {
		w.end.Skipped += o.Missed(w.fitted[i])
	}
	w.close()
	w.mu.Unlock()
	w.await()
	return w.end
}

// close has all processes stop; under the lock.
func (w *world) close() {
	for i, p := range w.running {
		if p != nil {
			w.running[i] = nil
			p.depart()
		}
	}
}

// await returns when all goroutines of the library have been told to end, and have said that they did.
func (w *world) await() {
	limit := time.NewTimer(maxEnding)
	defer limit.Stop()
	for _, p := range w.all {
		select {
		case <-p.stopped:
		case <-limit.C:
			if w.end.Err == nil {
				w.end.Reason, w.end.Err = harness.Broken, fmt.Errorf("process %d: Stop of %s does not return "+
					"within %v of virtual time", p.ID, w.setup.Alg.ID, maxEnding)
			}
			return
		}
	}
}

// push has f happen at an instant, under the lock.
func (w *world) push(at time.Duration, c harness.Class, p algo.ID, f func()) {
	sooner := w.queue.Len() == 0 || at < w.queue.Next()
	w.queue.Push(max(at, w.now()), c, p, f)
	if sooner {
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}
}

func (w *world) finish(why harness.Reason) {
	if w.over {
		return
	}
	w.over = true
	w.end.At, w.end.Reason = w.now(), why
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (w *world) fail(err error) {
	w.finish(harness.Broken)
	w.end.Err = errors.Join(w.end.Err, err)
}

// record notes what happens now, under the lock.
func (w *world) record(r trace.Record) {
	if w.over {
		return
	}
	w.beat.Add(1)
	r.At = w.now()
	w.sink.Record(&r)
	message := r.Type == trace.Send || r.Type == trace.Duplicate || r.Type == trace.Deliver ||
		r.Type == trace.Lose || r.Type == trace.Undelivered
	if w.coordinator.Watches(r.Type) && (!message || w.watched[r.Kind]) {
		w.instruct(slices.Clone(w.coordinator.Observe(&r)))
	}
}

// instruct has instructions carried out, under the lock.
func (w *world) instruct(list []harness.Instruction) {
	for i := range list {
		in := &list[i]
		w.push(max(in.At, w.now()), harness.ClassOf(in), in.Node, func() { w.obey(in) })
	}
}

func (w *world) obey(i *harness.Instruction) {
	var p *Process
	if i.Node != algo.None {
		p = w.running[i.Node-1]
	}
	switch {
	case i.Finish():
		w.finish(harness.Finished)
	case i.Alarm():
	case i.Strike():
		w.instruct(slices.Clone(w.coordinator.Strike(w.now(), *i)))
	case i.OfLinks():
		r, e := i.Network(w.now())
		e.Apply(&w.cuts, &w.overrides)
		w.record(r)
	case !i.Inside():
		i.Apply(w)
	case p != nil:
		w.within(p, i)
	}
}

// within has a process carry an instruction out itself.
func (w *world) within(p *Process, i *harness.Instruction) {
	if p.paused {
		p.waiting = append(p.waiting, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if p.alive() {
				w.within(p, i)
			}
		})
		return
	}
	if i.Recorded() {
		w.record(trace.Record{Type: trace.Fault, Process: uint32(p.ID), Incarnation: p.Incarnation,
			Text: i.Text()})
	}
	i.Obey(inside{p}, w.now())
}

// boot starts the next incarnation of p.
func (w *world) boot(id algo.ID, due time.Duration) {
	if w.disks[id-1] == nil {
		w.disks[id-1] = &Disk{}
	}
	p := &Process{ID: id, Peers: w.peers(), Params: w.setup.Params.Of(id), Incarnation: w.next[id-1],
		Disk: w.disks[id-1], world: w, gone: make(chan struct{}),
		started: make(chan struct{}), stopped: make(chan struct{}), upSince: w.now()}
	p.Disk.process = p
	p.resumed = sync.NewCond(&w.mu)
	p.subject = w.new(p)
	if err := w.writable(p.subject); err != nil {
		w.fail(err)
	}
	w.running[id-1] = p
	w.all = append(w.all, p)
	w.record(trace.Record{Type: trace.Up, Process: uint32(id), Incarnation: p.Incarnation, Arg: uint64(due)})
	if i := w.coordinator.Mounted(id, w.now()); i != nil && p.Incarnation > 0 {
		w.within(p, i)
	}
	go func() {
		defer close(p.started)
		if err := p.subject.Start(); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			if p.alive() {
				w.fail(fmt.Errorf("process %d: %s does not start: %w", id, w.setup.Alg.ID, err))
			}
		}
	}()
}

// depart ends what the process does, under the lock: it is not in running any more.
func (p *Process) depart() {
	p.paused, p.waiting = false, nil
	p.resumed.Broadcast()
	close(p.gone)
	go func() {
		defer close(p.stopped)
		<-p.started
		if p.world.setup.WritesEvery > 0 {
			time.Sleep(1) // what happens at this instant comes to rest: a library may forget whom to answer
		}
		p.subject.Stop()
	}()
}

// Faults act on the world.
var _ fault.Executor = (*world)(nil)

// Crash ends p at once: nothing that it does afterwards counts, or reaches anybody.
func (w *world) Crash(id algo.ID, due time.Duration) {
	p := w.running[id-1]
	if p == nil {
		return
	}
	w.running[id-1] = nil
	w.next[id-1]++
	w.disks[id-1] = p.Disk.fork()
	p.depart()
	w.record(trace.Record{Type: trace.Crash, Process: uint32(id), Incarnation: p.Incarnation, Arg: uint64(due)})
}

// Restart starts the next incarnation of p, with what is on its disk.
func (w *world) Restart(id algo.ID, due time.Duration) {
	if w.running[id-1] == nil {
		w.next[id-1] = max(w.next[id-1], 1)
		w.boot(id, due)
	}
}

// Pause stops p, as far as one clock for all allows: what it sends, receives and writes waits.
func (w *world) Pause(id algo.ID) {
	if p := w.running[id-1]; p != nil && !p.paused {
		p.paused = true
		w.record(trace.Record{Type: trace.Pause, Process: uint32(id), Incarnation: p.Incarnation})
	}
}

// Resume has p go on with what waited.
func (w *world) Resume(id algo.ID) {
	if p := w.running[id-1]; p != nil && p.paused {
		w.record(trace.Record{Type: trace.Resume, Process: uint32(id), Incarnation: p.Incarnation})
		p.wake()
	}
}

// Slow cannot be: handlers of a library are not ours to delay.
func (w *world) Slow(algo.ID, time.Duration) {
	w.fail(errors.New(w.setup.Alg.ID + " cannot be slowed: in a bubble computing takes no time"))
}

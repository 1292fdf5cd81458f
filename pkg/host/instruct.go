package host

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/host/control"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// instruct takes the coordinator's instructions: those of a later instant into
// the queue, the others at once. A trial that ends with them ends at the instant
// at, when what they answer happened, and not when the host has heard of it.
func (t *trial) instruct(list []harness.Instruction, at time.Duration) {
	for _, i := range list {
		switch {
		case i.At > t.now():
			t.push(i)
		case i.Finish():
			t.conclude(at)
		default:
			t.obey(i)
		}
	}
}

func (t *trial) push(i harness.Instruction) {
	if !i.Alarm() {
		t.planned++
	}
	t.queue.Push(i.At, i.Class(), i.Node, i)
}

func (t *trial) conclude(at time.Duration) {
	why := harness.Finished
	if t.coordinator.Stuck() {
		why = harness.Stuck
	}
	t.finish(at, why)
}

func (t *trial) obey(i harness.Instruction) {
	t.pace = 0
	var c *child
	if i.Node != algo.None {
		c = t.nodes[i.Node-1]
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
		t.instruct(t.coordinator.Strike(t.now(), i), t.now())
	case i.Do == harness.DoCrash:
		t.crash(c, i.At)
	case i.Do == harness.DoRestart:
		t.restart(c, i.At)
	case i.Do == harness.DoPause:
		t.suspend(c)
	case i.Do == harness.DoResume:
		t.resume(c)
	case i.Do == harness.DoSlow:
		t.slow(c, i.By)
	case i.Do == harness.DoCut || i.Do == harness.DoHeal || i.Do == harness.DoFlaky:
		t.change(i)
	case !c.dead:
		t.order(c, control.Order{Do: &i})
	}
}

// note keeps a record of what the host did, and tells the coordinator.
func (t *trial) note(r trace.Record) {
	t.records.Record(&r)
	if t.coordinator.Watches(r.Type) {
		t.instruct(t.coordinator.Observe(&r), max(r.At, t.heardAt))
	}
}

// crash kills the node's process. The instant is that at which the system took
// the signal; due is that at which it was to.
func (t *trial) crash(c *child, due time.Duration) {
	if c.dead {
		if c.joining() {
			c.abandoned = true
			c.Kill()
		}
		return
	}
	c.dead = true
	c.downAt = c.Kill() - t.start // also if it is paused
	for _, other := range t.nodes {
		if !other.dead {
			t.order(other, control.Order{Crashed: &control.News{Process: c.id, At: c.downAt}})
		}
	}
	t.note(trace.Record{
		At: c.downAt, Type: trace.Crash, Process: uint32(c.id), Incarnation: c.incarnation, Arg: uint64(due),
	})
}

// restart starts a fresh process with nothing but what the last one had saved. It is up
// once it has joined the bus: that takes a while, so it is later than due.
func (t *trial) restart(c *child, due time.Duration) {
	if !c.dead || c.joining() {
		return
	}
	fresh := &child{id: c.id, incarnation: c.incarnation + 1, dead: true, due: due,
		deadline: t.now() + t.machine.cfg.Ready}
	saved := c.saved // unless it has saved something itself
	if c.reader != nil {
		<-c.Done() // it was killed: a moment
		_ = c.reader.Each(func(r *trace.Record, text string) error {
			if r.Type == trace.Save {
				saved = []byte(text)
			}
			return nil
		})
	}
	t.former = append(t.former, c)
	t.nodes[c.id-1] = fresh
	if err := t.spawn(fresh, saved); err != nil {
		t.spoil("%v", err)
	}
}

// introduce tells the detectors that c is up again, and c who is not.
func (t *trial) introduce(c *child) {
	for _, other := range t.nodes {
		switch {
		case other == c:
		case other.dead:
			t.order(c, control.Order{Crashed: &control.News{Process: other.id, At: c.upAt}})
		default:
			t.order(other, control.Order{Restarted: &control.News{Process: c.id, At: c.upAt}})
		}
	}
}

// suspend stops the node's process. Nobody is told.
func (t *trial) suspend(c *child) {
	if c.dead || c.paused {
		return
	}
	at, err := c.Pause()
	if err != nil {
		t.spoil("node p%d: %v", c.id, err)
		return
	}
	c.paused, c.stalledAt = true, at-t.start
	t.note(trace.Record{
		At: c.stalledAt, Type: trace.Pause, Process: uint32(c.id), Incarnation: c.incarnation,
	})
}

func (t *trial) resume(c *child) {
	if c.dead || !c.paused {
		return
	}
	at := t.now() // before the node can do anything
	if _, err := c.Resume(); err != nil {
		t.spoil("node p%d: %v", c.id, err)
		return
	}
	c.paused, c.resumedAt = false, at
	t.note(trace.Record{
		At: c.resumedAt, Type: trace.Resume, Process: uint32(c.id), Incarnation: c.incarnation,
	})
}

// slow makes each event take the node so long.
func (t *trial) slow(c *child, by time.Duration) {
	if c.dead {
		return
	}
	c.slow, c.stalledAt = c.slow || by > 0, t.now()
	t.order(c, control.Order{Slow: &by})
	t.note(trace.Record{
		At: c.stalledAt, Type: trace.Slow, Process: uint32(c.id), Incarnation: c.incarnation,
		Arg: uint64(by),
	})
}

// change changes links. What is known before the start the nodes know; they act by
// their own clocks, and the host only notes it.
func (t *trial) change(i harness.Instruction) {
	at := i.At
	known := slices.ContainsFunc(t.links, func(planned harness.Instruction) bool {
		return planned.Do == i.Do && planned.At == i.At
	})
	if !known {
		at = t.now() + time.Millisecond // the same instant at every node
		t.changeAt = at
	}
	r := trace.Record{At: at}
	o := control.Order{}
	switch i.Do {
	case harness.DoFlaky:
		r.Type = trace.Flaky
		if i.Override != nil {
			override := *i.Override
			override.From, r.Text = at, override.String()
			o.Override = &override
		}
	default:
		ch := change(i, at)
		o.Cut = &ch
		r.Type, r.Text = trace.Cut, ch.String()
		if ch.Heal {
			r.Type = trace.Heal
		}
	}
	if !known && (o.Cut != nil || o.Override != nil) {
		t.tellAll(o)
	}
	t.note(r)
}

// tellAll tells the nodes of a change that they do not know yet.
func (t *trial) tellAll(o control.Order) {
	if o.Cut != nil {
		t.cuts.Add(*o.Cut)
	} else {
		t.overrides.Add(*o.Override)
	}
	t.sudden = append(t.sudden, o)
	for _, c := range t.nodes {
		if !c.dead {
			t.order(c, o)
		}
	}
}

// lookForQuiet tells the coordinator when the algorithm has fallen quiet. Two
// looks one after the other have to show the same: between them nothing can
// have happened that neither shows (F. Mattern, Distributed Computing 2, 1987).
func (t *trial) lookForQuiet() {
	now := t.now()
	if now < t.changeAt {
		return
	}
	first, ok := t.look(now)
	if !ok {
		return
	}
	idle := first.planned == 0 && t.planned == 0 && first.scheduled == 0 &&
		!t.setup.Detector.Restless()
	told := first.activity+1 == t.quietAt && (t.quietIdle || !idle)
	if told && (!idle || t.queue.Len() > 0) {
		return
	}
	second, ok := t.look(now)
	if !ok || first != second {
		return
	}
	now = t.now() // after the looks: what they have seen is part of the trial
	if told {     // what the coordinator answered has changed nothing, and nothing else will
		t.finish(now, harness.Stuck)
		return
	}
	t.quietAt, t.quietIdle = first.activity+1, idle
	t.instruct(t.coordinator.Quiet(now, first.activity, idle), now)
}

// A view is what one look at all nodes shows.
type view struct {
	activity  uint64
	planned   uint64
	scheduled int // instructions of the timeline still to come
}

func (t *trial) look(now time.Duration) (v view, quiet bool) {
	v.activity = t.obeyed
	for _, i := range t.timeline {
		switch {
		case i.Class() == harness.Control:
		case i.At <= now:
			v.activity++
		default:
			v.scheduled++
		}
	}
	for _, c := range slices.Concat(t.former, t.nodes) {
		switch {
		case c.joining():
			return v, false
		case c.reader != nil && now < time.Duration(c.reader.Word(control.WordLastDue)):
			return v, false // if only to find its receiver down
		case c.dead:
			v.activity++
			if c.reader != nil {
				v.activity += c.reader.Word(control.WordActivity)
			}
		}
	}
	for _, c := range t.nodes {
		if c.dead {
			continue
		}
		r := c.reader
		due := uint64(0)
		for _, i := range c.own {
			if i.At <= now {
				due++
			}
		}
		if r.Word(control.WordPending)+r.Word(control.WordTimers)+r.Word(control.WordInside) != 0 ||
			r.Word(control.WordExecuted) < due+c.orders || r.Word(control.WordReports) > c.heard {
			return v, false
		}
		v.activity += r.Word(control.WordActivity)
		v.planned += r.Word(control.WordPlanned)
	}
	return v, t.nothingInFlight()
}

// nothingInFlight says whether every copy that was sent to a live process has
// come to it: by the ordinal of the last one, since a link of the bus keeps
// order. What was sent before the receiver joined never comes.
func (t *trial) nothingInFlight() bool {
	for _, to := range t.nodes {
		if to.dead {
			continue
		}
		for i, from := range t.nodes {
			if from.reader == nil || from == to {
				continue
			}
			link := control.WordPeers + control.PeerWords*int(to.id-1)
			sent := from.reader.Word(link + control.PeerSent)
			if sent == 0 || to.reader.Word(control.WordPeers+control.PeerWords*i+control.PeerGot) == sent {
				continue
			}
			at := time.Duration(from.reader.Word(link + control.PeerSentAt))
			switch {
			case at < to.upAt: // never to come
			case from.dead && t.now() > from.downAt+50*time.Millisecond: // died with its sender
			default:
				return false
			}
		}
	}
	return true
}

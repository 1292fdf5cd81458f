package host

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/host/control"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// busGone is closed when the bus has died; nil if it is not ours.
func (m *Machine) busGone() <-chan struct{} {
	if m.bus == nil {
		return nil
	}
	return m.bus.Done()
}

// stop ends the nodes and takes their farewells.
func (t *trial) stop() {
	waiting := 0
	for _, c := range t.nodes {
		if !c.dead && c.failure == "" {
			if c.paused { // else it cannot answer
				_, _ = c.Resume()
			}
			t.order(c, control.Order{Stop: true})
			waiting++
		}
	}
	deadline := time.NewTimer(control.StopPatience)
	defer deadline.Stop()
	for waiting > 0 {
		select {
		case o := <-t.events:
			switch {
			case o.report.Bye != nil:
				o.from.bye = o.report.Bye
				waiting--
			case o.from.dead || o.from.bye != nil || o.from.failure != "":
			case o.report.Complains():
				t.broke(o.from, o.report)
				waiting--
			case o.ended:
				t.died(o.from)
				waiting--
			}
		case <-deadline.C:
			waiting = 0
		}
	}
	for _, c := range t.nodes {
		switch {
		case c.dead || c.failure != "" || len(t.invalid) > 0:
		case c.bye == nil:
			t.invalid = append(t.invalid, fmt.Sprintf("node p%d did not answer at the end: it hangs, "+
				"or the plugin's handler does not return", c.id))
		case missedStart(c.bye.Late):
			t.invalid = append(t.invalid, fmt.Sprintf("node p%d started %v late", c.id, c.bye.Late))
			t.machine.missed(c.bye.Late)
		}
		if c.bye != nil {
			for _, f := range c.bye.Faults {
				t.invalid = append(t.invalid, fmt.Sprintf("node p%d: %s", c.id, f))
			}
		}
		if c.Child != nil {
			c.Kill()
		}
	}
}

// compare looks for what went wrong on the bus during the trial. That it died
// comes first: what the nodes complain of follows from it.
func (t *trial) compare(before bus.ServerStats) {
	m := t.machine
	if m.bus == nil {
		return
	}
	after, err := m.bus.Stats()
	if err != nil {
		m.spent = true
		why := "the bus does not answer: " + err.Error()
		select {
		case <-m.bus.Done():
			why = busDied
		case <-time.After(100 * time.Millisecond):
		}
		t.invalid = slices.DeleteFunc(t.invalid, func(s string) bool { return s == why })
		t.invalid = slices.Insert(t.invalid, 0, why)
		return
	}
	t.invalid = append(t.invalid, unrest(before, after, t.spawned)...)
}

// unrest is what spoiled a trial of so many nodes on the bus meanwhile.
func unrest(before, after bus.ServerStats, nodes uint64) (why []string) {
	if n := after.SlowConsumers - before.SlowConsumers; n > 0 {
		why = append(why, fmt.Sprintf("slow consumers on the bus: %d", n))
	}
	if n := after.StaleClients - before.StaleClients; n > 0 {
		why = append(why, fmt.Sprintf("silent clients cut off by the bus: %d: the machine did not let them "+
			"answer, or they hung; use fewer nodes, or end what else it does", n))
	}
	if n := after.StalledClients - before.StalledClients; n > 0 {
		why = append(why, fmt.Sprintf("clients stalled by the bus: %d", n))
	}
	if n := after.TotalConnections - before.TotalConnections; n > nodes {
		why = append(why, fmt.Sprintf("strangers at the bus: %d connections, but only %d nodes", n, nodes))
	}
	return why
}

// skipped is how many faults did not happen.
func (t *trial) skipped(at time.Duration) int {
	count := t.coordinator.Skipped(at)
	for i, o := range t.omissions {
		count += o.Missed(t.tally.Number(i).Load())
	}
	return count
}

// A flight is the account of one directed link on one plane, for one
// incarnation of the sender: what became of each copy, by sequence number.
type flight struct {
	plane             uint8
	from, incarnation uint32
	to                uint32
}

// collect merges what the nodes wrote down with what the host did, finds out
// what became of every message, and hands all of it on in order.
func (t *trial) collect(sink trace.Sink) harness.End {
	end := t.end
	cut := end.At // what happened later is not part of the trial
	outcomes, err := t.outcomes(cut)
	if err != nil {
		t.invalid = append(t.invalid, err.Error())
	}
	end.Invalid, end.Skipped = t.invalid, t.skipped(end.At)
	if len(t.invalid) > 0 {
		return end
	}
	last, vanished := time.Duration(0), 0
	m := newMerge(t)
	for {
		r, err := m.next()
		if err != nil {
			end.Invalid = append(end.Invalid, err.Error())
			return end
		}
		if r == nil || r.At > cut {
			break
		}
		if r.Plane == trace.Data && r.Type != trace.Suspect && r.Type != trace.Restore {
			last = max(last, r.At)
		}
		sink.Record(r)
		if r.Type == trace.Send || r.Type == trace.Duplicate {
			err := t.unaccounted(r, outcomes, cut, &end, m)
			if err != nil && end.Reason != harness.Broken { // one that broke takes in no messages
				if vanished++; vanished <= mostVanished {
					end.Invalid = append(end.Invalid, err.Error())
				}
			}
		}
	}
	if more := vanished - mostVanished; more > 0 {
		end.Invalid = append(end.Invalid, fmt.Sprintf("and %d more messages vanished", more))
	}
	if err := forged(outcomes); err != nil {
		end.Invalid = append(end.Invalid, err.Error())
	}
	if end.Reason == harness.Finished && !t.inTime || end.Reason == harness.Stuck {
		end.At = last // quiet is found a moment after it has begun
	}
	return end
}

// mostVanished is how many messages that vanished are named.
const mostVanished = 5

// forged says if something came to a receiver that its sender did not send.
func forged(outcomes map[flight][]uint8) error {
	for k, list := range outcomes {
		for i, left := range list {
			if left != 0 {
				return fmt.Errorf("p%d got message %d of p%d, which that did not send", k.to, i+1, k.from)
			}
		}
	}
	return nil
}

// children are all incarnations of all nodes that left telemetry.
func (t *trial) children() []*child {
	return slices.DeleteFunc(slices.Concat(t.former, t.nodes),
		func(c *child) bool { return c == nil || c.reader == nil })
}

// outcomes notes for each link which copies met their end at the receiver.
func (t *trial) outcomes(cut time.Duration) (map[flight][]uint8, error) {
	out := map[flight][]uint8{}
	var errs []error
	most := uint64(0) // messages that can have been sent: each is a record
	for _, c := range t.children() {
		most += c.reader.Len()
	}
	for _, c := range t.children() {
		if c.reader.Full() {
			errs = append(errs, fmt.Errorf("telemetry of p%d is full: shorten the trial", c.id))
		}
		err := c.reader.Each(func(r *trace.Record, _ string) error {
			c.last = r.At
			if r.At > cut || r.Type != trace.Deliver && r.Type != trace.Lose && r.Type != trace.Undelivered {
				return nil
			}
			if r.Seq == 0 || r.Seq > most {
				return fmt.Errorf("p%d got message %d of p%d, of %d at most", r.Process, r.Seq, r.Peer, most)
			}
			k := flight{r.Plane, r.Peer, r.Incarnation, r.Process}
			list := out[k]
			if n := int(r.Seq); n > len(list) {
				list = append(list, make([]uint8, n-len(list))...)
				out[k] = list
			}
			if bit := uint8(1) << r.Copy; list[r.Seq-1]&bit == 0 {
				list[r.Seq-1] |= bit
				return nil
			}
			return fmt.Errorf("p%d got message %d of p%d twice", r.Process, r.Seq, r.Peer)
		})
		if err != nil {
			errs = append(errs, err)
		}
	}
	t.postponeCrashes()
	return out, errors.Join(errs...)
}

// postponeCrashes moves a crash behind the last record of the process: a
// process on another processor may go on for some microseconds after the
// system has taken the signal.
func (t *trial) postponeCrashes() {
	for _, c := range t.children() {
		for i := range t.records {
			r := &t.records[i]
			if r.Type == trace.Crash && r.Process == uint32(c.id) &&
				r.Incarnation == c.incarnation && r.At <= c.last {
				r.At = c.last + 1
				c.downAt = r.At
			}
		}
	}
	slices.SortStableFunc(t.records, func(a, b trace.Record) int { return cmp.Compare(a.At, b.At) })
}

// grace is how far the clocks' order of a death and of what surrounds it may
// differ from the order in which it was meant: on a busy machine a process may not
// yet have handled, or sent off, what it should have.
const grace = 50 * time.Millisecond

// unaccounted finds out what became of a copy that did not come to its
// receiver: it is still on its way, its receiver was down, or it died with its
// sender. Anything else means that the bus lost it, which must not happen.
func (t *trial) unaccounted(r *trace.Record, outcomes map[flight][]uint8, cut time.Duration,
	end *harness.End, m *merge) error {
	list := outcomes[flight{r.Plane, r.Process, r.Incarnation, r.Peer}]
	if bit := uint8(1) << r.Copy; int(r.Seq) <= len(list) && list[r.Seq-1]&bit != 0 {
		list[r.Seq-1] &^= bit
		return nil
	}
	fate := *r
	fate.At, fate.Process, fate.Peer, fate.Arg, fate.Omitted = r.Due, r.Peer, r.Process, 0, false
	down, wasDown := t.downDuring(r.Peer, r.Sent, r.Due)
	died := t.diedAfter(r.Process, r.Incarnation, r.Sent)
	fate.At = max(fate.At, down)
	lost, why := t.loss(r)
	switch {
	case fate.At > cut:
	case (wasDown || died) && lost:
		fate.Type, fate.Arg = trace.Lose, why
		m.insert(fate)
		return nil
	case wasDown:
		fate.Type = trace.Undelivered
		m.insert(fate)
		return nil
	case died:
		fate.Type, fate.Arg = trace.Lose, trace.WithSender
		m.insert(fate)
		return nil
	}
	if fate.At > cut-grace || t.stalled(r.Peer, cut) {
		if r.Plane == trace.Data {
			end.Pending++
		}
		return nil
	}
	return fmt.Errorf("message %d from p%d to p%d, sent at %v, vanished on the bus",
		r.Seq, r.Process, r.Peer, r.Sent)
}

// loss says whether the copy was lost, and why, as its receiver would have noticed.
func (t *trial) loss(r *trace.Record) (lost bool, why uint64) {
	n := &t.setup.Network
	flow := n.Flow(r.Plane, r.Process, r.Incarnation, r.Peer)
	for n.Burst != nil && flow.Sent < r.Seq-1 { // what a link loses depends on what went before
		n.Send(&flow, 0, nil)
	}
	n.Skip(&flow, r.Seq-1)
	fate := n.Send(&flow, r.Sent, t.overrides.On(r.Process, r.Peer, r.Sent))
	switch {
	case r.Omitted:
		return true, trace.Omitted
	case r.Copy == 0 && fate.Lost || r.Copy == 1 && fate.CopyLost:
		return true, 0
	}
	return t.cuts.Severed(r.Process, r.Peer, r.Sent, r.Due), trace.Severed
}

// downDuring says whether p was down at an instant of [from, to], and if it went
// down then, when. It counts as down from the start of what it may have left
// undone.
func (t *trial) downDuring(p uint32, from, to time.Duration) (since time.Duration, was bool) {
	up := time.Duration(math.MaxInt64)
	for _, c := range slices.Backward(slices.Concat(t.former, t.nodes)) {
		if uint32(c.id) != p || c.incarnation > 0 && !c.ready { // never came up
			continue
		}
		if c.dead && min(c.downAt, c.stallsSince())-grace <= to && up > from {
			return max(c.downAt, 0), true
		}
		up = c.upAt
	}
	return 0, false
}

// stalled says whether p may not have come to what was due at the end of the trial:
// it was paused or slow.
func (t *trial) stalled(p uint32, cut time.Duration) bool {
	c := t.nodes[p-1]
	return c.paused || c.slow || c.resumedAt > 0 && cut-c.resumedAt < 2*grace
}

// stallsSince is from when on c may not have come to what was due before it crashed.
func (c *child) stallsSince() time.Duration {
	if c.paused || c.slow {
		return c.stalledAt
	}
	return math.MaxInt64
}

// diedAfter says whether the sender crashed so soon after sending that the
// message may never have left it.
func (t *trial) diedAfter(p, incarnation uint32, sent time.Duration) bool {
	for _, c := range slices.Concat(t.former, t.nodes) {
		if uint32(c.id) == p && c.incarnation == incarnation && c.dead {
			return c.downAt-sent < grace
		}
	}
	return false
}

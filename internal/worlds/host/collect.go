package host

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// skipped is how many faults did not happen.
func (t *trial) skipped(at time.Duration) int {
	count := t.coordinator.Skipped(at)
	for i, o := range t.omissions {
		for _, s := range t.sites {
			if i < len(s.left.Tallies) {
				count += o.Missed(s.left.Tallies[i])
			}
		}
	}
	return count
}

// eachOnce drops the reasons that say no more than another one, which they contain: what is
// gone was asked for this and that.
func eachOnce(reasons []string) (kept []string) {
	for i, why := range reasons {
		told := false
		for j, other := range reasons {
			told = told || strings.Contains(why, other) && (len(other) < len(why) || j < i)
		}
		if !told {
			kept = append(kept, why)
		}
	}
	return kept
}

// A flight is the account of one directed link on one plane, for one
// incarnation of the sender: what became of each copy, by sequence number.
type flight struct {
	plane             uint8
	from, incarnation uint32
	to                uint32
}

// mergeRecords merges what the nodes wrote down with what the host did, finds out
// what became of every message, and hands all of it on in order.
func (t *trial) mergeRecords(sink trace.Sink) harness.End {
	end := t.end
	t.compareClocks(end.At)
	if !t.inTime && end.Reason != harness.TimeLimit { // with a record, by another clock
		for _, s := range t.sites {
			end.At = max(end.At, s.mapped(t.end.At))
		}
	}
	cut := end.At // what happened later is not part of the trial
	if err := t.collectJournals(); err != nil {
		t.invalid = append(t.invalid, err.Error())
	}
	outcomes, err := t.readOutcomes(cut)
	if err != nil {
		t.invalid = append(t.invalid, err.Error())
	}
	t.invalid = eachOnce(t.invalid)
	end.Invalid, end.Skipped, end.Toll = t.invalid, t.skipped(end.At), t.coordinator.Toll()
	if len(t.invalid) > 0 {
		return end
	}
	last, vanished := time.Duration(0), 0
	quiet := end.Reason == harness.Finished && !t.inTime || end.Reason == harness.Stuck
	var held []trace.Record // of failure detectors, which go on when the trial has become quiet
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
		switch moves := r.Plane == trace.Data && r.Type != trace.Suspect && r.Type != trace.Restore; {
		case moves:
			last = max(last, r.At)
			for i := range held {
				sink.Record(&held[i])
			}
			held = held[:0]
			sink.Record(r)
		case quiet && r.At > last:
			held = append(held, *r)
		default:
			sink.Record(r)
		}
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
	if err := checkForged(outcomes); err != nil {
		end.Invalid = append(end.Invalid, err.Error())
	}
	if quiet { // which is found a moment after it has begun
		end.At = last
	}
	return end
}

// mostVanished is how many messages that vanished are named.
const mostVanished = 5

// checkForged says if something came to a receiver that its sender did not send.
func checkForged(outcomes map[flight][]uint8) error {
	for k, list := range outcomes {
		for i, left := range list {
			if left != 0 {
				return fmt.Errorf("p%d got message %d of p%d, which p%[3]d did not send", k.to, i+1, k.from)
			}
		}
	}
	return nil
}

// collectJournals ends the nodes, and asks what they left.
func (t *trial) collectJournals() (err error) {
	for _, s := range t.sites {
		if s.left, err = s.agent.Collect(); err != nil {
			return err
		}
	}
	return nil
}

// eachJournal calls f with each incarnation that wrote something down that counts: it was
// ready, as far as the host knows.
func (t *trial) eachJournal(f func(n *node, j *agent.Journal)) {
	for _, s := range t.sites {
		for i := range s.left.Journals {
			j := &s.left.Journals[i]
			if n := t.incarnation(j.Node); n != nil && n.ready {
				f(n, j)
			}
		}
	}
}

// readOutcomes notes for each link which copies met their end at the receiver.
func (t *trial) readOutcomes(cut time.Duration) (map[flight][]uint8, error) {
	out := map[flight][]uint8{}
	var errs []error
	most := uint64(0) // messages that can have been sent: each is a record
	t.eachJournal(func(_ *node, j *agent.Journal) { most += j.Slots })
	var page []trace.Record
	t.eachJournal(func(n *node, j *agent.Journal) {
		if j.Full {
			errs = append(errs, fmt.Errorf("telemetry of p%d is full: shorten the trial", n.ID))
		}
		for from, done := uint64(0), false; !done; {
			list, next, err := t.recordsOf(n, from, page[:0])
			for i := range list {
				r := &list[i]
				n.last = r.At
				t.noteFlight(n, r, cut)
				if r.Type == trace.Handled {
					n.noteBusy(r.At-time.Duration(r.Arg), r.At)
				}
				if err2 := noteOutcome(out, r, cut, most); err2 != nil {
					err = err2
					break
				}
			}
			if err != nil {
				errs = append(errs, err)
			}
			page, from, done = list, next, err != nil || next == from
		}
		if j.InHandler {
			n.noteBusy(n.last, math.MaxInt64)
		}
	})
	t.postponeCrashes()
	return out, errors.Join(errs...)
}

// noteOutcome notes the record of a copy's end, if r is one that counts.
func noteOutcome(out map[flight][]uint8, r *trace.Record, cut time.Duration, most uint64) error {
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
}

// postponeCrashes moves a crash behind the last record of the process: a
// process on another processor may go on for some microseconds after the
// system has taken the signal.
func (t *trial) postponeCrashes() {
	for _, n := range t.all {
		if !n.ready {
			continue
		}
		for i := range t.records {
			r := &t.records[i]
			if r.Type == trace.Crash && r.Process == uint32(n.ID) &&
				r.Incarnation == n.Incarnation && r.At <= n.last {
				r.At = n.last + 1
				n.downAt = r.At
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
	if t.setup.Network.Bare() {
		fate.At = r.Sent + t.slowest()
	}
	down, wasDown := t.downDuring(r.Peer, r.Sent, fate.At)
	died := t.diedAfter(r.Process, r.Incarnation, r.Sent)
	fate.At = max(fate.At, down)
	lost, why := t.lossOf(r)
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
	if fate.At > cut-grace || t.wasStalled(r.Peer, cut) || t.setup.Network.Wire { // TCP tries on
		if r.Plane == trace.Data {
			end.Pending++
		}
		return nil
	}
	return fmt.Errorf("message %d from p%d to p%d, sent at %v, vanished on the bus",
		r.Seq, r.Process, r.Peer, r.Sent)
}

// lossOf says whether the copy was lost, and why, as its receiver would have noticed.
func (t *trial) lossOf(r *trace.Record) (lost bool, why uint64) {
	n := &t.setup.Network
	flow := n.Flow(r.Plane, r.Process, r.Incarnation, r.Peer)
	for n.Burst != nil && flow.Sent < r.Seq-1 { // what a link loses depends on what went before
		n.Send(&flow, 0, 0, nil)
	}
	n.Skip(&flow, r.Seq-1)
	fate := n.Send(&flow, r.Sent, int(r.Bytes), t.overrides.On(r.Process, r.Peer, r.Sent))
	switch {
	case r.Omitted:
		return true, trace.Omitted
	case r.Copy == 0 && fate.Lost || r.Copy == 1 && fate.CopyLost:
		return true, 0
	}
	return !n.Wire && t.cuts.Severed(r.Process, r.Peer, r.Sent, max(r.Due, r.Sent+t.slowest())), trace.Severed
}

// downDuring says whether p was down at an instant of [from, to], and if it went
// down then, when. It counts as down from the start of what it may have left
// undone.
func (t *trial) downDuring(p uint32, from, to time.Duration) (since time.Duration, was bool) {
	up := time.Duration(math.MaxInt64)
	for _, n := range slices.Backward(t.all) {
		if uint32(n.ID) != p || n.Incarnation > 0 && !n.ready { // never came up
			continue
		}
		if n.dead && min(n.downAt, n.stallsSince())-grace <= to && up > from {
			return max(n.downAt, 0), true
		}
		up = n.upAt
	}
	return 0, false
}

// wasStalled says whether p may not have come to what was due at the end of the trial:
// it was paused or slow, or its algorithm was busy.
func (t *trial) wasStalled(p uint32, cut time.Duration) bool {
	n := t.nodes[p-1]
	return n.paused || n.slow || n.resumedAt > 0 && cut-n.resumedAt < 2*grace || n.wasBusy(cut)
}

// stallsSince is from when on n may not have come to what was due before it crashed.
func (n *node) stallsSince() time.Duration {
	switch {
	case n.paused || n.slow:
		return n.stalledAt
	case n.wasBusy(n.downAt):
		return n.busyFrom
	}
	return math.MaxInt64
}

// noteBusy follows when the algorithm of n was busy. What it does after gaps of less than grace
// is as one.
func (n *node) noteBusy(from, to time.Duration) {
	if n.busyTo == 0 || from-n.busyTo > grace {
		n.busyFrom = from
	}
	n.busyTo = to
}

// wasBusy says whether the algorithm of n was, not long before an instant.
func (n *node) wasBusy(at time.Duration) bool { return n.busyTo > 0 && n.busyTo > at-grace }

// diedAfter says whether the sender crashed so soon after sending that the
// message may never have left it.
func (t *trial) diedAfter(p, incarnation uint32, sent time.Duration) bool {
	for _, n := range t.all {
		if uint32(n.ID) == p && n.Incarnation == incarnation && n.dead {
			return n.downAt-sent < grace
		}
	}
	return false
}

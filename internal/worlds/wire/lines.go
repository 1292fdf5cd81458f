package wire

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A model is what becomes of packets: their fates, where they wait, and what is counted. It does no
// input or output, and reads no clock: instants of Monotonic are handed to it.
type model struct {
	ends      uint32
	start     time.Duration // of the trial; never: not known yet
	network   link.Network
	cuts      link.Cuts
	overrides link.Overrides
	lines     []line // by sender and receiver
	strays    []uint64
	queue     queue
}

// A line is one link, in one direction.
type line struct {
	Link
	flow  link.Flow
	early time.Duration   // when the last packet before the start came; 0: none did, or the start is over
	late  *clock.Lateness // nil: nothing was delivered
}

func newModel(ends uint32) *model {
	m := &model{ends: ends}
	m.begin(&link.Network{Latency: link.Constant(0)}, never)
	return m
}

// never is a start that is not known yet.
const never = time.Duration(math.MaxInt64)

// begin forgets all that was, and has the network n from now on, for a trial with such a start.
func (m *model) begin(n *link.Network, start time.Duration) {
	m.start = start
	m.network, m.cuts, m.overrides = *n, link.Cuts{}, link.Overrides{}
	m.queue.clear()
	m.strays = make([]uint64, m.ends)
	m.lines = make([]line, m.ends*m.ends)
	for i := range m.lines {
		from, to := uint32(i)/m.ends+1, uint32(i)%m.ends+1
		m.lines[i].From, m.lines[i].To = from, to
		if from != to {
			m.lines[i].flow = m.network.Flow(Plane, from, 0, to)
		}
	}
}

func (m *model) apply(e *fault.Effect) { e.Apply(&m.cuts, &m.overrides) }

// receiver is the end that an IPv4 packet is for; 0: none.
func (m *model) receiver(packet []byte) uint32 {
	const least = 20 // bytes of a header
	if len(packet) < least || packet[0]>>4 != 4 || packet[16] != network[0] || packet[17] != network[1] {
		return 0
	}
	end := uint32(packet[18])<<8 | uint32(packet[19])
	if end > m.ends {
		return 0
	}
	return end
}

// take draws the fate of the packet of so many bytes in a slot, which came from an end at sent and had
// been unread for a while. The slot is the model's from now on, unless there was no room: then packet
// is where it lies, and it is counted and thrown away.
func (m *model) take(from uint32, slot int32, packet []byte, sent, unread time.Duration, room bool) {
	to := m.receiver(packet)
	if to == 0 || to == from {
		m.strays[from-1]++
		if room {
			m.queue.release(slot)
		}
		return
	}
	i := int32((from-1)*m.ends + to - 1)
	l := &m.lines[i]
	l.Packets++
	l.Bytes += uint64(len(packet))
	at := m.at(l, sent)
	fate := m.network.Send(&l.flow, at, len(packet), m.overrides.On(from, to, at))
	w := waiting{due: sent + fate.Due - at, sent: sent, unread: unread,
		line: i, slot: slot, size: int32(len(packet))}
	if fate.Duplicated {
		l.Duplicated++
	}
	lostCopy := !fate.Duplicated || m.loses(l, fate.CopyLost)
	if m.loses(l, fate.Lost) {
		if lostCopy {
			m.spare(slot, room)
			return
		}
		w.due = sent + fate.CopyDue - at
		m.hold(l, w, room)
		return
	}
	m.hold(l, w, room)
	if lostCopy {
		return
	}
	w.due = sent + fate.CopyDue - at
	if w.slot, room = m.queue.room(); room {
		copy(m.queue.bytes(w.slot), packet)
	}
	m.hold(l, w, room)
}

// since is an instant as an offset from the start, no less than 0.
func (m *model) since(instant time.Duration) time.Duration {
	if instant < m.start {
		return 0
	}
	return instant - m.start
}

// at is when a packet is sent on a link, as an offset from the start. What is sent before is sent at 0,
// and time passes for the link nevertheless.
func (m *model) at(l *line, sent time.Duration) time.Duration {
	until := min(sent, m.start)
	if l.early > 0 {
		l.flow.Pass(max(until-l.early, 0))
		l.early = 0
	}
	if sent < m.start {
		l.early = sent
	}
	return m.since(sent)
}

// severed says whether a packet was cut on its way.
func (m *model) severed(w *waiting, l *line) bool {
	return !m.cuts.Whole() && w.due >= m.start &&
		m.cuts.Severed(l.From, l.To, m.since(w.sent), m.since(w.due))
}

// loses counts a copy if it is lost.
func (m *model) loses(l *line, lost bool) bool {
	if lost {
		l.Lost++
	}
	return lost
}

// hold has a copy wait, if it has a slot.
func (m *model) hold(l *line, w waiting, room bool) {
	if room {
		m.queue.push(w)
	} else {
		l.Overflowed++
	}
}

func (m *model) spare(slot int32, room bool) {
	if room {
		m.queue.release(slot)
	}
}

// due takes out the first packet that is due by now and was not cut on its way; false: there is none.
func (m *model) due(now time.Duration) (w waiting, l *line, ok bool) {
	for {
		at, any := m.queue.next()
		if !any || at > now {
			return w, nil, false
		}
		w = m.queue.pop()
		l = &m.lines[w.line]
		if !m.severed(&w, l) {
			return w, l, true
		}
		l.Cut++
		m.queue.release(w.slot)
	}
}

// delivered says what became of a packet that was due, which was handed over at now.
func (m *model) delivered(w *waiting, l *line, now time.Duration, taken bool) {
	m.queue.release(w.slot)
	if !taken {
		l.Refused++
		return
	}
	l.Delivered++
	if l.late == nil {
		l.late = &clock.Lateness{}
	}
	l.late.Add(max(now-w.due, 0) + w.unread)
}

// stats is what was counted.
func (m *model) stats() *Stats {
	s := &Stats{Waiting: len(m.queue.heap)}
	var all clock.Lateness
	for i := range m.lines {
		l := &m.lines[i]
		if l.Packets == 0 {
			continue
		}
		out := l.Link
		if l.late != nil {
			out.Late = late(l.late)
			all.Merge(l.late)
		}
		s.Links = append(s.Links, out)
	}
	s.Late = late(&all)
	for i, n := range m.strays {
		s.Devices = append(s.Devices, Device{End: uint32(i) + 1, Strays: n})
	}
	return s
}

func late(l *clock.Lateness) Late {
	return Late{P50: l.Quantile(0.50), P99: l.Quantile(0.99), Max: l.Max()}
}

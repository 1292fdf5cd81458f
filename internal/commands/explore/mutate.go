package explore

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A moment is an instant of a trial at which something depends on what comes first:
// a message goes or comes, a timer expires, somebody enters or is elected.
type moment struct {
	at      time.Duration
	what    trace.Type
	kind    uint8  // of a message
	process uint32 // to whom it happens
	peer    uint32 // of a message: the other end
}

// moments gathers those of a trial.
type moments []moment

// enough of them: a trial that goes on and on has shown all that it does.
const enough = 1000

// Record keeps r if it is one.
func (list *moments) Record(r *trace.Record) {
	switch r.Type {
	case trace.Send, trace.Deliver:
		if r.Plane != trace.Data {
			return
		}
	case trace.Timeout, trace.Granted, trace.Released, trace.Elected, trace.Suspect, trace.Up:
	default:
		return
	}
	if len(*list) < enough {
		*list = append(*list, moment{r.At, r.Type, r.Kind, r.Process, r.Peer})
	}
}

// class is what moments have in common: what happens, and to a message of which kind.
func (x *moment) class() uint16 { return uint16(x.what)<<8 | uint16(x.kind) }

// classes is a set of them, and their order.
type classes struct {
	list []uint16
	in   [1 << 16 / 64]uint64 // a bit each
}

func (c *classes) clear() {
	for _, k := range c.list {
		c.in[k/64] = 0
	}
	c.list = c.list[:0]
}

func (c *classes) add(k uint16) {
	if word, bit := &c.in[k/64], uint64(1)<<(k%64); *word&bit == 0 {
		*word |= bit
		c.list = append(c.list, k)
	}
}

// pick is one of the moments. Each class is as likely as each other: what happens
// seldom is where algorithms are wrong.
func (m *maker) pick(list moments, fits func(*moment) bool) *moment {
	m.classes.clear()
	for i := range list {
		if x := &list[i]; fits == nil || fits(x) {
			m.classes.add(x.class())
		}
	}
	if len(m.classes.list) == 0 {
		return nil
	}
	k := m.classes.list[m.rng.IntN(len(m.classes.list))]
	var chosen *moment
	seen := 0
	for i := range list {
		x := &list[i]
		if x.class() == k && (fits == nil || fits(x)) {
			if seen++; m.rng.IntN(seen) == 0 {
				chosen = x
			}
		}
	}
	return chosen
}

// tick is the least time that makes a difference in a script.
const tick = time.Microsecond

// beside is an instant right at, before or after another, in whole ticks.
func (m *maker) beside(at time.Duration) time.Duration {
	at = at.Truncate(tick) + time.Duration(m.rng.IntN(4)-1)*tick
	return max(at, 0)
}

// vary changes a schedule where the trial that it led to was delicate.
func (m *maker) vary(s *Schedule, list moments) *Schedule {
	for range 8 {
		out := s.clone()
		for range 1 + m.rng.IntN(3) {
			m.change(out, list)
		}
		out.tidy()
		if out.asks() && (m.options.Faults == All || out.within()) {
			return out
		}
	}
	return m.draw()
}

func (m *maker) change(s *Schedule, list moments) {
	x := m.pick(list, nil)
	if x == nil {
		s.Seed++
		return
	}
	if order := slices.Clone(s.Shape.Order); len(order) > 1 && m.chance(4) {
		i, j := m.rng.IntN(len(order)), m.rng.IntN(len(order))
		order[i], order[j] = order[j], order[i]
		s.Shape.Order = order
		return
	}
	survives := &m.alg.Spec.Survives
	p, at := algo.ID(x.process), m.beside(x.at)
	if x.peer > 0 && int(x.peer) <= s.Nodes && m.chance(2) {
		p = algo.ID(x.peer)
	}
	until := s.unit()
	if y := m.pick(list, func(y *moment) bool { return y.at > x.at }); y != nil && !m.chance(3) {
		until = max(m.beside(y.at)-at, tick)
	}
	add := func(e harness.Event) { s.Events = append(s.Events, e) }
	switch m.rng.IntN(8) {
	case 0, 1, 2:
		d := m.dice(s, func() time.Duration { return at }, func() time.Duration { return until })
		d.Process = func() algo.ID { return p }
		crashes := m.may(survives.Crashes != nil) || m.options.Faults == Crashes && survives.Crashes != nil
		if crashes && m.chance(3) {
			add(d.Of(fault.Named(fault.Crash)))
		} else if e, ok := d.Any(); ok {
			add(e)
		} else {
			s.Seed = m.rng.Uint64N(1 << 32)
		}
	case 3, 4:
		m.delay(s, list)
	case 5:
		do := harness.DoRequest // what an application asks for
		if m.alg.Problem == algo.Election {
			do = harness.DoElect
		}
		add(harness.Event{At: at, Do: do, Node: p})
	case 6:
		if i := m.rng.IntN(len(s.Events) + 1); i < len(s.Events) {
			s.Events[i].At = at
		}
	default:
		if i := m.rng.IntN(len(s.Events) + 1); i < len(s.Events) && len(s.Events) > 1 {
			s.Events = slices.Delete(s.Events, i, i+1)
		}
	}
}

// delay has one message come right before, with or after something else that
// happens to its receiver.
func (m *maker) delay(s *Schedule, list moments) {
	x := m.pick(list, func(x *moment) bool { return x.what == trace.Send && x.process != x.peer })
	if x == nil {
		return
	}
	y := m.pick(list, func(y *moment) bool { return y.process == x.peer && y.at > x.at })
	if y == nil {
		return
	}
	d := s.network().Latency
	takes := max(m.beside(y.at)-x.at.Truncate(tick), tick)
	if takes > d && !m.asynchronous() {
		takes = pick(m, d, d/100)
	}
	latency := link.Constant(takes)
	s.Events = append(s.Events, harness.Event{
		At: x.at.Truncate(tick), Do: harness.DoFlaky, For: tick, Latency: &latency,
		Links: [][2]uint32{{x.process, x.peer}},
	})
}

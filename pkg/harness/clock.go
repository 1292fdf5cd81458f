package harness

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A clock is that of one process: piecewise linear in the time of the trial. It advances at
// its rate, and what it shows is ahead of that by offset. Timers run with its advance, so
// that it makes no difference to them that it is set. The zero value shows the time.
type clock struct {
	rate   float64 // 0: 1, from the start on
	from   time.Duration
	since  time.Duration // what it had advanced by then
	offset time.Duration
}

// advance is how much the clock has advanced by the instant now.
func (c *clock) advance(now time.Duration) time.Duration {
	if c.rate == 0 {
		return now
	}
	return c.since + time.Duration(math.Floor(float64(now-c.from)*c.rate))
}

// when is the first instant at which it has advanced so much.
func (c *clock) when(advance time.Duration) time.Duration {
	if c.rate == 0 {
		return advance
	}
	left := float64(advance-c.since) / c.rate
	if left > 1<<62 {
		return math.MaxInt64
	}
	at := c.from + time.Duration(math.Ceil(left))
	for c.advance(at) < advance {
		at++
	}
	return at
}

// shows is what a process reads off it.
func (c *clock) shows(now time.Duration) time.Duration { return c.advance(now) + c.offset }

// run sets its rate from now on.
func (c *clock) run(now time.Duration, rate float64) {
	c.since, c.from, c.rate = c.advance(now), now, rate
}

// ClockRate is how fast the clock of the process runs from now on. What remains of the
// algorithm's timers, and of the failure detector's, runs at that rate as well. The
// application and the notices of the perfect detector are not the process's own and keep
// the time of the trial.
func (m *Process) ClockRate(now time.Duration, rate float64) {
	if a := m.ailing(); a != nil {
		m.ail(a, func(x *algo.Ailment) { x.Speed = rate })
		return
	}
	m.clock.run(now, rate)
	for i := range m.timers {
		if t := &m.timers[i]; t.armed {
			t.gen++
			m.alarm(m.clock.when(t.due), Alarm{Slot: uint16(slotTimers + i), Gen: t.gen})
		}
	}
	m.det.rewind(m, now)
}

// ClockOffset is by how much the clock of the process is ahead from now on, in place of what
// it was ahead before. Timers, which are spans, do not notice.
func (m *Process) ClockOffset(_, by time.Duration) {
	if a := m.ailing(); a != nil {
		m.ail(a, func(x *algo.Ailment) { x.Ahead = by })
		return
	}
	m.clock.offset = by
}

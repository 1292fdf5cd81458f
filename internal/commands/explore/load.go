package explore

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// lulls is how many random schedules of a mutual exclusion there are for each that is
// under load: one of those takes as long as several of the others.
const lulls = 12

// slow is the latency of schedules under load, if it may be any: the longer messages
// take, the fewer entries there are in a time-out.
const slow = 50 * time.Millisecond

// load draws some applications that ask again and again, all at once or one after the
// other, while the others ask now and then: so that somebody may starve, and clocks
// part. It goes on until a judge would object, if nothing goes wrong behind t's end.
func (m *maker) load(s *Schedule, t *timing) {
	d := s.network().Latency
	if m.chance(2) { // in step: who misses its turn once misses it every time
		s.Latency = link.Constant(d)
	}
	s.Holder = pick(m, algo.None, m.process(s))
	s.Hold = link.Constant(pick(m, d/10, d/2, d))
	p, err := s.Plan()
	if err != nil {
		return // whoever runs it is told
	}
	setup, err := p.Setup()
	if err != nil {
		return
	}
	t.end = d*time.Duration(s.Nodes) + s.unit()*time.Duration(m.rng.IntN(2))
	entry := max((s.Hold.Average() + s.Latency.Average()).Truncate(tick), 100*tick) // as a file may say
	patience, others := check.Patience(setup)
	busy := m.rng.Perm(s.Nodes)[:min(2+m.rng.IntN(2), s.Nodes)]
	starving, starts, lasts := 2*time.Duration(others)*entry, t.grid, 2*t.end+patience
	together := m.chance(2)
	for _, p := range busy {
		e := harness.Event{At: starts, Every: entry, Do: harness.DoRequest, Node: algo.ID(p + 1),
			Args: m.session()}
		if together {
			e.Every *= time.Duration(len(busy))
			e.Times = int((lasts + starving) / e.Every)
		} else {
			e.Times = int(starving / e.Every)
			starts += starving
		}
		e.Times = min(e.Times, enough)
		s.Events = append(s.Events, e)
	}
	end := s.last()
	for range m.rng.IntN(2 * s.Nodes) {
		at := t.at()
		if m.chance(2) {
			at = t.grid * time.Duration(m.rng.Int64N(int64(end/t.grid)))
		}
		s.Events = append(s.Events, harness.Event{At: at, Do: harness.DoRequest, Node: m.process(s),
			Args: m.session()})
	}
}

// times is how often an event of a schedule happens.
func times(e *harness.Event) int { return max(e.Times, 1) }

// over is when an event of a schedule is over, the last time that it happens.
func over(e *harness.Event) time.Duration {
	return e.At + e.For + time.Duration(times(e))*e.Every // the first is so long after 0s
}

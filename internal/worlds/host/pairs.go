package host

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Clocks are numbered: the lead's is 0, and that of host i is i+1. Where the network to the lead is slow,
// the hosts compare theirs with each other too, because two that are close to each other know more of one
// another than the lead knows of either.

// A comparison is what clock by knows of another one.
type comparison struct {
	of, by int
	course clock.Course
}

// detour is how many times as well as the lead another clock must know a third one for the path from the
// lead to that one to go by it: on the way, errors add up.
const detour = 2

// relate finds a path from the lead's clock to each of n others: straight, or by way of a clock that is
// close to it. Those that no comparison leads to are not reached.
func relate(n int, list []comparison) (paths []clock.Path, reached []bool) {
	paths, reached = make([]clock.Path, n+1), make([]bool, n+1)
	direct := slices.Repeat([]time.Duration{math.MaxInt64}, n+1)
	best := make([]time.Duration, len(list))
	for i := range list {
		if best[i] = list[i].course.Best(); list[i].by == 0 {
			direct[list[i].of] = best[i]
		}
	}
	for reached[0] = true; ; {
		next, from, to := -1, 0, 0
		for i, c := range list {
			a, b := c.by, c.of
			if !reached[a] {
				a, b = b, a
			}
			near := a == 0 || best[i] <= direct[b]/detour
			if reached[a] && !reached[b] && near && (next < 0 || best[i] < best[next]) {
				next, from, to = i, a, b
			}
		}
		if next < 0 {
			return paths, reached
		}
		paths[to], reached[to] = paths[from], true
		if c := &list[next].course; !c.Own() {
			paths[to] = paths[from].Then(clock.Step{Course: c, Back: from != list[next].by})
		}
	}
}

// errorsOf is by how much a time can be wrong that begins on one clock and ends on another one, between
// two instants of the lead's clock, where such paths lead to both: what the comparison of the two says, or
// those with others on the way from one to the other, whichever is the least.
func errorsOf(paths []clock.Path, reached []bool, list []comparison, from, to time.Duration) (
	all [][]time.Duration) {
	const unknown = math.MaxInt64 / 4
	all = make([][]time.Duration, len(paths))
	for i := range all {
		all[i] = slices.Repeat([]time.Duration{unknown}, len(paths))
		all[i][i] = 0
	}
	for i := range list {
		c := &list[i]
		if reached[c.by] && reached[c.of] {
			worst := clock.Apart(paths[c.by], paths[c.of], &c.course, from, to)
			all[c.by][c.of] = min(all[c.by][c.of], worst)
			all[c.of][c.by] = all[c.by][c.of]
		}
	}
	for k := range all {
		for i := range all {
			for j := range all {
				all[i][j] = min(all[i][j], all[i][k]+all[k][j])
			}
		}
	}
	return all
}

// freeClockError is by how much an instant of a host may be wrong in any trial, and with how much the
// hosts need not compare their clocks with each other.
const freeClockError = 100 * time.Microsecond

// leadCourses are how the clocks of the hosts run by that of the lead, and why that is not known.
func (m *Machine) leadCourses(from, to time.Duration) (list []clock.Course, errs []error) {
	list, errs = make([]clock.Course, len(m.hosts)), make([]error, len(m.hosts))
	for i, h := range m.hosts {
		course, err := h.Agent.Course(from, to)
		if list[i] = course; err != nil {
			errs[i] = fmt.Errorf("the clock of %s: %w", h.Agent.Name(), err)
		}
		m.far = m.far || err == nil && len(m.hosts) > 1 && course.Best() > freeClockError
	}
	return list, errs
}

// compareHosts has the hosts compare their clocks with each other from now on, each pair once, if that
// can say more than the lead knows.
func (m *Machine) compareHosts() error {
	for i, h := range m.hosts {
		var places []string
		for _, other := range m.hosts[i+1:] {
			places = append(places, other.Agent.Clock())
		}
		if !m.far || len(places) == 0 {
			continue
		}
		if err := h.Agent.Compare(places); err != nil {
			return err
		}
	}
	return nil
}

// comparisons are those of the lead, which knows such courses, and those of the hosts. An error is that
// of two hosts whose clocks contradict each other.
func (m *Machine) comparisons(lead []clock.Course, from, to time.Duration) (list []comparison, errs []error) {
	for i, course := range lead {
		list = append(list, comparison{of: i + 1, by: 0, course: course})
	}
	if !m.far {
		return list, nil
	}
	said := make([][][]clock.Sample, len(m.hosts))
	var all sync.WaitGroup
	for i, h := range m.hosts[:len(m.hosts)-1] {
		all.Go(func() { // an agent that is gone is missed elsewhere
			said[i], _ = h.Agent.Compared(lead[i].Theirs(from), lead[i].Theirs(to))
		})
	}
	all.Wait()
	for i := range said {
		for k, samples := range said[i] {
			if len(samples) == 0 || i+1+k >= len(m.hosts) {
				continue
			}
			since := samples[len(samples)-1].Got
			if from < to {
				since = lead[i].Theirs(from)
			}
			course, err := clock.Fit(samples, since)
			if err != nil {
				errs = append(errs, fmt.Errorf("the clock of %s, compared with that of %s: %w",
					m.hosts[i+1+k].Agent.Name(), m.hosts[i].Agent.Name(), err))
				continue
			}
			list = append(list, comparison{of: i + 2 + k, by: i + 1, course: course})
		}
	}
	return list, errs
}

// pairError is the worst error of a time that begins on one host's clock and ends on the other's
// during the trial; 0 for one host. It is known once compareClocks has run.
func (t *trial) pairError(from, to *site) time.Duration {
	if t.pairs == nil {
		return 0 // it did not begin
	}
	return t.pairs[from.index+1][to.index+1]
}

// leadError is likewise of the host's clock and that of the lead.
func (t *trial) leadError(s *site) time.Duration { return t.pairs[0][s.index+1] }

// worstError is that of any time in the records: between two hosts, and from one to the lead if the lead
// itself did something.
func (t *trial) worstError() (worst time.Duration) {
	led := len(t.sites) == 1 || slices.ContainsFunc(t.records, func(r trace.Record) bool {
		return !signalled(r.Type)
	})
	for i, s := range t.sites {
		if led {
			worst = max(worst, t.leadError(s))
		}
		for _, other := range t.sites[:i] {
			worst = max(worst, t.pairError(s, other))
		}
	}
	return worst
}

// signalled says whether agents do such a thing to a node, and say when by their own clock.
func signalled(what trace.Type) bool {
	return what == trace.Crash || what == trace.Pause || what == trace.Resume
}

package host

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/timeservice"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Clocks are numbered: the lead's is 0, that of host i is i+1, and behind them are the references of time
// services. Where the network to the lead is slow, the hosts compare theirs with each other too, because two
// that are close to each other know more of one another than the lead knows of either; and with the
// references, because two that are close to the same one are close to each other.

// A comparison is what clock by knows of another one.
type comparison struct {
	of, by int
	course clock.Course
	source sources
}

// sources are what comparisons rest on: bit 0 is an exchange of messages, and bit i+1 time service i.
type sources uint

const exchange sources = 1

func (s sources) String() string {
	var words []string
	for i, name := range append([]string{"exchange"}, timeservice.Names()...) {
		if s&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	return strings.Join(words, "+")
}

// A bound is by how much a time between two clocks can be wrong, and what says so.
type bound struct {
	within time.Duration
	by     sources
}

// detour is how many times as well as the lead another clock must know a third one for the path from the
// lead to that one to go by it: on the way, errors add up.
const detour = 2

// relate finds a path from the lead's clock to each of n others, and to references: straight, or by way of a
// clock that is close to it. Those that no comparison leads to are not reached.
func relate(n int, list []comparison) (paths []clock.Path, reached []bool) {
	for _, c := range list {
		n = max(n, c.of)
	}
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
func errorsOf(paths []clock.Path, reached []bool, list []comparison, from, to time.Duration) (all [][]bound) {
	unknown := bound{within: math.MaxInt64 / 4}
	all = make([][]bound, len(paths))
	for i := range all {
		all[i] = slices.Repeat([]bound{unknown}, len(paths))
		all[i][i] = bound{}
	}
	for i := range list {
		c := &list[i]
		if reached[c.by] && reached[c.of] {
			worst := clock.Apart(paths[c.by], paths[c.of], &c.course, from, to)
			if worst < all[c.by][c.of].within {
				all[c.by][c.of] = bound{worst, c.source}
				all[c.of][c.by] = all[c.by][c.of]
			}
		}
	}
	for k := range all {
		for i := range all {
			for j := range all {
				if way := all[i][k].within + all[k][j].within; way < all[i][j].within {
					all[i][j] = bound{way, all[i][k].by | all[k][j].by}
				}
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

// compareHosts has the hosts compare their clocks with each other from now on, each pair once, and with what
// their time services say, if that can say more than the lead knows.
func (m *Machine) compareHosts() error {
	if !m.far {
		return nil
	}
	for i, h := range m.hosts {
		places := []string{}
		for _, other := range m.hosts[i+1:] {
			places = append(places, other.Agent.Clock())
		}
		if err := h.Agent.Compare(places); err != nil {
			return err
		}
	}
	return m.services.Compare(nil, nil)
}

// comparisons are those of the lead, which knows such courses, and those of the hosts. An error is that
// of two hosts whose clocks contradict each other.
func (m *Machine) comparisons(lead []clock.Course, from, to time.Duration) (list []comparison, errs []error) {
	for i, course := range lead {
		list = append(list, comparison{of: i + 1, by: 0, course: course, source: exchange})
	}
	if !m.far {
		return list, nil
	}
	said := make([]agent.Comparisons, len(m.hosts)+1) // by the number of the clock
	var all sync.WaitGroup
	all.Go(func() { said[0] = m.services.Compared(from, to) })
	for i, h := range m.hosts {
		all.Go(func() { // an agent that is gone is missed elsewhere
			said[i+1], _ = h.Agent.Compared(lead[i].Theirs(from), lead[i].Theirs(to))
		})
	}
	all.Wait()
	fit := func(by int, samples []clock.Sample) (clock.Course, error) {
		since := samples[len(samples)-1].Got
		if from < to {
			if since = from; by > 0 {
				since = lead[by-1].Theirs(from)
			}
		}
		return clock.Fit(samples, since)
	}
	for by := range said {
		for k, samples := range said[by].Peers {
			of := by + 1 + k
			if len(samples) == 0 || of > len(m.hosts) {
				continue
			}
			course, err := fit(by, samples)
			if err != nil {
				errs = append(errs, fmt.Errorf("the clock of %s, compared with that of %s: %w",
					m.hosts[of-1].Agent.Name(), m.hosts[by-1].Agent.Name(), err))
				continue
			}
			list = append(list, comparison{of: of, by: by, course: course, source: exchange})
		}
	}
	return append(list, m.promised(said, list, fit)...), errs
}

// promised are the comparisons with references, by what time services have said to each clock. A promise
// that was broken, or that exchanges and another one contradict, says nothing.
func (m *Machine) promised(said []agent.Comparisons, exchanges []comparison,
	fit func(by int, samples []clock.Sample) (clock.Course, error)) (list []comparison) {
	var references []string
	for by := range said {
		for _, s := range said[by].Services {
			at := slices.Index(timeservice.Names(), s.Name)
			if len(s.Samples) == 0 || at < 0 {
				continue
			}
			course, err := fit(by, s.Samples)
			if err != nil {
				continue
			}
			of := slices.Index(references, s.Reference)
			if of < 0 {
				of, references = len(references), append(references, s.Reference)
			}
			list = append(list, comparison{of: len(said) + of, by: by, course: course,
				source: exchange << (at + 1)})
		}
	}
	paths, reached := relate(len(m.hosts), exchanges)
	return unopposed(paths, reached, exchanges, list)
}

// unopposed are the promises that agree with each other, by the paths to the clocks that rely on them: those
// that contradict most of the others are dropped first, and of two that contradict each other both.
func unopposed(paths []clock.Path, reached []bool, exchanges, promises []comparison) []comparison {
	promises = slices.DeleteFunc(promises, func(c comparison) bool { return !reached[c.by] })
	for len(promises) > 0 {
		now := promises[0].course.Last()
		now = paths[promises[0].by].Ours(now)
		known := errorsOf(paths, reached, exchanges, now, now)
		against := make([]int, len(promises))
		for i, a := range promises {
			for j, b := range promises[:i] {
				if a.of == b.of && opposed(paths, known, &a, &b, now) {
					against[i]++
					against[j]++
				}
			}
		}
		most := slices.Max(against)
		if most == 0 {
			break
		}
		i := -1
		promises = slices.DeleteFunc(promises, func(comparison) bool { i++; return against[i] == most })
	}
	return promises
}

// opposed says whether two promises of one reference cannot both be true at an instant of the lead's clock.
func opposed(paths []clock.Path, known [][]bound, a, b *comparison, now time.Duration) bool {
	one, other := paths[a.by].Theirs(now), paths[b.by].Theirs(now)
	apart := (a.course.Theirs(one) - b.course.Theirs(other)).Abs()
	return apart > a.course.Bound(one)+b.course.Bound(other)+known[a.by][b.by].within
}

// pairError is the worst error of a time that begins on one host's clock and ends on the other's
// during the trial; 0 for one host. It is known once compareClocks has run.
func (t *trial) pairError(from, to *site) bound {
	if t.pairs == nil {
		return bound{} // it did not begin
	}
	return t.pairs[from.index+1][to.index+1]
}

// leadError is likewise of the host's clock and that of the lead.
func (t *trial) leadError(s *site) time.Duration { return t.pairs[0][s.index+1].within }

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
			worst = max(worst, t.pairError(s, other).within)
		}
	}
	return worst
}

// signalled says whether agents do such a thing to a node, and say when by their own clock.
func signalled(what trace.Type) bool {
	return what == trace.Crash || what == trace.Pause || what == trace.Resume
}

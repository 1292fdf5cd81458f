package check

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// mishaps counts what went wrong, and how it was noticed.
type mishaps struct {
	setup   *harness.Setup
	up      []bool // by ID - 1
	down    int
	most    int // processes that may be down at once by the rate of crashes
	since   time.Duration
	exposed time.Duration // of all processes that could have crashed by the rate
	paused  []bool
	slow    []bool
	resumed []time.Duration // when it last went on, or was slow no longer
	stalled bool            // somebody was paused or slow

	crashedAt []time.Duration
	unnoticed []bool
	crashes   int
	pauses    int
	falsely   int // suspicions of those that are up
	noticed   sum // from a crash to the first suspicion
}

// A sum is that of durations, and of how many.
type sum struct {
	total time.Duration
	n     int
}

func (s *sum) add(d time.Duration) {
	s.total += d
	s.n++
}

func (s *sum) mean() float64 { return mean(ms(s.total), s.n) }

func newMishaps(s *harness.Setup) mishaps {
	n := s.Nodes
	m := mishaps{
		setup: s, up: make([]bool, n), most: s.Failures.Most(n), paused: make([]bool, n),
		slow: make([]bool, n), resumed: make([]time.Duration, n), crashedAt: make([]time.Duration, n),
		unnoticed: make([]bool, n),
	}
	for i := range m.up {
		m.up[i] = !slices.Contains(s.Crashed, s.Graph.Peers()[i])
		if !m.up[i] {
			m.down++
		}
	}
	return m
}

func (m *mishaps) elapse(at time.Duration) {
	if at > m.since {
		if m.down < m.most {
			m.exposed += time.Duration(len(m.up)-m.down) * (at - m.since)
		}
		m.since = at
	}
}

func (m *mishaps) record(r *trace.Record) {
	if r.Process == 0 {
		return
	}
	p := r.Process - 1
	switch r.Type {
	case trace.Crash:
		m.elapse(r.At)
		m.up[p], m.paused[p], m.slow[p] = false, false, false
		m.crashedAt[p], m.unnoticed[p] = r.At, true
		m.crashes++
		m.down++
	case trace.Up:
		if r.Incarnation > 0 {
			m.elapse(r.At)
			m.up[p], m.unnoticed[p] = true, false
			m.down--
		}
	case trace.Pause:
		m.paused[p], m.stalled = true, true
		m.pauses++
	case trace.Resume:
		m.paused[p], m.resumed[p] = false, r.At
	case trace.Slow:
		m.slow[p], m.stalled, m.resumed[p] = r.Arg > 0, true, r.At
	case trace.Suspect:
		m.suspect(r)
	}
}

func (m *mishaps) suspect(r *trace.Record) {
	if r.Peer == 0 || m.setup.Detector.Kind == "none" || m.setup.Detector.Kind == "" {
		return // a script's own
	}
	of := r.Peer - 1
	switch {
	case m.up[of] && !m.paused[of]:
		m.falsely++
	case m.unnoticed[of]:
		m.unnoticed[of] = false
		m.noticed.add(r.At - m.crashedAt[of])
	}
}

// excused says whether a message may be late because its receiver was paused or
// slow.
func (m *mishaps) excused(r *trace.Record) bool {
	p := r.Process - 1
	return m.stalled && (m.slow[p] || m.paused[p] || m.resumed[p] > 0 && r.Due <= m.resumed[p])
}

// rate is how often a live process crashed, per second, counted while the rate
// allowed it; NaN if it never did.
func (m *mishaps) rate() float64 { return ratio(float64(m.crashes), m.exposed.Seconds()) }

func (m *mishaps) metrics() []Metric {
	return []Metric{
		{"crashes", float64(m.crashes)},
		{"pauses", float64(m.pauses)},
		{"crash_rate_achieved", m.rate()},
		{"suspicion_ms", m.noticed.mean()},
		{"false_suspicions", float64(m.falsely)},
	}
}

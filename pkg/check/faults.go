package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// faults counts what went wrong, and how it was noticed.
type faults struct {
	setup    *harness.Setup
	up       []bool // by ID - 1
	down     int
	most     int // processes that may be down at once by the rate of crashes
	since    time.Duration
	exposed  time.Duration // of all processes that could have crashed by the rate
	paused   []bool
	slow     []bool
	others   [][]*fault.State // what else each is in
	disks    []fault.Disk     // what becomes of its writes
	resumed  []time.Duration  // when it last went on, or was slow no longer
	stalled  bool             // somebody was paused or slow
	impaired int              // processes that are, and those to which something else is done

	forgot    []bool // it has crashed, and named no leader since
	learns    bool   // and counts as down as long
	roll      harness.Roll
	survived  int // processes that may be down at once by the algorithm's model
	crashedAt []time.Duration
	downtime  []absence       // of those that came back
	goneAt    []time.Duration // when they were to crash that did
	away      sum             // of those that came back: how long they were to be down
	unnoticed []bool
	crashes   int
	pauses    int
	falsely   int       // suspicions of those that are up
	noticed   sum       // from a crash to the first suspicion
	mistakes  *mistakes // nil: no detector watches everybody
}

// An absence is from a crash to the return.
type absence struct{ from, to time.Duration }

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

func newFaults(s *harness.Setup) faults {
	n, spec := s.Nodes, &s.Alg.Spec
	m := faults{
		learns:   spec.LiveOf(n, s.Params).Learns,
		survived: spec.Survives.CrashesOf(n, s.Params),
		setup:    s, up: make([]bool, n), forgot: make([]bool, n), most: s.Faults.Most(n),
		paused: make([]bool, n), disks: make([]fault.Disk, n),
		slow: make([]bool, n), others: make([][]*fault.State, n),
		resumed: make([]time.Duration, n), crashedAt: make([]time.Duration, n),
		unnoticed: make([]bool, n), goneAt: make([]time.Duration, n),
	}
	for i := range m.up {
		m.up[i] = !slices.Contains(s.Crashed, s.Graph.Peers()[i])
		if m.forgot[i] = !m.up[i]; m.forgot[i] {
			m.down++
			m.roll.Set(0, algo.ID(i+1), true)
		}
	}
	return m
}

// present says whether p is up and not paused.
func (m *faults) present(p uint32) bool { return m.up[p-1] && !m.paused[p-1] }

func (m *faults) elapse(at time.Duration) {
	at = max(at, m.since)
	if m.down < m.most {
		m.exposed += time.Duration(len(m.up)-m.down) * (at - m.since)
	}
	m.since = at
}

func (m *faults) record(r *trace.Record) {
	if m.mistakes != nil {
		m.mistakes.record(r)
	}
	p := r.Process - 1 // none, if it is about links
	switch r.Type {
	case trace.Crash:
		m.elapse(r.At)
		m.impair(p, false, false)
		m.alter(p, nil)
		m.disks[p] = fault.Disk{}
		m.up[p], m.forgot[p] = false, true
		m.roll.Set(r.At, algo.ID(r.Process), true)
		m.crashedAt[p], m.goneAt[p], m.unnoticed[p] = r.At, time.Duration(r.Arg), true
		m.crashes++
		m.down++
	case trace.Up:
		if r.Incarnation > 0 {
			m.elapse(r.At)
			m.up[p], m.unnoticed[p] = true, false
			if !m.learns {
				m.roll.Set(r.At, algo.ID(r.Process), false)
			}
			m.downtime = append(m.downtime, absence{m.crashedAt[p], r.At})
			m.away.add(time.Duration(r.Arg) - m.goneAt[p])
			m.down--
		}
	case trace.Pause:
		m.impair(p, true, m.slow[p])
		m.pauses++
	case trace.Resume:
		m.impair(p, false, m.slow[p])
		m.resumed[p] = r.At
	case trace.Slow:
		m.impair(p, m.paused[p], r.Arg != 0)
		m.resumed[p] = r.At
	case trace.Fault:
		_, i := fault.Parse(r.Text)
		if d, is := fault.DiskOf(&i); is {
			m.disks[p] = d
		}
		if state, over := fault.StateOf(r); state != nil {
			others := slices.DeleteFunc(slices.Clone(m.others[p]),
				func(s *fault.State) bool { return s == state })
			if !over {
				others = append(others, state)
			}
			m.alter(p, others)
		}
	case trace.Suspect:
		m.suspect(r)
	}
}

// alter notes what process i is in from now on, besides being paused or slow.
func (m *faults) alter(i uint32, others []*fault.State) {
	if len(m.others[i]) > 0 {
		m.impaired--
	}
	if m.others[i] = others; len(others) > 0 {
		m.impaired++
	}
}

// impair notes whether process i is paused or slow from now on.
func (m *faults) impair(i uint32, paused, slow bool) {
	if m.paused[i] || m.slow[i] {
		m.impaired--
	}
	m.paused[i], m.slow[i] = paused, slow
	if paused || slow {
		m.impaired++
		m.stalled = true
	}
}

func (m *faults) suspect(r *trace.Record) {
	if r.Peer == 0 || !m.detects() {
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

// learnt takes note that p names a leader again after a crash.
func (m *faults) learnt(p uint32, at time.Duration) {
	m.forgot[p-1] = false
	if m.learns {
		m.roll.Set(at, algo.ID(p), false)
	}
}

// overstep takes note of it if more processes are down at once than the algorithm survives. What
// was broken before is not excused by it.
func (j *Judge) overstep() {
	f := &j.faults
	most, when := f.roll.Most()
	if most <= f.survived || j.beyond != "" || len(j.violations) > 0 {
		return
	}
	what := "down at once"
	if f.learns {
		what = "down or recovering at once"
	}
	j.beyond = fmt.Sprintf("survives %d of %d processes %s, not %d as at %v", f.survived, f.setup.Nodes,
		what, most, when)
}

// excused says whether a message may be late because its receiver was paused or
// slow.
func (m *faults) excused(r *trace.Record) bool {
	p := r.Process - 1
	return m.slow[p] || m.paused[p] || m.resumed[p] != 0 && r.Due <= m.resumed[p]
}

// rate is how often a live process crashed, per second, counted while the rate
// allowed it; NaN if it never did.
func (m *faults) rate() float64 { return ratio(float64(m.crashes), m.exposed.Seconds()) }

// uptime is how long processes were up from the start until an instant, all together.
func (m *faults) uptime(until time.Duration) time.Duration {
	total := time.Duration(len(m.up)) * until
	for i, up := range m.up {
		if !up {
			total -= max(until-m.crashedAt[i], 0)
		}
	}
	for _, d := range m.downtime {
		total -= max(min(d.to, until)-d.from, 0)
	}
	return total
}

// metrics has the time to a suspicion if there was a crash that a detector could
// have noticed.
func (m *faults) metrics() []metric.Value {
	out := []metric.Value{
		metric.Crashes.Of(float64(m.crashes)),
		metric.Pauses.Of(float64(m.pauses)),
		metric.CrashRateAchieved.Of(m.rate()),
	}
	if n := m.away.n; n > 0 {
		had := time.Duration(0)
		for _, d := range m.downtime {
			had += d.to - d.from
		}
		out = append(out, metric.OutageRequested.Of(m.away.mean()),
			metric.OutageAchieved.Of(mean(ms(had), n)))
	}
	if m.crashes > 0 && m.detects() {
		out = append(out, metric.Suspicion.Of(m.noticed.mean()))
	}
	out = append(out, metric.FalseSuspicions.Of(float64(m.falsely)))
	if m.mistakes != nil {
		out = append(out, m.mistakes.metrics()...)
	}
	return out
}

// detects says whether there is a failure detector.
func (m *faults) detects() bool {
	return m.setup.Detector.Class() != algo.NoDetector
}

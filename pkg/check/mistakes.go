package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// mistakes say how well a failure detector tells the living, as W. Chen, S. Toueg and
// M. K. Aguilera define it (On the quality of service of failure detectors, IEEE
// Transactions on Computers 51(5), 2002, section 2): mistake duration T_M, mistake
// recurrence time T_MR, query accuracy probability P_A. A mistake is that a process which
// is up suspects another which is, and neither is paused. That one which came back is
// suspected until it is heard of is none.
type mistakes struct {
	faults *faults
	at     time.Duration
	live   time.Duration // of all pairs of processes that are up, added up
	wrong  time.Duration // while the first suspects the second
	since  map[pair]time.Duration
	made   int
	over   sum
}

// A pair is a process, and one that it watches.
type pair struct{ of, about uint32 }

// elapse adds the time up to an instant.
func (m *mistakes) elapse(at time.Duration) {
	if at <= m.at {
		return
	}
	up := 0
	for p := range m.faults.up {
		if m.faults.present(uint32(p) + 1) {
			up++
		}
	}
	m.live += time.Duration(up*(up-1)) * (at - m.at)
	m.wrong += time.Duration(len(m.since)) * (at - m.at)
	m.at = at
}

// record follows r, before the faults do.
func (m *mistakes) record(r *trace.Record) {
	switch r.Type {
	case trace.Suspect:
		p := pair{r.Process, r.Peer}
		if _, already := m.since[p]; already || r.Peer == 0 || !m.faults.present(r.Peer) {
			return
		}
		m.elapse(r.At)
		m.made++
		m.since[p] = r.At
	case trace.Restore:
		m.elapse(r.At)
		m.end(pair{r.Process, r.Peer}, r.At)
	case trace.Crash, trace.Pause:
		m.elapse(r.At)
		for p := range m.since {
			if p.of == r.Process || p.about == r.Process {
				m.end(p, r.At)
			}
		}
	case trace.Up, trace.Resume:
		m.elapse(r.At)
	}
}

func (m *mistakes) end(p pair, at time.Duration) {
	if begin, is := m.since[p]; is {
		m.over.add(at - begin)
		delete(m.since, p)
	}
}

// metrics of mistakes apply to trials that have some.
func (m *mistakes) metrics() (out []metric.Value) {
	if m.over.n > 0 {
		out = append(out, metric.MistakeDuration.Of(m.over.mean()))
	}
	if m.made > 0 {
		out = append(out, metric.MistakeRecurrence.Of(ms(m.live)/float64(m.made)))
	}
	return append(out, metric.QueryAccuracy.Of(1-ratio(float64(m.wrong), float64(m.live))))
}

package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// phases follows how long ago each process last did the longest of what a leader repeats:
// by the timer of its algorithm, which it records when it fires, or by the heartbeats of
// its failure detector.
type phases struct {
	period harness.Period
	last   []time.Duration // by ID - 1; negative: not yet
}

func newPhases(s *harness.Setup) phases {
	f := phases{period: s.Period()}
	if f.period.Length > 0 && !f.period.Drawn {
		f.last = make([]time.Duration, s.Nodes)
		for i := range f.last {
			f.last[i] = -1
		}
	}
	return f
}

// record takes a timer that fired, or a message of the detector that was sent.
func (f *phases) record(r *trace.Record) {
	if f.last == nil || r.Type == trace.Timeout && r.Text != string(f.period.Timer) ||
		r.Type == trace.Send && (f.period.Timer != "" || !harness.IsHeartbeat(r)) {
		return
	}
	f.last[r.Process-1] = r.At
}

// at is the phase of leader p when r happens, which is done to it or to another, or to the
// network: the share of its period that has passed, above 0. A timer that is late makes it a
// little more than 1. It is 0 where nothing is repeated, or has not been for two periods,
// since that has ceased; and where r is what a process does, at a phase of its own making.
func (f *phases) at(r *trace.Record, p algo.ID) float64 {
	if f.last == nil || p == algo.None || f.last[p-1] < 0 {
		return 0
	}
	since := r.At - f.last[p-1]
	switch {
	case r.Type == trace.Elected:
		return 0
	case since > 2*f.period.Length:
		return 0
	case since == 0: // it was due at this very instant, and comes first
		since = f.period.Length
	}
	return float64(since) / float64(f.period.Length)
}

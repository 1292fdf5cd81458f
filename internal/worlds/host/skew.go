package host

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// What skews a trial without a message that tells of it: a machine that does not
// run what is due, and a clock that is set.

// mostDelay is how late the machine may run what is due, at the 99th percentile.
// Where it is later, not even the order of a death and what surrounds it is known:
// see grace.
const mostDelay = grace

// mostLate is how late a node may be at the common start.
const mostLate = 5 * time.Millisecond

// missedStart says whether a node that began so late was too late at the common start.
func missedStart(late time.Duration) bool { return late > mostLate }

// mostStep is by how much the wall clock may part from the monotonic one during a
// trial. Two readings of one instant differ by microseconds; adjusting the clock
// gradually is no step.
const mostStep = 10 * time.Millisecond

// skew is why a trial with such a delay and such a step of the clock is invalid.
func skew(delay, step time.Duration) (why []string) {
	if delay > mostDelay {
		why = append(why, fmt.Sprintf("the machine was overloaded: handlers ran %v late (99th percentile, "+
			"limit %v); use fewer nodes, or end other programs",
			delay.Round(time.Millisecond), mostDelay))
	}
	if step.Abs() > mostStep {
		why = append(why, fmt.Sprintf("the clock was changed by %v during the trial, or the machine slept",
			step.Round(time.Millisecond)))
	}
	return why
}

// watchMachines has all agents measure how well their machines run.
func (t *trial) watchMachines() error {
	for _, s := range t.sites {
		if err := s.agent.Watch(); err != nil {
			return err
		}
	}
	return nil
}

// readHealth says how well the machines ran, each by the worst of them, and by how much a wall
// clock was set.
func (t *trial) readHealth(q *harness.Quality) (step time.Duration) {
	worst := func(share *float64, than float64) float64 {
		if share == nil || *share <= than {
			return than
		}
		return *share // also if there was none
	}
	for _, s := range t.sites {
		h, err := s.agent.Health()
		if err != nil {
			t.lose(err.Error())
			continue
		}
		q.SchedDelayP99, q.Throttled = max(q.SchedDelayP99, h.SchedDelayP99), max(q.Throttled, h.Throttled)
		q.Busy, q.Stolen = worst(h.Busy, q.Busy), worst(h.Stolen, q.Stolen)
		if h.ClockStep.Abs() > step.Abs() {
			step = h.ClockStep
		}
	}
	return step
}

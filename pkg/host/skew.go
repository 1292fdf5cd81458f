package host

import (
	"fmt"
	"time"
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
		why = append(why, fmt.Sprintf("the machine was starved: what was due ran %v late (99th percentile, "+
			"%v is bearable); use fewer nodes, or end what else it does",
			delay.Round(time.Millisecond), mostDelay))
	}
	if step.Abs() > mostStep {
		why = append(why, fmt.Sprintf("the clock was set by %v during the trial, or the machine slept",
			step.Round(time.Millisecond)))
	}
	return why
}

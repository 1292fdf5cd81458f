package host

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/internal/clock"
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

// clocks is one instant on both clocks.
type clocks struct{ wall, monotonic time.Duration }

func wallClock() time.Duration { return time.Duration(time.Now().UnixNano()) }

// readClocks reads both, as close together as they can be read.
func readClocks(wall func() time.Duration) (c clocks) {
	narrowest := time.Duration(-1)
	for range 5 { // this process may be interrupted between the two
		before := clock.Monotonic()
		now := wall()
		if gap := clock.Monotonic() - before; narrowest < 0 || gap < narrowest {
			narrowest, c = gap, clocks{now, before}
		}
	}
	return c
}

// stepSince is by how much the wall clock has gone further than the other since
// then, but for what gradual adjustment may do (0.05 % on Linux).
func (c clocks) stepSince(then clocks) time.Duration {
	elapsed := c.monotonic - then.monotonic
	step := c.wall - then.wall - elapsed
	slew := elapsed / 2000
	return min(step+slew, 0) + max(step-slew, 0)
}

package clock

import "time"

// A Pair is one instant on the wall clock and on the monotonic one.
type Pair struct{ Wall, Monotonic time.Duration }

// Wall is the system's wall clock, since 1970.
func Wall() time.Duration { return time.Duration(time.Now().UnixNano()) }

// ReadPair reads both, as close together as they can be read.
func ReadPair(wall func() time.Duration) (p Pair) {
	narrowest := time.Duration(-1)
	for range 5 { // this process may be interrupted between the two
		before := Monotonic()
		now := wall()
		if gap := Monotonic() - before; narrowest < 0 || gap < narrowest {
			narrowest, p = gap, Pair{now, before}
		}
	}
	return p
}

// StepSince is by how much the wall clock has gone further than the other since
// then, but for what gradual adjustment may do (0.05 % on Linux).
func (p Pair) StepSince(then Pair) time.Duration {
	elapsed := p.Monotonic - then.Monotonic
	step := p.Wall - then.Wall - elapsed
	slew := elapsed / 2000
	return min(step+slew, 0) + max(step-slew, 0)
}

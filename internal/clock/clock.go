// Package clock is the time of real nodes: the monotonic clock of a machine, alarms that
// ring on time, and how late the machine runs what is due.
package clock

import (
	"math"
	"sync/atomic"
	"time"
)

// The instant that Monotonic counts from, as time.Time knows it, and that
// instant on the system's monotonic clock. time.Since reads the same clock
// through the vDSO, so that the distance between the two never changes.
var (
	clockBase   = time.Now()
	clockOffset = measureOffset()
)

// Monotonic is the system's monotonic clock in nanoseconds. On Linux it is
// CLOCK_MONOTONIC: instants of different processes of one machine can be
// compared, to within the 0.1 µs or so to which measureOffset knows the offset
// (see there). It costs what time.Since costs and makes no system call.
func Monotonic() time.Duration {
	now := clockOffset + time.Since(clockBase)
	if d := distorted.Load(); d != nil {
		return d.shown(now)
	}
	return now
}

// A Distortion makes Monotonic that of another machine, for tests: ahead, and gaining on the
// system's clock so many ns in a ns. Alarms ring by it.
type Distortion struct {
	Ahead time.Duration
	Gains float64
}

var distorted atomic.Pointer[Distortion]

// Distort changes the clock of this process from now on.
func Distort(d Distortion) { distorted.Store(&d) }

func (d *Distortion) shown(now time.Duration) time.Duration {
	return now + d.Ahead + time.Duration(float64(now)*d.Gains)
}

// system is the instant of the system's clock at which Monotonic shows at, or a moment later.
func system(at time.Duration) time.Duration {
	d := distorted.Load()
	if d == nil {
		return at
	}
	return time.Duration(math.Ceil(float64(at-d.Ahead)/(1+d.Gains))) + 1
}

// measureOffset finds the system's monotonic clock at clockBase. Each try bounds
// it from both sides; the tries' common part is narrower than any one.
func measureOffset() time.Duration {
	low, high := time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
	for range 64 {
		before := time.Since(clockBase)
		now := systemClock()
		after := time.Since(clockBase)
		low, high = max(low, now-after), min(high, now-before)
	}
	return low + (high-low)/2
}

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
	now := undistorted()
	if d := distorted.Load(); d != nil {
		return d.Shown(now)
	}
	return now
}

func undistorted() time.Duration { return clockOffset + time.Since(clockBase) }

// A Distortion makes Monotonic that of another machine, for tests: ahead, and gaining on the
// system's clock so many ns in a ns. Alarms ring by it.
type Distortion struct {
	Ahead time.Duration
	Gains float64
	Bends []Bend
}

// steered is what bends add to its rate at an instant of the system's clock.
func (d *Distortion) steered(now time.Duration) (rate float64) {
	for _, b := range d.Bends {
		if now >= b.At {
			rate += b.Gains
		}
	}
	return rate
}

// A Bend is an adjustment: it adds to what a clock gains from an instant of the system's clock on.
type Bend struct {
	At    time.Duration
	Gains float64
}

var distorted atomic.Pointer[Distortion]

// Distort changes the clock of this process from now on.
func Distort(d Distortion) { distorted.Store(&d) }

// Shown is what the clock shows when the system's shows now.
func (d *Distortion) Shown(now time.Duration) time.Duration {
	gained := float64(now) * d.Gains
	for _, b := range d.Bends {
		gained += float64(max(0, now-b.At)) * b.Gains
	}
	return now + d.Ahead + time.Duration(gained)
}

// system is the instant of the system's clock at which Monotonic shows at, or a moment later.
func system(at time.Duration) time.Duration {
	d := distorted.Load()
	if d == nil {
		return at
	}
	now := at - d.Ahead
	for range 6 { // rates are 0.001 at most, so each time it is a thousandth as far off
		now += at - d.Shown(now)
	}
	return now + 2
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

//go:build linux || darwin

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// systemClock reads the clock that Go's runtime reads, by a system call.
func systemClock() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(runtimeClock, &ts); err != nil {
		panic("clock: the monotonic clock cannot be read: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

// processorTime is what this thread, or all of this process, has used until now; 0 where the
// system does not say.
func processorTime(thread bool) time.Duration {
	var ts unix.Timespec
	which := int32(processClock)
	if thread {
		which = threadClock
	}
	if unix.ClockGettime(which, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

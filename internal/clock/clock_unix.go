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

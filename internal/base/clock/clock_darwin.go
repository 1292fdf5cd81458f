package clock

import "golang.org/x/sys/unix"

// Go's runtime reads mach_absolute_time, which stands still while the machine
// sleeps. CLOCK_MONOTONIC does not.
const runtimeClock = unix.CLOCK_UPTIME_RAW

const (
	processClock = unix.CLOCK_PROCESS_CPUTIME_ID
	threadClock  = unix.CLOCK_THREAD_CPUTIME_ID
)

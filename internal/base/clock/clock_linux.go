package clock

import "golang.org/x/sys/unix"

const runtimeClock = unix.CLOCK_MONOTONIC

const (
	processClock = unix.CLOCK_PROCESS_CPUTIME_ID
	threadClock  = unix.CLOCK_THREAD_CPUTIME_ID
)

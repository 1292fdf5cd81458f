package clock

import "golang.org/x/sys/unix"

const runtimeClock = unix.CLOCK_MONOTONIC

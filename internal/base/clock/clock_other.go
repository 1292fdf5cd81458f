//go:build !linux && !darwin

package clock

import "time"

// systemClock is the wall clock here, read only when the process starts:
// comparable between processes as far as nobody sets it meanwhile.
func systemClock() time.Duration { return time.Duration(time.Now().UnixNano()) }

// processorTime is the time that passes here, which is no less.
func processorTime(bool) time.Duration { return time.Since(clockBase) }

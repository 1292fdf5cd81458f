//go:build !linux

package guard

import "runtime/debug"

// Confine keeps this process below so many bytes for good: it collects garbage harder
// near the limit, and the guard raises above it.
func Confine(bytes uint64) {
	debug.SetMaxStack(mostStack)
	if bytes == 0 {
		return
	}
	LimitMemory(bytes)
	debug.SetMemoryLimit(int64(bytes / 10 * 9))
}

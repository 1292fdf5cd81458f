//go:build !linux

package proc

// OutOfMemoryKills is not known on this system.
func OutOfMemoryKills() uint64 { return 0 }

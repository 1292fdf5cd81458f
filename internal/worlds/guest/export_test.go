package guest

import "time"

// SetBounds bounds what the answer to describe takes, and the memory of a program, in bytes; 0: as always.
func SetBounds(starting time.Duration, memory uint64) {
	settings.starting.Store(int64(starting))
	settings.memory.Store(memory)
}

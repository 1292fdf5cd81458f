package host

import "math"

// CPUTimes is how long the machine's processors have been busy, and have been at
// all, since it started, in clock ticks. The zero value means unknown.
type CPUTimes struct {
	Busy, Total uint64
}

// BusySince is the share of processor time, from 0 to 1 over all processors of
// the machine, that was used since before; NaN if that is unknown. Time that a
// hypervisor gave to others counts as used.
func (t CPUTimes) BusySince(before CPUTimes) float64 {
	if before.Total == 0 || t.Total <= before.Total || t.Busy < before.Busy {
		return math.NaN()
	}
	return min(1, float64(t.Busy-before.Busy)/float64(t.Total-before.Total))
}

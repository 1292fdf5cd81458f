package clock

import "math"

// CPUTimes is how long the machine's processors have been busy, and have been at
// all, since it started, in clock ticks. Stolen is what a hypervisor gave to others
// of it. The zero value means unknown.
type CPUTimes struct {
	Busy, Total, Stolen uint64
}

// BusySince is the share of processor time, from 0 to 1 over all processors of
// the machine, that was used since before; NaN if that is unknown. Time that a
// hypervisor gave to others counts as used.
func (t CPUTimes) BusySince(before CPUTimes) float64 {
	return t.shareSince(before, before.Busy, t.Busy)
}

// StolenSince is the share of processor time that a hypervisor gave to others since
// before; NaN if that is unknown.
func (t CPUTimes) StolenSince(before CPUTimes) float64 {
	return t.shareSince(before, before.Stolen, t.Stolen)
}

func (t CPUTimes) shareSince(before CPUTimes, from, to uint64) float64 {
	if before.Total == 0 || t.Total <= before.Total || to < from {
		return math.NaN()
	}
	return min(1, float64(to-from)/float64(t.Total-before.Total))
}

package clock

import (
	"math"

	"golang.org/x/sys/unix"
)

// steered reads what adjtimex(2) says.
func steered() Steering {
	var t, left unix.Timex
	left.Modes = unix.ADJ_OFFSET_SS_READ
	if _, err := unix.Adjtimex(&t); err != nil {
		return Steering{} // some containers do not let it through
	}
	if _, err := unix.Adjtimex(&left); err != nil {
		return Steering{}
	}
	return steering(&t, left.Offset)
}

// steering is what a reading says, where so much of an adjtime(3) is left, in µs.
func steering(t *unix.Timex, left int64) Steering {
	if left != 0 || t.Status&(unix.STA_PPSFREQ|unix.STA_PPSTIME) != 0 {
		return Steering{} // the kernel changes the rate when it likes
	}
	const nominal = 10_000 // µs in a tick
	s := Steering{Known: true, Rate: float64(t.Tick-nominal)/nominal + float64(t.Freq)/65536*1e-6}
	offset := math.Abs(float64(t.Offset)) / 1e6
	if t.Status&unix.STA_NANO != 0 {
		offset /= 1e3
	}
	// The kernel's loop slews away a quarter of what is left in a second, or less.
	s.Wander = offset / 4
	return s
}

package clock

import "time"

const (
	// mostLead bounds a Lead: nobody waits for an instant for longer with a processor in
	// his hands.
	mostLead = 60 * time.Microsecond
	// noProcessor is a lateness from which on it is no wake-up that took its time: others
	// had the processor.
	noProcessor  = 4 * mostLead
	leadStep     = 500 * time.Nanosecond
	leadQuantile = 4 // it covers all wake-ups but one of so many
)

// A Lead is how long before an instant to be woken, so that one is awake then: what waking
// takes on this machine, as far as it is known. The rest of the time is to be spent looking at
// the clock, which Await does. On a machine without a free processor it falls to
// nothing, so that nobody spends there what others need. The zero value knows of no
// wake-up.
type Lead struct{ d time.Duration }

// Before is how long before the instant to be woken.
func (l *Lead) Before() time.Duration { return l.d }

// Woke tells of a wake-up that came so late after the instant that it was asked for.
func (l *Lead) Woke(late time.Duration) {
	switch {
	case late < 0: // it was another's
	case late > noProcessor:
		l.d /= 2
	case late > l.d:
		l.d = min(l.d+(leadQuantile-1)*leadStep, mostLead)
	default:
		l.d = max(l.d-leadStep, 0)
	}
}

// Await looks at the clock until the instant at has come, if that is no further than the lead
// ahead, and says whether it has.
func (l *Lead) Await(at time.Duration) bool {
	now := Monotonic()
	if at-now > l.d {
		return false
	}
	for now < at {
		now = Monotonic()
	}
	return true
}

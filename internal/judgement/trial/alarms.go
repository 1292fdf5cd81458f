package trial

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// An Alarm is a timer that is set, and the instant at which it expires, by the clock of its process.
type Alarm struct {
	Name algo.Timer
	At   time.Duration
}

// Alarms are the timers of a process: those that expire first come first, and of one instant in the order of
// their names. States share them, so that none is changed in place.
type Alarms []Alarm

// Set is a with a timer that expires then, whether it was set before or not.
func (a Alarms) Set(name algo.Timer, at time.Duration) Alarms {
	a = a.Cancel(name)
	i := slices.IndexFunc(a, func(b Alarm) bool { return b.At > at || b.At == at && b.Name > name })
	if i < 0 {
		i = len(a)
	}
	return slices.Insert(slices.Clip(a), i, Alarm{name, at})
}

// Cancel is a without a timer of that name.
func (a Alarms) Cancel(name algo.Timer) Alarms {
	return slices.DeleteFunc(slices.Clone(a), func(b Alarm) bool { return b.Name == name })
}

// Without is a without its k-th timer, from 0, which has expired.
func (a Alarms) Without(k int) Alarms { return slices.Delete(slices.Clone(a), k, k+1) }

package harness

import (
	"maps"
	"slices"
	"time"
)

// An Expect is one thing that a script should lead to.
type Expect struct {
	Name string  `json:"name"` // one of check.Expectations
	Want []Range `json:"want,omitempty"`
	List []int64 `json:"list,omitempty"` // in place of Want, where an order is expected
	// From and To bound the time in which messages are counted: sent after From, and at
	// To at the latest.
	From time.Duration `json:"from,omitempty"`
	To   time.Duration `json:"to,omitempty"`
}

// A Range is the numbers that are meant, both bounds included; nil is no bound. A
// duration counts nanoseconds, and true is 1.
type Range struct {
	Part string   `json:"part,omitempty"` // the kind of messages or the process, where each has its own
	Min  *float64 `json:"min,omitempty"`
	Max  *float64 `json:"max,omitempty"`
}

// Holds says whether a number is within the range.
func (r *Range) Holds(x float64) bool {
	return (r.Min == nil || x >= *r.Min) && (r.Max == nil || x <= *r.Max)
}

// Exactly expects a number, of processes a process, of durations nanoseconds.
func Exactly[N ~int | ~int64 | ~uint32](name string, n N) Expect {
	x := float64(n)
	return Expect{Name: name, Want: []Range{{Min: &x, Max: &x}}}
}

// Each expects a number of each kind of messages that is named, or of each process.
func Each(name string, numbers map[string]int64) Expect {
	e := Expect{Name: name}
	for _, part := range slices.Sorted(maps.Keys(numbers)) {
		want := Exactly("", numbers[part]).Want[0]
		want.Part = part
		e.Want = append(e.Want, want)
	}
	return e
}

package fault

import "time"

// Stall is the name of the fault by which a process stands still for a drawn time.
const Stall = "stall"

// A garbage collection, a hypervisor that takes the processor away, or swapping do this.
func init() {
	Register(Fault{
		Name: Stall, Doc: "its processor stalls for length: its timers fire late, and messages wait",
		Takes: []string{"who", "length"}, One: []string{"who"}, Any: []string{"length"},
		Outside: Named(Pause).Outside,
		Lasts: func(e *Event, random uint64) time.Duration {
			return max(e.Length.Draw(random), time.Nanosecond)
		},
		Undo:   Resume,
		Breaks: Named(Pause).Breaks,
		Stops:  true, Clock: true,
	})
}

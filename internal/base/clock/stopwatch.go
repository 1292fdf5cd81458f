package clock

import (
	"runtime"
	"time"
)

// A Stopwatch measures the processor time that a piece of code takes. Unlike the time that
// passes, it does not depend on what else the machine does meanwhile.
type Stopwatch struct {
	passes bool          // it measures the time that passes
	thread bool          // of this thread; else of the whole process
	costs  time.Duration // of a reading of the clock, which falls into what is measured
	from   time.Duration
}

// NewStopwatch makes a Stopwatch of what the calling thread uses, where other goroutines
// of this process are at work beside it, or of what all of the process uses.
func NewStopwatch(thread bool) *Stopwatch {
	s := &Stopwatch{thread: thread}
	least := time.Duration(0)
	for i := range 16 {
		s.Start()
		if took := s.Stop(); i == 0 || took < least {
			least = took
		}
	}
	s.costs = least
	return s
}

// NewTimer makes a Stopwatch of the time that passes: of what another process does for this one.
func NewTimer() *Stopwatch { return &Stopwatch{passes: true} }

// Start begins to measure. The goroutine stays on its thread until Stop.
func (s *Stopwatch) Start() {
	if s.passes {
		s.from = Monotonic()
		return
	}
	if s.thread {
		runtime.LockOSThread()
	}
	s.from = processorTime(s.thread)
}

// Stop is the processor time since Start, without what measuring took.
func (s *Stopwatch) Stop() time.Duration {
	if s.passes {
		return Monotonic() - s.from
	}
	took := processorTime(s.thread) - s.from - s.costs
	if s.thread {
		runtime.UnlockOSThread()
	}
	return max(took, 0)
}

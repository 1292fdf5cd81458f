package sim

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An event is what the queue holds. There are as many as messages on their way: the order of the
// fields keeps it small.
type event struct {
	what        uint8
	plane, kind uint8
	copy        uint8
	lost        bool
	omitted     bool // lost by a rule
	served      bool // it has waited its turn at a process that was paused or slow
	computed    bool // its handler has taken its time
	from        algo.ID
	to          algo.ID // whom the event happens to; None if it is the harness's own
	incarnation uint32  // of the sender; of an alarm's process
	bytes       uint32
	depth       uint32
	alarm       harness.Alarm
	seq         uint64
	sent, due   time.Duration
	held        time.Duration // how much later than its latency says
	msg         algo.Message
	instr       *harness.Instruction
}

// What an event is.
const (
	delivery uint8 = iota
	alarm
	instruction
	// The simulator's own, where handling takes time, for the process from.
	turn      // a process can handle something
	freed     // a processor has done the bus's work
	written   // a process has saved
	departure // what it sent after that leaves
)

// class is the rank of the event among those of one instant.
func (e *event) class() harness.Class {
	switch e.what {
	case delivery:
		return harness.Delivery
	case alarm:
		return e.alarm.Class()
	case instruction:
		return harness.ClassOf(e.instr)
	}
	return harness.Application
}

// cause is why a message is lost.
func (e *event) cause() uint64 {
	switch {
	case e.omitted:
		return trace.Omitted
	case e.lost:
		return 0
	}
	return trace.Severed
}

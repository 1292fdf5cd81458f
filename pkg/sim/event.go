package sim

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// An event is what the queue holds.
type event struct {
	what        uint8
	plane, kind uint8
	copy        uint8
	lost        bool
	from, to    algo.ID
	incarnation uint32 // of the sender; of an alarm's member
	bytes       uint32
	depth       uint32
	seq         uint64
	sent, due   time.Duration
	msg         algo.Message
	alarm       harness.Alarm
	instr       *harness.Instruction
}

// What an event is.
const (
	delivery uint8 = iota
	alarm
	instruction
)

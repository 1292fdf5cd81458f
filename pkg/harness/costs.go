package harness

import (
	"errors"
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
)

// Costs is what handling takes in simulation, where it otherwise takes no time: LogGP (Alexandrov
// and others, SPAA 1995) with a bus and with processors that processes share. Real nodes take what
// they take.
type Costs struct {
	// Processors is how many all processes share; 0: each has its own.
	Processors int `json:"processors,omitempty"`
	// Wake is from the instant at which something is due to a process that sleeps until it runs. Like
	// a node, it learns from each wake-up how early to be woken.
	Wake    link.Latency  `json:"wake,omitzero"`
	Receive time.Duration `json:"receive,omitempty"` // of each message, at its receiver
	Send    time.Duration `json:"send,omitempty"`    // of each message, at its sender
	Byte    time.Duration `json:"byte,omitempty"`    // of 1000 bytes of a message, at either
	Timer   time.Duration `json:"timer,omitempty"`   // of each timer and each command of the application
	// Handling is what the algorithm's handler of each of its messages takes: what the message leads to
	// happens after that.
	Handling time.Duration `json:"handling,omitempty"`
	// Relay is how long each message keeps a processor busy with what is not its sender's or
	// receiver's handling: the bus.
	Relay time.Duration `json:"relay,omitempty"`
	// Rest is how long a process keeps its processor once it has handled all there was: it hands
	// over to the bus, and goes to sleep.
	Rest time.Duration `json:"rest,omitempty"`
	// Transit is the least time from a send until the message can be handled: what the bus takes. It
	// is part of the latency, and shows where that is shorter.
	Transit time.Duration `json:"transit,omitempty"`
	// Save is from saving to having saved: until then the process does nothing else, and what it
	// sends after it has not left.
	Save link.Latency `json:"save,omitzero"`
}

// Check says what is wrong with c; nil if nothing is.
func (c *Costs) Check() error {
	for _, l := range []*link.Latency{&c.Wake, &c.Save} {
		if l.Law == nil {
			continue
		}
		if err := l.CheckSpan(); err != nil {
			return err
		}
	}
	if (c.Relay > 0 || c.Rest > 0) && c.Processors == 0 {
		return errors.New("costs: relay and rest are times of processors; say how many there are")
	}
	return nil
}

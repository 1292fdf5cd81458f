package bubble

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// inside is a process to which the lines of a script happen, under the lock of the world.
type inside struct{ *Process }

var _ fault.Process = inside{}

// refuse ends the trial: the library cannot do that.
func (p inside) refuse(what string) {
	p.world.fail(fmt.Errorf("%s cannot %s", p.world.setup.Alg.ID, what))
}

// Elect has the process begin an election, if the library can be told to. At the start of a trial all do so by
// themselves.
func (p inside) Elect(now time.Duration) {
	c, can := p.subject.(Campaigner)
	if !can && now > 0 {
		p.refuse("be told to begin an election")
	}
	if !can {
		return
	}
	p.world.record(trace.Record{Type: trace.Elect, Process: uint32(p.ID), Incarnation: p.Incarnation})
	go c.Campaign()
}

func (p inside) Suspect(time.Duration, algo.ID, bool) {
	p.refuse("be told of a suspicion: it has a failure detector of its own")
}

func (p inside) Request(_, _ time.Duration, _ algo.Session) { p.refuse("request a lock") }

func (p inside) Do(_ time.Duration, op string, _ algo.ID) { p.refuse("do " + op) }

// Disk is what becomes of the writes of the library from now on.
func (p inside) Disk(_ time.Duration, d fault.Disk) { p.Process.Disk.become(d) }

func (p inside) Throttle(time.Duration, float64) {
	p.refuse("get a part of a processor: in virtual time it needs none")
}

func (p inside) ClockRate(time.Duration, float64) {
	p.refuse("have a clock that drifts: a bubble has one clock for all")
}

func (p inside) ClockOffset(_, _ time.Duration) {
	p.refuse("have a clock that is off: a bubble has one clock for all")
}

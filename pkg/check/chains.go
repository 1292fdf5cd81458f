package check

import (
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// chains finds the longest chain of causally ordered messages since a mark. The
// depths in the records count from the trial's start: they will do until the
// first mark behind which messages were sent before. An acknowledgement is part of a chain, and does not
// make it longer.
type chains struct {
	longest uint32
	since   bool     // counted here since the mark; otherwise by the records
	at      []uint32 // by ID - 1: the longest chain that ends at the process
	flying  transits[uint32]
}

func newChains(s *harness.Setup) chains {
	return chains{at: make([]uint32, s.Nodes)}
}

// mark begins anew: messages on their way are of no chain.
func (c *chains) mark() {
	if c.longest == 0 && !c.since {
		return
	}
	c.longest, c.since = 0, true
	c.flying.forget()
	clear(c.at)
}

func (c *chains) record(r *trace.Record) {
	if !c.since {
		if r.Type == trace.Send {
			c.longest = max(c.longest, r.Depth)
		}
		return
	}
	switch r.Type {
	case trace.Send:
		depth := c.at[r.Process-1]
		if r.Plane == trace.Data {
			depth++
		}
		c.longest = max(c.longest, depth)
		c.flying.send(r, depth)
	case trace.Duplicate:
		c.flying.again(r)
	default:
		if depth, _ := c.flying.end(r); depth != nil && r.Type == trace.Deliver {
			c.at[r.Process-1] = max(c.at[r.Process-1], *depth)
		}
	}
}

// up forgets what the process knew before it crashed.
func (c *chains) up(p uint32) { c.at[p-1] = 0 }

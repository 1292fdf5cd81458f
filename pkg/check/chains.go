package check

import (
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// chains finds the longest chain of causally ordered messages since a mark. The
// depths in the records count from the trial's start: they will do until the
// first mark behind which messages were sent before.
type chains struct {
	longest uint32
	since   bool     // counted here since the mark; otherwise by the records
	at      []uint32 // by ID - 1: the longest chain that ends at the process
	flying  map[copies]uint32
	doubled bool // the network makes second copies
}

// copies names a message and its duplicate.
type copies struct {
	from, incarnation, to uint32
	seq                   uint64
}

// copiesOf names the message that r is about, at its sender or at its receiver.
func copiesOf(r *trace.Record) copies {
	if r.Type == trace.Send || r.Type == trace.Duplicate {
		return copies{r.Process, r.Incarnation, r.Peer, r.Seq}
	}
	return copies{r.Peer, r.Incarnation, r.Process, r.Seq}
}

func newChains(s *harness.Setup) chains {
	return chains{at: make([]uint32, s.Nodes), doubled: s.Network.Duplication > 0}
}

// mark begins anew: messages on their way are of no chain.
func (c *chains) mark() {
	if c.longest == 0 && !c.since {
		return
	}
	c.longest, c.since, c.flying = 0, true, map[copies]uint32{}
	clear(c.at)
}

func (c *chains) record(r *trace.Record) {
	switch {
	case r.Type == trace.Send && !c.since:
		c.longest = max(c.longest, r.Depth)
	case r.Type == trace.Send:
		depth := c.at[r.Process-1] + 1
		c.longest = max(c.longest, depth)
		c.flying[copiesOf(r)] = depth
	case r.Type == trace.Deliver && c.since:
		k := copiesOf(r)
		c.at[r.Process-1] = max(c.at[r.Process-1], c.flying[k])
		if !c.doubled {
			delete(c.flying, k)
		}
	}
}

// up forgets what the process knew before it crashed.
func (c *chains) up(p uint32) { c.at[p-1] = 0 }

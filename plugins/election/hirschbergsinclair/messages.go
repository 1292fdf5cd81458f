package hirschbergsinclair

import "github.com/conclave-bench/conclave/pkg/algo"

// Probe goes up to 2^Phase steps in one direction; it has made Hop.
type Probe struct {
	ID         algo.ID
	Phase, Hop uint32
}

// Reply goes back: no process on that way was larger.
type Reply struct {
	ID    algo.ID
	Phase uint32
}

// Kind is PROBE.
func (Probe) Kind() string { return "PROBE" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

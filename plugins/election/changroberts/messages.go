package changroberts

import "github.com/conclave-bench/conclave/pkg/algo"

// Probe goes round the ring with the ID of the process that wants to lead.
type Probe struct{ ID algo.ID }

// Kind is PROBE.
func (Probe) Kind() string { return "PROBE" }

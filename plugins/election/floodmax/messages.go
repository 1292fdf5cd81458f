package floodmax

import "github.com/conclave-bench/conclave/pkg/algo"

// Largest tells a neighbor in a round which ID is the largest that the sender knows.
type Largest struct {
	Round uint32
	ID    algo.ID
}

// Kind is LARGEST.
func (Largest) Kind() string { return "LARGEST" }

package franklin

import "github.com/conclave-bench/conclave/pkg/algo"

// ID says to the next active process on one side who is active in a phase.
type ID struct {
	ID    algo.ID
	Phase uint32
}

// Kind is ID.
func (ID) Kind() string { return "ID" }

package franklin

import "github.com/conclave-bench/conclave/pkg/algo"

// ID goes to the next active process on one side, with the ID of one that is
// active in a phase.
type ID struct {
	ID    algo.ID
	Phase uint32
}

// Kind is ID.
func (ID) Kind() string { return "ID" }

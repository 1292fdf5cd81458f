package central

import "github.com/conclave-bench/conclave/pkg/algo"

// A Turn names a request: its process and its number.
type Turn struct {
	ID     algo.ID
	Number uint64
}

// Request asks the coordinator for the critical section.
type Request struct{ Turn Turn }

// Grant is the coordinator's permission.
type Grant struct{ Turn Turn }

// Release gives the permission back.
type Release struct{ Turn Turn }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is GRANT.
func (Grant) Kind() string { return "GRANT" }

// Kind is RELEASE.
func (Release) Kind() string { return "RELEASE" }

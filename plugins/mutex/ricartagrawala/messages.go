package ricartagrawala

import "github.com/conclave-bench/conclave/pkg/algo"

// A Stamp orders requests: by sequence number, and equal ones by process.
type Stamp struct {
	Number uint64
	ID     algo.ID
}

// before says whether s comes first.
func (s Stamp) before(t Stamp) bool {
	return s.Number < t.Number || s.Number == t.Number && s.ID < t.ID
}

// Request asks its receiver for permission to enter.
type Request struct{ Stamp Stamp }

// Reply gives permission to the request that it names.
type Reply struct{ Stamp Stamp }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

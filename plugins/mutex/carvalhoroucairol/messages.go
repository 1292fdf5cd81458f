package carvalhoroucairol

import "github.com/conclave-bench/conclave/pkg/algo"

// A Stamp orders requests: by sequence number, and equal ones by process.
type Stamp struct {
	Number uint64
	ID     algo.ID
}

// Request asks its receiver for the permission of the pair.
type Request struct{ Stamp Stamp }

// Reply hands it over.
type Reply struct{}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

// before says whether the request with stamp s comes before that with t.
func (s Stamp) before(t Stamp) bool {
	return s.Number < t.Number || s.Number == t.Number && s.ID < t.ID
}

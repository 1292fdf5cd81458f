package singhaldynamic

import "github.com/conclave-bench/conclave/pkg/algo"

// A Stamp orders requests: by clock, and equal ones by process.
type Stamp struct {
	Clock uint64
	ID    algo.ID
}

// Request asks its receiver for permission to enter.
type Request struct{ Stamp Stamp }

// Reply gives permission. It lasts until its receiver is asked itself.
type Reply struct{ Clock uint64 }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

// before says whether the request with stamp s comes before that with t.
func (s Stamp) before(t Stamp) bool {
	return s.Clock < t.Clock || s.Clock == t.Clock && s.ID < t.ID
}

package jounggroup

import "github.com/conclave-bench/conclave/pkg/algo"

// A Stamp orders requests: by number, and equal ones by process.
type Stamp struct {
	Number uint64
	ID     algo.ID
}

// before says whether s comes first.
func (s Stamp) before(t Stamp) bool {
	return s.Number < t.Number || s.Number == t.Number && s.ID < t.ID
}

// Request asks its receiver for permission to enter in a session.
type Request struct {
	Stamp   Stamp
	Session algo.Session
}

// Reply gives permission to the request that it names. In form ra2 Done is the sender's last
// request that is over, and Followers are the requests, of sessions other than the
// receiver's, that it has started and does not know to be over.
type Reply struct {
	Stamp     Stamp
	Done      uint64
	Followers []Stamp
}

// Start lets the request that it names in, whether or not others have replied.
type Start struct{ Stamp Stamp }

// Left says that all requests of its sender up to that number are over.
type Left struct{ Done uint64 }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

// Kind is START.
func (Start) Kind() string { return "START" }

// Kind is LEFT.
func (Left) Kind() string { return "LEFT" }

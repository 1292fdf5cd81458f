package jounggroup

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks its receiver for permission to enter in a session.
type Request struct {
	Stamp   algo.Stamp
	Session algo.Session
}

// Reply gives permission to the request that it names. In form ra2 Done is the sender's last
// request that is over, and Followers are the requests, of sessions other than the
// receiver's, that it has started and does not know to be over.
type Reply struct {
	Stamp     algo.Stamp
	Done      uint64
	Followers []algo.Stamp
}

// Start lets the request that it names in, whether or not others have replied.
type Start struct{ Stamp algo.Stamp }

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

package lodhakshemkalyani

import (
	"cmp"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Stamp orders requests: by sequence number, and equal ones by process.
type Stamp struct {
	Number uint64
	ID     algo.ID
}

func (s Stamp) compare(t Stamp) int {
	if c := cmp.Compare(s.Number, t.Number); c != 0 {
		return c
	}
	return cmp.Compare(s.ID, t.ID)
}

// Request asks its receiver for permission to enter. If the receiver wants to enter too, this
// also answers its request.
type Request struct {
	Stamp Stamp
	Done  Stamp // the largest that is known to have been served
}

// Reply permits the request Of.
type Reply struct{ Of, Done Stamp }

// Flush says that all requests up to Done have been served, and that Of is next. It is an answer too.
type Flush struct{ Of, Done Stamp }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

// Kind is FLUSH.
func (Flush) Kind() string { return "FLUSH" }

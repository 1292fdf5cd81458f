package lodhakshemkalyani

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks its receiver for permission to enter. If the receiver wants to enter too, this
// also answers its request.
type Request struct {
	Stamp algo.Stamp
	Done  algo.Stamp // the largest that is known to have been served
}

// Reply permits the request Of.
type Reply struct{ Of, Done algo.Stamp }

// Flush says that all requests up to Done have been served, and that Of is next. It is an answer too.
type Flush struct{ Of, Done algo.Stamp }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

// Kind is FLUSH.
func (Flush) Kind() string { return "FLUSH" }

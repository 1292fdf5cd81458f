package ricartagrawala

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks its receiver for permission to enter.
type Request struct{ Stamp algo.Stamp }

// Reply gives permission to the request that it names.
type Reply struct{ Stamp algo.Stamp }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

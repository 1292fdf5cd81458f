package singhaldynamic

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks its receiver for permission to enter.
type Request struct{ Stamp algo.Stamp }

// Reply gives permission. It lasts until its receiver is asked itself.
type Reply struct{ Clock uint64 }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

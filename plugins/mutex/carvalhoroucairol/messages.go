package carvalhoroucairol

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks its receiver for the permission of the pair.
type Request struct{ Stamp algo.Stamp }

// Reply hands it over.
type Reply struct{}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

package neilsenmizuno

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks for the privilege, neighbor by neighbor towards the sink.
type Request struct {
	X algo.ID // the neighbor that sends it
	Y algo.ID // the process that wants the privilege
}

// Privilege lets its receiver in. There is exactly one.
type Privilege struct{}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is PRIVILEGE.
func (Privilege) Kind() string { return "PRIVILEGE" }

package lamport

import "github.com/conclave-bench/conclave/pkg/algo"

// Request asks for the critical section. Its timestamp and its sender are the
// request's place in every queue.
type Request struct{ TS uint64 }

// Reply says that its sender has seen the request, and carries its clock.
type Reply struct{ TS uint64 }

// Release takes its sender's request out of the queue.
type Release struct{ TS uint64 }

// A stamp orders events: by time, and those of equal times by process.
type stamp struct {
	ts uint64
	id algo.ID
}

// before says whether s comes first.
func (s stamp) before(t stamp) bool { return s.ts < t.ts || s.ts == t.ts && s.id < t.id }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

// Kind is RELEASE.
func (Release) Kind() string { return "RELEASE" }

package ble

import (
	"cmp"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Ballot is a claim to lead. Ballots are ordered by N, then by the priority of the process,
// then by its ID, and no two processes use the same.
type Ballot struct {
	N        uint64
	Priority int64
	ID       algo.ID
}

// Request asks for the ballot of its receiver, in a round of the sender's.
type Request struct{ Round uint64 }

// Reply answers it.
type Reply struct {
	Round  uint64
	Ballot Ballot
	Leader Ballot // of the leader that the replier follows, or did before it was down; None: abandoned
	Fit    bool   // quorum-connected, or under rule happy: happy
}

// Prepare announces that its sender leads.
type Prepare struct{ Ballot Ballot }

// Stable is what a process keeps on stable storage.
type Stable struct{ Leader Ballot }

// Kind is HEARTBEAT_REQUEST.
func (Request) Kind() string { return "HEARTBEAT_REQUEST" }

// Kind is HEARTBEAT_REPLY.
func (Reply) Kind() string { return "HEARTBEAT_REPLY" }

// Kind is PREPARE.
func (Prepare) Kind() string { return "PREPARE" }

// Kind is STABLE.
func (Stable) Kind() string { return "STABLE" }

// less orders ballots. That of nobody is the least.
func (b Ballot) less(c Ballot) bool {
	return cmp.Or(cmp.Compare(b.N, c.N), cmp.Compare(b.Priority, c.Priority),
		cmp.Compare(b.ID, c.ID)) < 0
}

package multipaxos

import "github.com/conclave-bench/conclave/pkg/algo"

// A Ballot is a claim to lead. Ballots are ordered by counter, then by ID, and no
// two processes use the same.
type Ballot struct {
	Counter uint64
	ID      algo.ID
}

// Prepare asks for the promise to heed no lower ballot.
type Prepare struct{ Ballot Ballot }

// Promise gives it.
type Promise struct{ Ballot Ballot }

// Nack refuses Ballot: Promised, a higher one, was promised before.
type Nack struct{ Ballot, Promised Ballot }

// Stable is what a process keeps on stable storage.
type Stable struct{ Promised Ballot }

// Kind is PREPARE.
func (Prepare) Kind() string { return "PREPARE" }

// Kind is PROMISE.
func (Promise) Kind() string { return "PROMISE" }

// Kind is NACK.
func (Nack) Kind() string { return "NACK" }

// Kind is STABLE.
func (Stable) Kind() string { return "STABLE" }

// less orders ballots.
func (b Ballot) less(c Ballot) bool {
	return b.Counter < c.Counter || b.Counter == c.Counter && b.ID < c.ID
}

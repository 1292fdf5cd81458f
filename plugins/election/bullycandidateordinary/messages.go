package bullycandidateordinary

import "github.com/conclave-bench/conclave/pkg/algo"

// Election asks a candidate whether it is alive.
type Election struct{ Round Round }

// Answer says that its sender is, in answer to Round.
type Answer struct {
	Round  Round
	Newest uint64 // highest number of a round that its sender had heard of before
}

// Coordinator announces the leader that a round came to.
type Coordinator struct {
	Leader algo.ID
	Round  Round
}

// A Round is one election of one process. Rounds are ordered by number, then by
// initiator, then by its incarnation.
type Round struct {
	Number      uint64
	Initiator   algo.ID
	Incarnation uint32
}

func (r Round) newer(q Round) bool {
	switch {
	case r.Number != q.Number:
		return r.Number > q.Number
	case r.Initiator != q.Initiator:
		return r.Initiator > q.Initiator
	}
	return r.Incarnation > q.Incarnation
}

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is ANSWER.
func (Answer) Kind() string { return "ANSWER" }

// Kind is COORDINATOR.
func (Coordinator) Kind() string { return "COORDINATOR" }

package bullynextinline

import "github.com/conclave-bench/conclave/pkg/algo"

// Election asks the alternative at position K of a list, from 1 on, to replace
// the leader Old. With K = 0 it is of a full election: it asks a process of
// higher ID whether it is alive, and replaces nobody.
type Election struct {
	Attempt
	K     uint32
	Old   algo.ID
	Epoch Epoch // the newest that the sender has heard of
}

// Alive says that its sender is, in answer to that ELECTION.
type Alive struct {
	Attempt
	K uint32
}

// Elected says which process leads, and which are next in line.
type Elected struct {
	Epoch Epoch
	List  []algo.ID // alternatives, the first to be tried first
}

// Memory is what outlives a crash: the newest epoch heard of.
type Memory struct{ Epoch Epoch }

// An Attempt identifies one election of one process across its crashes.
type Attempt struct {
	Incarnation uint32
	Count       uint32
}

// An Epoch is one leadership. Epochs are ordered by number, then by leader.
type Epoch struct {
	Number uint64
	Leader algo.ID
}

func (e Epoch) newer(f Epoch) bool {
	return e.Number > f.Number || e.Number == f.Number && e.Leader > f.Leader
}

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is ALIVE.
func (Alive) Kind() string { return "ALIVE" }

// Kind is ELECTED.
func (Elected) Kind() string { return "ELECTED" }

// Kind is MEMORY; it is kept, never sent.
func (Memory) Kind() string { return "MEMORY" }

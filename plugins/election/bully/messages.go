package bully

// Election asks a process of higher rank whether it is alive.
type Election struct{ Attempt }

// Answer says that its sender is, in answer to Attempt.
type Answer struct{ Attempt }

// OK is the Answer of bully-ok: its sender takes the election over.
type OK struct{ Attempt }

// Coordinator announces its sender.
type Coordinator struct{}

// An Attempt identifies one election of one process across its crashes, so
// that an answer to an earlier one is not taken for an answer to this one.
type Attempt struct {
	Incarnation uint32
	Count       uint32
}

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is ANSWER.
func (Answer) Kind() string { return "ANSWER" }

// Kind is OK.
func (OK) Kind() string { return "OK" }

// Kind is COORDINATOR.
func (Coordinator) Kind() string { return "COORDINATOR" }

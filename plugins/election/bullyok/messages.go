package bullyok

// Election asks a process of higher number whether it is alive.
type Election struct{ Attempt }

// OK says that its sender is, and that it takes the election over.
type OK struct{ Attempt }

// Coordinator announces its sender.
type Coordinator struct{}

// An Attempt identifies one election of one process across its crashes, so
// that an OK to an earlier one is not taken for an OK to this one.
type Attempt struct {
	Incarnation uint32
	Count       uint32
}

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is OK.
func (OK) Kind() string { return "OK" }

// Kind is COORDINATOR.
func (Coordinator) Kind() string { return "COORDINATOR" }

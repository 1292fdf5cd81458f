package bullymodified

// Election asks a process of higher ID whether it is alive.
type Election struct{ Round }

// Alive says that its sender is, in answer to Round.
type Alive struct{ Round }

// Grant lets its receiver, the highest that answered in Round, announce itself.
type Grant struct{ Round }

// Elected announces its sender.
type Elected struct{}

// A Round identifies one election of one process across its crashes, so that
// an answer to an earlier one is not taken for an answer to this one.
type Round struct {
	Incarnation uint32
	Count       uint32
}

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is ALIVE.
func (Alive) Kind() string { return "ALIVE" }

// Kind is GRANT.
func (Grant) Kind() string { return "GRANT" }

// Kind is ELECTED.
func (Elected) Kind() string { return "ELECTED" }

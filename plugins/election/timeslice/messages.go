package timeslice

// Wake goes round the ring, and begins the phases of those that do not want an election.
type Wake struct{}

// Kind is WAKE.
func (Wake) Kind() string { return "WAKE" }

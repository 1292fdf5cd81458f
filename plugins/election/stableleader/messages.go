package stableleader

// OK says that the leader of round K is alive.
type OK struct{ K uint64 }

// Start tells the leader of round K that its round has begun.
type Start struct{ K uint64 }

// Stop tells the leader of round K that it was abandoned.
type Stop struct{ K uint64 }

// Kind is OK.
func (OK) Kind() string { return "OK" }

// Kind is START.
func (Start) Kind() string { return "START" }

// Kind is STOP.
func (Stop) Kind() string { return "STOP" }

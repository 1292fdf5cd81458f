package raynaloriginal

// Request asks for the receiver's X, in poll Round of the sender.
type Request struct{ Round uint64 }

// Reply is the sender's X, in answer to poll Round of the receiver.
type Reply struct {
	Round uint64
	X     Fraction
}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

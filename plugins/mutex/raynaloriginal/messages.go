package raynaloriginal

// Request asks for the receiver's X, in poll Round of the sender.
type Request struct{ Round uint64 }

// Reply says, in answer to poll Round of the receiver, what X of its sender is:
// A(i)^(S+1)/A(i+1)^S, S being how often it has passed the turn.
type Reply struct{ Round, S uint64 }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

package raynalmodified

// Inform says what X of its sender is from now on: A(i)^(S+1)/A(i+1)^S, S being
// how often it has passed the turn.
type Inform struct{ S uint64 }

// Wakeup asks a process that keeps the turn to pass it on, on behalf of its sender,
// whose X it carries: once that has changed, the sender has had its turn. It is
// sent only with park.
type Wakeup struct{ S uint64 }

// Kind is INFORM.
func (Inform) Kind() string { return "INFORM" }

// Kind is WAKEUP.
func (Wakeup) Kind() string { return "WAKEUP" }

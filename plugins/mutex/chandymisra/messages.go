package chandymisra

// Request is the request token of a pair: it asks for the fork.
type Request struct{}

// Fork is the fork of a pair, clean.
type Fork struct{}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is FORK.
func (Fork) Kind() string { return "FORK" }

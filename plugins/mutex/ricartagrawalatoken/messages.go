package ricartagrawalatoken

// Request asks all others for the token: its sender's request number N.
type Request struct{ N uint64 }

// Token lets its receiver in. There is exactly one.
type Token struct {
	Served []uint64 // number of each process's last request that was served, as in Peers
}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }

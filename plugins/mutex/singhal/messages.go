package singhal

import "fmt"

// Request asks for the token: its sender's request number N.
type Request struct{ N uint64 }

// Token lets its receiver in, and says what is known of each process. There is exactly one.
type Token struct {
	State  []State  // Requesting or Neither, as in Peers
	Number []uint64 // of the last request of each for which this is known
}

// A State is what is known of a process.
type State uint8

// The states.
const (
	Neither    State = iota // N: not requesting
	Requesting              // R
	Executing               // E: inside
	Holding                 // H: idle with the token
)

// String is what the state is called where states are shown. A message may hold one that there is not.
func (s State) String() string {
	names := [...]string{"neither", "requesting", "executing", "holding"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprint(uint8(s))
}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }

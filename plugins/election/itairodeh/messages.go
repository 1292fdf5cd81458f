package itairodeh

// Token goes round the ring with the number that an active process has drawn in a round.
type Token struct {
	Round, Number uint32
	Hop           uint32 // how many steps it has made when it arrives
	Unique        bool   // no process on its way had the same number
}

// Kind is TOKEN.
func (Token) Kind() string { return "TOKEN" }

// Wake goes round once, before all pebbles.
type Wake struct{}

// Pebble goes round for each candidate of a round.
type Pebble struct {
	Round uint32
	Hop   uint32 // how many steps it has made when it arrives
}

// Kind is WAKE.
func (Wake) Kind() string { return "WAKE" }

// Kind is PEBBLE.
func (Pebble) Kind() string { return "PEBBLE" }

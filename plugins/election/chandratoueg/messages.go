package chandratoueg

// Alive says that its sender is.
type Alive struct{}

// Kind is ALIVE.
func (Alive) Kind() string { return "ALIVE" }

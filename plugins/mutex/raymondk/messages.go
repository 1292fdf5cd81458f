package raymondk

// Request asks its receiver for permission to enter. Its number and its sender are the stamp.
type Request struct{ N uint64 }

// Reply gives permission: to the request of that number, and to all before it.
type Reply struct{ N uint64 }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

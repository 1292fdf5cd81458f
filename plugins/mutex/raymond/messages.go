package raymond

// Request asks a neighbor for the privilege, on behalf of all that wait behind
// its sender.
type Request struct{}

// Privilege is the right to enter. There is exactly one.
type Privilege struct{}

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is PRIVILEGE.
func (Privilege) Kind() string { return "PRIVILEGE" }

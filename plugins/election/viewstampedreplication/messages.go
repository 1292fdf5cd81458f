package viewstampedreplication

// Commit is the primary's heartbeat. It carries no operations.
type Commit struct{ View uint64 }

// StartViewChange says that its sender gives up all views before View.
type StartViewChange struct{ View uint64 }

// DoViewChange tells the new primary where the sender's log ends: at Op, in the view
// Normal, the last in which the sender was normal.
type DoViewChange struct {
	View, Normal uint64
	Op           int64
}

// StartView is the new primary's first message, with the end of the log that all adopt.
type StartView struct {
	View uint64
	Op   int64
}

// Recovery asks all for the view, after a crash. Nonce is used once.
type Recovery struct{ Nonce uint64 }

// RecoveryResponse answers Nonce. Only the primary of View sends Op.
type RecoveryResponse struct {
	View, Nonce uint64
	Primary     bool
	Op          int64
}

// Kind is COMMIT.
func (Commit) Kind() string { return "COMMIT" }

// Kind is START_VIEW_CHANGE.
func (StartViewChange) Kind() string { return "START_VIEW_CHANGE" }

// Kind is DO_VIEW_CHANGE.
func (DoViewChange) Kind() string { return "DO_VIEW_CHANGE" }

// Kind is START_VIEW.
func (StartView) Kind() string { return "START_VIEW" }

// Kind is RECOVERY.
func (Recovery) Kind() string { return "RECOVERY" }

// Kind is RECOVERY_RESPONSE.
func (RecoveryResponse) Kind() string { return "RECOVERY_RESPONSE" }

package trace

// The values of an experiment's key trace: of which trials the records are kept.
const (
	KeepNone     = "none"
	KeepFailures = "failures" // the first ones of each status and reason, compressed
	KeepAll      = "all"
)

package trace

// The values of an experiment's key trace: of which trials the records are kept.
const (
	KeepNone     = "none"
	KeepFailures = "failures" // the first ones of each status and reason, compressed
	KeepAll      = "all"
)

// KeepSummary is a value of its key keep, besides KeepAll: rows are folded into what is kept of their cell.
const KeepSummary = "summary"

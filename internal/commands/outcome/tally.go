package outcome

import (
	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// A Tally is what the exit code of a run follows from.
type Tally struct {
	Err        error // that ended the run before its time
	Errors     int   // trials that could not be run
	Violations int   // within the model
	Missed     int   // thresholds
	Timeouts   int   // within the model, of algorithms that promise an end
	Invalid    int
	OK, Marked int // Marked are ok as well
	Unknown    int
	Part       bool // of a run: what is too much or too little is known of the whole
	Allow      experiment.Allow
}

// Code weighs what happened: an interruption hides everything else, since
// nothing is complete; then what could not be run, what is wrong, what is worse
// than it should be, and what is missing.
func (t *Tally) Code() int {
	switch {
	case t.Err != nil:
		return answer.ExitOf(t.Err)
	case t.Errors > 0:
		return answer.CouldNotRun
	case t.Violations > 0:
		return answer.Violated
	case t.Missed > 0:
		return answer.Missed
	case t.Part:
	case t.Invalid > t.Allow.Invalid, t.Timeouts > t.Allow.Timeout, t.Unknown > 0,
		t.Allow.TooMarked(t.Marked, t.OK):
		return answer.Incomplete
	}
	return answer.Good
}

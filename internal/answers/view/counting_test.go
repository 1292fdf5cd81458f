package view

import (
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestCounting: no trial is left out of the sentence, whatever became of it.
func TestCounting(t *testing.T) {
	t.Parallel()
	for want, trials := range map[string]map[trace.Status]int{
		"":                      {},
		"1 of 1 trial counts":   {trace.OK: 1},
		"60 of 60 trials count": {trace.OK: 60},
		"50 of 60 trials count; 6 timed out, 4 have no verdict (3 unknown, 1 invalid)": {
			trace.OK: 50, trace.TimedOut: 6, trace.Unknown: 3, trace.Invalid: 1},
		"0 of 5 trials count; 2 broke a promise, 3 have no verdict (1 unstable, 2 error)": {
			trace.Violated: 2, trace.Unstable: 1, trace.Failed: 2},
		"1 of 2 trials count; 1 has no verdict (1 unknown)": {trace.OK: 1, trace.Unknown: 1},
	} {
		if got := Counting(trials); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

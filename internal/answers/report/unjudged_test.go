package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestUnjudged: a page says first how many trials its figures are not of.
func TestUnjudged(t *testing.T) {
	t.Parallel()
	of := func(counts map[trace.Status]int) *Data {
		statuses := make([]int, len(trace.Statuses()))
		for status, n := range counts {
			statuses[slices.Index(trace.Statuses(), status)] = n
		}
		return &Data{Cells: []Cell{{Statuses: statuses}, {Statuses: statuses}}}
	}
	if text := of(map[trace.Status]int{trace.OK: 5, trace.TimedOut: 2, trace.Violated: 1}).Unjudged(); text != "" {
		t.Errorf("all are judged: %s", text)
	}
	text := of(map[trace.Status]int{trace.OK: 5, trace.Unknown: 2, trace.Invalid: 1}).Unjudged()
	if !strings.HasPrefix(text, "6 of 16 trials have no verdict (unknown 4, invalid 2): ") &&
		!strings.HasPrefix(text, "6 of 16 trials have no verdict (invalid 2, unknown 4): ") {
		t.Error(text)
	}
}

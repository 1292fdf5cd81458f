package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
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

// TestInvalid: a cell's footnotes about invalid trials have the remedy of each cause, and no other.
func TestInvalid(t *testing.T) {
	t.Parallel()
	counts := make([]int, len(trace.Statuses()))
	counts[isInvalid] = 1
	invalid := func(reasons ...string) group {
		c := &results.Cell{}
		for _, why := range reasons {
			c.Trials = append(c.Trials, &results.Trial{Status: trace.Invalid, Reason: why})
		}
		return group{Cell: c}
	}
	far := "a time between lab1 and lab2 is known only to 3ms (limit 2ms)"
	b := &builder{Data: &Data{Cells: []Cell{{Statuses: counts}, {Statuses: counts}, {Statuses: counts}}}, groups: []group{
		invalid(far, "the agent on lab2 died: SIGKILL"), invalid(far, far), invalid()}}
	var got []string
	for _, n := range b.invalid() {
		for cell := range b.Cells {
			if n.when(cell) {
				got = append(got, fmt.Sprint(cell, " ", n.text))
			}
		}
	}
	for i, want := range []string{
		"0 trials in which the clocks of hosts were not known well enough are not in the figures; use the latency",
		"1 trials in which the clocks of hosts were not known",
		"0 trials in which a host was lost are not in the figures; look at that machine",
		"2 trials that the machine or the bus disturbed are not in the figures; use fewer nodes or an idle machine, or raise retries",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("%q, want %q in place %d", got, want, i)
		}
	}
	if len(got) != 4 {
		t.Errorf("%q", got)
	}
}

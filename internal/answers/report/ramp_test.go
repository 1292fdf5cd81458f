package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestSteps: each entry counts as a request in the step in which it came, and as a grant in
// that in which it was granted, unless the ramp was over; keys that were swept are those of
// the cell. A load that does not rise has no steps.
func TestSteps(t *testing.T) {
	t.Parallel()
	table := &results.Table{Config: []byte("scenario: {kind: ramp, from: 10, to: 99, steps: 3, duration: 3s}\n")}
	cell := func(kind string) *results.Cell {
		return &results.Cell{Number: 1, Design: []metric.Field{{Name: "scenario", Value: kind},
			{Name: "scenario_to", Value: "30"}}}
	}
	if c := climbOf(table, cell("open")); c != nil {
		t.Errorf("open load: %+v, want no steps", c)
	}
	c := climbOf(table, cell("ramp"))
	s := time.Second
	for _, op := range []trace.Operation{
		{Cause: s / 2, End: s, Status: trace.Completed},
		{Cause: s / 2, End: 2 * s, Status: trace.Completed},
		{Cause: 2*s + s/2, End: 4 * s, Status: trace.Completed},
		{Cause: s / 2, End: -1, Status: trace.Crashed},
	} {
		c.add(op)
	}
	if got, want := fmt.Sprint(c.steps(2)), "[{10 0 1000} {20 0.5 NaN} {30 0.5 1500}]"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	var none *climb
	none.add(trace.Operation{})
	if none.steps(1) != nil {
		t.Error("steps of a load that does not rise")
	}
}

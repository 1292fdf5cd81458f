package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestUnderway: reasons that differ by numbers or the machine alone are one, the most frequent first, with the
// machines; an attempt that is repeated is not finished; and the time to go is as the time so far.
func TestUnderway(t *testing.T) {
	var u Underway
	add := func(host string, status trace.Status, reason string, final bool) {
		u.Add(&results.Trial{Host: host, Status: status, Reason: reason}, final)
	}
	add("x", trace.Invalid, "the bus was restarted", false)
	for i, host := range []string{"lab-a", "lab-b", "c", "d", "e", "c"} {
		add(host, trace.Invalid, fmt.Sprintf("the clock of %s is known to %d.5µs only", host, i+3), false)
	}
	add("c", trace.OK, "", true)
	add("", trace.Violated, "", true)
	list := u.Reasons()
	if len(list) != 2 || list[0].Count != 6 || list[0].Text != "the clock of c is known to 8.5µs only" ||
		list[0].Where() != "c, d, e and 2 others" || list[1].Where() != "x" {
		t.Errorf("%+v", list)
	}
	if u.Finished != 2 || u.Counts[trace.OK] != 1 || u.Machines["c"] != (Done{1, 2}) || len(u.Machines) != 6 {
		t.Errorf("%+v", u)
	}
	now := time.Now()
	for _, c := range []struct {
		planned, before int
		want            time.Duration
	}{{8, 0, 30 * time.Second}, {8, 1, time.Minute}, {2, 0, 0}, {8, 2, 0}} {
		if left := u.Left(c.planned, c.before, now.Add(-10*time.Second), now); left != c.want {
			t.Errorf("%+v: %v left", c, left)
		}
	}
}

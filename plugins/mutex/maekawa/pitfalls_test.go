package maekawa_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// TestRestart is pitfall P28: 4 comes back from a crash while 3 is inside with its
// lock. 1 has no other arbiter in common with 3, and does not get that lock. Nor does
// 4 ask for locks that 5 could have, since it would keep them for ever.
func TestRestart(t *testing.T) {
	t.Parallel()
	request := func(at time.Duration, p algo.ID) harness.Event {
		return harness.Event{At: at, Do: harness.DoRequest, Node: p}
	}
	for _, test := range []struct {
		then []harness.Event
		want string
	}{
		{[]harness.Event{request(110*ms, 1)}, "[5 at 2ms 3 at 102ms]"},
		{[]harness.Event{request(110*ms, 4), request(200*ms, 5)}, "[5 at 2ms 3 at 102ms 5 at 202ms]"},
	} {
		c := algotest.Entries{Nodes: 7, Until: time.Second, Events: append([]harness.Event{
			request(0, 5), request(100*ms, 3),
			{At: 105 * ms, Do: harness.DoCrash, Node: 4}, {At: 106 * ms, Do: harness.DoRestart, Node: 4},
		}, test.then...)}
		p := c.Plan(t, id)
		p.InModel = false
		p.Scenario.Set("hold", link.Constant(20*ms))
		o := algotest.MustSimulate(t, p)
		var entries []string
		for _, op := range o.Operations {
			if op.Status == "ok" {
				entries = append(entries, fmt.Sprintf("%d at %v", op.Process, op.End))
			}
		}
		if got := fmt.Sprint(entries); got != test.want || len(o.Violations) > 0 {
			t.Errorf("%s, %s; want %s", got, o.Reason, test.want)
		}
	}
}

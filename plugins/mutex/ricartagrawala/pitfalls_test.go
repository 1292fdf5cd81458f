package ricartagrawala_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// TestRestart is pitfall P28: 2 crashes and comes back while 3 is inside. It has seen
// no number, and yet its request does not come before that of 3.
func TestRestart(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	request := func(at time.Duration, p algo.ID) harness.Event {
		return harness.Event{At: at, Do: harness.DoRequest, Node: p}
	}
	c := algotest.Entries{Nodes: 3, Until: time.Second, Events: []harness.Event{
		request(0, 1), request(0, 2), request(0, 3), // so that clocks and numbers are high
		request(100*ms, 3),
		{At: 105 * ms, Do: harness.DoCrash, Node: 2}, {At: 106 * ms, Do: harness.DoRestart, Node: 2},
		request(110*ms, 2), // 3 is inside
	}}
	p := c.Plan(t, id)
	p.InModel, p.Scenario.Hold = false, link.Constant(20*ms)
	o, err := algotest.Simulate(p)
	if err != nil {
		t.Fatal(err)
	}
	last := o.Operations[len(o.Operations)-1]
	if o.Status != check.OK || o.Completed != 5 || last.Process != 2 || last.End <= 120*ms {
		t.Errorf("%s: %s, entries %v; want those of 1, 2, 3, 3, and of 2 when 3 has left",
			o.Status, o.Reason, o.Operations)
	}
}

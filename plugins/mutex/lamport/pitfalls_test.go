package lamport_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// TestRestart is pitfall P28: 2 crashes and comes back while 3 is inside. It has lost
// the queue with the request of 3 in it, and asks no more.
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
	if o.Status != check.Timeout || o.Completed != 4 || o.Operations[3].Process != 3 {
		t.Errorf("%s: %s, entries %v; want those of 1, 2, 3 and 3, and no more",
			o.Status, o.Reason, o.Operations)
	}
}

package host_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// served3 is a trial of three clients and the server.
func served3(t *testing.T, plot harness.Plot, params map[string]any, events ...harness.Event) harness.Plan {
	needWire(t)
	p := plan(t, "mutex/test-service", 4, harness.Scenario{Plot: plot}, params)
	p.Network = link.Network{Latency: link.Constant(ms(2))}
	p.Servers, p.Faults.Events = 1, events
	return onWire(p)
}

// runServed runs it until the machine does not spoil it.
func runServed(t *testing.T, p harness.Plan) outcome {
	t.Helper()
	m := newMachine(t, p.Nodes)
	for range 5 {
		o := once(t, m, p)
		if len(o.End.Invalid) == 0 {
			return o
		}
		t.Logf("again: %v", o.End.Invalid)
	}
	t.Fatal("no valid trial of five")
	return outcome{}
}

// TestTrial_Service: clients alone ask and are judged; the server is a node, too.
func TestTrial_Service(t *testing.T) {
	p := served3(t, &harness.Closed{Requests: 9, Think: link.Constant(ms(5)), Hold: link.Constant(ms(3))}, nil)
	o := runServed(t, p)
	if o.Verdict.Status != trace.OK || len(o.Verdict.Operations) != 9 {
		t.Fatalf("%v: %s; %d entries", o.Verdict.Status, o.Verdict.Reason, len(o.Verdict.Operations))
	}
	asked := map[uint32]int{}
	for i := range o.Trace {
		if r := &o.Trace[i]; r.Type == trace.Request {
			asked[r.Process]++
		}
	}
	if asked[1] != 3 || asked[2] != 3 || asked[3] != 3 || asked[4] != 0 {
		t.Errorf("requests by process: %v", asked)
	}
	for _, m := range o.Verdict.Metrics {
		if m.Name == "messages_total" {
			t.Errorf("messages of a system are %v, but nobody sees them", m)
		}
	}
	for _, op := range o.Verdict.Operations { // a request and its answer cross the wire
		if op.End-op.Begin < ms(4) {
			t.Errorf("an entry took %v over links of 2ms", op.End-op.Begin)
		}
	}
}

// TestTrial_ServiceCrashes: the server is killed with all that it has started, and starts again in its folder;
// the clients wait meanwhile.
func TestTrial_ServiceCrashes(t *testing.T) {
	p := served3(t, &harness.Closed{Requests: 60, Think: link.Constant(ms(20)), Hold: link.Constant(ms(3))}, nil,
		harness.Event{At: ms(200), Do: harness.DoCrash, Who: "server-leader"},
		harness.Event{At: ms(500), Do: fault.Restart, Who: "server-1"})
	o := runServed(t, p)
	if o.Verdict.Status != trace.OK || o.Verdict.Totals.Sent != 0 {
		t.Fatalf("%v: %s", o.Verdict.Status, o.Verdict.Reason)
	}
	var down, up time.Duration
	count, last := map[string]bool{}, ""
	for i := range o.Trace {
		switch r := &o.Trace[i]; {
		case r.Type == trace.Crash && r.Process == 4:
			down = r.At
		case r.Type == trace.Up && r.Process == 4 && r.Incarnation == 1:
			up = r.At
		case r.Type == trace.Log:
			last = r.Text
			if count[r.Text] {
				t.Errorf("%q twice: the server has forgotten", r.Text)
			}
			count[r.Text] = true
		}
	}
	given := 0
	if _, err := fmt.Sscanf(last, "granted %d", &given); err != nil {
		t.Fatal(err)
	}
	// A crash between a grant in the file and its answer loses that answer, and no more than that.
	if lost := given - len(count); down < ms(200) || up < ms(500) || lost < 0 || lost > 1 {
		t.Errorf("down at %v, up at %v, then %q after %d", down, up, last, len(count))
	}
	if list, _ := exec.Command("pgrep", "-x", "-f", "sleep 600").Output(); len(list) > 0 {
		t.Errorf("programs are left: %s", list)
	}
}

// TestTrial_ServicePauses: what stands still is all that the server's node runs.
func TestTrial_ServicePauses(t *testing.T) {
	p := served3(t, &harness.Closed{Requests: 60, Think: link.Constant(ms(20)), Hold: link.Constant(ms(3))}, nil,
		harness.Event{At: ms(200), Do: harness.DoPause, Who: "servers", For: ms(300)})
	o := runServed(t, p)
	if o.Verdict.Status != trace.OK {
		t.Fatalf("%v: %s", o.Verdict.Status, o.Verdict.Reason)
	}
	from, to := time.Duration(0), time.Duration(0)
	for i := range o.Trace {
		switch r := &o.Trace[i]; {
		case r.Type == trace.Pause:
			from = r.At
		case r.Type == trace.Resume:
			to = r.At
		case r.Type == trace.Granted && from > 0 && to == 0 && r.At > from+ms(3):
			t.Errorf("granted at %v while the server stands still since %v", r.At, from)
		}
	}
	if from < ms(200) || to < ms(500) {
		t.Errorf("paused from %v to %v", from, to)
	}
}

// TestTrial_ServiceDoesNotStart: the trial is invalid, for the server's own reason, as text.
func TestTrial_ServiceDoesNotStart(t *testing.T) {
	p := served3(t, &harness.Closed{Requests: 9}, map[string]any{"broken": true})
	o := once(t, newMachine(t, p.Nodes), p)
	if len(o.End.Invalid) == 0 || !strings.Contains(o.End.Invalid[0], "no space left") ||
		strings.Contains(o.End.Invalid[0], "\x1b") {
		t.Fatalf("%q", o.End.Invalid)
	}
}

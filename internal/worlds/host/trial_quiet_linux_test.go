package host_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTrial_QuietIsNotFoundTooEarly: at most instants one message is under way,
// or one timer pending, and nothing else.
func TestTrial_QuietIsNotFoundTooEarly(t *testing.T) {
	m := newMachine(t, 5)
	for _, c := range []struct {
		pause, latency time.Duration
		hops           int64
	}{
		{ms(15), ms(40), 8},
		{0, 50 * time.Microsecond, 1500},
		{200 * time.Microsecond, 0, 500},
	} {
		p := plan(t, "election/test-chain", 5, harness.Scenario{Plot: &harness.ColdStart{}},
			map[string]any{"hops": c.hops, "pause": c.pause})
		p.Network.Latency = link.Constant(c.latency)
		begun := time.Now()
		o := run(t, m, p)
		took := time.Since(begun)
		if o.Totals.Delivered != c.hops || o.End.Reason != harness.Stuck || o.End.Pending != 0 {
			t.Errorf("%v: %d of %d hops: %s", c, o.Totals.Delivered, c.hops, o.End.Reason)
		}
		last := o.Trace[len(o.Trace)-1]
		if o.End.At != last.At {
			t.Errorf("%v: ends at %v, last record at %v", c, o.End.At, last.At)
		}
		t.Logf("%v: quiet since %v, trial over after %v", c, o.End.At, took)
	}
}

// TestTrial_BeginsBeforeItIsQuiet: the first look must not take a process that has
// not begun for one that has nothing to do.
func TestTrial_BeginsBeforeItIsQuiet(t *testing.T) {
	t.Parallel()
	m := newMachine(t, 4)
	for seed := range 5 {
		p := plan(t, "mutex/naimi-trehel", 4, harness.Scenario{Plot: &harness.Closed{
			Requests: 8, Think: link.Uniform(ms(5), ms(20)), Hold: link.Constant(ms(1)),
		}}, nil)
		p.Seed = uint64(seed)
		if o := run(t, m, p); o.Completed != 8 || o.Status != trace.OK {
			t.Errorf("seed %d: %d of 8 entries, %s: %s", seed, o.Completed, o.Status, o.Reason)
		}
	}
}

// TestTrial_UndeliverableIsWaitedFor: a message to a process that is down is in
// flight like any other.
func TestTrial_UndeliverableIsWaitedFor(t *testing.T) {
	p := plan(t, "election/test-numbered", 3, script(harness.Event{Do: harness.DoElect, Node: 1}),
		map[string]any{"messages": int64(5)})
	p.Crashed = append(p.Crashed, 2, 3)
	p.Network = link.Network{Latency: link.Constant(ms(60)), Loss: 0.3}
	o := run(t, newMachine(t, 3), p)
	if err := same(simulate(t, p), o); err != nil || o.Totals.Undeliverable == 0 || o.Totals.Lost == 0 {
		t.Errorf("%+v: %v", o.Totals, err)
	}
	if o.End.At < ms(60) {
		t.Errorf("ends at %v", o.End.At)
	}
}

// TestTrial_Stuck: what can never go on ends long before the time limit.
func TestTrial_Stuck(t *testing.T) {
	m := newMachine(t, 3)
	for name, s := range map[string]harness.Scenario{
		"burst":      {Plot: &harness.Burst{Initiators: 1}},
		"closed":     {Plot: &harness.Closed{Requests: 6, Think: link.Constant(ms(5))}},
		"sequential": {Plot: &harness.Sequential{Requests: 10}},
		"a line that waits for a release": script(
			harness.Event{Do: harness.DoRequest, Node: 1},
			harness.Event{After: "release", Do: harness.DoRequest, Node: 2}),
	} {
		p := plan(t, "mutex/test-loser", 3, s, nil)
		p.TimeLimit = time.Hour
		want := simulate(t, p)
		begun := time.Now()
		o := run(t, m, p)
		if err := same(want, o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %s at %v, over after %v", name, o.End.Reason, o.End.At, time.Since(begun))
	}
}

// TestTrial_TimeLimit ends what would go on.
func TestTrial_TimeLimit(t *testing.T) {
	p := plan(t, "election/test-chatter", 3, script(), map[string]any{
		"rounds": int64(1 << 30), "pause": ms(1),
	})
	p.TimeLimit = ms(150)
	o := run(t, newMachine(t, 3), p)
	if o.End.Reason != harness.TimeLimit || o.End.At != ms(150) || o.Status == trace.Failed {
		t.Errorf("%+v, %s: %s", o.End, o.Status, o.Reason)
	}
	for i := range o.Trace {
		if r := &o.Trace[i]; r.At > ms(150) && r.Type != trace.Crash {
			t.Errorf("%v at %v", r.Type, r.At)
		}
	}
}

// TestTrial_QuietSeesTheWholeTrial: many short trials, since it takes a host that
// is interrupted at the wrong place.
func TestTrial_QuietSeesTheWholeTrial(t *testing.T) {
	m := newMachine(t, 3)
	p := plan(t, "election/test-numbered", 3, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"messages": int64(3)})
	trials := 15
	if slowtest.Night() {
		trials = 1000
	}
	for range trials {
		if o := run(t, m, p); o.Totals.Delivered != 18 || o.End.Pending != 0 {
			t.Fatalf("%+v, %+v", o.Totals, o.End)
		}
	}
}

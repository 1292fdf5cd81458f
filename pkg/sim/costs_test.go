package sim_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// costing runs an actor where handling takes so much time.
func costing(t *testing.T, n int, f act, c harness.Costs, events ...harness.Event) (harness.End, trace.List) {
	t.Helper()
	return script(t, n, f, func(p *harness.Plan) {
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		p.Costs = &c
	}, events...)
}

// toAll has whoever is told to elect send to all others.
func toAll(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
	if what == "elect" {
		for _, p := range a.Peers {
			if p != a.ID {
				env.Send(p, Note{})
			}
		}
	}
}

// TestCosts_OneAfterTheOther: what comes to a process that handles something waits.
func TestCosts_OneAfterTheOther(t *testing.T) {
	t.Parallel()
	_, list := costing(t, 2, sender, harness.Costs{Receive: 5 * ms, Timer: ms / 2}, elects(1, 2, 9)...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"2ms deliver p2 1 #1", "7ms deliver p2 1 #2", "12ms deliver p2 1 #3",
	})
}

// TestCosts_Handling: what a message leads to happens when its handler is done, and what comes meanwhile
// waits. A latency does not hide it.
func TestCosts_Handling(t *testing.T) {
	t.Parallel()
	echo := func(a *actor, env algo.Env, what string, from algo.ID, _ algo.Message) {
		switch {
		case what == "elect":
			env.Send(2, Note{})
		case from == 1:
			env.Send(from, Note{})
		}
	}
	_, list := costing(t, 2, echo, harness.Costs{Handling: 5 * ms}, elects(1, 2)...)
	same(t, "messages", tell(list, trace.Send, trace.Deliver), []string{
		"1ms send p1 2 #1", "2ms send p1 2 #2", "7ms deliver p2 1 #1", "7ms send p2 1 #1",
		"12ms deliver p2 1 #2", "12ms send p2 1 #2", "13ms deliver p1 2 #1", "18ms deliver p1 2 #2",
	})
}

// TestCosts_Send: messages leave one after the other, and take at least what the bus takes; a
// latency that is longer hides both.
func TestCosts_Send(t *testing.T) {
	t.Parallel()
	elect := harness.Event{At: ms, Do: harness.DoElect, Node: 1}
	_, list := costing(t, 4, toAll, harness.Costs{Send: ms / 2, Transit: ms / 4}, elect)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"2ms deliver p2 1 #1", "2.25ms deliver p3 1 #1", "2.75ms deliver p4 1 #1",
	})
	_, list = costing(t, 4, toAll, harness.Costs{Byte: 1000 * ms}, elect) // a note has three bytes
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"4ms deliver p2 1 #1", "7ms deliver p3 1 #1", "10ms deliver p4 1 #1",
	})
}

// TestCosts_Processors: those that have something to do wait for a processor, in the order in
// which they came; one that sleeps keeps its own for a while, and so does the bus.
func TestCosts_Processors(t *testing.T) {
	t.Parallel()
	elect := harness.Event{At: 11 * ms, Do: harness.DoElect, Node: 1}
	_, list := costing(t, 6, toAll, harness.Costs{Processors: 2, Receive: ms, Rest: 2 * ms}, elect)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"12ms deliver p2 1 #1", "13ms deliver p3 1 #1", "15ms deliver p4 1 #1", "16ms deliver p5 1 #1",
		"18ms deliver p6 1 #1",
	})
	_, list = costing(t, 3, toAll, harness.Costs{Processors: 1, Relay: 5 * ms}, elect)
	same(t, "deliveries", tell(list, trace.Deliver), []string{"21ms deliver p2 1 #1", "21ms deliver p3 1 #1"})
}

// TestCosts_Wake: a process that sleeps wakes late, and learns to have itself woken early; one that
// is awake does not.
func TestCosts_Wake(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	_, list := costing(t, 2, sender, harness.Costs{Wake: link.Constant(20 * us), Receive: ms},
		elects(1, 2, 11, 21, 31, 41, 51, 61, 71, 81, 91, 101, 111, 121, 131, 141)...)
	var late []time.Duration
	for _, r := range list {
		if r.Type == trace.Deliver {
			late = append(late, r.At-r.Due)
		}
	}
	switch {
	case late[0] != 20*us:
		t.Errorf("the first wake-up is %v late", late[0])
	case late[1] <= 20*us:
		t.Errorf("what came while it was busy was handled %v after it was due", late[1])
	case late[3] >= late[2] || late[15] != 0:
		t.Errorf("it does not learn: %v", late)
	}
}

// TestCosts_Save: what is sent after a save leaves when the disk has it, and nothing is handled
// before. All that one event saves is one write. A process that crashes before has sent nothing.
func TestCosts_Save(t *testing.T) {
	t.Parallel()
	f := func(a *actor, env algo.Env, what string, _ algo.ID, _ algo.Message) {
		if what == "elect" {
			env.Save(Note{})
			env.Save(Note{})
			env.Send(2, Note{})
		}
	}
	disk := harness.Costs{Save: link.Constant(10 * ms)}
	end, list := costing(t, 2, f, disk, elects(1, 2)...)
	same(t, "messages", tell(list, trace.Send, trace.Deliver), []string{
		"11ms send p1 2 #1", "12ms deliver p2 1 #1", "21ms send p1 2 #2", "22ms deliver p2 1 #2",
	})
	conserved(t, end, list)
	end, list = costing(t, 2, f, disk, append(elects(1),
		harness.Event{At: 5 * ms, Do: harness.DoCrash, Node: 1})...)
	same(t, "messages", tell(list, trace.Send, trace.Deliver), nil)
	conserved(t, end, list)
	end, list = script(t, 2, f, func(p *harness.Plan) { p.Costs = &disk; p.Scenario.Set("until", 5*ms) }, elects(1)...)
	same(t, "messages before the end", tell(list, trace.Send), nil)
	conserved(t, end, list)
}

// TestCosts_Hindered: what a process has not handled when it is paused comes first when it goes on;
// what it has not handled when it crashes finds it down.
func TestCosts_Hindered(t *testing.T) {
	t.Parallel()
	busy := harness.Costs{Processors: 2, Receive: 5 * ms}
	_, list := costing(t, 2, sender, busy, append(elects(1, 2, 3, 12),
		harness.Event{At: 4 * ms, Do: harness.DoPause, Node: 2, For: 9 * ms})...)
	same(t, "deliveries", tell(list, trace.Deliver), []string{
		"2ms deliver p2 1 #1", "13ms deliver p2 1 #2", "18ms deliver p2 1 #3", "23ms deliver p2 1 #4",
	})
	end, list := costing(t, 2, sender, busy, append(elects(1, 2, 3),
		harness.Event{At: 5 * ms, Do: harness.DoCrash, Node: 2, For: ms})...)
	same(t, "what found it down", tell(list, trace.Deliver, trace.Undelivered), []string{
		"2ms deliver p2 1 #1", "5ms undelivered p2 1 #2", "5ms undelivered p2 1 #3",
	})
	conserved(t, end, list)
}

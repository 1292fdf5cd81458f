package host

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// stopNodes ends the nodes and takes their farewells.
func (t *trial) stopNodes() {
	waiting := 0
	for _, n := range t.nodes {
		if !n.dead && n.failure == "" {
			if n.paused { // else it cannot answer
				_, _ = t.signal(agent.Resume, n)
			}
			t.orderNode(n, control.Order{Stop: true})
			waiting++
		}
	}
	deadline := time.NewTimer(control.StopPatience)
	defer deadline.Stop()
	for waiting > 0 {
		select {
		case r := <-t.reports:
			n := t.incarnation(r.Node)
			switch {
			case r.Lost != "":
				t.lose(r.Lost)
				waiting = 0
			case n == nil:
			case r.Bye != nil:
				n.bye = r.Bye
				waiting--
			case n.dead || n.bye != nil || n.failure != "":
			case r.Complains():
				t.nodeBroke(n, &r)
				waiting--
			case r.Ended != nil:
				t.nodeDied(n, r.Ended)
				waiting--
			}
		case <-deadline.C:
			waiting = 0
		}
	}
	for _, n := range t.nodes {
		t.judgeFarewell(n)
	}
	if len(t.invalid) == 0 {
		t.machine.kept(len(t.nodes))
	}
}

// judgeFarewell looks for what skewed the trial on a node, by what it said at the end.
func (t *trial) judgeFarewell(n *node) {
	switch {
	case n.dead || n.failure != "" || len(t.invalid) > 0:
	case n.bye == nil:
		t.invalid = append(t.invalid, fmt.Sprintf("node p%d did not answer at the end: it hangs, "+
			"or the plugin's handler does not return", n.ID))
	case missedStart(n.bye.Late):
		t.invalid = append(t.invalid, fmt.Sprintf("node p%d started %v late", n.ID, n.bye.Late))
		t.machine.missed(len(t.nodes), n.bye.Late)
	}
	if n.bye != nil {
		for _, f := range n.bye.Faults {
			t.invalid = append(t.invalid, fmt.Sprintf("node p%d: %s", n.ID, f))
		}
	}
}

// compareBus looks for what went wrong on the bus during the trial. That it died
// comes first: what the nodes complain of follows from it.
func (t *trial) compareBus(before []bus.ServerStats) {
	after, err := t.machine.busStats()
	if err != nil {
		why := err.Error()
		var gone *agent.GoneError
		switch {
		case errors.As(err, &gone):
			why = gone.Error()
		case !errors.Is(err, agent.ErrBusDied):
			why = "the bus does not answer: " + why
		}
		t.machine.spent = true
		t.invalid = slices.DeleteFunc(t.invalid, func(s string) bool { return s == why })
		t.invalid = slices.Insert(t.invalid, 0, why)
		return
	}
	for i, s := range t.sites[:len(after)] {
		for _, why := range unrest(before[i], after[i], s.spawned) {
			t.invalid = append(t.invalid, t.machine.of(t.machine.hosts[i], errors.New(why)).Error())
		}
	}
}

// unrest is what spoiled a trial of so many nodes on a server of the bus meanwhile.
func unrest(before, after bus.ServerStats, nodes uint64) (why []string) {
	if before.Routes != after.Routes {
		why = append(why, fmt.Sprintf("the bus lost a route to another host: it had %d and has %d",
			before.Routes, after.Routes))
	}
	if n := after.SlowConsumers - before.SlowConsumers; n > 0 {
		why = append(why, fmt.Sprintf("slow consumers on the bus: %d", n))
	}
	if n := after.StaleClients - before.StaleClients; n > 0 {
		why = append(why, fmt.Sprintf("silent clients cut off by the bus: %d: the machine was too busy for "+
			"them to answer, or they hung; use fewer nodes, or end other programs", n))
	}
	if n := after.StaleRoutes - before.StaleRoutes; n > 0 {
		why = append(why, fmt.Sprintf("silent routes to other hosts cut off by the bus: %d: the network "+
			"between the hosts, or one of them, stalled", n))
	}
	if n := after.StalledClients - before.StalledClients; n > 0 {
		why = append(why, fmt.Sprintf("clients stalled by the bus: %d", n))
	}
	if n := after.TotalConnections - before.TotalConnections; n > nodes {
		why = append(why, fmt.Sprintf("unknown clients on the bus: %d connections, but only %d "+
			"nodes", n, nodes))
	}
	return why
}

package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A reign is what the coordinator knows of the leader, by the definition that the algorithm's
// Spec names. Events that happen to a leader ask it at their instant, those of a scenario and
// all others alike: one that comes due while no process leads waits until one does.
type reign struct {
	*Leadership
	links  Links
	leader algo.ID       // None: nobody leads
	since  time.Duration // when it began to, without a break
	former algo.ID       // the leader before it
	lost   time.Duration // until when
	toll   Toll
}

// A Toll is what became of the events of a trial that happen to a leader. Those that strike
// on a trigger are not among them: they wait for something else.
type Toll struct {
	Due    int           `json:"due,omitempty"`    // came to their instant
	Struck int           `json:"struck,omitempty"` // of those: a process led, at last
	Waited time.Duration `json:"waited,omitempty"` // how long all that struck had waited
	// Drawn are those of Struck that the scenario drew, which are to happen to a settled
	// leader; Settled are those whose leader had led for the settling without a break.
	Drawn   int `json:"drawn,omitempty"`
	Settled int `json:"settled,omitempty"`
}

// begin has the coordinator follow which process leads, if an event of the trial happens to a leader.
func (d *Coordinator) begin() {
	if d.setup.Alg.Problem != algo.Election {
		return
	}
	asked := false
	for e := range d.setup.Timeline() {
		asked = asked || e.ByLeader()
	}
	for _, e := range d.events() {
		asked = asked || e.ByLeader()
	}
	if !asked {
		return
	}
	g := &reign{links: Links{Nodes: uint32(d.setup.Nodes)}}
	g.Leadership = NewLeadership(d.setup.Leader, d.up, d.faults.paused, &g.links)
	g.leader = g.By(d.setup.Alg.Spec.Service, 0)
	d.reign = g
}

// follow takes in a record by which another process may lead, or none. Events that wait are
// to strike as soon as one does.
func (d *Coordinator) follow(r *trace.Record) {
	g := d.reign
	if g == nil {
		return
	}
	switch p := algo.ID(r.Process); r.Type {
	case trace.Elected:
		leader := algo.ID(r.Peer)
		if int(leader) > d.setup.Nodes {
			leader = algo.None
		}
		if !d.up[p-1] || !g.Name(p, leader) {
			return
		}
	case trace.Up:
		if r.Incarnation > 0 {
			g.Belief[p-1] = algo.None
		}
		g.Regroup(r.At)
	case trace.Crash, trace.Pause, trace.Resume:
		g.Regroup(r.At)
	case trace.Cut, trace.Heal:
		g.links.Record(r)
		g.Regroup(r.At)
	default:
		return
	}
	g.crown(g.By(d.setup.Alg.Spec.Service, r.At), r.At)
	if g.leader == algo.None {
		return
	}
	for i := range d.faults.list {
		if f := &d.faults.list[i]; f.waits && !f.called {
			f.called = true
			d.out = append(d.out, Instruction{At: r.At, Do: fault.Strike, Fault: f.index})
		}
	}
}

// crown notes which process leads from an instant on. A process that leads again at the instant at
// which it was gone has led all the time.
func (g *reign) crown(leader algo.ID, at time.Duration) {
	switch {
	case leader == g.leader:
		return
	case leader == algo.None:
		g.former, g.lost = g.leader, at
	case leader == g.former && at == g.lost:
	default:
		g.since = at
	}
	g.leader = leader
}

// leaderless says whether an event that has come due has to wait until a process leads.
func (d *Coordinator) leaderless(f *occasion, due time.Duration) bool {
	g := d.reign
	if g == nil || !f.ByLeader() {
		return false
	}
	if !f.waits {
		f.due = due
		g.toll.Due++
	}
	f.waits, f.called = g.leader == algo.None, false
	return f.waits
}

// note counts an event that has struck a leader at now.
func (d *Coordinator) note(f *occasion, now time.Duration, waited bool) {
	g := d.reign
	if g == nil || !f.ByLeader() {
		return
	}
	g.toll.Struck++
	if waited {
		g.toll.Waited += now - f.due
	}
	if f.Led {
		g.toll.Drawn++
		if now-g.since >= d.setup.settle {
			g.toll.Settled++
		}
	}
}

// Toll is what became of the events that happen to a leader.
func (d *Coordinator) Toll() Toll {
	if d.reign == nil {
		return Toll{}
	}
	return d.reign.toll
}

// later has an event of the scenario come due at its instant.
func (d *Coordinator) later(e Event) {
	f := d.faults.add(&e)
	d.out = append(d.out, Instruction{At: e.At, Do: fault.Strike, Fault: f.index})
}

// pending says whether what the scenario does to a leader has not happened yet.
func (d *Coordinator) pending() bool {
	if d.cold {
		return true
	}
	if d.reign == nil {
		return false
	}
	for i := range d.faults.list {
		if f := &d.faults.list[i]; f.Led && f.fired == 0 {
			return true
		}
	}
	return false
}

package harness

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Coordinator leads one trial through its scenario. Like an algorithm it is a
// state machine: it receives what happens and answers with instructions.
type Coordinator struct {
	setup *Setup
	out   []Instruction

	beliefs []algo.ID // whom each process names; by ID - 1
	up      []bool
	undone  int    // live processes whose application has not had all its entries
	busy    []bool // of those; by ID - 1

	faults   faults
	reign    *reign    // nil: nothing happens to a leader
	struck   algo.ID   // to whom the scenario last did something
	present  situation // the event that is being carried out
	scene    scene
	causes   []trace.Type
	ends     time.Duration // of the Plot
	last     time.Duration // the last instant that is known
	asked    int           // requests of the script so far, and those known before the start
	released int           // entries that are over, where Watches asks for them
	caused   bool          // elections: what is to be measured has happened
	cold     bool          // what happens to a settled leader waits: there was none at the start
	changed  time.Duration // when a process last named a leader, came or went

	stuckAt  uint64        // activity when the trial fell quiet without an end
	patience time.Duration // until when a detector may still notice something
	stuck    bool
	over     bool
}

// NewCoordinator makes the coordinator of a trial.
func NewCoordinator(s *Setup) *Coordinator {
	d := &Coordinator{
		setup: s, scene: s.plot.scene(), ends: s.plot.Ends(), causes: s.plot.Cause(),
		beliefs: make([]algo.ID, s.Nodes), up: make([]bool, s.Nodes),
	}
	d.caused = d.causes == nil
	for i := range d.up {
		d.beliefs[i], d.up[i] = s.Leader, true
	}
	for _, p := range s.Crashed {
		d.up[p-1] = false
	}
	d.busy = make([]bool, s.Nodes)
	for i, up := range d.up {
		d.employ(i, up)
	}
	d.faults.init(s)
	d.begin()
	d.cold = s.Cold()
	return d
}

// Timeline is what is to happen at fixed instants: known before the start, so
// that each node can act by its own clock. Sorted by instant; instructions of
// one instant stand in the order of the scenario.
func (d *Coordinator) Timeline() []Instruction {
	out := d.scene.plan(d)
	if d.ends > 0 {
		out = append(out, Instruction{At: d.ends, Do: fault.Finish})
	}
	out = append(out, d.mishaps()...)
	slices.SortStableFunc(out, func(a, b Instruction) int { return int(a.At - b.At) })
	return out
}

// mishaps is what goes wrong besides, as far as it is known before the start.
func (d *Coordinator) mishaps() (out []Instruction) {
	lists := [][]Event{d.setup.Faults.Events, d.events()}
	if d.cold {
		lists = lists[:1]
	}
	for _, list := range lists {
		for i := range list {
			out = d.planned(out, &list[i])
		}
	}
	last := d.last
	for _, i := range out {
		if f := i.Fault; f == 0 || d.faults.list[f-1].Ends() && !d.faults.list[f-1].Led {
			last = max(last, i.At)
		}
	}
	d.out = d.out[:0]
	d.expect(last)
	return slices.Concat(out, d.out, d.breakdowns())
}

// events is what the scenario does.
func (d *Coordinator) events() []Event {
	return d.setup.plot.Happens(&d.setup.Plan, d.settling(0))
}

// settling is until when nothing happens to a settled leader: the least, and a part of the
// spread, so that what then happens falls at a random phase of whatever the leader does
// periodically. The phase is one random number, and in which of the periods another: so it
// does not depend on how many these are. Rounds count from 0.
func (d *Coordinator) settling(round int) time.Duration {
	draw := func(purpose string) float64 {
		seed := Derive(d.setup.Seed, purpose)
		if round > 0 {
			seed = Derive(d.setup.Seed, purpose, uint64(round))
		}
		return float64(seed) / (1 << 53)
	}
	each, times := d.setup.spread()
	whole := time.Duration(draw("crash period") * float64(times))
	return d.setup.Scenario.Settle() + whole*each + time.Duration(draw("crash")*float64(each))
}

// atOnce has all initiators do the same at the start.
func (d *Coordinator) atOnce(verb string) []Instruction {
	all := d.initiators()
	out := make([]Instruction, len(all))
	for i, p := range all {
		out[i] = Instruction{Do: verb, Node: p}
	}
	return out
}

// initiators are the processes that start together: all, or a random choice.
func (d *Coordinator) initiators() []algo.ID {
	peers := d.setup.Graph.Peers()[:d.setup.Clients()]
	k := d.setup.plot.Begin()
	if k == 0 || k >= len(peers) {
		return peers
	}
	seed := Derive(d.setup.Seed, "initiators")
	rng := rand.New(rand.NewPCG(seed, seed))
	chosen := make([]algo.ID, 0, k)
	for _, i := range rng.Perm(len(peers))[:k] {
		chosen = append(chosen, peers[i])
	}
	slices.Sort(chosen)
	return chosen
}

// Watches says whether the coordinator wants such records.
func (d *Coordinator) Watches(t trace.Type) bool {
	switch t {
	case trace.Elected:
		return d.setup.Alg.Problem == algo.Election || d.faults.watched[t]
	case trace.Written:
		return true
	case trace.Crash, trace.Up, trace.Pause, trace.Resume, trace.Heal:
		return true
	case trace.Cut:
		return d.reign != nil || d.faults.watched[t]
	case trace.Released:
		return d.faults.watched[t] || d.scene.watches(d)
	}
	return d.faults.watched[t]
}

// Observe receives a record that it Watches; of messages, only those of
// WatchedKinds.
func (d *Coordinator) Observe(r *trace.Record) []Instruction {
	d.out = d.out[:0]
	d.track(r)
	d.caused = d.caused || begins(d.causes, r)
	switch r.Type {
	case trace.Elected:
		d.changed = r.At
		d.beliefs[r.Process-1] = algo.ID(r.Peer)
		if d.cold && d.united() {
			d.open(r.At)
		}
		if d.setup.WritesEvery == 0 {
			d.agree(r.At)
		}
	case trace.Written:
		if time.Duration(r.Arg) >= d.changed { // agreement that no write has followed is no service yet
			d.agree(r.At)
		}
	case trace.Crash:
		d.changed = r.At
		d.up[r.Process-1] = false
		d.employ(int(r.Process-1), false)
	case trace.Up:
		d.changed = r.At
		d.up[r.Process-1] = true
		if r.Incarnation > 0 {
			d.beliefs[r.Process-1] = algo.None
			d.employ(int(r.Process-1), true)
		}
	case trace.Save:
		if r.Peer == trace.Refused && !d.setup.Alg.Foreign() { // a library decides itself
			d.out = append(d.out, d.Abort(algo.ID(r.Process), r.At)...)
		}
	case trace.Released:
		d.released++
		d.scene.released(d, r.At)
	}
	if !d.over {
		d.follow(r)
		d.triggered(r)
	}
	return d.out
}

// agree tells the scenario if all agree, after what is to be measured, on a leader that never rests.
func (d *Coordinator) agree(now time.Duration) {
	if d.setup.Alg.Spec.Perpetual && d.settled() && d.told(now) {
		d.scene.agreed(d, now)
	}
}

// employ notes that the application of a process has entries to come, or none.
func (d *Coordinator) employ(i int, busy bool) {
	if d.setup.load == nil || d.busy[i] == busy || d.setup.Serves(algo.ID(i+1)) {
		return
	}
	if d.busy[i] = busy; busy {
		d.undone++
	} else {
		d.undone--
	}
	if d.undone == 0 && d.setup.Alg.Spec.Perpetual {
		d.finish()
	}
}

// told says whether the scenario has nothing more to say at now: one that has an
// end of its own, or lines still to come, goes on.
func (d *Coordinator) told(now time.Duration) bool {
	return d.scene.told() && d.ends == 0 && now >= d.last
}

// Done says that the application of p has had all its entries, or never will.
func (d *Coordinator) Done(p algo.ID) []Instruction {
	d.out = d.out[:0]
	d.caused = d.caused || slices.Contains(d.causes, trace.Done)
	d.employ(int(p-1), false)
	return d.out
}

// Quiet says that no algorithm message is in flight, no timer of the algorithm
// pending and no process in the critical section. Activity counts what the
// algorithm has done so far; idle says that nothing else is planned either, so
// that nothing can ever happen again. The executor calls it once for each value
// of activity, and again after each alarm.
func (d *Coordinator) Quiet(now time.Duration, activity uint64, idle bool) []Instruction {
	d.out = d.out[:0]
	d.scene.quiet(d, now, activity, idle)
	if idle && len(d.out) == 0 {
		d.stuck = true
		d.finish()
	}
	return d.out
}

// wait gives a detector that never rests time to notice. If nothing has moved
// by then, nothing ever will, and the trial is stuck or at its end.
func (d *Coordinator) wait(now time.Duration, activity uint64, stuck bool) {
	if d.patience > 0 && d.stuckAt == activity {
		if now >= d.patience {
			d.stuck = stuck
			d.finish()
		}
		return
	}
	bound := d.setup.Detector.Bound(d.setup.Latency)
	d.stuckAt, d.patience = activity, now+2*bound+20*time.Millisecond
	d.out = append(d.out, Instruction{At: d.patience, Do: fault.Alarm})
}

// Stuck says that the trial ended because the system was quiescent.
func (d *Coordinator) Stuck() bool { return d.stuck }

// settled says that every live process names the same live leader, after what
// is to be measured has happened.
func (d *Coordinator) settled() bool {
	return !d.pending() && d.caused && d.united()
}

// open lets the scenario begin whose leader is elected at now.
func (d *Coordinator) open(now time.Duration) {
	d.cold = false
	for _, e := range d.setup.plot.Happens(&d.setup.Plan, now+d.settling(0)) {
		d.later(e)
		d.expect(e.At)
	}
}

// united says whether every live process names the same live leader.
func (d *Coordinator) united() bool {
	leader, first := algo.None, true
	for i, up := range d.up {
		switch {
		case !up:
		case first:
			leader, first = d.beliefs[i], false
		case d.beliefs[i] != leader:
			return false
		}
	}
	return leader != algo.None && int(leader) <= len(d.up) && d.up[leader-1]
}

func (d *Coordinator) finish() {
	if !d.over {
		d.over = true
		d.out = append(d.out, Instruction{Do: fault.Finish})
	}
}

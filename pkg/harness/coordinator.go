package harness

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Instruction is one thing that the coordinator wants done.
type Instruction struct {
	At       time.Duration  `json:"at"` // offset from the start; in the past: at once
	Do       string         `json:"do"` // a verb below, or an operation of the algorithm's own
	Node     algo.ID        `json:"node,omitempty"`
	Of       algo.ID        `json:"of,omitempty"`       // suspect: whom; otherwise the operation's target
	Groups   [][]uint32     `json:"groups,omitempty"`   // cut, heal
	Links    [][2]uint32    `json:"links,omitempty"`    // cut, heal
	Override *link.Override `json:"override,omitempty"` // flaky; its From is the instant
	By       time.Duration  `json:"by,omitempty"`       // slow: for each event; 0: no longer
	Fault    int            `json:"fault,omitempty"`    // strike: which of the coordinator's events
}

// The verbs of instructions and of scripts.
const (
	DoElect   = "elect"
	DoSuspect = "suspect"
	DoRequest = "request"
	DoCrash   = "crash"
	DoRestart = "restart"
	DoPause   = "pause"  // it does nothing, but is not told so
	DoResume  = "resume" // it goes on
	DoCut     = "cut"
	DoHeal    = "heal"
	DoSlow    = "slow"   // each event takes it a while
	DoFlaky   = "flaky"  // links lose more, or take longer
	DoDrop    = "drop"   // a certain message is dropped: a rule, never an instruction
	doStrike  = "strike" // ask the coordinator whom an event happens to
	doAlarm   = "alarm"  // tell the coordinator that the instant has come
	doFinish  = "finish" // end the trial
)

// Class is the instruction's rank among the events of one instant: what changes
// the network comes first, commands to a process last.
func (i Instruction) Class() Class {
	switch i.Do {
	case DoCrash, DoRestart, DoPause, DoResume, DoCut, DoHeal, DoSlow, DoFlaky, doStrike, doAlarm,
		doFinish:
		return Control
	}
	return Application
}

// Alarm says whether the coordinator only wants to be called at the instant.
func (i Instruction) Alarm() bool { return i.Do == doAlarm }

// Strike says whether the coordinator is to be asked what to do: see Coordinator.Strike.
func (i Instruction) Strike() bool { return i.Do == doStrike }

// Finish says whether the trial is over.
func (i Instruction) Finish() bool { return i.Do == doFinish }

// A Coordinator leads one trial through its scenario. Like an algorithm it is a
// state machine: it is told what happens and answers with instructions.
type Coordinator struct {
	setup *Setup
	out   []Instruction

	beliefs []algo.ID // whom each process names; by ID - 1
	up      []bool
	undone  int    // live processes whose application has not had all its entries
	busy    []bool // of those; by ID - 1

	faults   faults
	script   []line        // lines still to come that wait for quiet or a release
	last     time.Duration // script: the last line that has an instant
	done     int           // sequential: requests issued
	asked    int           // script: requests so far, and those known before the start
	released int           // entries that are over, where Watches asks for them
	caused   bool          // elections: what is to be measured has happened
	rounds   int           // leader-crash: elections that are over
	victim   algo.ID       // leader-crash: who crashed last; None: it is back

	stuckAt  uint64        // activity when the trial fell quiet without an end
	patience time.Duration // until when a detector may still notice something
	stuck    bool
	over     bool
}

// A line is a line of a script that waits for quiet or a release.
type line struct {
	Event
	notBefore time.Duration // the last instant among the lines before it
}

// NewCoordinator makes the coordinator of a trial.
func NewCoordinator(s *Setup) *Coordinator {
	d := &Coordinator{setup: s, beliefs: make([]algo.ID, s.Nodes), up: make([]bool, s.Nodes)}
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
	switch s.Scenario.Kind {
	case LeaderCrash, LeaderReturn, Partition:
	default:
		d.caused = true
	}
	d.faults.init(s)
	return d
}

// Timeline is what is to happen at fixed instants: known before the start, so
// that each node can act by its own clock. Sorted by instant; instructions of
// one instant stand in the order of the scenario.
func (d *Coordinator) Timeline() []Instruction {
	s := &d.setup.Scenario
	var out []Instruction
	switch s.Kind {
	case ColdStart, Burst:
		verb := map[string]string{ColdStart: DoElect, Burst: DoRequest}[s.Kind]
		for _, p := range d.initiators() {
			out = append(out, Instruction{Do: verb, Node: p})
		}
	case LeaderCrash:
		d.victim = d.setup.Leader
		out = append(out, Instruction{At: d.settling(), Do: DoCrash, Node: d.victim})
	case LeaderReturn:
		for _, p := range d.setup.Crashed {
			out = append(out, Instruction{At: d.settling(), Do: DoRestart, Node: p})
		}
	case Churn:
		out = append(out, Instruction{At: s.Duration, Do: doFinish})
	case Sequential:
		if d.setup.Alg.Spec.Perpetual { // no quiet will come: each release leads to the next
			out = append(out, d.request(0))
		}
	case Script:
		for _, e := range s.Events {
			if e.After != "" {
				d.script = append(d.script, line{e, d.last})
				continue
			}
			for _, i := range d.planned(e) {
				out = append(out, i)
				d.last = max(d.last, i.At)
			}
		}
		switch {
		case s.Until > 0:
			out = append(out, Instruction{At: s.Until, Do: doFinish})
		case d.setup.Alg.Spec.Perpetual && d.last > 0: // what it is to come to may be there before
			out = append(out, Instruction{At: d.last + 1, Do: doStrike})
		}
	}
	out = append(out, d.mishaps()...)
	slices.SortStableFunc(out, func(a, b Instruction) int { return int(a.At - b.At) })
	return out
}

// mishaps is what goes wrong besides, as far as it is known before the start.
func (d *Coordinator) mishaps() (out []Instruction) {
	s := &d.setup.Scenario
	list := d.setup.Faults.Events
	if s.Kind == Partition {
		list = append(slices.Clone(list), Event{
			At: d.settling(), Do: DoCut, Shape: s.Shape, For: s.Duration,
		})
	}
	for _, e := range list {
		out = append(out, d.planned(e)...)
	}
	last := d.last
	for _, i := range out {
		if i.Fault == 0 || d.faults.list[i.Fault-1].ends() {
			last = max(last, i.At)
		}
	}
	d.out = d.out[:0]
	d.expect(last)
	return slices.Concat(out, d.out, d.breakdowns())
}

// ends says whether the event does not happen again and again without end.
func (f *fault) ends() bool { return f.Every == 0 && f.Rate == 0 || f.Times > 0 }

// settling is until when nothing happens to a settled leader: a span drawn from one
// as long as the least, so that what then happens falls at a random phase of
// whatever the processes do periodically.
func (d *Coordinator) settling() time.Duration {
	least := d.setup.Scenario.Settle
	seed := Derive(d.setup.Seed, "crash")
	if d.rounds > 0 {
		seed = Derive(d.setup.Seed, "crash", uint64(d.rounds))
	}
	u := float64(seed) / (1 << 53)
	return least + time.Duration(u*float64(least))
}

// initiators are the processes that start together: all, or a random choice.
func (d *Coordinator) initiators() []algo.ID {
	peers := d.setup.Graph.Peers()
	k := d.setup.Scenario.Initiators
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

// Watches says whether the coordinator wants to be told of such records.
func (d *Coordinator) Watches(t trace.Type) bool {
	switch t {
	case trace.Elected:
		return d.setup.Alg.Problem == algo.Election
	case trace.Crash, trace.Up, trace.Pause, trace.Resume, trace.Heal:
		return true
	case trace.Released:
		s := &d.setup.Scenario
		return d.faults.watched[t] || d.setup.Alg.Spec.Perpetual && s.Kind != Closed && s.Kind != Open ||
			s.Kind == Script && slices.ContainsFunc(s.Events,
				func(e Event) bool { return e.After == "release" })
	}
	return d.faults.watched[t]
}

// Observe is told of a record that it Watches; of messages, of WatchedKinds alone.
func (d *Coordinator) Observe(r *trace.Record) []Instruction {
	d.out = d.out[:0]
	d.track(r)
	switch r.Type {
	case trace.Elected:
		d.beliefs[r.Process-1] = algo.ID(r.Peer)
		if d.setup.Alg.Spec.Perpetual && d.settled() && d.told(r.At) {
			d.roundOver(r.At)
		}
	case trace.Crash:
		d.up[r.Process-1] = false
		d.employ(int(r.Process-1), false)
		d.caused = d.caused || d.setup.Scenario.Kind == LeaderCrash
	case trace.Up:
		d.up[r.Process-1] = true
		if r.Incarnation > 0 {
			d.beliefs[r.Process-1] = algo.None
			d.employ(int(r.Process-1), true)
			k := d.setup.Scenario.Kind
			d.caused = d.caused || k == LeaderReturn || k == LeaderCrash
		}
	case trace.Heal:
		d.caused = true
	case trace.Released:
		d.released++
		if len(d.script) > 0 && d.script[0].After == "release" && r.At >= d.script[0].notBefore {
			d.next(r.At)
		} else if d.setup.Alg.Spec.Perpetual {
			d.onward(r.At)
		}
	}
	if !d.over {
		d.triggered(r)
	}
	return d.out
}

// roundOver is agreement after what was to be measured. A leader-crash may repeat:
// the crashed one comes back, and when all agree again the leader of then crashes.
func (d *Coordinator) roundOver(now time.Duration) {
	s := &d.setup.Scenario
	if s.Kind != LeaderCrash || s.Elections < 2 {
		d.finish()
		return
	}
	d.caused = false
	if d.victim != algo.None {
		if d.rounds++; d.rounds == s.Elections {
			d.finish()
			return
		}
		d.out = append(d.out, Instruction{At: now + s.Settle, Do: DoRestart, Node: d.victim})
		d.victim = algo.None
		return
	}
	d.victim = d.leader()
	d.out = append(d.out, Instruction{At: now + d.settling(), Do: DoCrash, Node: d.victim})
}

// employ notes that the application of a process has entries to come, or none.
func (d *Coordinator) employ(i int, busy bool) {
	if k := d.setup.Scenario.Kind; k != Closed && k != Open || d.busy[i] == busy {
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

// onward is what a release leads to where no quiet ever comes.
func (d *Coordinator) onward(now time.Duration) {
	switch s := &d.setup.Scenario; s.Kind {
	case Sequential:
		if d.done < s.Requests {
			d.out = append(d.out, d.request(now))
		} else {
			d.finish()
		}
	case Burst:
		if k := s.Initiators; d.released == k || k == 0 && d.released == d.setup.Nodes {
			d.finish()
		}
	case Script:
		if d.served() && d.told(now) {
			d.finish()
		}
	}
}

// served says whether every request of the script so far is over.
func (d *Coordinator) served() bool { return d.released >= d.asked }

// told says whether the scenario has nothing more to say at now: one that has an
// end of its own, or lines still to come, goes on.
func (d *Coordinator) told(now time.Duration) bool {
	s := &d.setup.Scenario
	return len(d.script) == 0 && s.Until == 0 && s.Kind != Churn && now >= d.last
}

// Done is told that the application of p has had all its entries, or never will.
func (d *Coordinator) Done(p algo.ID) []Instruction {
	d.out = d.out[:0]
	d.employ(int(p-1), false)
	return d.out
}

// Quiet is told that no algorithm message is in flight, no timer of the
// algorithm pending and nobody in the critical section. Activity counts what
// the algorithm has done so far; idle says that nothing else is planned either,
// so that nothing can ever happen again. The executor calls it once for each
// value of activity, and again after each alarm.
func (d *Coordinator) Quiet(now time.Duration, activity uint64, idle bool) []Instruction {
	d.out = d.out[:0]
	switch d.setup.Scenario.Kind {
	case Sequential:
		if d.done < d.setup.Scenario.Requests {
			d.out = append(d.out, d.request(now))
		} else {
			d.finish()
		}
	case Script:
		d.quietScript(now, activity, idle)
	case Burst:
		d.finish()
	case Closed, Open:
		if d.undone == 0 {
			d.finish()
		}
	case Churn: // ends at its instant
	default:
		switch {
		case now < d.last:
			d.out = append(d.out, Instruction{At: d.last, Do: doAlarm})
		case d.settled():
			d.roundOver(now)
		case d.caused && d.setup.Detector.Restless():
			d.wait(now, activity)
		}
	}
	if idle && len(d.out) == 0 {
		d.stuck = true
		d.finish()
	}
	return d.out
}

// quietScript issues the line that waits for quiet, once the lines before it are
// done. Behind the last line the script ends when no suspicion is to come either.
func (d *Coordinator) quietScript(now time.Duration, activity uint64, idle bool) {
	if len(d.script) > 0 && d.script[0].After == "quiet" {
		if at := d.script[0].notBefore; now < at {
			d.out = append(d.out, Instruction{At: at, Do: doAlarm})
		} else {
			d.next(now)
		}
		return
	}
	switch {
	case d.setup.Scenario.Until > 0:
	case now < d.last:
		d.out = append(d.out, Instruction{At: d.last, Do: doAlarm})
	case idle && len(d.script) == 0:
		a := d.setup.Alg // one that never rests has not come to its end, if it rests
		d.stuck = a.Spec.Perpetual && a.Problem == algo.MutualExclusion && !d.served()
		d.finish()
	case d.setup.Detector.Class() != algo.NoDetector:
		d.wait(now, activity)
	}
}

// wait gives a detector that never rests time to notice. If nothing has moved
// by then, nothing ever will.
func (d *Coordinator) wait(now time.Duration, activity uint64) {
	if d.patience > 0 && d.stuckAt == activity {
		if now >= d.patience {
			d.stuck = d.setup.Scenario.Kind != Script || len(d.script) > 0
			d.finish()
		}
		return
	}
	bound := d.setup.Detector.Bound(d.setup.Latency)
	d.stuckAt, d.patience = activity, now+2*bound+20*time.Millisecond
	d.out = append(d.out, Instruction{At: d.patience, Do: doAlarm})
}

// Stuck says that the trial ended because nothing moved any more.
func (d *Coordinator) Stuck() bool { return d.stuck }

// next issues the line of the script whose turn has come.
func (d *Coordinator) next(now time.Duration) {
	e := d.script[0].Event
	d.script = d.script[1:]
	f := d.faults.add(e)
	f.fired = 1
	d.out = append(d.out, d.carryOut(f, now)...)
}

// request is the next request of the sequential scenario.
func (d *Coordinator) request(now time.Duration) Instruction {
	n := uint64(d.setup.Nodes)
	p := uint64(d.done) % n
	if d.setup.Scenario.Requesters != "in-turn" {
		p = Derive(d.setup.Seed, "requester", uint64(d.done)) % n
	}
	d.done++
	for i := uint64(0); i < n && !d.up[p]; i++ { // the dead do not ask
		p = (p + 1) % n
	}
	return Instruction{At: now, Do: DoRequest, Node: algo.ID(p + 1)}
}

// settled says that every live process names the same live leader, after what
// is to be measured has happened.
func (d *Coordinator) settled() bool {
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
	return d.caused && leader != algo.None && int(leader) <= len(d.up) && d.up[leader-1]
}

func (d *Coordinator) finish() {
	if !d.over {
		d.over = true
		d.out = append(d.out, Instruction{Do: doFinish})
	}
}

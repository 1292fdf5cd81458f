package harness

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Instruction is one thing that the director wants done.
type Instruction struct {
	At     time.Duration `json:"at"` // offset from the start; in the past: at once
	Do     string        `json:"do"` // a verb below, or an operation of the algorithm's own
	Node   algo.ID       `json:"node,omitempty"`
	Of     algo.ID       `json:"of,omitempty"`     // suspect: whom; otherwise the operation's target
	Groups [][]uint32    `json:"groups,omitempty"` // cut, heal
}

// The verbs of instructions and of scripts.
const (
	DoElect   = "elect"
	DoSuspect = "suspect"
	DoRequest = "request"
	DoCrash   = "crash"
	DoRestart = "restart"
	DoCut     = "cut"
	DoHeal    = "heal"
	doAlarm   = "alarm"  // tell the director that the instant has come
	doFinish  = "finish" // end the trial
)

// Class is the instruction's rank among the events of one instant: what changes
// the world comes first, commands to a process last.
func (i Instruction) Class() Class {
	switch i.Do {
	case DoCrash, DoRestart, DoCut, DoHeal, doAlarm, doFinish:
		return Control
	}
	return Application
}

// Alarm says whether the director only wants to be called at the instant.
func (i Instruction) Alarm() bool { return i.Do == doAlarm }

// Finish says whether the trial is over.
func (i Instruction) Finish() bool { return i.Do == doFinish }

// A Director leads one trial through its scenario. Like an algorithm it is a
// state machine: it is told what happens and answers with instructions.
type Director struct {
	setup *Setup
	out   []Instruction

	beliefs []algo.ID // whom each process names; by ID - 1
	up      []bool
	undone  int // members whose application has not had all its entries

	script   []line        // lines still to come that wait for quiet or a release
	last     time.Duration // script: the last line that has an instant
	done     int           // sequential: requests issued
	released int           // entries that are over, where Watches asks for them
	caused   bool          // elections: what is to be measured has happened

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

// NewDirector makes the director of a trial.
func NewDirector(s *Setup) *Director {
	d := &Director{setup: s, beliefs: make([]algo.ID, s.Nodes), up: make([]bool, s.Nodes)}
	for i := range d.up {
		d.beliefs[i], d.up[i] = s.Leader, true
	}
	for _, p := range s.Crashed {
		d.up[p-1] = false
	}
	if k := s.Scenario.Kind; k == Closed || k == Open {
		d.undone = s.Nodes
	}
	d.caused = s.Scenario.Kind != LeaderCrash
	return d
}

// Timeline is what is to happen at fixed instants: known before the start, so
// that each node can act by its own clock. Sorted by instant; instructions of
// one instant stand in the order of the scenario.
func (d *Director) Timeline() []Instruction {
	s := &d.setup.Scenario
	var out []Instruction
	switch s.Kind {
	case ColdStart, Burst:
		verb := map[string]string{ColdStart: DoElect, Burst: DoRequest}[s.Kind]
		for _, p := range d.initiators() {
			out = append(out, Instruction{Do: verb, Node: p})
		}
	case LeaderCrash:
		// Anywhere in a span as long as the settling, so that the crash falls at a
		// random phase of whatever the processes do periodically.
		u := float64(Derive(d.setup.Seed, "crash")) / (1 << 53)
		at := s.Settle + time.Duration(u*float64(s.Settle))
		out = append(out, Instruction{At: at, Do: DoCrash, Node: d.setup.Leader})
	case Sequential:
		if d.setup.Alg.Spec.Perpetual { // no quiet will come: each release leads to the next
			out = append(out, d.request(0))
		}
	case Script:
		for _, e := range s.Events {
			if e.After == "" {
				out = append(out, e.instruction())
				d.last = max(d.last, e.At)
			} else {
				d.script = append(d.script, line{e, d.last})
			}
		}
		if s.Until > 0 {
			out = append(out, Instruction{At: s.Until, Do: doFinish})
		}
	}
	slices.SortStableFunc(out, func(a, b Instruction) int { return int(a.At - b.At) })
	return out
}

func (e Event) instruction() Instruction {
	i := Instruction{At: e.At, Do: e.Do, Node: e.Node, Of: e.Of, Groups: e.Groups}
	if e.Target != algo.None {
		i.Of = e.Target
	}
	return i
}

// initiators are the processes that start together: all, or a random choice.
func (d *Director) initiators() []algo.ID {
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

// Watches says whether the director wants to be told of such records.
func (d *Director) Watches(t trace.Type) bool {
	switch t {
	case trace.Elected:
		return d.setup.Alg.Problem == algo.Election
	case trace.Crash, trace.Up:
		return true
	case trace.Released:
		s := &d.setup.Scenario
		return d.setup.Alg.Spec.Perpetual && s.Kind != Closed && s.Kind != Open ||
			s.Kind == Script && slices.ContainsFunc(s.Events,
				func(e Event) bool { return e.After == "release" })
	}
	return false
}

// Observe is told of a record that it Watches.
func (d *Director) Observe(r *trace.Record) []Instruction {
	d.out = d.out[:0]
	switch r.Type {
	case trace.Elected:
		d.beliefs[r.Process-1] = algo.ID(r.Peer)
		if d.setup.Alg.Spec.Perpetual && d.settled() && d.told(r.At) {
			d.finish()
		}
	case trace.Crash:
		d.up[r.Process-1] = false
		d.caused = true
	case trace.Up:
		d.up[r.Process-1] = true
		if r.Incarnation > 0 {
			d.beliefs[r.Process-1] = algo.None
		}
	case trace.Released:
		d.released++
		if len(d.script) > 0 && d.script[0].After == "release" && r.At >= d.script[0].notBefore {
			d.next(r.At)
		} else if d.setup.Alg.Spec.Perpetual {
			d.onward(r.At)
		}
	}
	return d.out
}

// onward is what a release leads to where no quiet ever comes.
func (d *Director) onward(now time.Duration) {
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
		requests := 0
		for _, e := range s.Events {
			if e.Do == DoRequest {
				requests++
			}
		}
		if d.released >= requests && d.told(now) {
			d.finish()
		}
	}
}

// told says whether the scenario has nothing more to say at now: a script that
// has an end of its own, or lines still to come, goes on.
func (d *Director) told(now time.Duration) bool {
	return len(d.script) == 0 && d.setup.Scenario.Until == 0 && now >= d.last
}

// Done is told that the application of a process has had all its entries, or
// never will.
func (d *Director) Done() []Instruction {
	d.out = d.out[:0]
	d.undone--
	if d.undone == 0 && d.setup.Alg.Spec.Perpetual {
		d.finish()
	}
	return d.out
}

// Quiet is told that no algorithm message is in flight, no timer of the
// algorithm pending and nobody in the critical section. Activity counts what
// the algorithm has done so far; idle says that nothing else is planned either,
// so that nothing can ever happen again. The executor calls it once for each
// value of activity, and again after each alarm.
func (d *Director) Quiet(now time.Duration, activity uint64, idle bool) []Instruction {
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
	default:
		if d.settled() {
			d.finish()
		} else if d.caused && d.setup.Detector.Kind == "heartbeat" {
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
func (d *Director) quietScript(now time.Duration, activity uint64, idle bool) {
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
		d.finish()
	case d.setup.Detector.Kind == "perfect" || d.setup.Detector.Kind == "heartbeat":
		d.wait(now, activity)
	}
}

// wait gives a detector that never rests time to notice. If nothing has moved
// by then, nothing ever will.
func (d *Director) wait(now time.Duration, activity uint64) {
	if d.patience > 0 && d.stuckAt == activity {
		if now >= d.patience {
			d.stuck = d.setup.Scenario.Kind != Script || len(d.script) > 0
			d.finish()
		}
		return
	}
	bound := d.setup.Detector.bound(d.setup.Latency)
	d.stuckAt, d.patience = activity, now+2*bound+20*time.Millisecond
	d.out = append(d.out, Instruction{At: d.patience, Do: doAlarm})
}

// Stuck says that the trial ended because nothing moved any more.
func (d *Director) Stuck() bool { return d.stuck }

// next issues the line of the script whose turn has come.
func (d *Director) next(now time.Duration) {
	e := d.script[0].Event.instruction()
	d.script = d.script[1:]
	e.At = now
	d.out = append(d.out, e)
}

// request is the next request of the sequential scenario.
func (d *Director) request(now time.Duration) Instruction {
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
func (d *Director) settled() bool {
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

func (d *Director) finish() {
	if !d.over {
		d.over = true
		d.out = append(d.out, Instruction{Do: doFinish})
	}
}

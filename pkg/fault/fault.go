// Package fault declares what can go wrong in a trial, and what a line of a script can
// do: each word of the experiment file once, in a file of its own, with its arguments,
// the assumption of an algorithm's model that it breaks, what it does, what undoes it,
// how it is drawn at random, and how a diagram words it. Everything else reads the
// declaration.
//
// A fault acts through small interfaces: Executor is what runs the trial, which can kill and stop
// processes; Process is a process from inside; Situation is what a coordinator knows of
// the state of all. What it does to links is data: a link.Change or a link.Override.
package fault

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Fault is one thing that an event can do. Exactly one of Outside, Inside, Network and
// Rule says how.
type Fault struct {
	Name string
	Also string // another word for it
	Was  string // its name in earlier versions, which is refused
	Doc  string
	// Script marks a line of scripts, which is nothing that goes wrong.
	Script  bool
	Problem algo.Problem // for which it means something; "": both

	Takes   []string // its keys, in the order of the documentation
	Args    Own      // of those, what it alone says: a zero one; nil: nothing
	One     []string // of these exactly one is needed
	Any     []string // of these one at least is needed; the Example of the first says how
	Apart   []string // of these one at most may be given
	Who     []string // the Choices that it can happen to; nil: all but all-crashed
	Default string   // the Choice that it happens to if nobody is named

	// Outside is carried out by the executor, on one process.
	Outside func(x Executor, i *Instruction)
	// Inside is carried out by the process itself, as an event like all that it handles: one
	// that is paused does so when it resumes.
	Inside func(p Process, now time.Duration, i *Instruction)
	// Network is what it makes of the links from the instant at on. Its record is of the type
	// Record.
	Network func(i *Instruction, at time.Duration) Effect
	// Aim is, for those with a Network, which links the event is about. False: it cannot be
	// done at present.
	Aim func(s Situation, e *Event, at time.Duration) (Instruction, bool)
	// Rule is what holds from the event's instant on without being carried out.
	Rule func(e *Event, kind uint8) Omission

	// Undo is the fault that undoes this one after For; "": it does so itself, with
	// Instruction.Undo.
	Undo string
	// Lasts is after how long it is undone, where that is drawn, from a random number. Nil: after For.
	Lasts func(e *Event, random uint64) time.Duration

	// Breaks is what the event breaks of an algorithm's model, where links have a latency of
	// at most d. Nil: nothing.
	Breaks func(e *Event, d time.Duration) Assumption
	// Down says whether those whom the event happens to count as crashed, among all events of
	// the plan. Nil: they do not.
	Down func(e *Event, all []Event) bool
	// Stops marks a fault that stops a process without a word.
	Stops bool
	// Disk marks one of what a process writes.
	Disk bool
	// Served marks one that only servers of a system can have, which are programs.
	Served bool
	// Clock marks one by which time passes otherwise for one process than for the others.
	Clock bool

	// Record is the type of the record that it leaves; trace.None: Fault, where the fault is
	// carried out Inside and is no line of scripts.
	Record trace.Type
	// Words are the record as a sentence. Args are those in a Fault record; zero where it is
	// over.
	Words func(r *trace.Record, a Args) string

	// State is what a process is in from the record on, until one that is Over. Nil: nothing.
	State *State
	Over  func(r *trace.Record) bool // nil: no record is

	// Draw is such an event, drawn at random. Nil: it is not drawn.
	Draw func(d *Draw) Event
}

// An Executor carries out what happens to a process from outside: the simulator, or the host
// of real nodes. Due is the instant at which it was to happen.
type Executor interface {
	Crash(p algo.ID, due time.Duration)
	Restart(p algo.ID, due time.Duration)
	Pause(p algo.ID)
	Resume(p algo.ID)
	Slow(p algo.ID, by time.Duration) // for each event; 0: no longer
}

// A Process is what a process offers to what is carried out inside it.
type Process interface {
	Elect(now time.Duration)
	Suspect(now time.Duration, p algo.ID, certain bool)        // None: the leader at the start
	Request(now, intended time.Duration, session algo.Session) // 0: as the scenario says
	Do(now time.Duration, op string, target algo.ID)
	// ClockRate is how fast its clock runs from now on; 1: as fast as all others.
	ClockRate(now time.Duration, rate float64)
	// ClockOffset is by how much its clock is ahead from now on.
	ClockOffset(now, by time.Duration)
	// Disk is what becomes of its writes from now on.
	Disk(now time.Duration, d Disk)
	// Throttle is the share of a processor that a server of a system gets from now on; 0: all that it wants.
	Throttle(now time.Duration, share float64)
}

// A State is what a fault puts a process into.
type State struct {
	Sign  string // in a diagram; fault: that of all that have none of their own
	Words string // behind the name of the process
}

// An Effect is what a fault makes of the network: a Change, or an Override, or nothing
// more, where an override ends by itself.
type Effect struct {
	Change   *link.Change   `json:"change,omitempty"`
	Override *link.Override `json:"override,omitempty"`
}

// Apply puts the effect into the history of the links.
func (e Effect) Apply(cuts *link.Cuts, overrides *link.Overrides) {
	switch {
	case e.Change != nil:
		cuts.Add(*e.Change)
	case e.Override != nil:
		overrides.Add(*e.Override)
	}
}

func (e Effect) text() string {
	switch {
	case e.Change != nil:
		return e.Change.String()
	case e.Override != nil:
		return e.Override.String()
	}
	return ""
}

// An Assumption is one that an algorithm's model may make of processes, links and clocks.
type Assumption uint16

// The assumptions. That few enough processes crash is counted apart: see Fault.Down.
const (
	Loss        Assumption = 1 << iota // no message is lost
	Partition                          // no links are cut
	Recovery                           // a process that has crashed stays away
	LinkDelay                          // a message takes at most d
	Speed                              // an event takes a process no time to speak of
	ClockRates                         // all clocks run equally fast
	ClockReads                         // no clock is set
	Storage                            // what was written is there after a crash
	Duplication                        // no message arrives twice
)

// Each is the assumptions in a.
func (a Assumption) Each() iter.Seq[Assumption] {
	return func(yield func(Assumption) bool) {
		for one := Assumption(1); one != 0; one <<= 1 {
			if a&one != 0 && !yield(one) {
				return
			}
		}
	}
}

var faults = param.NewRegistry("do", func(f *Fault) (string, Own) { return f.Name, f.Args },
	func(a, b *Fault) int {
		if a.Script != b.Script {
			return map[bool]int{false: -1, true: 1}[a.Script]
		}
		return cmp.Compare(a.Name, b.Name)
	})

var named = map[string]*Fault{} // the other words too

// Register makes f known. It is called by the declarations, before main.
func Register(f Fault) *Fault {
	added := faults.Add(f)
	named[f.Name] = added
	if f.Also != "" {
		named[f.Also] = added
	}
	return added
}

// All is every fault, and then what scripts can do besides, each sorted by name. An
// algorithm may have operations of its own besides: see Operation.
func All() []*Fault { return faults.All() }

// Named is the fault of that name, or that was given another word for it; nil if there is
// none.
func Named(name string) *Fault { return named[name] }

// Renamed is the fault that had that name in earlier versions; nil if there is none.
func Renamed(name string) *Fault {
	for _, f := range All() {
		if f.Was == name && name != "" {
			return f
		}
	}
	return nil
}

// of is Named, or Operation.
func of(name string) *Fault {
	if f := Named(name); f != nil {
		return f
	}
	return Operation
}

// Has says whether the fault has a key of that name; who stands for all Selectors.
func (f *Fault) Has(key string) bool {
	return slices.Contains(f.Takes, key) || slices.Contains(f.Takes, "who") && Selectors.Named(key) != nil
}

// Choices are the words for whom it can happen to.
func (f *Fault) Choices() []string {
	if f.Who != nil {
		return f.Who
	}
	return slices.DeleteFunc(Choices.Names(), func(s string) bool { return s == "all-crashed" })
}

// Names are those of All that faults have, or that lines of scripts have too.
func Names(script bool) (names []string) {
	for _, f := range All() {
		if script || !f.Script {
			names = append(names, f.Name)
		}
	}
	for _, f := range All() {
		if f.Also != "" {
			names = append(names, f.Also)
		}
	}
	return names
}

// Keys are the keys of all faults, or of lines of scripts too.
func Keys(script bool) (keys []string) {
	for _, f := range append(slices.Clone(All()), Operation) {
		if script || !f.Script {
			keys = append(keys, f.Takes...)
		}
	}
	return keys
}

// Params is what faults alone say, each once: a declaration of its own in each.
func Params() []param.Param {
	keys, _ := faults.Keys()
	return keys
}

// recorded is the fault that r is the record of, with the arguments of a Fault record; nil if
// it is none.
func recorded(r *trace.Record) (f *Fault, i Instruction) {
	if r.Type == trace.Fault {
		return Parse(r.Text)
	}
	for _, f := range All() {
		if f.Record == r.Type && f.Record != trace.None {
			return f, i
		}
	}
	return nil, i
}

// Sentence is the record of a fault in words; "" if it is none.
func Sentence(r *trace.Record) string {
	f, i := recorded(r)
	switch {
	case f == nil:
		return ""
	case i.Undo:
		i.Args = Args{}
	}
	return f.Words(r, i.Args)
}

// StateOf is the state that the record's process is in from then on, or no longer; nil: the
// record says nothing of the kind.
func StateOf(r *trace.Record) (state *State, over bool) {
	f, i := recorded(r)
	if f == nil {
		return nil, false
	}
	return f.State, i.Undo || f.Over != nil && f.Over(r)
}

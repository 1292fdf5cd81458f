// Package algo is the contract between an algorithm and whatever runs it:
// operating-system processes on a message bus, or the virtual-time simulator.
//
// An algorithm is a state machine. It is handed one event at a time, by a
// single goroutine, and answers through an [Env]. What it reads from the Env
// does not change during the event; what it asks of the Env happens after the
// event's method has returned, in the order it was asked. So a method never
// blocks, is never re-entered, and means the same thing in simulation and on
// real processes.
package algo

import (
	"math/rand/v2"
	"time"
)

// An ID names a process. IDs are unique, positive and totally ordered: the N processes of a run are 1 to N.
type ID uint32

// Index is the place of the process in Config.Peers, whose IDs are 1 to N.
func (id ID) Index() int { return int(id) - 1 }

// None is the papers' nil: no process.
const None ID = 0

// A Message is a plain value sent from one process to another: a struct of
// integers, booleans, floats, strings, durations, and slices, arrays and
// structs of these. Pointers and maps are refused at registration.
type Message interface {
	// Kind is the message's name on the wire, in traces and in results.
	Kind() string
}

// A Timer names one of a process's own timers.
type Timer string

// A Config is what one process knows before the run starts.
type Config struct {
	ID    ID
	Peers []ID // every process, self included, ascending; shared, never modified
	// Neighbors are the processes that it may send to, in the topology's order: Peers itself if
	// complete; the others that it has a link to, ascending, if it needs Connected or Weighted.
	Neighbors   []ID
	Weights     []Weight // of the links to Neighbors, in their order, if it needs Weighted
	Ring        []ID     // the ring's order, where the topology is a ring or a logical ring
	Leader      ID       // settled before the run starts; None if none is, and after a recovery
	LeaderDown  bool     // Leader crashed before the run starts, longer ago than any time-out
	Holder      ID       // of the token or the privilege at the start
	Incarnation uint32   // 0 at first, one more at every recovery
	Saved       Message  // what it last saved; nil at first
	Params      Params
}

// An Env is all that a process can reach of its surroundings, valid during one
// event. Do not keep it.
type Env interface {
	// Now is the local clock: time since the run began.
	Now() time.Duration
	// Rand is this process's own source, seeded by the run.
	Rand() *rand.Rand

	// Send sends m to a neighbor, or to oneself: that is handled right after
	// this event, before any other, is never lost, and is not counted.
	Send(to ID, m Message)
	// SetTimer (re)starts t. A timer that was set again or cancelled never fires.
	SetTimer(t Timer, after time.Duration)
	CancelTimer(t Timer)

	// Session is what the request is for, during Request where Spec.Admits has Sessions;
	// otherwise 0. Mutexes only.
	Session() Session
	// Granted reports that this process may enter the critical section. Mutexes only.
	Granted()
	// Elected reports the process that this one now follows; None if it stops
	// trusting one, which it also reports when it begins or joins an election. Term
	// orders leaderships; 0 if the algorithm has no such notion. With None, Term is
	// the one in which this process stands as a candidate from now on; 0 if it stands
	// in none. A process that leads a term has stood in it, where Promises.Leadership
	// is PerTerm. Electors only.
	Elected(leader ID, term uint64)
	// Save keeps v across a crash; the last one is handed back in Config.Saved.
	// V is one of the Spec's messages or its Saves. What an event saves is one write: of
	// several values the last one, written where the first was saved.
	Save(v Message)

	// Logf writes a line to the trace, never to stdout.
	Logf(format string, args ...any)
}

// A Process reacts to messages.
type Process interface {
	Receive(env Env, from ID, m Message)
}

// A Mutex is one process of a mutual-exclusion algorithm.
//
// The application calls Request, waits for Granted, then calls Release. It
// never calls Request again before Release.
type Mutex interface {
	Process
	Request(env Env)
	Release(env Env)
}

// An Elector is one process of a leader-election algorithm. Elect makes it an
// initiator; a process may also be drawn in by a message alone.
type Elector interface {
	Process
	Elect(env Env)
}

// Optional methods. Guard each with var _ algo.Timed = (*node)(nil).
type (
	// A Starter acts before any other event, also after a recovery.
	Starter interface{ Start(env Env) }
	// A Timed process sets timers.
	Timed interface{ Timeout(env Env, t Timer) }
	// A Monitor consults a failure detector, declared in Needs.Detector.
	Monitor interface {
		Suspect(env Env, p ID)
		Restore(env Env, p ID)
	}
	// A Checked process states its local invariant; the simulator and the
	// conformance kit evaluate it after every event.
	Checked interface{ Invariant() error }
	// A Commanded process has operations of its own, which scripts call:
	// invitation's invite, a quorum leader's abdicate.
	Commanded interface {
		Do(env Env, op string, target ID)
	}
)

// A Guest is a process whose code is not in this program, such as one in another language. It has all the
// optional methods, and says which of them mean something.
type Guest interface {
	Process
	// Handles says whether it wants events of that type, of Start, Timeout, Suspect, Restore and Do.
	Handles(EventType) bool
	// State is its variables, by name and as text; nil: it does not show them. Two processes with the same
	// state behave alike.
	State() [][2]string
	// End says that it is not needed any more.
	End()
}

// Broadcast sends m to each of to but self, in order.
func Broadcast(env Env, self ID, to []ID, m Message) {
	for _, p := range to {
		if p != self {
			env.Send(p, m)
		}
	}
}

// Package agent starts, orders, stops, counts and collects the nodes of one machine. It
// knows nothing of scenarios: somebody else leads the trial, and may lead several agents.
package agent

import (
	"encoding/json"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Agent does on its machine what a trial asks for, one trial at a time. All that it is
// told and all that it answers is plain data, so that it may stand at the other end of a
// pipe; only the channel of reports is this process's own.
//
// Instants that an agent is given or returns are of its own clock; see Line. Those in what
// a node reports and records are since the common start, which the node learned from
// its Order to start, as the node's clock was believed to run then.
//
// One goroutine calls an agent. An error means that the agent could not do it at all, and
// ends the trial. A node that is gone takes orders and signals as if it were there: its end
// is a Report.
type Agent interface {
	// Name is that of the machine, for people.
	Name() string
	// StartBus starts the server that the nodes here connect to, in place of the one before,
	// and says where it is. The server of a machine of several is a member of a cluster.
	StartBus(cfg bus.ServerConfig) (bus.ServerReply, error)
	// BusStats is what that server has seen. After an error it is to be replaced.
	BusStats() (bus.ServerStats, error)
	// Deaf lists the processes of a trial of so many that a message from here would not
	// reach yet.
	Deaf(trial string, nodes int) ([]uint32, error)
	// Begin prepares a trial. Until its End, what its nodes say, and their own ends, go to
	// reports, for each node in the order in which it happened.
	Begin(t Trial, reports chan<- Report) error
	// Start starts a node. The paths in its assignment are the agent's to say, and so is
	// what the former incarnation of its process has saved.
	Start(a control.Assignment) error
	// Stock is what the machine has left, and what the nodes of the trial and the bus hold of it.
	Stock() (Stock, error)
	// Order hands orders to a node, all at once.
	Order(n Ref, orders ...control.Order) error
	// Signal does something to nodes, one right after the other, and says when: to each, in
	// their order. It tells no node of another.
	Signal(s Signal, nodes ...Ref) (at []time.Duration, err error)

	// Counters is what all nodes of the trial that have reported to be ready count, in any
	// order, also those that were killed; with links, if asked for. It may end with a node
	// that is busy and was not killed: then nothing is quiet, whatever the others count.
	// It is valid until the next call. The nodes go on meanwhile: two answers that are
	// equal say that nothing has happened between the end of the first and the beginning
	// of the second.
	Counters(links bool) ([]Counters, error)

	// Watch begins to measure how well the machine runs; Health is what it found, and
	// ends it.
	Watch() error
	Health() (Health, error)

	// Collect ends the nodes that are left and says what each has written down.
	Collect() (Collection, error)
	// Records appends to list some of the records of a node, from a place in its journal
	// on, and says where to go on: where it began, at the end. The first place is 0. A
	// text in a record may be any bytes.
	Records(n Ref, from uint64, list []trace.Record) (more []trace.Record, next uint64, err error)

	// Course is how the clock of the agent runs beside that of the process that asks, from an instant
	// of the latter to another one: what is known before a trial, of now, or after it.
	Course(from, to time.Duration) (clock.Course, error)
	// Clock is where others ask for the clock of the agent; empty: they cannot.
	Clock() string
	// Compare has the agent compare its clock with those at such places from now on, and no others; and with
	// what the time services of its machine say.
	Compare(places []string) error
	// Compared is what these have said, from an instant of the agent's clock to another one, as Course;
	// nothing of a place that does not answer.
	Compared(from, to time.Duration) (Comparisons, error)

	// Probe asks other agents for the time again and again, at those addresses, and says of each what
	// became of the questions. No trial is under way meanwhile.
	Probe(addresses []string) ([]Probed, error)

	// End ends the trial and leaves nothing of it, wherever it was. It may be called twice.
	End() error
	// Close ends whatever the agent started.
	Close()
}

// A Trial is what an agent has to know of one.
type Trial struct {
	Plan    json.RawMessage `json:"plan"`  // for the nodes
	Nodes   int             `json:"nodes"` // of the trial, on all machines
	Tallies int             `json:"tallies,omitempty"`
	// PerProcess is how many nodes share a process; 0: each has its own.
	PerProcess int `json:"per_process,omitempty"`
	// Reuse has a process be a node of one trial after the other.
	Reuse bool `json:"reuse,omitempty"`
	// Apart has all that a node has started end, and pause, with it: a system that people run starts servers.
	Apart bool `json:"apart,omitempty"`
}

// A Stock is what a machine has, and what of it the trial has taken.
type Stock struct {
	Left  proc.Room      `json:"left"`
	Taken proc.Footprint `json:"taken"` // by the processes of nodes, and by the bus
	Cores int            `json:"cores"`
}

// A Signal is what an agent can do to a node without its help.
type Signal string

// The signals.
const (
	Kill   Signal = "kill"   // ends it at once, also if it is paused; the instant is right after
	Pause  Signal = "pause"  // stops its process, likewise
	Resume Signal = "resume" // lets it go on; the instant is right before
)

// A Ref is one incarnation of a node: the first has number 0.
type Ref struct {
	ID          algo.ID `json:"id"`
	Incarnation uint32  `json:"incarnation,omitempty"`
}

// A Report is what an agent tells of a node: what the node said, or that it has ended. One
// with Lost is of no node.
type Report struct {
	Node Ref `json:"node"`
	control.Report
	Ended *Death `json:"ended,omitempty"`
	Lost  string `json:"lost,omitempty"` // what the trial cannot do without is gone: the bus, the agent
}

// A Death says how a node's process ended, by itself or not.
type Death struct {
	Why    string `json:"why"`
	Plugin bool   `json:"plugin,omitempty"` // a plugin is to blame
	Told   bool   `json:"told,omitempty"`   // another node that shared the process has told of it
}

// Counters are what one incarnation of a node counts.
type Counters struct {
	Node     Ref           `json:"node"`
	Activity uint64        `json:"activity"` // events that the algorithm has handled
	Timers   uint64        `json:"timers"`   // of the algorithm, pending
	Planned  uint64        `json:"planned"`  // alarms of the application and of the perfect detector
	Inside   bool          `json:"inside"`   // the critical section
	Pending  uint64        `json:"pending"`  // messages that wait for their instant; the present event
	Executed uint64        `json:"executed"` // instructions of its timeline, and orders
	Reports  uint64        `json:"reports"`  // records reported
	LastDue  time.Duration `json:"last_due"` // of the last algorithm message sent, since the common start
	Sent     uint64        `json:"sent"`     // copies of algorithm messages, to whomever
	Got      uint64        `json:"got"`      // and those that came
	Links    []Link        `json:"links,omitempty"`
}

// Busy says whether the algorithm has something to do, or something to wait for.
func (c *Counters) Busy() bool { return c.Pending > 0 || c.Timers > 0 || c.Inside }

// A Link is the account of messages of the algorithm between a node and a peer.
// Those without any are left out; the others come by the peer's ID.
type Link struct {
	Peer   algo.ID       `json:"peer"`
	Sent   Copy          `json:"sent,omitempty"`    // the last one sent to the peer
	SentAt time.Duration `json:"sent_at,omitempty"` // when, since the common start
	Got    Copy          `json:"got,omitempty"`     // the last one that came from the peer, and met its end
}

// A Copy is one of a message on a link, by the sender's incarnation, the message's number and
// its own; a later one is greater. 0: none.
type Copy uint64

func copyOf(r *trace.Record) Copy { return Copy(uint64(r.Incarnation)<<40 | r.Seq<<1 | uint64(r.Copy)) }

// Health says how far what was measured on a machine can be believed.
type Health struct {
	SchedDelayP99 time.Duration `json:"sched_delay_p99"`  // how late it ran what was due
	Busy          *float64      `json:"busy,omitempty"`   // of processor time since Begin; nil: unknown
	Stolen        *float64      `json:"stolen,omitempty"` // share of it that others were given
	Throttled     time.Duration `json:"throttled"`        // for which a quota kept the nodes from running
	ClockStep     time.Duration `json:"clock_step"`       // by which somebody set the wall clock
}

// A Collection is what the nodes of an agent left.
type Collection struct {
	Journals []Journal `json:"journals"` // of those that were ready, in the order of their start
	Tallies  []uint64  `json:"tallies,omitempty"`
}

// A Journal says how much a node wrote down, and what it used.
type Journal struct {
	Node  Ref    `json:"node"`
	Slots uint64 `json:"slots"`          // no less than the records
	Full  bool   `json:"full,omitempty"` // what it did after the last one is not known
	// Usage is what it used from the start of its process until its order to stop, or until it was
	// killed; zero if that is not known.
	Usage proc.Usage `json:"usage"`
	// Handling is the processor time that the algorithm took for its events.
	Handling time.Duration `json:"handling,omitempty"`
	// InHandler says that the node ended while its algorithm handled an event.
	InHandler bool `json:"in_handler,omitempty"`
}

// Package control is the control plane of a trial on real nodes: what the side that
// leads and a node say to each other. It is lines of JSON over the node's standard
// input and output. Input that ends is the death of the side that leads, and the
// node's.
package control

import (
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/wire/mesh"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An Assignment is the second line that a node reads; the first is the plan. A process of
// several nodes reads Calls after the plan.
type Assignment struct {
	ID          algo.ID               `json:"id"`
	Incarnation uint32                `json:"incarnation,omitempty"`
	Due         time.Duration         `json:"due,omitempty"`   // a later one: when it was to be up
	Saved       []byte                `json:"saved,omitempty"` // encoded; what it last saved
	Telemetry   string                `json:"telemetry"`       // path of the file to make
	Limit       int64                 `json:"limit,omitempty"`
	Bus         bus.DialConfig        `json:"bus"`
	Mesh        *mesh.Config          `json:"mesh,omitempty"`  // in place of the bus
	Site        *algo.Site            `json:"site,omitempty"`  // of a Live process; the agent adds the folder
	Watch       []trace.Type          `json:"watch,omitempty"` // records to report at once
	Kinds       []uint8               `json:"kinds,omitempty"` // of messages, where those are watched
	Timeline    []harness.Instruction `json:"timeline,omitempty"`
	Links       []fault.Effect        `json:"links,omitempty"`
	Tally       string                `json:"tally,omitempty"` // path of the file, where messages are omitted
}

// A Call is a line for one of the nodes that share a process, its members: to be one, or what
// to do.
type Call struct {
	ID          algo.ID     `json:"id"`
	Incarnation uint32      `json:"incarnation,omitempty"`
	Assignment  *Assignment `json:"assignment,omitempty"`
	Order       *Order      `json:"order,omitempty"`
}

// A Reply is a line of a process of several nodes: what one of them tells.
type Reply struct {
	ID          algo.ID `json:"id"`
	Incarnation uint32  `json:"incarnation,omitempty"`
	Report
	At *time.Duration `json:"at,omitempty"` // when a Crash, Pause or Resume took effect, by Monotonic
}

// An Order tells a node what to do. Those that Counted names are counted in the node's word
// executed, Start when the process has begun.
type Order struct {
	Answer    bool                 `json:"answer,omitempty"` // say that this was read, before the start
	Start     *time.Duration       `json:"start,omitempty"`  // the common start, an instant of Monotonic
	Gains     float64              `json:"gains,omitempty"`  // of Monotonic on the leader's clock, in ns a ns
	Disk      *harness.Instruction `json:"disk,omitempty"`   // Start: what ails its disk
	Do        *harness.Instruction `json:"do,omitempty"`
	Crashed   *News                `json:"crashed,omitempty"`
	Restarted *News                `json:"restarted,omitempty"`
	Links     *fault.Effect        `json:"links,omitempty"`
	Slow      *time.Duration       `json:"slow,omitempty"` // what each event takes from now on
	Stop      bool                 `json:"stop,omitempty"`

	// What a signal does to a process of its own is an order to a member.
	Crash  bool `json:"crash,omitempty"`
	Pause  bool `json:"pause,omitempty"`
	Resume bool `json:"resume,omitempty"`
}

// News is what a perfect detector learns.
type News struct {
	Process algo.ID       `json:"process"`
	At      time.Duration `json:"at"`
}

// A Report is what a node tells its host.
type Report struct {
	Ready  bool          `json:"ready,omitempty"`
	Read   bool          `json:"read,omitempty"` // the order to answer
	Record *trace.Record `json:"record,omitempty"`
	Bye    *Farewell     `json:"bye,omitempty"`
	Error  string        `json:"error,omitempty"`
	Broken string        `json:"broken,omitempty"` // likewise, and it is the plugin's fault
}

// Counted says whether the node counts the order as executed.
func (o *Order) Counted() bool { return !o.Stop && !o.Answer && !o.AtOnce() }

// AtOnce says whether the order is in the place of a signal.
func (o *Order) AtOnce() bool { return o.Crash || o.Pause || o.Resume }

// Complains says whether something went wrong on the node.
func (r *Report) Complains() bool { return r.Error != "" || r.Broken != "" }

// A Farewell is a node's answer to Stop: whatever may have skewed the trial.
type Farewell struct {
	Faults []string      `json:"faults,omitempty"` // of the connection
	Late   time.Duration `json:"late,omitempty"`   // by how much it missed the common start
}

// The words that a node shares with its host, for finding quiet. How many they are does not
// depend on how many nodes there are: what went over which link stands in the records.
const (
	WordActivity = iota // events that the algorithm has handled
	WordTimers          // of the algorithm, pending
	WordPlanned         // alarms of the application and of the perfect detector
	WordInside          // 1 in the critical section
	WordPending         // copies of algorithm messages that wait for their instant; the present event
	WordExecuted        // instructions of the timeline, and orders
	WordReports         // records reported
	WordLastDue         // when the last algorithm message that was sent is due, in ns since the start
	WordSent            // copies of algorithm messages sent, to whomever
	WordGot             // and those that came
	WordBefore          // what the node had used when its process started: processor time in ns,
	_                   // voluntary context switches,
	_                   // and involuntary ones
	WordAfter           // likewise at its end; zero if it was killed
	_
	_
	WordHandled   // what the algorithm took for its events, in ns of processor time
	WordInHandler // 1 while it handles one
	Words         // how many there are
)

// StopPatience is how long a node may take to answer that it stops.
const StopPatience = 2 * time.Second

package host

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The control plane between a host and its nodes: lines of JSON over the node's
// standard input and output. Input that ends is the host's death, and the
// node's.

// An assignment is the second line that a node reads; the first is the plan.
type assignment struct {
	ID          algo.ID               `json:"id"`
	Incarnation uint32                `json:"incarnation,omitempty"`
	Due         time.Duration         `json:"due,omitempty"`   // a later one: when it was to be up
	Saved       []byte                `json:"saved,omitempty"` // encoded; what it last saved
	Telemetry   string                `json:"telemetry"`       // path of the file to make
	Limit       int64                 `json:"limit,omitempty"`
	Bus         access                `json:"bus"`
	Watch       []trace.Type          `json:"watch,omitempty"` // records to report at once
	Kinds       []uint8               `json:"kinds,omitempty"` // of messages, where those are watched
	Timeline    []harness.Instruction `json:"timeline,omitempty"`
	Cuts        []link.Change         `json:"cuts,omitempty"`
	Spells      []link.Override       `json:"overrides,omitempty"`
	Tally       string                `json:"tally,omitempty"` // path of the file, where messages are omitted
}

// access is how to reach the bus. It holds secrets: it goes through the pipe,
// never through arguments or the environment, and is never printed.
type access struct {
	URL         string `json:"url"`
	Seed        []byte `json:"seed,omitempty"`        // of the node's own key
	Credentials string `json:"credentials,omitempty"` // path of a .creds file
	User        string `json:"user,omitempty"`
	Password    string `json:"password,omitempty"`
	Token       string `json:"token,omitempty"`
	CA          string `json:"ca,omitempty"`
	Cert        string `json:"cert,omitempty"`
	Key         string `json:"key,omitempty"`
	// Patience is with a silent server; 0: the usual one.
	Patience time.Duration `json:"patience,omitempty"`
}

// An order tells a node what to do. Every order but Stop is counted in the
// node's word executed, Start when the process has begun.
type order struct {
	Start     *time.Duration       `json:"start,omitempty"` // the common start, an instant of Monotonic
	Do        *harness.Instruction `json:"do,omitempty"`
	Crashed   *news                `json:"crashed,omitempty"`
	Restarted *news                `json:"restarted,omitempty"`
	Cut       *link.Change         `json:"cut,omitempty"`
	Override  *link.Override       `json:"override,omitempty"`
	Slow      *time.Duration       `json:"slow,omitempty"` // what each event takes from now on
	Stop      bool                 `json:"stop,omitempty"`
}

// news is what a perfect detector is told.
type news struct {
	Process algo.ID       `json:"process"`
	At      time.Duration `json:"at"`
}

// A report is what a node tells its host.
type report struct {
	Ready  bool          `json:"ready,omitempty"`
	Record *trace.Record `json:"record,omitempty"`
	Bye    *farewell     `json:"bye,omitempty"`
	Error  string        `json:"error,omitempty"`
	Broken string        `json:"broken,omitempty"` // likewise, and it is the plugin's fault
}

// complains says whether something went wrong on the node.
func (r *report) complains() bool { return r.Error != "" || r.Broken != "" }

// A farewell is a node's answer to Stop: whatever may have skewed the trial.
type farewell struct {
	Faults []string      `json:"faults,omitempty"` // of the connection
	Late   time.Duration `json:"late,omitempty"`   // by how much it missed the common start
}

// The words that a node shares with its host, for finding quiet. Word
// peerWords*i + wordPeers + k is about process i+1.
const (
	wordActivity = iota // events that the algorithm has handled
	wordTimers          // of the algorithm, pending
	wordPlanned         // alarms of the application and of the perfect detector
	wordInside          // 1 in the critical section
	wordPending         // copies of algorithm messages that wait for their instant; the present event
	wordExecuted        // instructions of the timeline, and orders
	wordReports         // records reported
	wordLastDue         // when the last algorithm message that was sent is due, in ns since the start
	wordPeers
)

const (
	peerSent   = iota // ordinal of the last copy sent to the peer, stamped
	peerSentAt        // when, in ns since the start
	peerGot           // ordinal of the last copy that came from the peer, stamped
	peerWords
)

// stamp joins an ordinal with the incarnation of the sender that it belongs to.
func stamp(incarnation uint32, ordinal uint64) uint64 {
	return uint64(incarnation)<<40 | ordinal&(1<<40-1)
}

func words(nodes int) int { return wordPeers + peerWords*nodes }

package agent

import (
	"encoding/json"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// Protocol is the number of what follows: lines of JSON over the standard input and output of
// an agent's program, so that ssh and srun carry them as well as a pipe. An agent of another
// number is refused. Input that ends means that the host is dead, and ends the agent.
//
// The agent answers requests in their order. Between answers it reports of its nodes.
const Protocol = 6

// A request is a line that an agent's program reads: one of its fields. The first has Hello,
// or Interface and then Hello.
type request struct {
	Interface string              `json:"interface,omitempty"` // whose address is wanted
	Hello     *hello              `json:"hello,omitempty"`
	Bus       *bus.ServerConfig   `json:"bus,omitempty"`
	BusStats  bool                `json:"bus_stats,omitempty"`
	Deaf      *audience           `json:"deaf,omitempty"`
	Begin     *Trial              `json:"begin,omitempty"`
	Start     *control.Assignment `json:"start,omitempty"` // this and Order have no answer
	Stock     bool                `json:"stock,omitempty"`
	Order     *orders             `json:"order,omitempty"`
	Signal    *signalled          `json:"signal,omitempty"`
	Counters  *countersWanted     `json:"counters,omitempty"`
	Watch     bool                `json:"watch,omitempty"`
	Health    bool                `json:"health,omitempty"`
	Collect   bool                `json:"collect,omitempty"`
	Records   *recordsWanted      `json:"records,omitempty"`
	Probe     []string            `json:"probe,omitempty"`   // where the clocks of the others are
	Compare   *[]string           `json:"compare,omitempty"` // clocks from now on
	Compared  *span               `json:"compared,omitempty"`
	End       bool                `json:"end,omitempty"`
}

// A hello is what the leader decides for an agent.
type hello struct {
	Protocol int           `json:"protocol"`
	Name     string        `json:"name"`
	Nodes    int           `json:"nodes"`
	Run      string        `json:"run"`
	Ready    time.Duration `json:"ready"`
	Address  string        `json:"address"` // to listen on for the clock
	Ports    Ports         `json:"ports,omitzero"`
	TLS      *bus.TLS      `json:"tls"` // of that listener
}

type audience struct {
	Trial string `json:"trial"`
	Nodes int    `json:"nodes"`
}

type signalled struct {
	Signal Signal `json:"signal"`
	Nodes  []Ref  `json:"nodes"`
}

type orders struct {
	Node   Ref             `json:"node"`
	Orders []control.Order `json:"orders"`
}

// A span is one of time, by the clock of the agent.
type span struct {
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

type countersWanted struct {
	Links bool `json:"links,omitempty"`
}

type recordsWanted struct {
	Node Ref    `json:"node"`
	From uint64 `json:"from,omitempty"`
}

// An answer is a line that an agent's program writes: to a request, or a report.
type answer struct {
	Report     *Report         `json:"report,omitempty"` // no answer
	Failed     string          `json:"failed,omitempty"` // likewise: an order could not be carried out
	Error      string          `json:"error,omitempty"`
	About      json.RawMessage `json:"about,omitempty"` // the machine and the program: to Hello
	Clock      string          `json:"clock,omitempty"` // where its clock is: likewise
	Wall       time.Duration   `json:"wall,omitempty"`  // what its wall clock shows: likewise
	Address    string          `json:"address,omitempty"`
	Bus        bus.ServerReply `json:"bus,omitzero"`
	BusStats   bus.ServerStats `json:"bus_stats,omitzero"`
	Deaf       []uint32        `json:"deaf,omitempty"`
	Stock      Stock           `json:"stock,omitzero"`
	At         []time.Duration `json:"at,omitempty"`
	Counters   []Counters      `json:"counters,omitempty"`
	Health     Health          `json:"health,omitzero"`
	Collection Collection      `json:"collection,omitzero"`
	Records    []byte          `json:"records,omitempty"` // see trace.AppendRecord
	Next       uint64          `json:"next,omitempty"`
	Probed     []Probed        `json:"probed,omitempty"`
	// Compared is what other clocks answered.
	Compared Comparisons `json:"compared,omitzero"`
}

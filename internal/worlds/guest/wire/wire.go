// Package wire is what both ends of the step protocol write and read: the host, and the kit for Go.
// docs/reference/protocol.md explains it.
package wire

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Version is that of the protocol.
const Version = 1

// Effects, in the compact layout.
const (
	Send = iota + 1
	Set
	Cancel
	Granted
	Elected
	Save
	Log
	_
	Broken
	Failed
)

// EventByte is what an event of that type begins with in the compact layout, and EventOf the reverse.
func EventByte(t algo.EventType) byte { return byte(t - algo.Start + 1) }

// EventOf is the type of an event that begins with b.
func EventOf(b byte) algo.EventType { return algo.EventType(b) - 1 + algo.Start }

// The words for what a Spec says with functions.
const (
	Minority  = "minority"    // crashes: fewer than half of the processes
	AllButOne = "all but one" // crashes
	Steady    = "steady"      // live: algo.Steady
)

// Types are the types of parameters.
var Types = map[string]algo.ParamType{"bool": algo.Bool, "int": algo.Int, "float": algo.Float,
	"duration": algo.Duration, "enum": algo.Enum}

// Tunings are what parameters are to the detection of crashes.
var Tunings = map[string]algo.Tuning{"": algo.Fixed, "patience": algo.Patience, "spread": algo.Spread}

// WordOf is the word for v among words.
func WordOf[T comparable](words map[string]T, v T) string {
	for word, is := range words {
		if is == v {
			return word
		}
	}
	return ""
}

// A Network is what a program may know of the links. Times are in nanoseconds.
type Network struct {
	Nodes   int           `json:"nodes"`
	Latency time.Duration `json:"latency"`
	Mean    time.Duration `json:"mean"`
	Bounded bool          `json:"bounded"`
	Hold    time.Duration `json:"hold"`
}

// NetworkOf is n on the line.
func NetworkOf(n algo.Network) Network { return Network{n.Nodes, n.Latency, n.Mean, n.Bounded, n.Hold} }

// With is the network with the parameters that are known.
func (n Network) With(p algo.Params) algo.Network {
	return algo.Network{Nodes: n.Nodes, Latency: n.Latency, Mean: n.Mean, Bounded: n.Bounded, Hold: n.Hold,
		Params: p}
}

// A Config is what a process knows at its start. V is a value of a parameter: any where it is written, and
// JSON where it is read.
type Config[V any] struct {
	ID          algo.ID        `json:"id"`
	Peers       []algo.ID      `json:"peers"`
	Neighbors   []algo.ID      `json:"neighbors"`
	Weights     []algo.Weight  `json:"weights,omitempty"`
	Ring        []algo.ID      `json:"ring,omitempty"`
	Leader      algo.ID        `json:"leader,omitempty"`
	LeaderDown  bool           `json:"leader_down,omitempty"`
	Holder      algo.ID        `json:"holder,omitempty"`
	Incarnation uint32         `json:"incarnation,omitempty"`
	Params      map[string]V   `json:"params,omitempty"`
	All         map[string][]V `json:"all,omitempty"` // of those that differ between processes
}

// ConfigOf is c on the line, without parameters.
func ConfigOf[V any](c *algo.Config) Config[V] {
	return Config[V]{ID: c.ID, Peers: c.Peers, Neighbors: c.Neighbors, Weights: c.Weights, Ring: c.Ring,
		Leader: c.Leader, LeaderDown: c.LeaderDown, Holder: c.Holder, Incarnation: c.Incarnation}
}

// With is the configuration with the parameters p of all processes.
func (c *Config[V]) With(p algo.Params) algo.Config {
	return algo.Config{ID: c.ID, Peers: c.Peers, Neighbors: c.Neighbors, Weights: c.Weights, Ring: c.Ring,
		Leader: c.Leader, LeaderDown: c.LeaderDown, Holder: c.Holder, Incarnation: c.Incarnation,
		Params: p.Of(c.ID)}
}

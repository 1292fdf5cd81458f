// Package brokenlock is Ricart and Agrawala's algorithm with a mistake, for bench explore to find: a process
// that wants to enter compares the sequence numbers alone. With equal numbers both reply, so two processes
// that ask at the same time both enter. The kits of all languages have it as an example.
package brokenlock

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "broken-lock",
		Summary: "ricart-agrawala with a mistake: equal numbers are not ordered",
		Paper: algo.Paper{Authors: "Conclave", Title: "An example with a mistake",
			Venue: algo.Unpublished},
		Messages: []algo.Message{Request{}, Reply{}},
		Survives: algo.Faults{Duplication: true},
		Promises: algo.Promises{StarvationFree: true},
		Breaks:   "Two processes that ask at the same time both enter.",
	}, func(c algo.Config) algo.Mutex { return &node{Config: c, highest: uint64(c.Incarnation) << 32} })
}

// A Stamp names a request.
type Stamp struct {
	Number uint64
	ID     algo.ID
}

// Request asks its receiver for permission to enter.
type Request struct{ Stamp Stamp }

// Reply gives permission to the request that it names.
type Reply struct{ Stamp Stamp }

// Kind is REQUEST.
func (Request) Kind() string { return "REQUEST" }

// Kind is REPLY.
func (Reply) Kind() string { return "REPLY" }

type node struct {
	algo.Config
	own        Stamp
	highest    uint64
	requesting bool
	needed     []algo.ID
	deferred   []Stamp
}

func (n *node) Request(env algo.Env) {
	n.requesting = true
	n.own = Stamp{n.highest + 1, n.ID}
	n.needed = slices.DeleteFunc(slices.Clone(n.Peers), func(p algo.ID) bool { return p == n.ID })
	algo.Broadcast(env, n.ID, n.Peers, Request{n.own})
	n.enterIfAllowed(env)
}

func (n *node) Release(env algo.Env) {
	n.requesting = false
	for _, s := range n.deferred {
		env.Send(s.ID, Reply{s})
	}
	n.deferred = nil
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.highest = max(n.highest, m.Stamp.Number)
		if n.requesting && n.own.Number < m.Stamp.Number { // the mistake: an equal number does not wait
			n.deferred = append(n.deferred, m.Stamp)
			return
		}
		env.Send(m.Stamp.ID, Reply(m))
	case Reply:
		if i := slices.Index(n.needed, from); m.Stamp == n.own && i >= 0 {
			n.needed = slices.Delete(n.needed, i, i+1)
			n.enterIfAllowed(env)
		}
	}
}

func (n *node) enterIfAllowed(env algo.Env) {
	if len(n.needed) == 0 {
		env.Granted()
	}
}

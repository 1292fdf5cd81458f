// Package afekgafni is an election on a complete graph by capture, after Afek and Gafni
// (SIAM J. Computing 1991).
//
// A candidate captures the other processes one after another, and the more it has, the stronger
// it is; among equals the larger ID is. A process without an owner yields to a candidate, unless
// it is a stronger one itself. A process that has an owner asks that owner first. The owner
// releases it only if the owner is weaker, and then stops being a candidate. So no two candidates
// own a process at once, and few of them ever own many. A process that owns all others leads, and
// tells them.
package afekgafni

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "afek-gafni",
		Summary: "candidates capture the others one by one; a process that owns all of them leads",
		Paper: algo.Paper{
			Authors: "Y. Afek, E. Gafni",
			Title: "Time and message bounds for election in synchronous and asynchronous complete " +
				"networks",
			Venue: "SIAM J. Computing 20(2)", Year: 1991,
			Deviations: "This is the simple form, in which a candidate captures one process at a time. " +
				"The paper's best version needs 2N log N + O(N) messages. A process notes the strength " +
				"against which its owner kept it, and refuses candidates that are not stronger without " +
				"asking again. There is one election: a later request for another is ignored.",
		},
		Messages: []algo.Message{Capture{}, Accept{}, Refuse{}, ReleaseAsk{}, ReleaseYes{}, ReleaseNo{},
			Leader{}},
		Params: []algo.Param{{Name: "capture_order", Type: algo.Enum, Default: algo.Const("cyclic"),
			Choices: []string{"cyclic", "ascending"},
			Doc: "which processes a candidate captures first: the next larger IDs, or the smallest " +
				"ones"}},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "3(N-1): one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(3 * (n - 1)) }),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "5(N-1): all do, and capture in cyclic order",
			Bound: algo.Exactly(func(n int) float64 { return float64(5 * (n - 1)) }),
		}},
		Breaks: "There are no time-outs: if a process crashes, or a message is lost, the candidate that " +
			"tries to capture it next waits forever.",
	}, New)
}

type state uint8

const (
	sleep     state = iota // has neither begun an election nor been captured
	candidate              // captures others; leads when it has them all
	ordinary               // belongs to its owner, if it has one
)

// String is what the state is called where states are shown.
func (s state) String() string { return [...]string{"sleep", "candidate", "ordinary"}[s] }

type node struct {
	algo.Config
	targets  []algo.ID // to be captured, in that order
	state    state
	level    uint32 // how many of them are
	owner    algo.ID
	accepted Strength // what the owner captured it with, or kept it against since
	pending  Strength // of the capture that the owner is asked about; ID None: of none
}

// New sleeps.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c}
	at := c.ID.Index()
	n.targets = slices.Concat(c.Peers[at+1:], c.Peers[:at])
	if c.Params.Enum("capture_order") == "ascending" {
		slices.Sort(n.targets)
	}
	return n
}

func (n *node) strength() Strength { return Strength{n.level, n.ID} }

// Elect makes a process a candidate, unless it has been captured.
func (n *node) Elect(env algo.Env) {
	if n.state == sleep {
		n.state = candidate
		n.next(env)
	}
}

// next captures one more. A process that has all others leads.
func (n *node) next(env algo.Env) {
	if int(n.level) < len(n.targets) {
		env.Send(n.targets[n.level], Capture{n.strength()})
		return
	}
	env.Elected(n.ID, 0)
	algo.Broadcast(env, n.ID, n.Peers, Leader{})
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Capture:
		n.onCapture(env, m.S)
	case Accept:
		if n.state == candidate {
			n.level++
			n.next(env)
		}
	case Refuse:
		n.state = ordinary
	case ReleaseAsk:
		if n.outdoes(m.S) {
			env.Send(from, ReleaseNo(m))
		} else {
			env.Send(from, ReleaseYes(m))
		}
	case ReleaseYes:
		if m.S == n.pending {
			n.pending = Strength{}
			n.accept(env, m.S)
		}
	case ReleaseNo:
		if m.S == n.pending {
			n.pending, n.accepted = Strength{}, m.S
			env.Send(m.S.ID, Refuse{})
		}
	case Leader:
		env.Elected(from, 0)
	}
}

// outdoes says whether this process is a candidate, or the leader, and stronger than s. If
// not, it is ordinary from now on.
func (n *node) outdoes(s Strength) bool {
	if n.state == candidate && n.strength().above(s) {
		return true
	}
	n.state = ordinary
	return false
}

// onCapture: of several captures that the owner would have to be asked about the strongest
// is pending.
func (n *node) onCapture(env algo.Env, s Strength) {
	switch {
	case n.outdoes(s), !s.above(n.pending), !s.above(n.accepted):
		env.Send(s.ID, Refuse{})
	case n.owner == algo.None:
		n.accept(env, s)
	default:
		if n.pending.ID != algo.None {
			env.Send(n.pending.ID, Refuse{})
		}
		n.pending = s
		env.Send(n.owner, ReleaseAsk{s})
	}
}

func (n *node) accept(env algo.Env, s Strength) {
	n.owner, n.accepted = s.ID, s
	env.Send(s.ID, Accept{})
}

// Invariant: a process that has an owner, or is asked for, is ordinary; what is pending would be stronger.
func (n *node) Invariant() error {
	switch {
	case n.owner != algo.None && n.state != ordinary:
		return fmt.Errorf("belongs to %d in state %v", n.owner, n.state)
	case n.pending.ID != algo.None && (n.owner == algo.None || !n.pending.above(n.accepted)):
		return fmt.Errorf("%v pends, of %d with %v", n.pending, n.owner, n.accepted)
	case int(n.level) > len(n.targets) || n.level > 0 && n.state == sleep:
		return fmt.Errorf("level %d in state %v, of %d others", n.level, n.state, len(n.targets))
	}
	return nil
}

var _ algo.Checked = (*node)(nil)

// Package dolevklawerodeh is the election of Dolev, Klawe and Rodeh on a ring of one direction (J.
// Algorithms 1982), and Peterson's.
//
// A process that wants an election is active, and has its ID as its value. In a phase it gets
// the values of the two active processes before it. If the value of the nearer one is the
// largest of the three, it adopts that value and stays active; otherwise it gives up, and from
// then on passes messages on. So at least half give up in each phase, as in Franklin's
// algorithm, with messages in one direction only. A process that gets its own value back is the
// last, and announces the owner of that value: mostly another process.
package dolevklawerodeh

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

func init() {
	s := spec()
	s.Name = "dolev-klawe-rodeh"
	s.Summary = "on a ring; of three neighbors' values the largest survives if it is in the middle"
	s.Paper = algo.Paper{
		Authors: "D. Dolev, M. Klawe, M. Rodeh",
		Title: "An O(n log n) unidirectional distributed algorithm for extrema finding in a " +
			"circle",
		Venue: "J. Algorithms 3(3), 245-260", Year: 1982, DOI: "10.1016/0196-6774(82)90023-2",
		Deviations: deviations,
	}
	algo.RegisterElector(s, New)
}

const deviations = "The result is announced in a lap. There is one election: a later request for another " +
	"is ignored."

// spec is what both forms share.
func spec() algo.Spec {
	return algo.Spec{
		Messages: []algo.Message{One{}, Two{}, lap.Elected{}},
		Needs:    algo.Needs{Topology: algo.Ring, FIFO: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "2N: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * n) }),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "4N: all do, on a ring in ascending order",
			Bound: algo.Exactly(func(n int) float64 { return float64(4 * n) }),
		}},
		Breaks: "Any crash opens the ring, and a lost message is not sent again: no process leads, or " +
			"some never learn of the leader. On links that do not keep order, values of different phases " +
			"are compared.",
	}
}

type node struct {
	lap.Place
	largest bool // peterson: TWO has the larger of the two values
	taken   bool // part in the election, if only by passing messages on
	active  bool
	value   algo.ID
	before  algo.ID // the value of the active process before this one
}

// New has heard of no election.
func New(c algo.Config) algo.Elector { return &node{Place: lap.At(c)} }

// Elect begins, unless it is too late.
func (n *node) Elect(env algo.Env) {
	if !n.taken {
		n.taken, n.active, n.value = true, true, n.ID
		env.Send(n.Next(), One{n.value})
	}
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	if _, result := m.(lap.Elected); !n.active && !result {
		n.taken = true
		env.Send(n.Next(), m)
		return
	}
	switch m := m.(type) {
	case One:
		n.onOne(env, m.Value)
	case Two:
		n.onTwo(env, m.Value)
	case lap.Elected:
		n.Announce(env, m.ID)
	}
}

// onOne: the own value has come round, so this process is the last; or it goes on to the next.
func (n *node) onOne(env algo.Env, value algo.ID) {
	if value == n.value {
		n.Announce(env, n.value)
		return
	}
	n.before = value
	if n.largest {
		value = max(value, n.value)
	}
	env.Send(n.Next(), Two{value})
}

// onTwo compares the values of the two before with the own. The two are equal with peterson alone.
func (n *node) onTwo(env algo.Env, value algo.ID) {
	n.active = n.before > n.value && n.before >= value
	if n.active {
		n.value = n.before
		env.Send(n.Next(), One{n.value})
	}
}

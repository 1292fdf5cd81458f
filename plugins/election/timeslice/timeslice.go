// Package timeslice is TimeSlice, the election on a ring of Lynch's textbook (Distributed Algorithms, 1996,
// section 3.5.1), which needs a bound on delays and the size of the ring.
//
// Time is in phases, and phase v belongs to the process with ID v. If that process has heard of no
// leader when its phase begins, it leads, and says so in a lap, for which the phase is long enough. So
// the smallest ID leads, and no other process ever tries. The lap takes N messages, the fewest that
// there can be, and the election as many phases as the smallest ID says.
package timeslice

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "time-slice",
		Summary: "on a ring; phase v belongs to ID v, so that the smallest leads",
		Paper: algo.Paper{
			Authors: "N. A. Lynch",
			Title:   "Distributed algorithms",
			Venue:   "Morgan Kaufmann", Year: 1996,
			Deviations: "Processes need not begin together: one that wants an election wakes the " +
				"others by N messages, WAKE, and phases are as much longer as that takes. All take " +
				"part, whether they want an election or not. There is one election: a later request " +
				"for another is ignored.",
		},
		Messages: []algo.Message{Wake{}, lap.Elected{}},
		Params: []algo.Param{{Name: "t_phase", Type: algo.Duration, Min: time.Microsecond,
			Doc: "how long a phase lasts; default 2Nd + 20 ms, d the largest latency",
			Default: func(net algo.Network) any {
				return 2*time.Duration(net.Nodes)*net.Latency + algo.Slack
			}}},
		Needs:    algo.Needs{Topology: algo.Ring, Synchrony: algo.Synchronous, Params: longEnough},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "2N: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * n) }),
		}, {
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "2N: all do",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * n) }),
		}},
		Breaks: "Any crash opens the ring. A message that takes longer than the phases allow for " +
			"lets a second process lead.",
	}, New)
}

// longEnough says whether a phase is long enough: a process may begin N-1 steps after another, and its
// lap comes N-1 steps after that.
func longEnough(net algo.Network, p algo.Params) error {
	least := 2 * time.Duration(net.Nodes-1) * net.Latency
	if t := p.Duration("t_phase"); t <= least {
		return fmt.Errorf("t_phase %v is not above 2(N-1)d = %v: a lap may come after the next phase has "+
			"begun", t, least)
	}
	return nil
}

type node struct {
	lap.Place
	awake bool
}

// phase ends when that of the process itself begins.
const phase algo.Timer = "phase"

// New sleeps.
func New(c algo.Config) algo.Elector { return &node{Place: lap.At(c)} }

// Elect wakes this process up, and by it the next one.
func (n *node) Elect(env algo.Env) {
	if !n.awake {
		n.awake = true
		env.Send(n.Next(), Wake{})
		env.SetTimer(phase, time.Duration(n.ID-1)*n.Params.Duration("t_phase"))
	}
}

// Timeout begins the phase of the process itself.
func (n *node) Timeout(env algo.Env, _ algo.Timer) { n.Announce(env, n.ID) }

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Wake:
		n.Elect(env)
	case lap.Elected:
		n.awake = true
		env.CancelTimer(phase)
		n.Announce(env, m.ID)
	}
}

var _ algo.Timed = (*node)(nil)

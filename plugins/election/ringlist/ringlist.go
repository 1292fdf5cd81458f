// Package ringlist is the ring election that collects a list, as Tanenbaum
// teaches it: a fault-tolerant descendant of Le Lann's (1977), and not
// Chang-Roberts. Comments cite the numbered rules of ring-list elections; rule 2, how
// the dead are skipped, is package ring.
//
// Every process knows the whole ring. An ELECTION goes round and collects the IDs of the
// live; a process that does not acknowledge within T is skipped. A process that finds
// itself in the list closes the lap. The largest ID in it leads, and a COORDINATOR goes
// round to name it and the members of the new ring: all that the list holds. The first
// process to see its own ID closes the lap, so it ends even if the initiator died.
package ringlist

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/ring"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "ring-list",
		Summary: "a list goes round the ring and collects the live; the largest leads",
		Paper: algo.Paper{
			Authors: "A. S. Tanenbaum, M. van Steen",
			Title:   "Distributed Systems: Principles and Paradigms, section 6.5",
			Venue:   "Prentice Hall, 2nd edition", Year: 2007,
			Deviations: "The text does not say which process removes the COORDINATOR, or what happens " +
				"when the initiator dies. Here a process that finds itself in the list closes the lap, " +
				"and an announcement that comes round a second time is removed. The announcement names " +
				"the members of the new ring, but every lap tries the whole ring, so that it finds " +
				"processes that have come back. Acknowledgements name the message that they answer and " +
				"are counted apart. Simultaneous initiators are not suppressed. A process that has " +
				"heard of an election but not of its end starts again after lap_timeout, since a lap " +
				"is lost when two neighbors crash while it passes between them.",
		},
		Messages:  []algo.Message{Election{}, Coordinator{}},
		Auxiliary: []algo.Message{Ack{}},
		Params: []algo.Param{
			ring.SkipTimeout(),
			{Name: "lap_timeout", Type: algo.Duration, Min: time.Microsecond,
				Doc: "how long an election may take before its participants start again; " +
					"default 2n (T + d), as if all were skipped twice",
				Default: func(net algo.Network) any {
					return ring.TwoLaps(net, net.Params.Duration("skip_timeout"))
				}},
			ring.RememberDead(),
		},
		Needs: algo.Needs{
			Topology: algo.LogicalRing, Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: ring.Timing,
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Highest: true, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "light", Source: algo.Derived,
			Text:  "2N with one initiator and none dead",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * n) }),
		}},
		Breaks: "In a partition the parts become rings of their own: a process that is on the other side " +
			"is skipped as dead, and each part elects its largest. A heal alone does not end " +
			"it.",
	}, New)
}

type node struct {
	algo.Config
	leader   algo.ID
	electing bool // from the start or the first ELECTION to the COORDINATOR
	round    Round
	members  []algo.ID // of the new ring: who was there when its leader was found
	ring.Hops
	handled []handledItem // the newest announcement seen of each converter
	lap     time.Duration
}

type handledItem struct {
	converter algo.ID
	round     Round
}

// New starts with the leader that is settled, if one is.
func New(c algo.Config) algo.Elector {
	return &node{
		Config: c, leader: c.Leader, round: Round{Incarnation: c.Incarnation},
		Hops: ring.New(c), lap: c.Params.Duration("lap_timeout"),
	}
}

// Elect is rule 1. A suspicion during an election changes nothing.
func (n *node) Elect(env algo.Env) {
	if n.electing {
		return
	}
	n.join(env)
	n.Forward(env, Election{List: []algo.ID{n.ID}}, n.ID)
}

// Start: a process that comes back does not know the leader and asks round the ring.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.Elect(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.Acknowledge(env, from, ackOf(m))
		n.onElection(env, m)
	case Coordinator:
		n.Acknowledge(env, from, ackOf(m))
		n.onCoordinator(env, m)
	case Ack:
		n.onAck(env, from, m)
	}
}

// join forgets the leader, and the processes that were dead in the election before.
func (n *node) join(env algo.Env) {
	n.electing, n.leader, n.members = true, algo.None, nil
	n.ForgetDead()
	env.Elected(algo.None, 0)
	env.SetTimer(lapTimer, n.lap)
}

// onElection is rules 3 and 4.
func (n *node) onElection(env algo.Env, m Election) {
	if slices.Contains(m.List, n.ID) { // the lap is closed
		n.round.Count++
		n.onCoordinator(env, Coordinator{
			Leader: slices.Max(m.List), List: m.List, Converter: n.ID, Round: n.round,
		})
		return
	}
	if !n.electing {
		n.join(env)
	}
	n.Forward(env, Election{List: append(slices.Clone(m.List), n.ID)}, n.ID)
}

// onCoordinator is rule 5: adopt and pass on, once.
func (n *node) onCoordinator(env algo.Env, m Coordinator) {
	if n.seen(m.Converter, m.Round) {
		return
	}
	n.electing, n.leader, n.members = false, m.Leader, m.List
	env.CancelTimer(lapTimer)
	env.Elected(m.Leader, 0)
	n.Forward(env, m, n.ID)
}

// seen says whether the announcement was handled before, and notes it.
func (n *node) seen(converter algo.ID, round Round) bool {
	for i := range n.handled {
		if h := &n.handled[i]; h.converter == converter {
			old := !round.after(h.round)
			if !old {
				h.round = round
			}
			return old
		}
	}
	n.handled = append(n.handled, handledItem{converter, round})
	return false
}

func (r Round) after(q Round) bool {
	return r.Incarnation > q.Incarnation || r.Incarnation == q.Incarnation && r.Count > q.Count
}

// onAck ends the wait of its hop.
func (n *node) onAck(env algo.Env, from algo.ID, m Ack) {
	n.Acknowledged(env, from, func(sent algo.Message) bool { return ackOf(sent).equal(m) })
}

// lapTimer runs from the first that is heard of an election to its end.
const lapTimer algo.Timer = "lap"

// Timeout is rule 2 when the successor is silent: try the one after it. When
// the lap was lost, it is rule 1 again.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == lapTimer {
		n.electing = false
		n.Elect(env)
		return
	}
	m, silent := n.GiveUp(t)
	if !n.IsDead(silent) {
		n.Bury(silent)
	}
	n.Forward(env, m, silent)
}

// Invariant: a process that takes part in an election follows none; the leader announced is the
// largest member of the new ring; and no list that goes out holds a process twice.
func (n *node) Invariant() error {
	if n.electing && n.leader != algo.None {
		return fmt.Errorf("electing but follows %d", n.leader)
	}
	top := algo.None
	for _, p := range n.members {
		top = max(top, p)
	}
	if announced := len(n.handled) > 0; announced && n.leader != top {
		return fmt.Errorf("follows %d of the members %v", n.leader, n.members)
	}
	// Of very many lists a few, since this is done after every event. A list grows at its end, and
	// a process that let it grow before has looked at the rest.
	waiting := n.Waiting()
	for _, m := range waiting[:min(len(waiting), 8)] {
		if m, ok := m.(Election); ok && slices.Contains(m.List[:len(m.List)-1], m.List[len(m.List)-1]) {
			return fmt.Errorf("list %v holds a process twice", m.List)
		}
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

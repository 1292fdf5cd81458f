// Package raynalmodified is Raynal's mutual exclusion by prime numbers (IPL
// 1989) as improved in lecture notes, so that no process blocks or polls.
// Comments cite the numbered rules of that form.
//
// Each process has a number A, no two of which have a factor in common, and a
// fraction X, at first A, but 1 at one process. The product T of all X says whose
// turn it is: process i's, if T = Q/A(i), Q being the product of all A. All
// processes know every X. A process that leaves multiplies its X by A(i)/A(i+1),
// which passes the turn to its successor, and informs all others. A process that
// does not want to enter does the same as soon as its turn comes.
//
// After s passes X is A(i)^(s+1)/A(i+1)^s, without the 1 where it was 1. So s
// stands for X, which would outgrow any number, and T is compared with Q/A(i)
// factor by factor; the choice of A makes no difference.
//
// So the turn goes round forever, also when no process wants it. With park it stays
// while no process is known to wait, and a process that wants to enter wakes all
// others up.
package raynalmodified

import (
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/raynal"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "raynal-modified",
		Summary: "a product of fractions says whose turn it is; the turn goes round, wanted or not",
		Paper: algo.Paper{
			Authors: "M. Raynal",
			Title:   "Prime numbers as a tool to design distributed algorithms",
			Venue:   "Information Processing Letters 33", Year: 1989,
			Deviations: "The modification of lecture notes: a process knows every X from INFORM messages " +
				"instead of polling, and passes on a turn that it does not want. Such a system is never " +
				"quiescent; with park the turn stays until a WAKEUP, which is an addition, asks for it. " +
				"The first turn waits for requests at the very start. X travels as its exponent.",
		},
		Messages: []algo.Message{Inform{}, Wakeup{}},
		Params: []algo.Param{
			{Name: "park", Type: algo.Bool, Default: algo.Const(false),
				Doc: "keep the turn while no process is known to wait; requests wake all others up"},
			{Name: "a", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "A, above 1 and without a common factor; 0: process i takes the i-th odd prime; " +
					"the outcome does not depend on it"},
		},
		Perpetual: true, // unless parked
		Needs:     algo.Needs{Params: raynal.Coprime},
		Promises:  algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "heavy", Source: algo.Derived,
			Text:  "N-1 when all wait",
			Bound: algo.Exactly(func(n int) float64 { return float64(n - 1) }),
		}, {
			Metric: "messages/entry", Load: "worst", Source: algo.Derived,
			Text: "N(N-1) for the same process again; the notes say (N-1)², for the farthest other " +
				"process",
			Bound: algo.Exactly(func(n int) float64 { return float64(n * (n - 1)) }),
		}},
		Breaks: "Any crash stops the turn at the process that is down, wanted or not, and all wait " +
			"forever. The system is never quiescent: an idle system exchanges N-1 messages in each " +
			"message delay, unless park is set.",
	}, New)
}

const firstTurn algo.Timer = "first turn"

type node struct {
	algo.Config
	s       []uint64 // X of every process, as far as known: how often it has passed; by ID - 1
	asked   bool     // the application waits
	inside  bool
	park    bool     // keep the turn while idle
	wakeups []wakeup // the newest of each process; by ID - 1
}

type wakeup struct {
	came bool
	s    uint64
}

// New is the initialization: none has passed the turn.
func New(c algo.Config) algo.Mutex {
	return &node{
		Config: c, s: make([]uint64, len(c.Peers)), wakeups: make([]wakeup, len(c.Peers)),
		park: c.Params.Bool("park"),
	}
}

// Start is rule 6: the holder tests, as soon as it has seen the requests of the
// very start.
func (n *node) Start(env algo.Env) {
	if n.ID == n.Holder {
		env.SetTimer(firstTurn, time.Nanosecond)
	}
}

// Timeout is the end of that moment.
func (n *node) Timeout(env algo.Env, _ algo.Timer) { n.testTurn(env) }

// Request is rule 4.
func (n *node) Request(env algo.Env) {
	n.asked = true
	n.testTurn(env)
	if n.asked && n.park { // the turn is somebody else's, who may have kept it
		algo.Broadcast(env, n.ID, n.Peers, Wakeup{n.s[n.ID.Index()]})
	}
}

// Release is rule 5.
func (n *node) Release(env algo.Env) {
	n.inside = false
	n.leaveTurn(env)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Inform: // rule 2
		n.s[from.Index()] = m.S
		n.testTurn(env)
	case Wakeup:
		n.onWakeup(env, from, m.S)
	}
}

// onWakeup notes the newest wake-up of each process.
func (n *node) onWakeup(env algo.Env, from algo.ID, s uint64) {
	if w := &n.wakeups[from.Index()]; !w.came || s > w.s {
		*w = wakeup{true, s}
		n.testTurn(env)
	}
}

// testTurn is rule 3: enter, or pass on what is not wanted.
func (n *node) testTurn(env algo.Env) {
	switch {
	case n.inside || !n.myTurn():
	case n.asked:
		n.asked, n.inside = false, true
		env.Granted()
	default:
		n.leaveTurn(env)
	}
}

// myTurn says whether T = Q/A: every other A must be once in T, and this one not.
// Process j brings A(j) into T as often as it has passed, and once more unless it
// had the first turn; its predecessor takes A(j) out as often as that has passed.
func (n *node) myTurn() bool {
	for i, s := range n.s {
		in, out := s, n.s[(i+len(n.s)-1)%len(n.s)]
		if p := algo.ID(i + 1); p != n.Holder {
			in++
		}
		if p := algo.ID(i + 1); p != n.ID {
			out++
		}
		if in != out {
			return false
		}
	}
	return true
}

// leaveTurn passes the turn on, unless it is to be kept.
func (n *node) leaveTurn(env algo.Env) {
	if !n.park || n.awaited() {
		n.passTurn(env)
	}
}

// awaited says whether anybody waits, as far as is known: a process that woke us up
// with the X that it still has.
func (n *node) awaited() bool {
	for i, w := range n.wakeups {
		if w.came && w.s == n.s[i] {
			return true
		}
	}
	return false
}

// passTurn is rule 1. With one process the turn is its own again.
func (n *node) passTurn(env algo.Env) {
	n.s[n.ID.Index()]++
	algo.Broadcast(env, n.ID, n.Peers, Inform{n.s[n.ID.Index()]})
}

// Invariant: no process is known to be more than one pass ahead or behind, and
// a process that is inside has the turn.
func (n *node) Invariant() error {
	own := n.s[n.ID.Index()]
	for i, s := range n.s {
		if s > own+1 || own > s+1 {
			return fmt.Errorf("%d passes here, but %d of %d", own, s, i+1)
		}
	}
	if n.inside && !n.myTurn() {
		return errors.New("inside, but T is not Q/A")
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

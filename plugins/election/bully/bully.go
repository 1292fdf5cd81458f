// Package bully is the election of Garcia-Molina (IEEE ToC 1982) as textbooks and
// lecture notes teach it, not as the paper has it: by estimate, without halting and
// reorganizing the others. Comments cite the numbered rules of that form. What differs
// in another one, bully-ok, has a prime; bullyok.go says what that is.
//
// A process that misses the coordinator asks all of higher rank. If none answers
// within T it announces itself to all of lower rank. If one answers, it leaves the
// election to that one and waits, for T' at most, for the announcement of the
// winner. A process that is asked answers and holds an election of its own, so the
// live process of highest rank wins. This relies on known delays: an answer later
// than T leads to a second coordinator.
package bully

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "bully",
		Summary: "ask all of higher rank; if none answers in time, announce yourself",
		Paper: algo.Paper{
			Authors: "H. Garcia-Molina",
			Title:   "Elections in a distributed computing system",
			Venue:   "IEEE Transactions on Computers C-31(1), 48-59", Year: 1982,
			DOI: "10.1109/TC.1982.1675885",
			Deviations: "This is the textbook form (Coulouris et al., section 15.3; lecture notes), and " +
				"messages are counted by it. In the paper a process is down, or in the state Election, " +
				"Reorganization or Normal. A process that holds an election asks those of higher rank in " +
				"turn whether they are there, and stops at the first that answers; that one does not " +
				"hold an election because it was asked. If none answers, it HALTs all of lower rank " +
				"before it announces itself to those that heed it, and makes them READY when they are " +
				"reorganized. Here all of higher rank are asked at once, a process that is asked holds " +
				"an election, and a single COORDINATOR ends it. Ours differs from that form, too: ranks " +
				"are pairs (est, ID), since estimates may be equal. Answers name the attempt that they " +
				"answer. A process that is electing answers but does not start again " +
				"(suppress_duplicates; false is the literal text, with a number of messages exponential " +
				"in n). A coordinator that is asked announces itself to all of lower rank again " +
				"(coordinator_reply; unicast: to the asker alone). If a process of lower rank announces " +
				"itself within T after one of higher rank, a process that hears both holds an election: " +
				"the two announcements may be a race between a process that came back and one that did " +
				"not know of it.",
		},
		Messages: []algo.Message{Election{}, Answer{}, Coordinator{}},
		Params: []algo.Param{
			{Name: "t_answer", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T, how long to wait for an answer; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "t_coordinator", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T', how long to wait for the announcement after an answer; default T + 3d + 20 ms",
				Default: timeout.RoundTripAfter("t_answer")},
			{Name: "suppress_duplicates", Type: algo.Bool, Default: algo.Const(true),
				Doc: "a process that is electing does not start again when asked"},
			{Name: "coordinator_reply", Type: algo.Enum, Choices: []string{"broadcast", "unicast"},
				Default: algo.Const("broadcast"),
				Doc:     "to which processes a coordinator that is asked announces itself"},
			{Name: "est", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "estimate: the rank's first part, the ID is its second"},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: timeout.BothCover("t_answer", "t_coordinator"),
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Highest: true, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "N²-N-1 when the lowest detects alone",
			Bound: algo.Exactly(func(n int) float64 { return float64(n*n - n - 1) }),
		}, {
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "N-1 when the second highest detects alone",
			Bound: algo.Exactly(func(n int) float64 { return float64(n - 1) }),
		}},
		Breaks: "Delays above the bound, or a partition, make several coordinators: one in each part, or " +
			"one for each process whose answers come too late. A heal alone does not end it: a process " +
			"must start an election.",
	}, New)
}

type status uint8

const (
	idle     status = iota
	electing        // ELECTION is out, no answer yet
	waiting         // somebody of higher rank answered
)

// String is what the status is called where states are shown.
func (s status) String() string { return [...]string{"idle", "electing", "waiting"}[s] }

type node struct {
	algo.Config
	status      status
	coordinator algo.ID
	heard       []announcement // of the last T, believed or not
	attempts    uint32         // made so far in this incarnation
	open        []uint32       // attempts without an answer: with suppression, one at most
	suppress    bool
	unicast     bool
	ok          bool // it is bully-ok
	t, tPrime   time.Duration
}

// An announcement is that somebody is the coordinator.
type announcement struct {
	from algo.ID
	at   time.Duration
}

// New starts idle, with the coordinator that is settled, if one is.
func New(c algo.Config) algo.Elector {
	return &node{
		Config: c, coordinator: c.Leader,
		t: c.Params.Duration("t_answer"), tPrime: c.Params.Duration("t_coordinator"),
		suppress: c.Params.Bool("suppress_duplicates"),
		unicast:  c.Params.Enum("coordinator_reply") == "unicast",
	}
}

const coordinatorTimer algo.Timer = "T'"

// above says whether p ranks above q: by estimate, then by ID; in bully-ok by ID alone.
func (n *node) above(p, q algo.ID) bool {
	if n.ok {
		return p > q
	}
	if e, other := n.Params.IntOf("est", p), n.Params.IntOf("est", q); e != other {
		return e > other
	}
	return p > q
}

// Elect is rule 1: a suspicion, or a withdrawn one, starts an election unless
// one is in progress here.
func (n *node) Elect(env algo.Env) {
	if n.status == idle {
		n.start(env)
	}
}

// Start is rule 7: a process that comes back holds an election, and so displaces a
// coordinator of lower rank.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.start(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.onElection(env, from, m)
	case Answer:
		n.onAnswer(env, m.Attempt)
	case OK:
		n.onAnswer(env, m.Attempt)
	case Coordinator:
		n.onCoordinator(env, from)
	}
}

func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == coordinatorTimer { // rule 5: a process that answered died before it announced itself
		n.start(env)
		return
	}
	n.onSilence(env, t)
}

// start is the body of rule 1. The suspect is asked as well: were it not, the
// process next to it in rank would wait for nobody.
func (n *node) start(env algo.Env) {
	n.attempts++
	asked := false
	for _, p := range n.Peers {
		if n.above(p, n.ID) {
			env.Send(p, Election{Attempt{n.Incarnation, n.attempts}})
			asked = true
		}
	}
	if !asked {
		n.declare(env)
		return
	}
	n.status, n.coordinator = electing, algo.None
	env.Elected(algo.None, 0)
	n.open = append(n.open, n.attempts)
	env.SetTimer(n.answerTimer(n.attempts), n.t)
}

// onElection is rules 2 and 2': answer always; hold an election only if idle.
func (n *node) onElection(env algo.Env, from algo.ID, m Election) {
	if n.ok {
		env.Send(from, OK(m))
	} else {
		env.Send(from, Answer(m))
	}
	switch {
	case n.status != idle && n.suppress: // duplicate suppression
	case n.coordinator == n.ID && n.unicast:
		env.Send(from, Coordinator{})
	default:
		n.start(env)
	}
}

// onAnswer is rules 3 and 3': leave the election to the process that answered.
func (n *node) onAnswer(env algo.Env, to Attempt) {
	i := slices.Index(n.open, to.Count)
	if i < 0 || to.Incarnation != n.Incarnation { // an earlier attempt
		return
	}
	n.open = slices.Delete(n.open, i, i+1)
	env.CancelTimer(n.answerTimer(to.Count))
	n.status = waiting
	if n.tPrime != 0 || !n.ok { // 0 in bully-ok: forever
		env.SetTimer(coordinatorTimer, n.tPrime)
	}
}

// onSilence is rule 4: T is over and nobody of higher rank answered.
func (n *node) onSilence(env algo.Env, t algo.Timer) {
	n.open = slices.DeleteFunc(n.open, func(a uint32) bool { return n.answerTimer(a) == t })
	n.declare(env)
}

// declare makes this process the coordinator: rule 4, which tells those of lower rank,
// and 4', which tells all others.
func (n *node) declare(env algo.Env) {
	n.status, n.coordinator = idle, n.ID
	env.CancelTimer(coordinatorTimer)
	env.Elected(n.ID, 0)
	for _, p := range n.Peers {
		if n.above(n.ID, p) || n.ok && p != n.ID {
			env.Send(p, Coordinator{})
		}
	}
}

// onCoordinator is rule 6. One of lower rank that announces itself is bullied. If
// one of higher rank did so within T, the two messages raced each other: an
// election tells which of the two is alive.
func (n *node) onCoordinator(env algo.Env, from algo.ID) {
	if n.raced(from, env.Now()) || n.above(n.ID, from) {
		n.Elect(env)
		return
	}
	n.status, n.coordinator = idle, from
	for _, a := range n.open {
		env.CancelTimer(n.answerTimer(a))
	}
	n.open = nil
	env.CancelTimer(coordinatorTimer)
	env.Elected(from, 0)
}

// raced notes that p announces itself, and says whether one above p did so less than T ago.
func (n *node) raced(p algo.ID, now time.Duration) bool {
	n.heard = slices.DeleteFunc(n.heard, func(a announcement) bool { return a.from == p || now-a.at >= n.t })
	n.heard = append(n.heard, announcement{p, now})
	return slices.ContainsFunc(n.heard, func(a announcement) bool { return n.above(a.from, p) })
}

// answerTimer is T of one attempt. With suppression there is but one at a time.
func (n *node) answerTimer(attempt uint32) algo.Timer {
	if n.suppress {
		return "T"
	}
	return algo.Timer("T of attempt " + strconv.Itoa(int(attempt)))
}

// Invariant: with suppression there is one attempt at a time, and a process that takes part in it
// follows none. A process that has taken part in one follows none below itself.
func (n *node) Invariant() error {
	switch {
	case n.suppress && (n.status == electing) != (len(n.open) == 1):
		return fmt.Errorf("status %d with %d attempts without an answer", n.status, len(n.open))
	case n.suppress && n.status != idle && n.coordinator != algo.None:
		return fmt.Errorf("status %d but follows %d", n.status, n.coordinator)
	case n.status == idle && n.attempts > 0 && n.above(n.ID, n.coordinator):
		return fmt.Errorf("follows %d after attempt %d", n.coordinator, n.attempts)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

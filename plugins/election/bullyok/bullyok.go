// Package bullyok is the bully election as operating-system courses teach it,
// after Garcia-Molina (IEEE ToC 1982) and Tanenbaum: with the message OK, and
// with an announcement to everybody. Comments cite the numbered rules of the
// estimate-based form (plugin bully), primed where this form differs.
//
// A process that misses the coordinator asks everybody of higher number. If
// nobody says OK within T it has won and announces itself to all others. If
// somebody does, that one takes the election over, and its own part ends. In
// the course's text it then waits for ever: if all that said OK die before they
// announce themselves, nobody leads. So here it waits for T' at most.
package bullyok

import (
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "bully-ok",
		Summary: "bully as taught: OK takes the election over, the winner tells everybody",
		Paper: algo.Paper{
			Authors: "H. Garcia-Molina",
			Title:   "Elections in a distributed computing system",
			Venue:   "IEEE Transactions on Computers C-31(1), 48-59", Year: 1982,
			DOI: "10.1109/TC.1982.1675885",
			Deviations: "This is the textbook form (Tanenbaum and van Steen, section 6.5.1; lecture " +
				"notes), and messages are counted by it: all of higher number are asked at once, " +
				"who says OK holds an election of its own, COORDINATOR goes to all others. The " +
				"paper's asks them in turn and stops at the first that answers, which holds none " +
				"because of that; who finds nobody HALTs all of lower number, announces itself, and " +
				"makes them READY: states Election, Reorganization and Normal are missing here. The " +
				"notes wait without bound after an OK (t_coordinator: 0); here it is for T', then " +
				"the election starts again. An OK names the attempt that it answers. A coordinator " +
				"of lower number that announces itself is bullied; if it does so within T of one of " +
				"higher number, whoever hears both holds an election: a process that came back and " +
				"one that did not hear of it may have raced.",
		},
		Messages: []algo.Message{Election{}, OK{}, Coordinator{}},
		Params: []algo.Param{
			{Name: "t_ok", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T, how long to wait for an OK; default 3d + 20 ms, d the largest latency",
				Default: func(net algo.Network) any { return 3*net.Latency + algo.Slack }},
			{Name: "t_coordinator", Type: algo.Duration, Min: time.Duration(0),
				Doc: "T', how long to wait for the announcement after an OK; 0: for ever, as in lecture " +
					"notes; default T + 3d + 20 ms",
				Default: func(net algo.Network) any {
					return net.Params.Duration("t_ok") + 3*net.Latency + algo.Slack
				}},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect, Params: timing,
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Highest: true},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "worst", Source: algo.Derived,
			Text:  "N²-N when the lowest detects alone",
			Bound: algo.Exactly(func(n int) float64 { return float64(n*n - n) }),
		}, {
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "N when the second highest detects alone",
			Bound: algo.Exactly(func(n int) float64 { return float64(n) }),
		}},
		Breaks: "An OK that is later than T, or a partition, makes several coordinators. Late ones " +
			"cost messages, since each tells everybody and is bullied by those of higher " +
			"number. With t_coordinator 0, the notes' text, all wait for ever if those that " +
			"said OK die.",
	}, New)
}

// timing is T >= 2d and T' >= T + 2d.
func timing(net algo.Network, p algo.Params) error {
	ok, coordinator := p.Duration("t_ok"), p.Duration("t_coordinator")
	switch d := net.Latency; {
	case ok < 2*d:
		return fmt.Errorf("t_ok %v is below 2d = %v", ok, 2*d)
	case coordinator == 0:
		return errors.New("t_coordinator 0: waits for ever if all that said OK die")
	case coordinator < ok+2*d:
		return fmt.Errorf("t_coordinator %v is below T + 2d = %v", coordinator, ok+2*d)
	}
	return nil
}

type status uint8

const (
	idle     status = iota
	electing        // ELECTION is out, no OK yet
	waiting         // somebody of higher number took the election over
)

type node struct {
	algo.Config
	status      status
	coordinator algo.ID       // None: none is known
	heard       algo.ID       // who announced itself last
	since       time.Duration // when that was
	attempt     Attempt       // the newest one
	t, tPrime   time.Duration
}

const (
	okTimer          algo.Timer = "T"
	coordinatorTimer algo.Timer = "T'"
)

// New starts idle, with the coordinator that is settled, if one is.
func New(c algo.Config) algo.Elector {
	return &node{
		Config: c, coordinator: c.Leader, attempt: Attempt{Incarnation: c.Incarnation},
		t: c.Params.Duration("t_ok"), tPrime: c.Params.Duration("t_coordinator"),
	}
}

// Elect is rule 1: a suspicion, or a withdrawn one, starts an election unless
// one is in progress here.
func (n *node) Elect(env algo.Env) {
	if n.status == idle {
		n.start(env)
	}
}

// Start is rule 7: whoever wants to take part again holds an election.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.start(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election:
		n.onElection(env, from, m)
	case OK:
		n.onOK(env, m)
	case Coordinator:
		n.onCoordinator(env, from)
	}
}

// Timeout is rules 4' and 5.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch t {
	case okTimer: // nobody of higher number is alive
		n.declare(env)
	case coordinatorTimer: // whoever took the election over died
		n.start(env)
	}
}

// start is the body of rule 1: ask everybody of higher number, the suspect too.
func (n *node) start(env algo.Env) {
	n.attempt.Count++
	asked := false
	for _, p := range n.Peers {
		if p > n.ID {
			env.Send(p, Election{n.attempt})
			asked = true
		}
	}
	if !asked {
		n.declare(env)
		return
	}
	n.status, n.coordinator = electing, algo.None
	env.Elected(algo.None, 0)
	env.SetTimer(okTimer, n.t)
}

// onElection is rule 2': say OK always, and hold an election unless one is
// running here.
func (n *node) onElection(env algo.Env, from algo.ID, m Election) {
	env.Send(from, OK(m))
	n.Elect(env)
}

// onOK is rule 3': the first OK ends this process's part.
func (n *node) onOK(env algo.Env, m OK) {
	if n.status != electing || m.Attempt != n.attempt { // late, or of an earlier attempt
		return
	}
	env.CancelTimer(okTimer)
	n.status = waiting
	if n.tPrime > 0 {
		env.SetTimer(coordinatorTimer, n.tPrime)
	}
}

// declare is rule 4': tell all others, those of higher number too.
func (n *node) declare(env algo.Env) {
	n.adopt(env, n.ID)
	algo.Broadcast(env, n.ID, n.Peers, Coordinator{})
}

// onCoordinator is rule 6. One of lower number that announces itself is bullied.
// If one of higher number did so within T, the two messages raced each other: an
// election tells which of the two is alive.
func (n *node) onCoordinator(env algo.Env, from algo.ID) {
	if from < n.ID || from < n.heard && env.Now()-n.since < n.t {
		n.Elect(env)
		return
	}
	n.adopt(env, from)
}

// adopt ends the election here.
func (n *node) adopt(env algo.Env, p algo.ID) {
	n.status, n.coordinator = idle, p
	n.heard, n.since = p, env.Now()
	env.CancelTimer(okTimer)
	env.CancelTimer(coordinatorTimer)
	env.Elected(p, 0)
}

// Invariant: who takes part in an election follows nobody, and who has taken
// part in one follows nobody below itself.
func (n *node) Invariant() error {
	switch {
	case n.status != idle && n.coordinator != algo.None:
		return fmt.Errorf("status %d but follows %d", n.status, n.coordinator)
	case n.status == idle && n.attempt.Count > 0 && n.coordinator < n.ID:
		return fmt.Errorf("follows %d after attempt %d", n.coordinator, n.attempt.Count)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

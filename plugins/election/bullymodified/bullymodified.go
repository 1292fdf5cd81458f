// Package bullymodified is the modified bully election of Kordafshari, Gholipour,
// Jahanshahi and Haghighat (2005). Comments cite its rules as numbered below.
//
// Plain bully lets everybody who is asked hold an election of its own, which
// costs O(n²) messages. Here a process that is asked only says that it is alive. The
// initiator waits for the answers, picks the highest of them and grants it
// the leadership. That one announces itself to all below it. So one election
// costs O(n) messages.
//
//  1. Start: ask everybody of higher ID; start T.
//  2. ELECTION: answer ALIVE. No election of one's own.
//  3. ALIVE: note who answered.
//  4. T expires: GRANT to the highest that answered; start T".
//  5. Win: nobody answered, or GRANT came. Tell all of lower ID.
//  6. T" expires: a process that was granted the leadership died. Start again.
//  7. ELECTED: follow its sender.
package bullymodified

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "bully-modified",
		Summary: "bully in which the initiator picks the highest that answers, and lets it announce itself",
		Paper: algo.Paper{
			Authors: "M. S. Kordafshari, M. Gholipour, M. Jahanshahi, A. T. Haghighat",
			Title:   "Modified bully election algorithm in distributed systems",
			Venue:   "WSEAS International Conference on Computers", Year: 2005,
			Deviations: "The form of lecture notes. They name no message that lets the highest " +
				"announce itself: GRANT here; a leader that gets one tells its sender alone. A " +
				"process that comes back starts an election. Answers name their round. If T\" " +
				"passes without an announcement the election starts again. A GRANT, or the " +
				"ELECTED of a lower process, that comes within T of the ELECTED or the answer of a " +
				"higher one, or just before that answer, starts an election: a process that came " +
				"back and one that did not hear of it may have raced.",
		},
		Messages: []algo.Message{Election{}, Alive{}, Grant{}, Elected{}},
		Params: []algo.Param{
			{Name: "t_answer", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T, how long to collect answers; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "t_elected", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T\", how long to wait for the announcement after a GRANT; default T + 3d + 20 ms",
				Default: timeout.RoundTripAfter("t_answer")},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect, Params: timing,
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Highest: true, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text:  "N²+N-5 when all detect at once, N > 2",
			Bound: algo.Exactly(func(n int) float64 { return float64(n*n + n - 5) }),
		}, {
			Metric: "messages/election", Load: "light", Source: algo.Derived,
			Text:  "3N-4 when the lowest detects alone, N > 2",
			Bound: algo.Exactly(func(n int) float64 { return float64(3*n - 4) }),
		}, {
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "N-1 when the second highest detects alone",
			Bound: algo.Exactly(func(n int) float64 { return float64(n - 1) }),
		}},
		Breaks: "An answer that is later than T makes the initiator announce itself, to those below " +
			"it alone; those that it asked hold no election of their own and follow the dead " +
			"leader on. A partition makes a leader in each part.",
	}, New)
}

// timing: both time-outs cover a round trip.
func timing(net algo.Network, p algo.Params) error {
	if err := timeout.Covers(net, p, "t_answer"); err != nil {
		return err
	}
	return timeout.Covers(net, p, "t_elected")
}

type node struct {
	algo.Config
	electing   bool                      // from the start to the announcement
	leader     algo.ID                   // None: none is known
	heard      map[algo.ID]time.Duration // when a process announced itself or answered last
	round      Round                     // the newest one
	responders []algo.ID                 // in this round
	t, tElect  time.Duration
}

const (
	answerTimer  algo.Timer = "T"
	electedTimer algo.Timer = "T\""
)

// New starts idle, with the leader that is settled, if one is.
func New(c algo.Config) algo.Elector {
	return &node{
		Config: c, leader: c.Leader, round: Round{Incarnation: c.Incarnation},
		heard: map[algo.ID]time.Duration{},
		t:     c.Params.Duration("t_answer"), tElect: c.Params.Duration("t_elected"),
	}
}

// Elect starts an election unless one of this process is in progress.
func (n *node) Elect(env algo.Env) {
	if !n.electing {
		n.start(env)
	}
}

// Start: a process that comes back holds an election.
func (n *node) Start(env algo.Env) {
	if n.Incarnation > 0 {
		n.start(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Election: // rule 2
		env.Send(from, Alive(m))
	case Alive:
		n.onAlive(env, from, m)
	case Grant:
		n.onGrant(env, from)
	case Elected:
		n.onElected(env, from)
	}
}

func (n *node) Timeout(env algo.Env, t algo.Timer) {
	switch t {
	case answerTimer:
		n.onAnswered(env)
	case electedTimer: // rule 6
		n.start(env)
	}
}

// start is rule 1. The suspect is asked as well.
func (n *node) start(env algo.Env) {
	n.round.Count++
	n.responders = nil
	asked := false
	for _, p := range n.Peers {
		if p > n.ID {
			env.Send(p, Election{n.round})
			asked = true
		}
	}
	if !asked {
		n.win(env)
		return
	}
	n.electing, n.leader = true, algo.None
	env.Elected(algo.None, 0)
	env.SetTimer(answerTimer, n.t)
}

// onAlive is rule 3. What comes behind T is noted, and nobody looks at it; but a
// lower one that has announced itself meanwhile did not know of this one.
func (n *node) onAlive(env algo.Env, from algo.ID, m Alive) {
	if m.Round != n.round {
		return
	}
	n.responders = append(n.responders, from)
	n.heard[from] = env.Now()
	if n.leader > n.ID && n.leader < from {
		n.start(env)
	}
}

// onAnswered is rule 4.
func (n *node) onAnswered(env algo.Env) {
	highest := algo.None
	for _, p := range n.responders {
		highest = max(highest, p)
	}
	switch {
	case highest != algo.None:
		env.Send(highest, Grant{n.round})
		env.SetTimer(electedTimer, n.tElect)
	case n.raced(env, n.ID): // one that was not back yet when it was asked
		n.start(env)
	default: // nobody of higher ID is alive
		n.win(env)
	}
}

// win is rule 5.
func (n *node) win(env algo.Env) {
	n.adopt(env, n.ID)
	for _, p := range n.Peers {
		if p < n.ID {
			env.Send(p, Elected{})
		}
	}
}

// onGrant is rule 5 as well. A process that leads has told all of lower ID: only
// the granter, whose ELECTION came since, may not know.
func (n *node) onGrant(env algo.Env, from algo.ID) {
	switch {
	case n.leader == n.ID:
		env.Send(from, Elected{})
	case n.raced(env, n.ID):
		n.Elect(env)
	default:
		n.win(env)
	}
}

// onElected is rule 7.
func (n *node) onElected(env algo.Env, from algo.ID) {
	n.heard[from] = env.Now()
	if n.raced(env, from) {
		n.Elect(env)
		return
	}
	n.adopt(env, from)
}

// raced says whether one higher than p, which is about to lead, was heard within T.
// Who sent p's message may not have heard of it, or that one may be dead: an
// election tells.
func (n *node) raced(env algo.Env, p algo.ID) bool {
	for _, q := range n.Peers {
		if at, ok := n.heard[q]; ok && q > p && env.Now()-at < n.t {
			return true
		}
	}
	return false
}

// adopt ends the election here.
func (n *node) adopt(env algo.Env, p algo.ID) {
	n.electing, n.leader = false, p
	env.CancelTimer(answerTimer)
	env.CancelTimer(electedTimer)
	env.Elected(p, 0)
}

// Invariant: a process that takes part in an election follows none, a process that has taken part
// in one follows none below itself, and only higher ones answer.
func (n *node) Invariant() error {
	switch {
	case n.electing && n.leader != algo.None:
		return fmt.Errorf("electing but follows %d", n.leader)
	case !n.electing && n.round.Count > 0 && n.leader < n.ID:
		return fmt.Errorf("follows %d after round %d", n.leader, n.round.Count)
	}
	for _, p := range n.responders {
		if p <= n.ID {
			return fmt.Errorf("%d answered, which is not higher", p)
		}
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

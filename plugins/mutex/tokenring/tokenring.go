// Package tokenring is mutual exclusion by a token that goes round a ring
// forever (Le Lann, IFIP 1977). Its rules are three; comments cite them by
// number.
//
// The process that has the token may enter. A process that does not want to, or leaves, passes it on.
// There are no requests. Where all want to enter, each entry costs one message, less than with any
// other algorithm. Where none does, messages go round nevertheless.
package tokenring

import (
	"errors"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "token-ring",
		Summary: "a token goes round a ring forever; a process keeps it while it is inside",
		Paper: algo.Paper{
			Authors: "G. Le Lann",
			Title:   "Distributed systems - towards a formal approach",
			Venue:   "IFIP Congress 77, 155-160", Year: 1977,
			Deviations: "A lost token is not replaced: that takes an election, and a number in the " +
				"token. The token sets out a nanosecond after the start, so that its first holder can " +
				"enter at the start itself. The parameter rest is an addition.",
		},
		Token:    "TOKEN",
		Messages: []algo.Message{Token{}},
		Params: []algo.Param{{
			Name: "rest", Type: algo.Duration, Min: time.Duration(0),
			Doc: "how long a process that does not want to enter keeps the token; default 0, " +
				"or 1 ms where links take no time",
			Default: func(net algo.Network) any {
				if net.Latency == 0 {
					return time.Millisecond
				}
				return time.Duration(0)
			},
		}},
		Perpetual: true,
		Needs:     algo.Needs{Topology: algo.Ring},
		Promises:  algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{
			{Metric: "messages/entry", Load: "burst", Source: algo.Derived,
				Text: "1", Bound: algo.Exactly(perBurst)},
			{Metric: "messages/entry", Load: "heavy", Source: algo.Derived,
				Text: "1", Bound: algo.Exactly(perBurst)},
			{Metric: "messages/entry", Load: "light", Source: algo.Derived,
				Text: "half a lap, (N+1)/2, if each request follows the release before; " +
					"N for each lap without a request",
				Bound: algo.Within(0.10, halfALap)},
		},
		Breaks: "Any crash loses the token at the gap in the ring, also of a process that does not want " +
			"to enter. No process makes a new one, and all wait forever.",
	}, New)
}

func perBurst(n int) float64 { return float64(min(n-1, 1)) } // alone, none

func halfALap(n int) float64 {
	if n == 1 {
		return 0
	}
	return float64(n+1) / 2
}

const resting algo.Timer = "rest"

type node struct {
	algo.Config
	rest  time.Duration
	holds bool
	asked bool // for the critical section, and not yet in it
}

// New gives the token to the holder.
func New(c algo.Config) algo.Mutex {
	return &node{
		Config: c, rest: c.Params.Duration("rest"), holds: c.Holder == c.ID && c.Incarnation == 0,
	}
}

// Start is rule 1 at the first holder, once it has seen the requests of the very
// start.
func (n *node) Start(env algo.Env) {
	if n.holds {
		env.SetTimer(resting, max(n.rest, time.Nanosecond))
	}
}

// Request is rule 2: wait for the token, or enter with it.
func (n *node) Request(env algo.Env) {
	n.asked = true
	if n.holds {
		env.CancelTimer(resting)
		n.enter(env)
	}
}

// Release is rule 3: pass the token on, so that none enters twice in a lap.
func (n *node) Release(env algo.Env) { n.passToken(env) }

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m.(type) {
	case Token:
		n.onToken(env)
	}
}

// onToken is rule 1: enter, or let the token go on.
func (n *node) onToken(env algo.Env) {
	n.holds = true
	switch {
	case n.asked:
		n.enter(env)
	case n.rest > 0:
		env.SetTimer(resting, n.rest)
	default:
		n.passToken(env)
	}
}

// Timeout is the end of a rest without a request.
func (n *node) Timeout(env algo.Env, _ algo.Timer) { n.passToken(env) }

func (n *node) enter(env algo.Env) {
	n.asked = false
	env.Granted()
}

// passToken sends the token to the successor; a process that is alone keeps it.
func (n *node) passToken(env algo.Env) {
	if next := n.Neighbors[0]; next != n.ID {
		n.holds = false
		env.Send(next, Token{})
	}
}

// Invariant: the holder does not wait.
func (n *node) Invariant() error {
	if n.holds && n.asked {
		return errors.New("waiting with the token")
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

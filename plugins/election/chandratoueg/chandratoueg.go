// Package chandratoueg is the eventual leader, Ω, by the failure detector of Chandra and Toueg (JACM
// 1996, figure 10).
//
// Every process says in each period that it is alive, to all. A process that is silent for longer than
// the patience that another has with it is suspected there. If it is heard again, the suspicion was a
// mistake: it ends, and the patience with that process grows. So each process makes a finite number of
// mistakes about each other one, if delays have a bound, known or not. The leader is the process with
// the largest ID of those that are not suspected. That needs N(N-1) messages in each period, and none
// for an election.
package chandratoueg

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "chandra-toueg",
		Summary: "all say that they are alive; the largest ID that is not suspected leads",
		Paper: algo.Paper{
			Authors: "T. D. Chandra, S. Toueg",
			Title:   "Unreliable failure detectors for reliable distributed systems",
			Venue:   "JACM 43(2), 225-267", Year: 1996, DOI: "10.1145/226643.226647",
			Deviations: "The paper's detector outputs the processes that are suspected (figure 10); " +
				"here each process names the largest that it does not suspect as its leader. A " +
				"silence is noticed when it is too long, by a timer, and not by a repeated look. A " +
				"process that comes back begins with the first patience. If a leader is settled from " +
				"the start, larger processes are suspected then. A request for an election changes " +
				"nothing.",
		},
		Messages: []algo.Message{Alive{}},
		Params: []algo.Param{
			{Name: "alive_period", Type: algo.Duration, Min: time.Microsecond,
				Doc:     "between two ALIVE of a process; default d + 20 ms, d the largest latency",
				Default: func(net algo.Network) any { return net.Latency + algo.Slack }},
			{Name: "timeout", Type: algo.Duration, Min: time.Microsecond, Tunes: algo.Patience,
				Doc: "silence after which a process is suspected at first; default 2 alive_period + d",
				Default: func(net algo.Network) any {
					return 2*net.Params.Duration("alive_period") + net.Latency
				}},
			{Name: "increment", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "by how much a mistake about a process adds to the patience; default alive_period",
				Default: func(net algo.Network) any { return net.Params.Duration("alive_period") }},
		},
		Perpetual: true,
		Periods:   []algo.Period{{Param: "alive_period", Timer: period}},
		Needs: algo.Needs{
			Synchrony: algo.PartiallySynchronous,
			Params: func(net algo.Network, p algo.Params) error {
				least := p.Duration("alive_period") + net.Latency
				if t := p.Duration("timeout"); t < least && p.Duration("increment") == 0 {
					return fmt.Errorf("timeout %v is below alive_period + d = %v, and increment is 0: "+
						"mistakes never end", t, least)
				}
				return nil
			},
		},
		Survives: algo.Faults{
			Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return n - 1 },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "none but the ALIVE of every period: a process that misses the leader names the next",
			Bound: algo.Exactly(func(int) float64 { return 0 }),
		}},
		Breaks: "With losses that never end, or delays without a bound, mistakes never end either, " +
			"though they become rare. Processes that suspect at different times name different " +
			"leaders meanwhile. A process that cannot reach the others leads alone.",
	}, New)
}

// period is of this process's ALIVE.
const period algo.Timer = "period"

// silence is of process p.
func silence(p algo.ID) algo.Timer { return algo.Timer(fmt.Sprintf("silence of %d", p)) }

type node struct {
	algo.Config
	patience []time.Duration // with each process, by index
	suspects []bool          // each process
	leader   algo.ID
}

// New suspects the processes that are larger than the settled leader, if there is one.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c, patience: make([]time.Duration, len(c.Peers)), suspects: make([]bool, len(c.Peers))}
	for i, p := range c.Peers {
		n.patience[i] = c.Params.Duration("timeout")
		n.suspects[i] = c.Leader != algo.None && p > c.Leader && p != c.ID
	}
	n.leader = n.largest()
	return n
}

// Start is the beginning of all tasks.
func (n *node) Start(env algo.Env) {
	for i, p := range n.Peers {
		if p != n.ID && !n.suspects[i] {
			env.SetTimer(silence(p), n.patience[i])
		}
	}
	n.say(env)
	if n.leader != n.Leader {
		env.Elected(n.leader, 0)
	}
}

// Elect does nothing: the detector decides.
func (*node) Elect(algo.Env) {}

// say is task 1.
func (n *node) say(env algo.Env) {
	algo.Broadcast(env, n.ID, n.Peers, Alive{})
	env.SetTimer(period, n.Params.Duration("alive_period"))
}

// Timeout is task 1, or task 2: a process has been silent for too long.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == period {
		n.say(env)
		return
	}
	for i, p := range n.Peers {
		if silence(p) == t {
			n.suspects[i] = true
		}
	}
	n.follow(env)
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m.(type) {
	case Alive:
		n.onAlive(env, from)
	}
}

// onAlive is task 3.
func (n *node) onAlive(env algo.Env, from algo.ID) {
	i := from.Index()
	if n.suspects[i] {
		n.suspects[i] = false
		n.patience[i] += n.Params.Duration("increment")
	}
	env.SetTimer(silence(from), n.patience[i])
	n.follow(env)
}

// follow names another leader, if what is suspected has changed that.
func (n *node) follow(env algo.Env) {
	if p := n.largest(); p != n.leader {
		n.leader = p
		env.Elected(p, 0)
	}
}

// largest is the leader by what is suspected: the process never suspects itself.
func (n *node) largest() algo.ID {
	for i := len(n.Peers) - 1; i >= 0; i-- {
		if !n.suspects[i] {
			return n.Peers[i]
		}
	}
	return n.ID
}

// Invariant: a process does not suspect itself, and its leader is not suspected.
func (n *node) Invariant() error {
	if n.suspects[n.ID.Index()] || n.leader != n.largest() {
		return fmt.Errorf("names %d, suspects %v", n.leader, n.suspects)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

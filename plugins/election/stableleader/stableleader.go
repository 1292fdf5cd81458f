// Package stableleader is the stable leader election of Aguilera,
// Delporte-Gallet, Fauconnier and Toueg (DISC 2001). Comments cite the numbered
// rules of its algorithm for reliable links.
//
// There are rounds, and round k is led by process k mod n. The leader of a round
// sends OK to all in every period; a process that has not heard it for a while tells
// it to stop, and moves to the next round. A process that hears of a higher round
// joins it at once. Patience makes the election stable: no process trusts a leader
// before its second OK, so that a late message of an abandoned leader demotes none.
// And a leader stays in office until it is really silent, even if a process comes
// back with a better number.
package stableleader

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "stable-leader",
		Summary: "rounds with one leader each, which says OK periodically and is kept while it does",
		Paper: algo.Paper{
			Authors: "M. K. Aguilera, C. Delporte-Gallet, H. Fauconnier, S. Toueg",
			Title:   "Stable leader election",
			Venue:   "DISC, LNCS 2180, 108-122", Year: 2001, DOI: "10.1007/3-540-45414-4_8",
			Deviations: "Processes are numbered from 1: round k is led by process k mod n + 1. " +
				"The paper's first algorithm, which trusts at once and does not say STOP, and " +
				"its algorithm for lossy links are the variants basic and lossy; the one with " +
				"constant election time, which adds ALERT, is missing. The paper's crashed " +
				"processes stay so; here one that comes back begins with round 0 and joins the " +
				"first higher one that it hears of. Suspicions of another failure detector are " +
				"ignored.",
		},
		Messages: []algo.Message{OK{}, Start{}, Stop{}},
		Params: []algo.Param{
			{Name: "ok_period", Type: algo.Duration, Min: time.Microsecond,
				Doc:     "δ, between two OK of a leader; default d + 20 ms, d the largest latency",
				Default: func(net algo.Network) any { return net.Latency + algo.Slack }},
			{Name: "timeout", Type: algo.Duration, Min: time.Microsecond, Tunes: algo.Patience,
				Doc: "silence after which a leader is abandoned, more than 2δ; default 3δ",
				Default: func(net algo.Network) any {
					return 3 * net.Params.Duration("ok_period")
				}},
			{Name: "variant", Type: algo.Enum, Choices: []string{"stable", "basic", "lossy"},
				Default: algo.Const("stable"),
				Doc: "basic: trust a leader at once, never say STOP; lossy: START goes to all, " +
					"instead of STOP, and to the process that says OK in a round of the past"},
		},
		Perpetual: true,
		Periods:   []algo.Period{{Param: "ok_period", Timer: period}},
		Needs: algo.Needs{
			Synchrony: algo.PartiallySynchronous,
			Params: func(net algo.Network, p algo.Params) error {
				delta := max(net.Latency, p.Duration("ok_period"))
				if t := p.Duration("timeout"); t <= 2*delta {
					return fmt.Errorf("timeout %v is not above 2δ = %v, δ the larger of ok_period and d",
						t, 2*delta)
				}
				return nil
			},
		},
		Survives: algo.Faults{
			Partition: true, Recovery: true, Crashes: func(n int, _ algo.Params) int { return n - 1 },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text: "4N-5 when the leader crashed and the next is alive: N-1 STOP, N-2 START, and " +
				"two OK to each before it is trusted",
			Bound: algo.Exactly(func(n int) float64 { return float64(4*n - 5) }),
		}},
		Breaks: "With delays beyond δ processes abandon live leaders over and over; meanwhile few agree, " +
			"and several may consider themselves leader, since rounds end at different times at " +
			"different processes. It settles when delays keep to δ again.",
	}, New)
}

const (
	silence algo.Timer = "silence" // of the round's leader
	period  algo.Timer = "period"  // of this process's OKs
)

type node struct {
	algo.Config
	r       uint64
	leader  algo.ID // of round r, once it is trusted
	okCount uint64  // OKs heard in round r
	needed  uint64  // of them, to trust a leader
	lossy   bool
	basic   bool
}

// New is in round 0, or in the first that is led by the settled leader.
func New(c algo.Config) algo.Elector {
	n := &node{Config: c, leader: c.Leader, needed: 2}
	switch c.Params.Enum("variant") {
	case "basic":
		n.basic, n.needed = true, 0
	case "lossy":
		n.lossy = true
	}
	if c.Leader != algo.None {
		n.r, n.okCount = uint64(c.Leader)-1, n.needed
	}
	return n
}

// of is the leader of round k.
func (n *node) of(k uint64) algo.ID { return n.Peers[k%uint64(len(n.Peers))] }

// Start boots the process.
func (n *node) Start(env algo.Env) {
	if n.leader == algo.None {
		n.startRound(env, 0)
		return
	}
	n.lead(env)
	env.SetTimer(silence, n.Params.Duration("timeout"))
}

// Elect abandons a trusted leader, as if it had been silent. A process that has none is
// in an election already, and a leader does not abandon itself.
func (n *node) Elect(env algo.Env) {
	if n.leader != algo.None && n.leader != n.ID {
		n.giveUp(env)
	}
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case OK:
		n.onOK(env, from, m.K)
	case Start:
		if m.K > n.r { // rule 4
			n.startRound(env, m.K)
		}
	case Stop:
		if m.K >= n.r { // rule 6
			n.startRound(env, m.K+1)
		}
	}
}

// Timeout is rule 2 for the leader's period, and rule 5.
func (n *node) Timeout(env algo.Env, t algo.Timer) {
	if t == period {
		n.lead(env)
		return
	}
	n.giveUp(env)
}

// startRound is rule 1. A leader's first OK does not wait for a period.
func (n *node) startRound(env algo.Env, k uint64) {
	n.r, n.okCount, n.leader = k, 0, algo.None
	env.CancelTimer(period)
	env.Elected(algo.None, 0)
	switch {
	case n.lossy:
		algo.Broadcast(env, n.ID, n.Peers, Start{k})
	case n.of(k) != n.ID:
		env.Send(n.of(k), Start{k})
	}
	env.SetTimer(silence, n.Params.Duration("timeout"))
	n.trust(env)
	n.lead(env)
}

// lead is rule 2: the leader of the round says OK to all, to itself as well.
func (n *node) lead(env algo.Env) {
	if n.of(n.r) != n.ID {
		return
	}
	for _, p := range n.Peers {
		env.Send(p, OK{n.r})
	}
	env.SetTimer(period, n.Params.Duration("ok_period"))
}

// onOK is rules 3 and 4, and 7 for a round of the past.
func (n *node) onOK(env algo.Env, from algo.ID, k uint64) {
	switch {
	case k > n.r:
		n.startRound(env, k)
	case k == n.r:
		n.okCount++
		n.trust(env)
		env.SetTimer(silence, n.Params.Duration("timeout"))
	case n.lossy:
		env.Send(from, Start{n.r})
	}
}

// trust is the end of rule 3.
func (n *node) trust(env algo.Env) {
	if n.okCount == n.needed {
		n.leader = n.of(n.r)
		env.Elected(n.leader, n.r)
	}
}

// giveUp is rule 5.
func (n *node) giveUp(env algo.Env) {
	if !n.basic && !n.lossy {
		env.Send(n.of(n.r), Stop{n.r})
	}
	n.startRound(env, n.r+1)
}

// Suspect and Restore do nothing: silence is the failure detector.
func (n *node) Suspect(algo.Env, algo.ID) {}

// Restore does nothing, see Suspect.
func (n *node) Restore(algo.Env, algo.ID) {}

// Invariant: only the leader of the round is trusted, exactly if it said OK
// often enough.
func (n *node) Invariant() error {
	if trusted := n.okCount >= n.needed; trusted != (n.leader == n.of(n.r)) ||
		!trusted && n.leader != algo.None {
		return fmt.Errorf("trusts %d in round %d after %d OK", n.leader, n.r, n.okCount)
	}
	return nil
}

var (
	_ algo.Starter = (*node)(nil)
	_ algo.Timed   = (*node)(nil)
	_ algo.Monitor = (*node)(nil)
	_ algo.Checked = (*node)(nil)
)

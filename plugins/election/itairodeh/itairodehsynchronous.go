// itai-rodeh-synchronous is the election of Itai and Rodeh on a ring without IDs (FOCS 1981) in rounds of a
// known length, in which silence says something as well.
//
// In a round each of the k processes that are left is a candidate with probability 1/k, and a candidate
// sends a pebble round the ring. When the round is over all have counted the same pebbles, so all
// know how many candidates there were. One candidate leads, and all have seen how far away it
// is. Several are left alone for the next round, and after none the round is held again. There
// is one candidate on average, so that a round costs N messages.

package itairodeh

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "itai-rodeh-synchronous",
		Summary: "on a ring without IDs; random candidates, round by round, until there is one",
		Paper: algo.Paper{
			Authors: "A. Itai, M. Rodeh",
			Title:   "Symmetry breaking in distributed networks",
			Venue:   "FOCS 1981 and Information and Computation 88", Year: 1990,
			Deviations: "The paper's processes begin at the same instant. Here a WAKE goes before all " +
				"pebbles, N messages, and a round is long enough for those that were woken last. A " +
				"pebble says to which round it belongs and how far it has come. There is one election: a " +
				"later request for another is ignored.",
		},
		Messages: []algo.Message{Wake{}, Pebble{}},
		Params: []algo.Param{{Name: "round", Type: algo.Duration, Min: time.Duration(0),
			Doc:     "how long a round lasts; default 2Nd + 20 ms, d the largest latency",
			Default: func(net algo.Network) any { return shortest(net) + algo.Slack }}},
		Needs: algo.Needs{Topology: algo.Ring, Anonymous: true, Synchrony: algo.Synchronous,
			Params: covers},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "mean", Source: algo.Derived,
			Text: "N + N M(N) on average: M(k) = 1 + sum(P(k, m) M(m), m = 0, 2..k), P(k, m) = " +
				"C(k, m) (1/k)^m (1-1/k)^(k-m), M(0) being M(k)",
			Bound: algo.Within(0.05, func(n int) float64 { return float64(n) * (1 + rounds(n)) }),
		}},
		Breaks: "Any crash opens the ring, and no process leads. With a latency above d a pebble may " +
			"come after the end of its round: then processes count differently, and several may lead.",
	}, func(c algo.Config) algo.Elector {
		return &player{Config: c, length: c.Params.Duration("round"), left: len(c.Peers), stays: true}
	})
}

// shortest is how long a round has to last: up to Nd until the last is awake, and as long for a pebble.
func shortest(net algo.Network) time.Duration { return time.Duration(2*net.Nodes) * net.Latency }

func covers(net algo.Network, p algo.Params) error {
	if length := p.Duration("round"); length < shortest(net) {
		return fmt.Errorf("round %v is below 2Nd = %v", length, shortest(net))
	}
	return nil
}

const roundTimer algo.Timer = "round"

// player is a process.
type player struct {
	algo.Config
	length    time.Duration
	awake     bool
	round     uint32
	left      int  // how many are, in this round
	stays     bool // it is one of them
	candidate bool
	seen      [2]pebbles // of this round and of the next, whose round may begin elsewhere before
}

// pebbles are those of a round.
type pebbles struct {
	count int
	last  algo.ID // whose the last was
}

// Elect wakes all, unless they are awake.
func (p *player) Elect(env algo.Env) { p.wake(env) }

func (p *player) wake(env algo.Env) {
	if !p.awake {
		p.awake = true
		env.Send(p.Neighbors[0], Wake{})
		p.begin(env)
	}
}

func (p *player) begin(env algo.Env) {
	p.round++
	p.seen[(p.round+1)%2] = pebbles{}
	p.candidate = p.stays && env.Rand().IntN(p.left) == 0
	if p.candidate {
		p.count(p.round, p.ID)
		env.Send(p.Neighbors[0], Pebble{p.round, 1})
	}
	env.SetTimer(roundTimer, p.length)
}

func (p *player) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Wake:
		p.wake(env)
	case Pebble:
		p.onPebble(env, m)
	}
}

// onPebble: it goes round once. It may overtake the WAKE.
func (p *player) onPebble(env algo.Env, m Pebble) {
	p.wake(env)
	if size := len(p.Peers); int(m.Hop) < size {
		p.count(m.Round, algo.ID(size-int(m.Hop)+1))
		env.Send(p.Neighbors[0], Pebble{m.Round, m.Hop + 1})
	}
}

func (p *player) count(round uint32, of algo.ID) {
	s := &p.seen[round%2]
	s.count, s.last = s.count+1, of
}

// Timeout is the end of a round.
func (p *player) Timeout(env algo.Env, _ algo.Timer) {
	switch s := p.seen[p.round%2]; s.count {
	case 0:
	case 1:
		env.Elected(s.last, uint64(p.round))
		return
	default:
		p.left, p.stays = s.count, p.candidate
	}
	p.begin(env)
}

// Invariant: no more are candidates than are left.
func (p *player) Invariant() error {
	if s := p.seen[p.round%2]; s.count > p.left {
		return fmt.Errorf("round %d: %d candidates of %d", p.round, s.count, p.left)
	}
	return nil
}

var (
	_ algo.Timed   = (*player)(nil)
	_ algo.Checked = (*player)(nil)
)

// rounds is how many rounds it takes on average until one of n is left.
func rounds(n int) float64 {
	all := []float64{0, 1} // by how many are left
	for k := 2; k <= n; k++ {
		p := 1 / float64(k)
		share := math.Pow(1-p, float64(k)) // of rounds with m candidates
		again, sum := share, 1.0
		for m := 1; m <= k; m++ {
			share = float64(share * float64(k-m+1) / float64(m) * p / (1 - p))
			switch {
			case m == k:
				again += share
			case m > 1:
				sum += float64(share * all[m])
			}
		}
		all = append(all, sum/(1-again))
	}
	return all[n]
}

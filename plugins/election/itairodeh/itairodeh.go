// Package itairodeh is the election of Itai and Rodeh on a ring whose processes have no IDs, but know how
// many they are (FOCS 1981).
//
// A process that wants an election is active, draws a number from 1 to N, and sends it round
// the ring. An active process that gets a larger number gives up and passes messages on from
// then on; it lets no smaller number pass. A number that comes round, after N steps, is the
// largest of its round. If no process on its way had the same, its process leads; all that
// share it draw again in the next round. So no two lead, and with probability 1 one does in
// the end.
package itairodeh

import (
	"cmp"
	"math"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "itai-rodeh",
		Summary: "on a ring without IDs; all draw numbers until one alone has the largest",
		Paper: algo.Paper{
			Authors: "A. Itai, M. Rodeh",
			Title:   "Symmetry breaking in distributed networks",
			Venue:   "FOCS 1981 and Information and Computation 88", Year: 1990,
			Deviations: "A process that passes messages on would not learn which process leads. Here it " +
				"names the sender of the token with the largest number so far, by the steps that the " +
				"token has come. In the end that is the leader, though the process cannot tell when; no " +
				"message is added for this. A process that has passed a token on does not want to lead " +
				"any more. There is one election: a later request for another is ignored.",
		},
		Messages: []algo.Message{Token{}},
		Needs:    algo.Needs{Topology: algo.Ring, Anonymous: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "N: one wants an election",
			Bound: algo.Exactly(func(n int) float64 { return float64(n) }),
		}, {
			Metric: "messages/election", Load: "mean", Source: algo.Derived,
			Text: "E(N) on average, all do: E(k) is the sum over v = 1..N of (v/N)^t, t = 0..k-1, and of " +
				"C(k, m) (1/N)^m ((v-1)/N)^(k-m) E(m), m = 2..k",
			Bound: algo.Within(0.05, mean),
		}},
		Breaks: "Any crash opens the ring, and a lost token is not sent again: no process leads, or some " +
			"name another. A process that assumes too small an N takes another's token for its own.",
	}, New)
}

type node struct {
	algo.Config
	taken  bool // part in the election, if only by passing a token on
	active bool
	round  uint32
	number uint32 // drawn in this round
	best   Token  // the largest that was passed on
}

// New has heard of no election.
func New(c algo.Config) algo.Elector { return &node{Config: c} }

// Elect begins the first round, unless it is too late.
func (n *node) Elect(env algo.Env) {
	if !n.taken {
		n.taken, n.active = true, true
		n.draw(env)
	}
}

func (n *node) draw(env algo.Env) {
	n.round++
	n.number = 1 + env.Rand().Uint32N(n.size())
	env.Send(n.next(), Token{n.round, n.number, 1, true})
}

func (n *node) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Token:
		n.onToken(env, m)
	}
}

func (n *node) onToken(env algo.Env, m Token) {
	n.taken = true
	switch than := m.compare(Token{Round: n.round, Number: n.number}); {
	case m.Hop == n.size(): // round
		n.onOwn(env, m)
		return
	case n.active && than < 0: // swallowed
		return
	case n.active && than == 0:
		m.Unique = false
	default:
		n.active = false
		n.name(env, m)
	}
	m.Hop++
	env.Send(n.next(), m)
}

// onOwn: the own token has come round. If a later one has overtaken it, it is of no use.
func (n *node) onOwn(env algo.Env, m Token) {
	switch {
	case !n.active:
	case m.Unique:
		env.Elected(n.ID, uint64(n.round))
	default:
		n.draw(env)
	}
}

// name: the largest token so far may be the leader's.
func (n *node) name(env algo.Env, m Token) {
	if m.compare(n.best) > 0 {
		n.best = m
		env.Elected(algo.ID(n.size()-m.Hop+1), uint64(m.Round))
	}
}

// compare is by round, and then by number.
func (m Token) compare(o Token) int {
	return cmp.Or(cmp.Compare(m.Round, o.Round), cmp.Compare(m.Number, o.Number))
}

func (n *node) size() uint32 { return uint32(len(n.Peers)) }

// next is the successor on the ring.
func (n *node) next() algo.ID { return n.Neighbors[0] }

// mean is how many messages an election takes on average that all n begin.
//
// In a round with k active processes a token passes those that have no larger number, the t-th of
// them with probability (v/n)^t if its own is v. Summed over the tokens, the stretch behind the t-th
// is the ring, wherever they stand. Of the k, m share the largest number and draw again.
func mean(n int) float64 {
	all := make([]float64, n+1) // by how many are active
	choose := make([]float64, n+1)
	choose[0] = 1
	for k := 1; k <= n; k++ {
		for m := k; m > 0; m-- {
			choose[m] += choose[m-1]
		}
		sum, again := 0.0, 0.0 // again: with what probability all k draw again
		for v := 1; v <= n; v++ {
			p, one := float64(v)/float64(n), 1/float64(n)
			for t := range k {
				sum += math.Pow(p, float64(t))
			}
			for m := 2; m < k; m++ {
				sum += float64(choose[m] * math.Pow(one, float64(m)) * math.Pow(p-one, float64(k-m)) * all[m])
			}
			if k > 1 {
				again += math.Pow(one, float64(k))
			}
		}
		all[k] = sum / (1 - again)
	}
	return all[n]
}

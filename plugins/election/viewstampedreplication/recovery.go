package viewstampedreplication

import (
	"cmp"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// An answer is a RECOVERY_RESPONSE and who sent it.
type answer struct {
	from algo.ID
	RecoveryResponse
}

// recover is the first half of rule 8.
func (n *node) recover(env algo.Env) {
	n.nonce++
	n.answers = n.answers[:0]
	algo.Broadcast(env, n.ID, n.Peers, Recovery{n.nonce})
	n.wait(env)
}

func (n *node) onRecovery(env algo.Env, from algo.ID, m Recovery) {
	if n.status != normal {
		return
	}
	r := RecoveryResponse{View: n.view, Nonce: m.Nonce}
	if n.leader == n.ID {
		r.Primary, r.Op = true, n.op
	}
	env.Send(from, r)
}

// onRecoveryResponse is the second half of rule 8: f+1 answers, one of them by the primary of
// the highest view in them.
func (n *node) onRecoveryResponse(env algo.Env, from algo.ID, m RecoveryResponse) {
	if m.Nonce != n.nonce || slices.ContainsFunc(n.answers, func(a answer) bool { return a.from == from }) {
		return
	}
	n.answers = append(n.answers, answer{from, m})
	last := slices.MaxFunc(n.answers, func(a, b answer) int { return cmp.Compare(a.View, b.View) })
	for _, a := range n.answers {
		if a.View == last.View && a.Primary && len(n.answers) > n.f {
			n.op = a.Op
			n.follow(env, a.from, a.View)
		}
	}
}

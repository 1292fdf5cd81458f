package zabfle

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Phase 1 of Zab, discovery, as far as it is about which process leads. The prospective
// leader, whom the vote has elected, is a follower of its own as well.

// recall is where a process begins: with what it saved, or in the first epoch, which
// all have acknowledged to a leader that is settled.
func (n *node) recall() {
	saved, _ := n.Saved.(AcceptedEpoch)
	n.accepted = saved.Epoch
	if n.leader != algo.None {
		n.accepted, n.epoch = 1, 1
	}
	if n.leader == n.ID {
		n.proposed, n.quorum, n.acks = 1, slices.Clone(n.Peers), slices.Clone(n.Peers)
	}
}

// discover is step f.1.1: tell the prospective leader what was acknowledged last.
func (n *node) discover(env algo.Env) {
	env.SetTimer(discovery, n.Params.Duration("t_discovery"))
	env.Send(n.leader, CEpoch{n.accepted})
}

// abandon leaves the epoch, for phase 0. What was heard of others is not forgotten.
func (n *node) abandon(env algo.Env) {
	if n.Params.Bool("discovery") {
		n.epoch, n.proposed, n.acks = 0, 0, nil
		env.CancelTimer(discovery)
	}
}

// onCEpoch is step l.1.1: when a majority has told, propose an epoch later than any
// that was. A process that tells later is told the epoch that there is (step l.3.3), unless
// it has acknowledged a later one. A follower may be ready before its leader.
func (n *node) onCEpoch(env algo.Env, from algo.ID, m CEpoch) {
	n.newest = max(n.newest, m.Epoch)
	n.quorum = append(without(n.quorum, from), from)
	n.asked, n.strangers = without(n.asked, from), without(n.strangers, from)
	switch {
	case n.state != Leading || n.proposed == 0 && !n.most(n.quorum):
	case n.proposed == 0 || m.Epoch > n.proposed:
		n.propose(env)
	default:
		env.Send(from, NewEpoch{n.proposed})
		if n.epoch == n.proposed {
			env.Send(from, NewLeader{n.proposed})
		}
	}
}

func (n *node) most(list []algo.ID) bool { return len(list) > len(n.Peers)/2 }

// propose asks Q to acknowledge e'.
func (n *node) propose(env algo.Env) {
	n.proposed, n.acks = n.newest+1, nil
	env.SetTimer(discovery, n.Params.Duration("t_discovery"))
	for _, p := range n.quorum {
		env.Send(p, NewEpoch{n.proposed})
	}
}

// onNewEpoch is step f.1.2: acknowledge an epoch that is later than the last, once
// this is on stable storage.
func (n *node) onNewEpoch(env algo.Env, from algo.ID, m NewEpoch) {
	if from == n.leader && m.Epoch > n.accepted {
		n.accepted = m.Epoch
		env.Save(AcceptedEpoch(m))
		env.Send(from, AckEpoch(m))
	}
}

// onAckEpoch is step l.1.2: a majority's acknowledgements end phase 1.
func (n *node) onAckEpoch(env algo.Env, from algo.ID, m AckEpoch) {
	if m.Epoch != n.proposed || n.most(n.acks) || slices.Contains(n.acks, from) {
		return
	}
	if n.acks = append(n.acks, from); !n.most(n.acks) {
		return
	}
	for _, p := range n.quorum {
		env.Send(p, NewLeader(m))
	}
}

// onNewLeader is the beginning of step f.2.1: follow in the epoch that was accepted
// last, and in no other.
func (n *node) onNewLeader(env algo.Env, from algo.ID, m NewLeader) {
	if from == n.leader && m.Epoch == n.accepted && m.Epoch != n.epoch {
		n.epoch = m.Epoch
		env.CancelTimer(discovery)
		env.Elected(from, m.Epoch)
	}
}

// discovered is the invariant of discovery: no process leads or follows in an epoch
// later than it has accepted; who proposes one leads, and has accepted it itself; and
// who leads in it has a majority's acknowledgements.
func (n *node) discovered() error {
	switch {
	case n.epoch > n.accepted:
		return fmt.Errorf("in epoch %d, but accepted %d", n.epoch, n.accepted)
	case n.epoch != 0 && n.leader == algo.None:
		return fmt.Errorf("in epoch %d without a leader", n.epoch)
	case n.proposed != 0 && (n.state != Leading || n.proposed != n.accepted):
		return fmt.Errorf("state %d, proposes epoch %d, accepted %d", n.state, n.proposed, n.accepted)
	case n.proposed != 0 && n.proposed == n.epoch && !n.most(n.acks):
		return fmt.Errorf("leads epoch %d with acknowledgements of %v", n.epoch, n.acks)
	}
	return nil
}

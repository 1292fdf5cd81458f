package bullynextinline

import "github.com/conclave-bench/conclave/pkg/algo"

// The full election is that of plain bully, with this algorithm's messages: ask
// everybody of higher ID; a process that is asked does the same; the highest of the
// live gets no answer and takes over.

// askAll asks all of higher ID, the replaced leader too.
func (n *node) askAll(env algo.Env) {
	asked := false
	for _, p := range n.Peers {
		if p > n.ID {
			env.Send(p, Election{Attempt: n.attempt, Epoch: n.newest})
			asked = true
		}
	}
	if !asked {
		n.takeOver(env, n.old)
		return
	}
	n.status, n.full = probing, true
	env.SetTimer(answerTimer, n.t)
}

// onFull is an ELECTION of a full election. A process that leads says so; anybody else who
// is idle joins.
func (n *node) onFull(env algo.Env, from algo.ID) {
	switch {
	case n.leader == n.ID:
		n.affirm(env, from)
	case n.status == idle:
		n.join(env)
	}
}

// affirm tells the asker alone that this process leads, unless its epoch has
// been overtaken.
func (n *node) affirm(env algo.Env, asker algo.ID) {
	if n.newest == n.epoch {
		env.Send(asker, Elected{n.epoch, n.list})
		return
	}
	n.takeOver(env, algo.None)
}

// onLower: a process of lower ID has a newer epoch. It is bullied, at once if none is being bullied:
// the list is of an older epoch, and a process that was asked by it only answers that the lower one leads.
func (n *node) onLower(env algo.Env, e Epoch) {
	n.epoch, n.list = e, nil
	switch {
	case n.status == idle:
		n.join(env)
	case !n.full:
		env.CancelTimer(electedTimer)
		n.join(env)
	}
}

// join begins a full election, in which nobody is known to be dead.
func (n *node) join(env algo.Env) {
	n.old = algo.None
	n.begin(env)
	n.askAll(env)
}

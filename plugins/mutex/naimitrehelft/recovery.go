package naimitrehelft

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// awaitToken begins, or begins again, to wait for the token.
func (n *node) awaitToken(env algo.Env) {
	n.state = waiting
	env.CancelTimer(elecTimer)
	env.SetTimer(waitTimer, n.tWait)
}

// stopWaiting ends whatever the process was waiting for.
func (n *node) stopWaiting(env algo.Env) {
	n.state, n.misses = normal, 0
	env.CancelTimer(waitTimer)
	env.CancelTimer(elecTimer)
}

// askAll sends m to everybody and waits for answers.
func (n *node) askAll(env algo.Env, s state, m algo.Message) {
	n.state = s
	algo.Broadcast(env, n.ID, n.Peers, m)
	env.SetTimer(elecTimer, n.tElec)
}

// Timeout is rules 2, 5, 9 and 11.
func (n *node) Timeout(env algo.Env, _ algo.Timer) {
	switch n.state {
	case waiting, observer: // rule 2; + rule 10, when the candidate died
		n.askAll(env, consulting, Consult{n.in()})
	case consulting: // rule 5: we are in nobody's queue
		n.askAll(env, querying, Query{n.in()})
	case querying: // rule 9: nobody has the token
		n.askAll(env, candidate, Election{n.in()})
	case candidate: // rule 11
		n.token = true
		n.stopWaiting(env)
		n.build(env)
		if n.requesting {
			n.enter(env)
		}
	}
}

// build makes this process the root of a new tree: rules 8 and 11.
func (n *node) build(env algo.Env) {
	n.begin(env, max(n.epoch, n.heard)+1, n.ID)
	algo.Broadcast(env, n.ID, n.Peers, CandidateElected{n.in()})
}

// begin is the start of an epoch, which outlives a crash before anything is sent
// in it.
func (n *node) begin(env algo.Env, epoch uint64, root algo.ID) {
	n.epoch, n.last, n.next, n.recovering = epoch, root, algo.None, false
	n.gave, n.owed = algo.None, false
	env.Save(Saved{epoch})
}

// adopt is rule 12, and +, for any message of a newer epoch, whose sender is in
// the tree already.
func (n *node) adopt(env algo.Env, epoch uint64, from algo.ID) {
	n.begin(env, epoch, from)
	n.token = false
	n.stopWaiting(env)
}

// current is the + of rule 1: it adopts a newer epoch first, and says whether m
// is to be handled or of an older one.
func (n *node) current(env algo.Env, from algo.ID, m algo.Message) bool {
	in := m.(interface{ in() In }).in()
	n.heard = max(n.heard, in.Epoch)
	switch {
	case in.Epoch > n.epoch && !in.Back:
		n.adopt(env, in.Epoch, from)
	case in.Epoch < n.epoch && n.recovering:
		return n.among(m)
	case in.Epoch < n.epoch:
		switch m.(type) {
		case Consult, Query, Election: // the asker is to adopt this one
			env.Send(from, CandidateElected{n.in()})
		}
		return false
	}
	return true
}

// among says whether m counts for one who came back, though it has known a newer
// epoch: a process that knew that may be gone, and those who are left hold the token.
func (n *node) among(m algo.Message) bool {
	switch m.(type) {
	case Query, TokenHere, Election:
		return true
	}
	return false
}

// onConsult is rule 3.
func (n *node) onConsult(env algo.Env, from algo.ID) {
	if n.next == from {
		env.Send(from, ConsultOK{n.in()})
	}
}

// onConsultOK is rule 4.
func (n *node) onConsultOK(env algo.Env) {
	if n.state == consulting {
		n.misses = 0
		n.awaitToken(env)
	}
}

// onQuery is rule 6, which also an ELECTION leads to.
func (n *node) onQuery(env algo.Env, from algo.ID) {
	if n.token {
		env.Send(from, TokenHere{n.in()})
		return
	}
	n.queriers = slices.DeleteFunc(n.queriers, func(q querier) bool {
		return q.id == from || q.until < env.Now()
	})
	n.queriers = append(n.queriers, querier{from, env.Now() + n.tElec})
}

// onTokenHere is rule 7.
func (n *node) onTokenHere(env algo.Env, from algo.ID) {
	if n.state != querying && n.state != candidate && n.state != observer {
		return
	}
	n.misses++
	n.awaitToken(env)
	if n.misses >= 2 && n.rebuilds || n.recovering {
		env.Send(from, Rebuild{n.in()})
	}
}

// onRebuild is rule 8. + Whoever gave the token away in the meantime has the wish
// follow it, and fulfils it if the token comes here first. A token that never
// rests would otherwise be gone each time, and the process starve.
func (n *node) onRebuild(env algo.Env) {
	switch {
	case n.token:
		n.build(env)
	case !n.owed: // else one has passed here, and the token has not
		n.owed = true
		if n.gave != algo.None {
			env.Send(n.gave, Rebuild{n.in()})
		}
	}
}

// onElection is rule 10.
func (n *node) onElection(env algo.Env, from algo.ID) {
	n.onQuery(env, from)
	switch {
	case n.state == candidate && n.ID < from: // that one will give way
	case n.pending() || n.recovering:
		n.state = observer
		env.CancelTimer(waitTimer)
		env.SetTimer(elecTimer, 2*n.tElec) // + its wait, and the announcement's way
	}
}

// Start is rule 14: a process that comes back asks for the token, and so learns of a
// newer epoch, or of the holder, which will begin one, or becomes a candidate.
func (n *node) Start(env algo.Env) {
	if n.recovering {
		n.askAll(env, querying, Query{n.in()})
	}
}

package bullyquorum

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Rules 4 to 8: how the best of those in reach comes to lead.

// onJoin is rule 4, and rule 8 at a leader.
func (n *node) onJoin(env algo.Env, from algo.ID, m Join) {
	n.announceTo(env, from)
	if n.mode != probing || slices.Contains(n.joins, from) {
		return
	}
	n.joins = append(n.joins, from)
	n.seen = max(n.seen, m.Promised)
	if n.claim > 0 { // a late one
		env.Send(from, Claim{n.claim})
		return
	}
	n.gather(env)
}

// gather is rule 4 when this process is the best.
func (n *node) gather(env algo.Env) {
	if n.best != n.ID || len(n.joins)+1 < n.quorum {
		return
	}
	term := max(n.seen, n.promised) + 1
	n.promise(env, term)
	env.Elected(algo.None, term) // it stands
	if !n.claims || n.quorum == 1 {
		n.lead(env, term)
		return
	}
	n.claim = term
	algo.Broadcast(env, n.ID, n.joins, Claim{term})
}

func (n *node) promise(env algo.Env, term uint64) {
	if term > n.promised {
		n.promised = term
		env.Save(Promise{term})
	}
}

// onClaim is rule 5: promise a term once. A process that does gives up its own claim.
func (n *node) onClaim(env algo.Env, from algo.ID, m Claim) {
	if n.mode == probing && m.Term > n.promised {
		n.claim = 0
		n.promise(env, m.Term)
		env.Send(from, ClaimOK(m))
	}
}

// onClaimOK is rule 6.
func (n *node) onClaimOK(env algo.Env, from algo.ID, m ClaimOK) {
	if n.claim != m.Term || slices.Contains(n.acks, from) {
		return
	}
	n.acks = append(n.acks, from)
	if len(n.acks)+1 >= n.quorum {
		n.lead(env, m.Term)
	}
}

func (n *node) lead(env algo.Env, term uint64) {
	n.settle(env, leading, n.ID, term)
	n.led = true
	for _, p := range n.joins {
		n.announceTo(env, p)
	}
	for _, p := range n.returned {
		if !slices.Contains(n.joins, p) {
			n.announceTo(env, p)
		}
	}
}

// announceTo is rule 8: a leader announces itself.
func (n *node) announceTo(env algo.Env, p algo.ID) {
	if n.mode == leading {
		env.Send(p, Elected{n.term, n.round})
	}
}

// onElected is rule 7. One who has probed since leads no more, and one who is
// suspected may be gone. A leader that hears of a newer one probes once more, so that
// who follows it, perhaps since a moment ago, learns that it leads no more. One that
// hears of an older one tells it: that may have suspected it when it was elected.
func (n *node) onElected(env algo.Env, from algo.ID, m Elected) {
	if m.Term < n.term {
		n.announceTo(env, from)
	}
	if m.Term <= n.term || n.probed[from.Index()].after(m.Round) || slices.Contains(n.suspects, from) {
		return
	}
	n.probed[from.Index()] = m.Round
	n.promise(env, m.Term)
	deposed := n.mode == leading
	n.settle(env, follower, from, m.Term)
	if deposed {
		n.round.Count++
		algo.Broadcast(env, n.ID, n.Peers, Probe{n.round})
	}
}

func (n *node) settle(env algo.Env, as mode, leader algo.ID, term uint64) {
	n.mode, n.leader, n.term, n.claim, n.short = as, leader, term, 0, false
	env.CancelTimer(answerTimer)
	env.CancelTimer(retryTimer)
	env.Elected(leader, term)
}

package quorum

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Request is rule 1. A process that came back from a crash would never have its
// own lock.
func (n *Node) Request(env algo.Env) {
	if n.Incarnation > 0 {
		return
	}
	n.clock++
	n.stamp = algo.Stamp{Number: n.clock, ID: n.ID}
	n.ask(env)
}

// ask sends the request to those of the quorum that have not had it.
func (n *Node) ask(env algo.Env) {
	n.q = n.family.Quorum(n.ID, len(n.Peers), n.dead)
	for _, p := range n.q { // to oneself as well
		if !slices.Contains(n.contacted, p) {
			env.Send(p, Request{n.stamp})
			n.contacted = append(n.contacted, p)
		}
	}
	slices.Sort(n.contacted)
}

// Release is rule 8, at the requester. A process that is no longer in the quorum has the request,
// too.
func (n *Node) Release(env algo.Env) {
	for _, p := range n.contacted {
		if !slices.Contains(n.dead, p) {
			env.Send(p, Release{n.stamp})
		}
	}
	n.Requester = Requester{}
}

// onLocked is rule 7.
func (n *Node) onLocked(env algo.Env, arbiter algo.ID, s algo.Stamp) {
	if s != n.stamp {
		return
	}
	n.failed = without(n.failed, arbiter)
	n.locked = append(n.locked, arbiter)
	if !n.enter(env) {
		n.giveBack(env) // an INQUIRE may have overtaken the LOCKED
	}
}

// enter does so with the last lock, and says whether the process is inside.
func (n *Node) enter(env algo.Env) bool {
	if !n.inside && n.holds() {
		n.inside = true
		env.Granted()
	}
	return n.inside
}

// holds says whether every arbiter of the quorum has given its lock, and there is a quorum.
func (n *Node) holds() bool {
	return n.q != nil &&
		!slices.ContainsFunc(n.q, func(p algo.ID) bool { return !slices.Contains(n.locked, p) })
}

// onFailed is rule 3. One that comes after the arbiter's LOCKED was overtaken
// by it.
func (n *Node) onFailed(env algo.Env, arbiter algo.ID, s algo.Stamp) {
	if s != n.stamp || n.inside || slices.Contains(n.locked, arbiter) {
		return
	}
	n.failed = append(n.failed, arbiter)
	n.giveBack(env)
}

// onInquire is rule 4. One of an earlier request, or to a process inside, is
// answered by the RELEASE.
func (n *Node) onInquire(env algo.Env, arbiter algo.ID, s algo.Stamp) {
	if s != n.stamp || n.inside {
		return
	}
	n.inquired = append(n.inquired, arbiter)
	n.giveBack(env)
}

// giveBack is rule 5: a process that has failed somewhere cannot enter soon, and lets
// those go first who are before it elsewhere.
func (n *Node) giveBack(env algo.Env) {
	if len(n.failed) == 0 {
		return
	}
	for _, p := range slices.Clone(n.inquired) {
		if slices.Contains(n.locked, p) {
			n.inquired, n.locked = without(n.inquired, p), without(n.locked, p)
			n.failed = append(n.failed, p)
			env.Send(p, Relinquish{n.stamp})
		}
	}
}

func without(list []algo.ID, p algo.ID) []algo.ID {
	return slices.DeleteFunc(list, func(q algo.ID) bool { return q == p })
}

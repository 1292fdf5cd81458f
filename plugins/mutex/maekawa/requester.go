package maekawa

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Request is rule 1. Who came back from a crash would never have its own lock.
func (n *node) Request(env algo.Env) {
	if n.Incarnation > 0 {
		return
	}
	n.clock++
	n.stamp = Stamp{n.clock, n.ID}
	for _, p := range n.q { // to oneself as well
		env.Send(p, Request{n.stamp})
	}
}

// Release is rule 8, at the requester.
func (n *node) Release(env algo.Env) {
	for _, p := range n.q {
		env.Send(p, Release{n.stamp})
	}
	n.requester = requester{}
}

// onLocked is rule 7. With the last lock the process enters.
func (n *node) onLocked(env algo.Env, arbiter algo.ID, s Stamp) {
	if s != n.stamp {
		return
	}
	n.failed = without(n.failed, arbiter)
	n.locked = append(n.locked, arbiter)
	if len(n.locked) == len(n.q) {
		n.inside = true
		env.Granted()
		return
	}
	n.giveBack(env) // an INQUIRE may have overtaken the LOCKED
}

// onFailed is rule 3. One that comes after the arbiter's LOCKED was overtaken
// by it.
func (n *node) onFailed(env algo.Env, arbiter algo.ID, s Stamp) {
	if s != n.stamp || slices.Contains(n.locked, arbiter) {
		return
	}
	n.failed = append(n.failed, arbiter)
	n.giveBack(env)
}

// onInquire is rule 4. One of an earlier request, or to a process inside, is
// answered by the RELEASE.
func (n *node) onInquire(env algo.Env, arbiter algo.ID, s Stamp) {
	if s != n.stamp || n.inside {
		return
	}
	n.inquired = append(n.inquired, arbiter)
	n.giveBack(env)
}

// giveBack is rule 5: whoever has failed somewhere cannot enter soon, and lets
// those go first who are before it elsewhere.
func (n *node) giveBack(env algo.Env) {
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

package quorum

import (
	"errors"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// onRequest is rule 2. One that its RELEASE has overtaken is over: nobody waited for its
// answer.
func (n *Node) onRequest(env algo.Env, s algo.Stamp) {
	if n.over != nil && s.Number <= n.over[s.ID.Index()] {
		return
	}
	if n.lock == (algo.Stamp{}) {
		n.giveLock(env, s)
		return
	}
	first := s.Before(n.lock) && (len(n.waiting) == 0 || s.Before(n.waiting[0]))
	switch {
	case !first: // another one is before it
		env.Send(s.ID, Failed{s})
	case len(n.waiting) > 0 && n.waiting[0].Before(n.lock) && n.displace:
		// that one was first until now and had not failed (Sanders)
		env.Send(n.waiting[0].ID, Failed{n.waiting[0]})
	}
	n.enqueue(s)
	if first && !n.asked {
		n.asked = true
		env.Send(n.lock.ID, Inquire{n.lock})
	}
}

// onRelinquish is rule 6: the lock's owner lets the first go before it.
func (n *Node) onRelinquish(env algo.Env, s algo.Stamp) {
	if s == n.lock {
		n.enqueue(s)
		n.next(env)
	}
}

// onRelease is rule 8, at the arbiter. A process that waits here, but entered with others' locks, waits
// no more.
func (n *Node) onRelease(env algo.Env, s algo.Stamp) {
	if n.over != nil {
		n.over[s.ID.Index()] = max(n.over[s.ID.Index()], s.Number)
		n.waiting = slices.DeleteFunc(n.waiting, func(r algo.Stamp) bool { return r == s })
	}
	if s == n.lock {
		n.next(env)
	}
}

// next gives the lock to the first who waits, if anybody does.
func (n *Node) next(env algo.Env) {
	n.lock, n.asked = algo.Stamp{}, false
	if len(n.waiting) > 0 {
		s := n.waiting[0]
		n.waiting = slices.Delete(n.waiting, 0, 1)
		n.giveLock(env, s)
	}
}

func (n *Node) giveLock(env algo.Env, s algo.Stamp) {
	n.lock = s
	env.Send(s.ID, Locked{s, n.clock})
}

// enqueue keeps those who wait in the order of their stamps.
func (n *Node) enqueue(s algo.Stamp) {
	i := slices.IndexFunc(n.waiting, s.Before)
	if i < 0 {
		i = len(n.waiting)
	}
	n.waiting = slices.Insert(n.waiting, i, s)
}

// Invariant: a process that is inside has every lock of its quorum, no arbiter that gave
// its lock lets us wait, those that wait for ours do so in order, and if the first of
// them is before the lock, its owner has been asked.
func (n *Node) Invariant() error {
	for _, p := range n.locked {
		if slices.Contains(n.failed, p) {
			return fmt.Errorf("locked and failed at %d", p)
		}
	}
	ordered := slices.IsSortedFunc(n.waiting, algo.Stamp.Compare)
	switch {
	case n.inside && !n.holds():
		return fmt.Errorf("inside with locks of %d, not of all %d", n.locked, n.q)
	case !ordered:
		return fmt.Errorf("waiting out of order: %v", n.waiting)
	case len(n.waiting) > 0 && n.lock == (algo.Stamp{}):
		return errors.New("the lock is free, but a process waits")
	case len(n.waiting) > 0 && n.waiting[0].Before(n.lock) && !n.asked:
		return fmt.Errorf("%v waits for %v, which has not been asked", n.waiting[0], n.lock)
	}
	return nil
}

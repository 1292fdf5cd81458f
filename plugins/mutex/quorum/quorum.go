// Package quorum is mutual exclusion by the locks of quorums: Maekawa's rules (ACM TOCS
// 1985) with the correction of Sanders (ACM TOCS 1987), and one for crashes. Comments cite
// the rules by number. The algorithms that share them differ in the members of a quorum.
package quorum

import (
	"errors"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Family is sets of processes of which any two have a member in common that is in
// neither list of the dead. It is plain data.
type Family interface {
	// Quorum is the set that process p of n asks, ascending and without the dead; nil: there
	// is none.
	Quorum(p algo.ID, n int, dead []algo.ID) []algo.ID
}

// Sizes is the least and the largest K among n processes, all of them live.
func Sizes(f Family, n int) (least, largest int) {
	least = n
	for p := range n {
		k := len(f.Quorum(algo.ID(p+1), n, nil))
		least, largest = min(least, k), max(largest, k)
	}
	return least, largest
}

// Claims are those of a family of which outside is 1 if a process may be outside its own
// quorum, else 0.
func Claims(f Family, outside int) []algo.Claim {
	bound := func(each int) func(int) (float64, float64) {
		return func(n int) (float64, float64) {
			least, largest := Sizes(f, n)
			return float64(3 * (least - 1)), float64(each * (largest - 1 + outside))
		}
	}
	largest := []string{"(K-1)", "K"}[outside]
	light := "3(K-1)"
	if outside > 0 {
		light += " to 3" + largest
	}
	return []algo.Claim{
		{Metric: "messages/entry", Load: "light", Source: algo.Derived, Text: light, Bound: bound(3)},
		{Metric: "messages/entry", Load: "burst", Source: algo.Derived, Text: "3(K-1) to 5" + largest,
			Bound: bound(5)},
	}
}

// Messages are those of the protocol.
func Messages() []algo.Message {
	return []algo.Message{Request{}, Locked{}, Failed{}, Inquire{}, Relinquish{}, Release{}}
}

const displacedWaiter = "failed_to_displaced_waiter"

// Displaced is the parameter for Sanders' correction.
func Displaced() algo.Param {
	return algo.Param{Name: displacedWaiter, Type: algo.Bool, Default: algo.Const(true),
		Doc: "Sanders' correction: FAILED also to the waiter displaced from the queue's head"}
}

// Sound says that without the correction processes wait in a circle: for Needs.Params.
func Sound(_ algo.Network, p algo.Params) error {
	if !p.Bool(displacedWaiter) {
		return errors.New(displacedWaiter + " false: as printed it deadlocks")
	}
	return nil
}

// A Node is both a requester and an arbiter.
type Node struct {
	algo.Config
	family Family
	clock  uint64    // the largest of any request sent, received, or heard of from an arbiter
	dead   []algo.ID // whom the detector has suspected: they are not trusted again

	Requester
	Arbiter
}

// A Requester is a Node's own request.
type Requester struct {
	stamp     algo.Stamp // of the request; the zero value: there is none
	inside    bool
	q         []algo.ID // the quorum, ascending; nil: there is none
	contacted []algo.ID // whom the request was sent to, ascending
	locked    []algo.ID // arbiters whose lock we have
	failed    []algo.ID // arbiters that let us wait
	inquired  []algo.ID // arbiters that want their lock back
}

// An Arbiter is a Node's lock.
type Arbiter struct {
	lock     algo.Stamp   // of the request that has the lock; the zero value: it is free
	waiting  []algo.Stamp // those that wait for it, the first in order at the head
	asked    bool         // the lock's owner has been sent an INQUIRE
	displace bool         // Sanders' correction
	over     []uint64     // the latest clock that each has released, by ID - 1; nil: nobody reacts to crashes
}

// New starts without a request, and with a free lock; only the lock of a process
// that comes back from a crash may be taken.
func New(c algo.Config, f Family) *Node {
	n := &Node{Config: c, family: f, Arbiter: Arbiter{displace: c.Params.Bool(displacedWaiter)}}
	if c.Incarnation > 0 {
		n.lock = algo.Stamp{ID: c.ID} // comes before all others, and is never released
	}
	return n
}

func (n *Node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	if slices.Contains(n.dead, from) {
		return
	}
	switch m := m.(type) {
	case Request:
		n.clock = max(n.clock, m.S.Number)
		n.onRequest(env, m.S)
	case Locked:
		n.clock = max(n.clock, m.Clock)
		n.onLocked(env, from, m.S)
	case Failed:
		n.onFailed(env, from, m.S)
	case Inquire:
		n.onInquire(env, from, m.S)
	case Relinquish:
		n.onRelinquish(env, m.S)
	case Release:
		n.onRelease(env, m.S)
	}
}

// A Watcher is a Node that has a quorum without those that crashed.
type Watcher struct{ Node }

// NewWatcher starts as New does.
func NewWatcher(c algo.Config, f Family) *Watcher {
	w := &Watcher{*New(c, f)}
	w.over = make([]uint64, len(c.Peers))
	return w
}

// Suspect is rule 9: p has crashed. If p had our lock it is free, and a process that waits
// for an answer of p asks others in its place.
func (w *Watcher) Suspect(env algo.Env, p algo.ID) {
	w.dead = append(w.dead, p)
	w.waiting = slices.DeleteFunc(w.waiting, func(s algo.Stamp) bool { return s.ID == p })
	if w.lock.ID == p {
		w.next(env)
	}
	if w.inside || !slices.Contains(w.q, p) {
		return
	}
	w.failed, w.inquired = without(w.failed, p), without(w.inquired, p)
	w.ask(env)
	w.enter(env)
}

// Restore changes nothing: a process that comes back does not know which process has its lock.
func (*Watcher) Restore(algo.Env, algo.ID) {}

var (
	_ algo.Checked = (*Node)(nil)
	_ algo.Monitor = (*Watcher)(nil)
)

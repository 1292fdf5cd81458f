// Package maekawa is Maekawa's square-root algorithm (ACM TOCS 1985) with the
// correction of Sanders (ACM TOCS 1987). Comments cite the numbered rules of
// that form.
//
// Each process has a quorum, a set of processes that includes itself, and any
// two quorums have a member in common. To enter, a process needs the lock of
// every member of its quorum, and each has but one lock to give: that is all of
// the safety. Each member is also the arbiter of its lock and prefers the oldest
// request. When an older one comes than the one that has the lock, the arbiter
// inquires, and whoever has failed elsewhere relinquishes: so nobody waits in a
// circle. With quorums of size K, about the square root of N, that is 3(K-1)
// messages for an entry without contention.
//
// Nobody starves, since a LOCKED carries the arbiter's clock: the next request of
// whoever is let in comes after all that wait at any of its arbiters, and any two
// processes have one in common.
package maekawa

import (
	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "maekawa",
		Summary: "locks of about sqrt(N) arbiters, any two sets of which intersect",
		Paper: algo.Paper{
			Authors: "M. Maekawa",
			Title:   "A √N algorithm for mutual exclusion in decentralized systems",
			Venue:   "ACM TOCS 3(2), 145-159", Year: 1985, DOI: "10.1145/214438.214445",
			Deviations: "As printed the algorithm deadlocks. With Sanders (ACM TOCS 5(3), 1987) the " +
				"waiter that a newer, but older-stamped, request displaces from the head of the queue is " +
				"sent FAILED too (failed_to_displaced_waiter; false is the printed text). All messages " +
				"carry the request's stamp, so links need no order. Where no projective plane of N " +
				"points is known here, quorums are rows and columns of a grid, whose last row may be " +
				"shorter. A request's number exceeds that of every REQUEST sent, received or observed; " +
				"observed is what an arbiter has received, by its clock, which LOCKED carries, or else " +
				"whoever has asked often would be passed by one who has not, without end. A process " +
				"that comes back does not know who has its lock: it gives it to nobody, and asks for none.",
		},
		Messages: []algo.Message{
			Request{}, Locked{}, Failed{}, Inquire{}, Relinquish{}, Release{},
		},
		Params: []algo.Param{
			{Name: "quorums", Type: algo.Enum, Choices: []string{"auto", "grid", "plane"},
				Default: algo.Const("auto"),
				Doc:     "auto: a projective plane if one of N points is known here, otherwise a grid"},
			{Name: "failed_to_displaced_waiter", Type: algo.Bool, Default: algo.Const(true),
				Doc: "Sanders' correction: FAILED also to the waiter displaced from the queue's head"},
		},
		Needs:    algo.Needs{Params: sound},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "light", Source: algo.FromPaper, Text: "3(K-1)",
			Bound: func(n int) (float64, float64) {
				least, largest := sizes("auto", n)
				return float64(3 * (least - 1)), float64(3 * (largest - 1))
			},
		}, {
			Metric: "messages/entry", Load: "burst", Source: algo.FromPaper,
			Text: "3(K-1) to 5(K-1)",
			Bound: func(n int) (float64, float64) {
				least, largest := sizes("auto", n)
				return float64(3 * (least - 1)), float64(5 * (largest - 1))
			},
		}},
		Breaks: "Any crash blocks all whose quorum the process belongs to. Without the correction " +
			"of Sanders, as printed, it deadlocks: a waiter that is displaced from the head of " +
			"a queue does not learn that it failed, keeps its other locks, and all wait in a " +
			"circle.",
	}, New)
}

// node is both a requester and an arbiter.
type node struct {
	algo.Config
	q     []algo.ID // the quorum, ascending
	clock uint64    // the largest of any request sent, received, or heard of from an arbiter

	requester
	arbiter
}

type requester struct {
	stamp    Stamp // of the request; the zero value: there is none
	inside   bool
	locked   []algo.ID // arbiters whose lock we have
	failed   []algo.ID // arbiters that let us wait
	inquired []algo.ID // arbiters that want their lock back
}

type arbiter struct {
	lock     Stamp   // of the request that has the lock; the zero value: it is free
	waiting  []Stamp // those that wait for it, the first in order at the head
	asked    bool    // the lock's owner has been sent an INQUIRE
	displace bool    // Sanders' correction
}

// New starts without a request, and with a lock that is free: but for one that comes
// back from a crash, whose lock may be somebody's.
func New(c algo.Config) algo.Mutex {
	n := &node{
		Config: c, q: quorum(c.Params.Enum("quorums"), c.ID, len(c.Peers)),
		arbiter: arbiter{displace: c.Params.Bool("failed_to_displaced_waiter")},
	}
	if c.Incarnation > 0 {
		n.lock = Stamp{ID: c.ID} // comes before all others, and is never released
	}
	return n
}

func (n *node) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m := m.(type) {
	case Request:
		n.clock = max(n.clock, m.S.Clock)
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

var _ algo.Checked = (*node)(nil)

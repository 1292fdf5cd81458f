// Package maekawa is Maekawa's square-root algorithm (ACM TOCS 1985) with the
// correction of Sanders (ACM TOCS 1987). The rules are those of package quorum.
//
// Each process has a quorum, a set of processes that includes itself, and any two
// quorums have a member in common. To enter, a process needs the lock of every member
// of its quorum, and each has only one lock to give: safety follows from that alone.
// Each member is also the arbiter of its lock and prefers the oldest request. When an
// older one comes than the one that has the lock, the arbiter inquires, and a process
// that has failed elsewhere relinquishes: so there is no circular wait. With quorums
// of size K, about the square root of N, that is 3(K-1) messages for an entry without
// contention.
//
// No process starves, since a LOCKED carries the arbiter's clock: the next request of a
// process that is let in comes after all that wait at any of its arbiters, and any two
// processes have one in common.
package maekawa

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
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
				"observed is what an arbiter has received, by its clock, which LOCKED carries, or else a " +
				"process that has asked often would be passed forever by one that has not. A process " +
				"that comes back does not know which process has its lock: it gives it to none, and asks " +
				"for none.",
		},
		Messages: quorum.Messages(),
		Params: []algo.Param{
			{Name: "quorums", Type: algo.Enum, Choices: []string{"auto", "grid", "plane"},
				Default: algo.Const("auto"),
				Doc:     "auto: a projective plane if one of N points is known here, otherwise a grid"},
			quorum.Displaced(),
		},
		Needs:    algo.Needs{Params: sound},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "light", Source: algo.FromPaper, Text: "3(K-1)",
			Bound: func(n int) (float64, float64) {
				least, largest := quorum.Sizes(family("auto"), n)
				return float64(3 * (least - 1)), float64(3 * (largest - 1))
			},
		}, {
			Metric: "messages/entry", Load: "burst", Source: algo.FromPaper,
			Text: "3(K-1) to 5(K-1)",
			Bound: func(n int) (float64, float64) {
				least, largest := quorum.Sizes(family("auto"), n)
				return float64(3 * (least - 1)), float64(5 * (largest - 1))
			},
		}},
		Breaks: "Any crash blocks all whose quorum the process belongs to. Without the correction " +
			"of Sanders, as printed, it deadlocks: a waiter that is displaced from the head of " +
			"a queue does not learn that it failed, keeps its other locks, and all wait in a " +
			"circle.",
	}, New)
}

// New makes one of all processes.
func New(c algo.Config) algo.Mutex {
	return quorum.New(c, family(c.Params.Enum("quorums")))
}

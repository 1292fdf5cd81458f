// Package agrawalelabbadi is mutual exclusion by tree quorums (D. Agrawal, A. El Abbadi, ACM
// TOCS 1991), with the rules of package quorum.
//
// The processes stand in a binary tree, 1 at the root and 2p and 2p+1 below p. A quorum is a path from
// the root to a leaf, and where a process on it is dead, paths through both of its children take its
// place: any two such sets have a member in common. A process that wants to enter needs the lock of every
// member of a quorum, and a process that waits lets those that asked before it go first, as in Maekawa's
// algorithm. When an arbiter crashes, a process that waits for it asks its substitutes, and the locks of
// the crashed process go to the next. So an entry costs about log N locks while all are alive, and more
// the more are dead. Without a whole path there is no entry.
package agrawalelabbadi

import (
	"math/bits"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "agrawal-el-abbadi",
		Summary: "locks of a path from the root of a tree to a leaf, around crashed processes",
		Paper: algo.Paper{
			Authors: "D. Agrawal, A. El Abbadi",
			Title:   "An efficient and fault-tolerant solution for distributed mutual exclusion",
			Venue:   "ACM TOCS 9(1), 1-20", Year: 1991,
			Deviations: "In the paper any path will do; here all take the left-most, so that without " +
				"crashes the same few processes are arbiters for all. The tree may have any size: its " +
				"last level is filled from the left, and what replaces a dead process with one child is " +
				"the path through that child. Which process gets the locks is decided as in maekawa. A " +
				"crash in the middle of a request, or of a process that has locks, is handled as in " +
				"grid: an arbiter frees the lock of the dead, a requester sends its request to the new " +
				"members of its quorum, and releases all that it has asked. A process that was suspected " +
				"is not trusted again, and one that comes back does not know which process has its lock: " +
				"it gives it to none and asks for none.",
		},
		Messages: quorum.Messages(),
		Params:   []algo.Param{quorum.Displaced()},
		Needs:    algo.Needs{Detector: algo.Perfect, Params: quorum.Sound},
		Survives: algo.Faults{Crashes: survives},
		Promises: algo.Promises{StarvationFree: true},
		Claims:   quorum.Claims(family{}, 1),
		Breaks: "A dead path from the root to a leaf leaves no quorum: no process enters any more, " +
			"though most may be alive. If the detector errs, an arbiter frees a lock that its owner " +
			"still has, and two are inside at once. Doubled messages block: a second REQUEST waits " +
			"behind the first.",
	}, New)
}

// New makes one of all processes.
func New(c algo.Config) algo.Mutex { return quorum.NewWatcher(c, family{}) }

type family struct{}

// Quorum is get_quorum of the root: the same for all that suspect the same.
func (family) Quorum(_ algo.ID, n int, dead []algo.ID) []algo.ID {
	q := below(1, n, dead)
	slices.Sort(q)
	return q
}

// below is get_quorum(v) in a tree of n: v with a path through its left child, or else through its
// right; if v is dead, paths through all that it has. nil: there is none.
func below(v algo.ID, n int, dead []algo.ID) (q []algo.ID) {
	live := !slices.Contains(dead, v)
	if live && int(2*v) > n { // a leaf
		return []algo.ID{v}
	}
	for child := 2 * v; child <= min(2*v+1, algo.ID(n)); child++ {
		path := below(child, n, dead)
		switch {
		case live && path != nil:
			return append(path, v)
		case !live && path == nil:
			return nil
		}
		q = append(q, path...)
	}
	return q
}

// survives is one crash less than there are processes on the shortest path to a leaf, or to where
// the last level is missing.
func survives(n int, _ algo.Params) int { return bits.Len(uint(n+1)) - 2 }

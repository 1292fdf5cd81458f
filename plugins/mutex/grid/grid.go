// Package grid is mutual exclusion by the write quorums of the grid protocol (S. Y. Cheung,
// M. H. Ammar, M. Ahamad, IEEE TKDE 1992), with the rules of package quorum.
//
// The processes stand in a grid, as wide as high or nearly. A quorum is one full column and one
// process of every other column, so that any two have a member in common: the full column of one
// contains a member of the other. A process that wants to enter needs the lock of every member of its
// quorum, and a process that waits lets those that asked before it go first, as in Maekawa's
// algorithm. When one of them crashes, a process that waits for it takes another full column, or
// another process of that column, and the locks of the crashed process go to the next. So entries
// continue as long as one column is whole and no column is dead.
package grid

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name: "grid",
		Summary: "locks of a column of a grid and of one process of each other column, among live " +
			"processes",
		Paper: algo.Paper{
			Authors: "S. Y. Cheung, M. H. Ammar, M. Ahamad",
			Title:   "The grid protocol: a high performance scheme for maintaining replicated data",
			Venue:   "IEEE TKDE 4(6), 582-592", Year: 1992,
			Deviations: "The paper has quorums for replicated data; here its write quorums alone are " +
				"used, and which process gets the locks is decided as in maekawa. A process takes the " +
				"first column without a dead member, from its own on, and of every other column the " +
				"first live process from its own row on; the last row may be short. The paper does not " +
				"cover a crash in the middle of a request, or of a process that has locks: an arbiter " +
				"frees the lock of the dead, a requester sends its request to the new members of its " +
				"quorum, and releases all that it has asked; a REQUEST that its RELEASE has overtaken is " +
				"dropped. A process that was suspected is not trusted again, and one that comes back " +
				"gives its lock to none and asks for none.",
		},
		Messages: quorum.Messages(),
		Params:   []algo.Param{quorum.Displaced()},
		Needs:    algo.Needs{Detector: algo.Perfect, Params: quorum.Sound},
		Survives: algo.Faults{Crashes: survives},
		Promises: algo.Promises{StarvationFree: true},
		Claims:   quorum.Claims(family{}, 0),
		Breaks: "A dead column, or a dead process in each, leaves no quorum: no process enters any more. " +
			"If the detector errs, an arbiter frees a lock that its owner still has, and two are inside " +
			"at once. Doubled messages block: a second REQUEST waits behind the first.",
	}, New)
}

// New makes one of all processes.
func New(c algo.Config) algo.Mutex { return quorum.NewWatcher(c, family{}) }

type family struct{}

// Quorum is the first column from that of p on that is whole, and the first live process of
// every other column from the row of p on.
func (family) Quorum(p algo.ID, n int, dead []algo.ID) (q []algo.ID) {
	columns := grid(n)
	at := int(p) - 1
	row, own := at/len(columns), at%len(columns)
	isDead := func(p algo.ID) bool { return slices.Contains(dead, p) }
	full := -1
	for i := range columns {
		if c := (own + i) % len(columns); full < 0 && !slices.ContainsFunc(columns[c], isDead) {
			full = c
		}
	}
	for c, column := range columns {
		if c == full {
			q = append(q, column...)
			continue
		}
		from := row % len(column)
		live := slices.DeleteFunc(slices.Concat(column[from:], column[:from]), isDead)
		if len(live) == 0 || full < 0 {
			return nil
		}
		q = append(q, live[0])
	}
	slices.Sort(q)
	return q
}

// grid is the columns of the least square that n processes fit in, filled row by row.
func grid(n int) [][]algo.ID {
	width := 1
	for width*width < n {
		width++
	}
	columns := make([][]algo.ID, width)
	for i := range n {
		columns[i%width] = append(columns[i%width], algo.ID(i+1))
	}
	return columns
}

// survives is one crash less than what can kill a column, or one of each.
func survives(n int, _ algo.Params) int {
	columns := grid(n)
	return min(len(columns), len(columns[len(columns)-1])) - 1
}

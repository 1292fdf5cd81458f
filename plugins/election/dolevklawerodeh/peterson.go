// peterson is the election that Peterson found independently (ACM TOPLAS 1982). Its rules are those
// of dolev-klawe-rodeh, but for the second message.
//
// A process that wants an election is active, and has its ID as its value. It sends its value on,
// and behind it the larger of that and the value that it got. So a process still compares the
// values of the two active ones before it with its own, with half of the work at the sender. It
// continues with the value of the nearer if none is larger. A process that gets its own value back
// announces whose it is.

package dolevklawerodeh

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/lap"
)

func init() {
	s := spec()
	s.Name = "peterson"
	s.Summary = "on a ring; as dolev-klawe-rodeh, but the sender compares two of the three values"
	s.Paper = algo.Paper{
		Authors: "G. L. Peterson",
		Title:   "An O(n log n) unidirectional algorithm for the circular extrema problem",
		Venue:   "ACM TOPLAS 4(4), 758-762", Year: 1982, DOI: "10.1145/69622.357194",
		Deviations: deviations,
	}
	algo.RegisterElector(s, func(c algo.Config) algo.Elector {
		return &node{Place: lap.At(c), largest: true}
	})
}

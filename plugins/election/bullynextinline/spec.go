package bullynextinline

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "bully-next-in-line",
		Summary: "each leader publishes its successors: ask those in turn, all others only if none of " +
			"them is alive",
		Paper: algo.Paper{
			Authors: "M. Gholipour, M. S. Kordafshari, M. Jahanshahi, A. M. Rahmani",
			Title:   "A new approach for election algorithm in distributed systems",
			Venue: "2nd International Conference on Communication Theory, Reliability, and " +
				"Quality of Service (CTRQ)", Year: 2009,
			Deviations: "The form of lecture notes, completed. The list has the list_length highest IDs, " +
				"without the leader's and its predecessor's. When it is exhausted, or no list is known, " +
				"the process asks all of higher ID, as in bully. Epochs tell lists apart and outlive a " +
				"crash; a process that announces an older epoch is sent the newer one. A process holds a " +
				"full election when it comes back, and when it hears that a process of lower ID leads. A " +
				"process that trusts another again sends it the leader's name, since the leader's " +
				"successor does not. So does a successor that does not suspect its predecessor, when the " +
				"process that asked it has crashed since. An alternative that follows a newer leader " +
				"does not replace it when it is asked to replace an older one.",
		},
		Messages: []algo.Message{Election{}, Alive{}, Elected{}},
		Saves:    []algo.Message{Memory{}},
		Params: []algo.Param{
			{Name: "t_answer", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T, how long to wait for an answer; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "t_elected", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T\", how long to wait for the announcement after an answer; default T + 3d + 20 ms",
				Default: timeout.RoundTripAfter("t_answer")},
			{Name: "list_length", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(2)),
				Doc: "how many alternatives a leader publishes"},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: timeout.BothCover("t_answer", "t_elected"), // which a full election takes
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Highest: true, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "light", Source: algo.Derived,
			Text:  "N when one outside the list detects and the first alternative is alive",
			Bound: algo.Exactly(func(n int) float64 { return float64(n) }),
		}, {
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "N-2 when the first alternative detects",
			Bound: algo.Exactly(func(n int) float64 { return float64(n - 2) }),
		}},
		Breaks: "A partition makes a leader in each part: the first alternative in its own, and " +
			"where all alternatives are out of reach the winner of a full election. A heal " +
			"alone does not end it.",
	}, New)
}

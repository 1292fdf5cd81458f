package bullynextinline

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "bully-next-in-line",
		Summary: "each leader publishes who replaces it: ask those in turn, all only if none is alive",
		Paper: algo.Paper{
			Authors: "M. Gholipour, M. S. Kordafshari, M. Jahanshahi, A. M. Rahmani",
			Title:   "A new approach for election algorithm in distributed systems",
			Venue: "2nd International Conference on Communication Theory, Reliability, and " +
				"Quality of Service (CTRQ)", Year: 2009,
			Deviations: "The form of lecture notes, made complete. The list is the list_length " +
				"highest IDs but the leader's and its predecessor's. When it is exhausted, or " +
				"none is known, all of higher ID are asked, as in bully. Lists are told apart by " +
				"epochs, which outlive a crash; a process that announces an older one is told the " +
				"newer. A process that hears that a lower one leads holds a full election, as " +
				"does one that comes back. A process that trusts a process again tells it who leads, " +
				"since the successor of a leader does not tell that one; a successor that was asked by " +
				"one that has gone since, and does not suspect its predecessor, tells it, too. An " +
				"alternative that follows a newer leader does not replace it when asked to replace an older.",
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

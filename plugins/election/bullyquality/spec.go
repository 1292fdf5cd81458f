package bullyquality

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "bully-quality",
		Summary: "bully in which the better node wins: ranks are scores, and IDs among equals",
		Paper: algo.Paper{
			Authors: "A. Petrov",
			Title:   "Database Internals, chapter 10: Leader Election",
			Venue:   "O'Reilly", Year: 2019,
			Deviations: "The text only says that quality should enter into the election, so that an " +
				"unstable process with a high ID does not win again and again. Scores are counted in " +
				"buckets, and frozen for an attempt. All are asked, since a process need not know the " +
				"scores of the others; with contact higher a common table is assumed to be exact. A " +
				"coordinator defends itself with hysteresis buckets more. A process that is asked by a " +
				"higher one leaves its own election. A COORDINATOR that comes within T after one of " +
				"higher rank starts an election: the two may be a race between a process that came back " +
				"and one that did not know of it.",
		},
		Messages: []algo.Message{Election{}, Answer{}, Coordinator{}},
		Params: []algo.Param{
			{Name: "t_answer", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T, how long to wait for an answer; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "t_coordinator", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T', how long to wait for the announcement after an answer; default T + 3d + 20 ms",
				Default: timeout.RoundTripAfter("t_answer")},
			{Name: "score", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "quality at the start: uptime, load and the like; the higher the better"},
			{Name: "bucket", Type: algo.Int, Min: int64(1), Default: algo.Const(int64(1)),
				Doc: "how many points of score are one bucket; scores of one bucket are equal"},
			{Name: "hysteresis", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(1)),
				Doc: "by how many buckets a coordinator counts higher; means nothing with contact higher"},
			{Name: "contact", Type: algo.Enum, Choices: []string{"all", "higher"},
				Default: algo.Const("all"),
				Doc: "which processes an election asks; higher: those that the table of scores ranks " +
					"higher"},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: timeout.BothCover("t_answer", "t_coordinator"),
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text: "(N-1)² + (N-1)(N-2)/2 + (N-1) when the lowest ranked detects alone",
			Bound: algo.Exactly(func(n int) float64 {
				return float64((n-1)*(n-1) + (n-1)*(n-2)/2 + n - 1)
			}),
		}},
		Breaks: "A partition makes a leader in each part, the best of those there; a heal alone " +
			"does not end it. With hysteresis 0 a coordinator is not defended, and any change " +
			"of the scores may replace it at the next election.",
	}, New)
}

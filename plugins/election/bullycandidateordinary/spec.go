package bullycandidateordinary

import (
	"errors"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "bully-candidate-ordinary",
		Summary: "bully among a few candidates: a process that misses the leader " +
			"asks them and announces the highest",
		Paper: algo.Paper{
			Authors: "M. G. Murshed, A. R. Allen",
			Title: "Enhanced bully algorithm for leader node election in synchronous distributed " +
				"systems",
			Venue: "Computers 1(1), 3-23", Year: 2012, DOI: "10.3390/computers1010003",
			Deviations: "The form of lecture notes. They ask for a start-up delay that is random, or " +
				"above the round trip. Here it is fixed, a multiple of spacing by rank, and spacing is " +
				"above T + d: others are silenced by COORDINATOR alone, so less lets two rounds run. A " +
				"COORDINATOR of an older round is ignored, and its sender is sent the newer leader. So " +
				"is a replaced leader that is trusted again. A process that comes back starts an " +
				"election, and follows no COORDINATOR for T: it may be older than one that the process " +
				"missed while it was down. Without a live candidate the initiator tries again, each time " +
				"after twice the wait.",
		},
		Messages: []algo.Message{Election{}, Answer{}, Coordinator{}},
		Params: []algo.Param{
			{Name: "t_answer", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T, how long to collect answers; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "spacing", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "start-up delay for each process of higher ID; default T + 3d + 20 ms",
				Default: timeout.RoundTripAfter("t_answer")},
			{Name: "delta", Type: algo.Duration, Min: time.Duration(0), PerProcess: true,
				Default: algo.Const(time.Duration(0)),
				Doc:     "start-up delay of its own, on top of what spacing makes"},
			{Name: "candidates", Type: algo.Int, Min: int64(1),
				Doc: "how many are candidates, those of highest ID: all but one may crash; " +
					"default n/2 + 1",
				Default: func(net algo.Network) any { return int64(net.Nodes/2 + 1) }},
			{Name: "candidate", Type: algo.Int, Min: int64(-1), Max: int64(1), PerProcess: true,
				Default: algo.Const(int64(-1)),
				Doc:     "1: a candidate, 0: ordinary, -1: as candidates says"},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: func(net algo.Network, p algo.Params) error {
				if err := timeout.Covers(net, p, "t_answer"); err != nil {
					return err
				}
				if candidates(net.Nodes, p) == 0 {
					return errors.New("candidate 0: nobody may lead")
				}
				return nil
			},
		},
		// One candidate must live: of n/2 + 1, by default.
		Survives: algo.Faults{
			Crashes:  func(n int, p algo.Params) int { return max(candidates(n, p)-1, 0) },
			Recovery: true,
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "light", Source: algo.Derived,
			Text:  "2c+N-2 when an ordinary process detects alone and asks c candidates, by default n/2",
			Bound: algo.Exactly(func(n int) float64 { return float64(2*(n/2) + n - 2) }),
		}},
		Breaks: "When all candidates are dead no process leads, although ordinary processes are alive. " +
			"Start-up delays less than T + d apart let several rounds run. In a partition each part that " +
			"has a candidate gets a leader.",
	}, New)
}

// candidates is how many of n processes may lead.
func candidates(n int, p algo.Params) (count int) {
	for id := range algo.ID(n) {
		if candidate(p, id+1, n) {
			count++
		}
	}
	return count
}

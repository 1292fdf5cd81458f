package bullyquorum

import (
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "bully-quorum",
		Summary: "the best of those in reach leads, if a majority of all joins it",
		Paper: algo.Paper{
			Authors: "Elastic",
			Title:   "Zen discovery, in: Elasticsearch Reference 6.8",
			Venue:   "Elastic", Year: 2019,
			Deviations: "Before a process leads, those that joined it promise it the term " +
				"(claim_phase; false is the original, in which JOINs of different moments can support " +
				"two leaders). This is why there are terms and a promise on stable storage. A process " +
				"that is probed probes as well if it has no leader, or if its leader is the sender. " +
				"ELECTED carries the sender's round, so that an announcement that arrives after the " +
				"end of the leadership is ignored. The lease is the failure detector's: a leader that " +
				"suspects so many processes that no quorum is left abdicates. A process that comes " +
				"back hears from the leader and from former leaders; a leader elected in the meantime " +
				"announces itself to it. That leader also announces itself to an older leader that it " +
				"hears of, or whose answer to its PROBE arrives after T; the older one gives way and " +
				"probes once more. Processes publish nothing, so versions of the state do not change. " +
				"A process that reaches no quorum says so and is not joined: otherwise (electable " +
				"false, the original) there may be no leader in a partition that is not transitive " +
				"(issue 43183). A cut too short for the detector is a loss of messages: a process that " +
				"misses the end of a leadership does not learn of it.",
		},
		Messages: []algo.Message{
			Probe{}, ProbeReply{}, Join{}, Claim{}, ClaimOK{}, Elected{}, Follow{},
		},
		Saves: []algo.Message{Promise{}},
		Params: []algo.Param{
			{Name: "quorum", Type: algo.Int, Min: int64(1),
				Doc: "processes that must support a leader, itself included: all others may crash; " +
					"default N/2 + 1",
				Default: func(net algo.Network) any { return int64(net.Nodes/2 + 1) }},
			{Name: "claim_phase", Type: algo.Bool, Default: algo.Const(true),
				Doc: "supporters promise the term before a leader begins"},
			{Name: "electable", Type: algo.Bool, Default: algo.Const(true),
				Doc: "join no process that says that it reaches no quorum"},
			{Name: "t_answer", Type: algo.Duration, Min: time.Duration(0),
				Doc: "T, how long to wait for answers to a PROBE; " +
					"default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "backoff", Type: algo.Duration, Min: time.Microsecond,
				Doc: "a process without a leader probes again after a random time " +
					"of once to twice this; default T + 3d + 20 ms",
				Default: timeout.RoundTripAfter("t_answer")},
			{Name: "version", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "of the state that the process holds: the newest is the best, then the least ID"},
		},
		Needs: algo.Needs{
			Synchrony: algo.PartiallySynchronous, Detector: algo.EventuallyPerfect, Params: timing,
		},
		Survives: algo.Faults{
			Crashes:  func(n int, p algo.Params) int { return max(n-int(p.Int("quorum")), 0) },
			Recovery: true, Partition: true,
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm, Live: live},
		Service:  algo.Led,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text: "m(N-1)+m(m-1)+4(m-1) when all m = N-1 others notice the leader's crash at once",
			Bound: algo.Exactly(func(n int) float64 {
				m := n - 1
				return float64(m*(n-1) + m*(m-1) + 4*(m-1))
			}),
		}},
		Breaks: "Without a majority in reach no process leads, and no client is served. With electable " +
			"false, as in the original, that may happen in a partition that is not transitive although a " +
			"majority is connected: all join one that itself joins another, which they do not reach. " +
			"Without the claim phase, which the original lacks too, two can lead one term.",
	}, New)
}

func timing(net algo.Network, p algo.Params) error {
	answer, backoff := p.Duration("t_answer"), p.Duration("backoff")
	switch d, q := net.Latency, p.Int("quorum"); {
	case !p.Bool("claim_phase"):
		return errors.New("claim_phase false: JOINs of different moments can support two leaders")
	case 2*q <= int64(net.Nodes) || q > int64(net.Nodes):
		return fmt.Errorf("quorum %d is no majority of %d", q, net.Nodes)
	case answer < 2*d:
		return fmt.Errorf("t_answer %v is below 2d = %v", answer, 2*d)
	case backoff < 4*d:
		return fmt.Errorf("backoff %v is below 4d = %v, from JOIN to ELECTED", backoff, 4*d)
	}
	return nil
}

// live: the best in reach is joined by all that reach it. A process that is the best to some of them
// only is joined by too few, round after round; so is anybody where the quorum is more
// than a majority, and a majority is all there is.
func live(n int, p algo.Params) algo.Liveness {
	if p.Int("quorum") != int64(n/2+1) {
		return algo.Liveness{}
	}
	return algo.Liveness{Under: algo.InParts, Timeouts: 30 * n}
}

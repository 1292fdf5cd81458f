package ringmax

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/ring"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "ring-max",
		Summary: "the largest ID so far goes round the ring; when the lap is over, it leads",
		Paper: algo.Paper{
			Authors: "A. Petrov",
			Title:   "Database Internals, chapter 10: ring algorithm, variation with a single identifier",
			Venue:   "O'Reilly", Year: 2019,
			Deviations: "The text says that the initiator closes the lap, and not what happens if it has " +
				"died: a message that has made hop_limit hops is removed and its holder starts afresh " +
				"(0, the literal text: it circulates forever). A process that took part and hears no " +
				"announcement within lap_timeout starts afresh too, since the message may have died " +
				"with its holder. Elections carry a number, the era: it tells an announcement from one " +
				"that a later election has overtaken, and is saved across crashes. A process that hears a " +
				"smaller leader than itself, or two leaders in one era, starts afresh. " +
				"Acknowledgements name the message that they answer and are counted apart. " +
				"Simultaneous initiators are not suppressed.",
		},
		Messages:  []algo.Message{Election{}, Coordinator{}},
		Auxiliary: []algo.Message{Ack{}},
		Saves:     []algo.Message{Era{}},
		Params: []algo.Param{
			ring.SkipTimeout(), ring.RememberDead(),
			{Name: "hop_limit", Type: algo.Int, Min: int64(0), Max: int64(math.MaxUint32),
				Doc:     "hops after which an ELECTION is given up; default 2N; 0: never",
				Default: func(net algo.Network) any { return int64(2 * net.Nodes) }},
			{Name: "lap_timeout", Type: algo.Duration, Min: time.Duration(0),
				Doc: "T', how long to wait for the announcement; default 2N(T + d) + 20 ms; 0: without limit",
				Default: func(net algo.Network) any {
					return ring.TwoLaps(net, net.Params.Duration("skip_timeout")) + algo.Slack
				}},
		},
		Needs: algo.Needs{
			Topology: algo.LogicalRing, Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: timing,
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Highest: true, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "light", Source: algo.Derived,
			Text:  "2N with one initiator and none dead",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * n) }),
		}},
		Breaks: "A lap that dies with its holder is lost: those that took part start afresh after " +
			"lap_timeout, and wait forever if that is 0. The lap of an initiator that died " +
			"circulates, forever if hop_limit is 0. A partition makes a leader in each part.",
	}, New)
}

// timing says whether the time-outs and hop_limit are large enough.
func timing(net algo.Network, p algo.Params) error {
	switch err, limit := ring.Timing(net, p), p.Int("hop_limit"); {
	case err != nil:
		return err
	case limit == 0:
		return fmt.Errorf("hop_limit 0: the message of an initiator that dies circulates forever")
	case limit < int64(net.Nodes):
		return fmt.Errorf("hop_limit %d is below N = %d", limit, net.Nodes)
	}
	return nil
}

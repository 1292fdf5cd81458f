package viewstampedreplication

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "viewstamped-replication",
		Summary: "numbered views with a primary each in turn; f+1 reports begin the next one",
		Paper: algo.Paper{
			Authors: "B. Liskov, J. Cowling",
			Title:   "Viewstamped replication revisited",
			Venue:   "Technical report MIT-CSAIL-TR-2012-021, MIT", Year: 2012,
			Deviations: "The view change and the recovery alone: logs are not replicated, and " +
				"travel as their ends. The report has an odd number of processes; of an even " +
				"number N, f is N/2. The report leaves the time-outs open: here one is drawn anew " +
				"whenever a process enters a view, and a RECOVERY is repeated with a new nonce. " +
				"The primary of view 0 leads from the start; a leader that is settled, L, leads " +
				"view L-1. A process that hears a COMMIT of a higher view adopts that, where the report " +
				"transfers the state; a START_VIEW is adopted during a recovery, too. The term " +
				"of a leader is its view plus 1. Suspicions of a failure detector other than the " +
				"timer are ignored, but those of a script count as an expired timer.",
		},
		Messages: []algo.Message{
			Commit{}, StartViewChange{}, DoViewChange{}, StartView{}, Recovery{}, RecoveryResponse{},
		},
		Params: []algo.Param{
			{Name: "heartbeat", Type: algo.Duration, Min: time.Microsecond,
				Doc:     "between two COMMIT of a primary; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "t_view", Type: algo.Duration, Min: time.Microsecond, Tunes: algo.Patience,
				Doc: "time-out of a view, drawn from t_view to twice that; default five heartbeats",
				Default: func(net algo.Network) any {
					return 5 * net.Params.Duration("heartbeat")
				}},
			{Name: "t_view_fixed", Type: algo.Duration, Min: time.Duration(0), PerProcess: true,
				Doc:     "a process's time-out, if it is not to be drawn; 0: drawn",
				Default: algo.Const(time.Duration(0))},
			{Name: "heartbeat_rounds", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)),
				Doc: "rounds of heartbeats after which a primary falls silent; 0: never"},
			{Name: "op", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "where a process's log ends at the start"},
		},
		Perpetual: true,
		Told:      true,
		Periods:   []algo.Period{{Param: "heartbeat", Timer: heartbeatTimer}},
		Needs:     algo.Needs{Synchrony: algo.PartiallySynchronous, Params: live},
		Survives: algo.Faults{
			Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return n - 1 - n/2 },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm, Live: steady},
		Service:  algo.Led,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text: "N²-2 when the primary crashed, N is odd and the next primary is alive: (N-1)² " +
				"START_VIEW_CHANGE, N-2 DO_VIEW_CHANGE, N-1 START_VIEW",
			Bound: algo.Exactly(func(n int) float64 { return float64(n*n - 2) }),
		}},
		Breaks: "Without f+1 processes of which each hears f others no process is elected, although one " +
			"may reach a majority: in a star no leaf reports. Each view whose primary is down costs a " +
			"time-out. A primary that is cut off believes that it leads until it hears of a higher view. " +
			"If more than f processes are down or recovering at once, too few are left to report the " +
			"view, and the rest never recover. The report's recovery has a known flaw (E. Michael, D. R. " +
			"K. Ports, N. Kr. Sharma, A. Szekeres: Recovering shared objects without stable storage, " +
			"DISC 2017): a replica that votes for view v+1, crashes, and recovers into view v has " +
			"forgotten its vote. The log can lose operations in this way. Each view has one primary " +
			"nevertheless, and logs are left out here.",
	}, New)
}

// steady: each view takes two time-outs at most, and in N of them the turn comes to all. There
// are more for messages of before that are long on their way, and hold up those behind them.
func steady(n int, _ algo.Params) algo.Liveness {
	return algo.Liveness{Under: algo.InParts, Timeouts: 50 * max(n, 2), Learns: true}
}

// live says with which parameters views end before their primary has taken over, or has been
// heard again.
func live(net algo.Network, p algo.Params) error {
	patience, beat, name := p.Duration("t_view"), p.Duration("heartbeat"), "t_view"
	if fixed := p.Duration("t_view_fixed"); fixed > 0 {
		patience, name = fixed, "t_view_fixed"
	}
	if least := max(4*net.Latency, beat+net.Latency); patience < least {
		return fmt.Errorf("%s %v is below 4d or heartbeat + d = %v", name, patience, least)
	}
	if rounds := p.Int("heartbeat_rounds"); rounds > 0 {
		return fmt.Errorf("heartbeat_rounds %d: the primary falls silent, and is deposed", rounds)
	}
	return nil
}

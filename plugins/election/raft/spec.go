package raft

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "raft",
		Summary: "a random time-out, a new term, one vote each; a majority makes the leader",
		Paper: algo.Paper{
			Authors: "D. Ongaro, J. Ousterhout",
			Title:   "In search of an understandable consensus algorithm",
			Venue:   "USENIX Annual Technical Conference, 305-319", Year: 2014,
			Deviations: "The election alone: logs are not replicated, and where each process's log ends " +
				"is a parameter. A REQUEST_VOTE is not repeated within a term, the next term repeats it. " +
				"Pre-vote (dissertation, section 9.6) is the option pre_vote; its replies name the " +
				"attempt that they answer, and a process that was just restarted counts as having heard " +
				"a leader, but as sticky to none. A takeover does not look at how fresh the log is, " +
				"which no message carries; nor does it wait a random time longer. Ticks begin with the " +
				"process, so that those of processes that start together come together. A leader that is " +
				"settled from the start leads term 1, and counts as heard unless it is down by then. A " +
				"candidate that a majority has refused stays one until its timer expires, as the paper's " +
				"does; etcd's follows at once. Suspicions of a failure detector other than the election " +
				"timer are ignored.",
		},
		Messages: []algo.Message{
			PreVote{}, PreVoteReply{}, RequestVote{}, VoteReply{}, AppendEntries{}, AppendReply{},
			TimeoutNow{},
		},
		Saves: []algo.Message{Stable{}},
		Params: []algo.Param{
			{Name: "pre_vote", Type: algo.Bool, Default: algo.Const(false),
				Doc: "ask whether one would be elected before entering a new term"},
			{Name: "pre_vote_lease", Type: algo.Bool, Default: algo.Const(true),
				Doc: "refuse pre-votes within τ of hearing a leader, and while leading; etcd does not"},
			{Name: "check_quorum", Type: algo.Bool, Default: algo.Const(false),
				Doc: "a leader gives up if no majority answers it for t_quorum"},
			{Name: "sticky", Type: algo.Enum,
				Choices: []string{stickyOff, stickyDrop, stickyRefuse, stickyKnown},
				Doc: "what happens to a request for a vote within τ of hearing the leader that the " +
					"process follows, and while it leads: drop, as etcd, if check_quorum, else off; " +
					"known: refused until the election timer expires and no leader was heard for τ, as " +
					"HashiCorp's",
				Default: func(net algo.Network) any {
					if net.Params.Bool("check_quorum") {
						return stickyDrop
					}
					return stickyOff
				}},
			{Name: "heartbeat", Type: algo.Duration, Min: time.Microsecond,
				Doc: "between two heartbeats of a leader; default 3d + 20 ms, d the largest " +
					"latency",
				Default: timeout.RoundTrip},
			{Name: "heartbeat_spread", Type: algo.Duration, Min: time.Duration(0),
				Default: algo.Const(time.Duration(0)),
				Doc:     "the time to the next heartbeat is drawn from heartbeat to heartbeat plus this"},
			{Name: "commit_timeout", Type: algo.Duration, Min: time.Duration(0),
				Default: algo.Const(time.Duration(0)),
				Doc: "a leader repeats its commit index, which counts as a heartbeat, after a time drawn " +
					"from this to twice this, as HashiCorp's CommitTimeout; 0s: never"},
			{Name: "t_election", Type: algo.Duration, Min: time.Microsecond, Tunes: algo.Patience,
				Doc: "τ: the least value of the election timer; default five heartbeats",
				Default: func(net algo.Network) any {
					return 5 * net.Params.Duration("heartbeat")
				}},
			{Name: "t_election_spread", Type: algo.Duration, Min: time.Duration(0), Tunes: algo.Spread,
				Doc: "the election timer is drawn from τ to τ plus this; default τ, N·d at least",
				Default: func(net algo.Network) any {
					return max(net.Params.Duration("t_election"), leastSpread(net))
				}},
			{Name: "t_election_fixed", Type: algo.Duration, Min: time.Duration(0), PerProcess: true,
				Default: algo.Const(time.Duration(0)),
				Doc:     "value of the election timer, in place of a random time; 0s: random"},
			{Name: "last_contact", Type: algo.Bool, Default: algo.Const(false),
				Doc: "hearing a leader does not restart a follower's election timer: when it expires, " +
					"it is set anew if the last contact is younger than τ, as HashiCorp's"},
			{Name: "t_quorum", Type: algo.Duration, Min: time.Microsecond,
				Doc: "how often a leader checks its quorum; default τ",
				Default: func(net algo.Network) any {
					return net.Params.Duration("t_election")
				}},
			{Name: "tick", Type: algo.Duration, Min: time.Duration(0), Default: algo.Const(time.Duration(0)),
				Doc: "timers expire at multiples of it, after whole ticks; 0s: at any instant"},
			{Name: "tick_phase", Type: algo.Enum, Choices: []string{together, apart},
				Default: algo.Const(together),
				Doc: "together: ticks count from the start of a process, so those of processes that start " +
					"together come together; apart: each process has a random phase of its own"},
			{Name: "priority", Type: algo.Int, Min: unranked, Default: algo.Const(unranked), PerProcess: true,
				Doc: "processes with a higher priority lead rather than others; -1: the process has none"},
			{Name: "priority_mode", Type: algo.Enum, Choices: []string{byTarget, byTakeover},
				Default: algo.Const(byTarget),
				Doc: "target: a process that has a lower priority than the target skips time-outs, and " +
					"the target falls with every second; takeover: a process that follows a leader of " +
					"lower priority stands in its place"},
			{Name: "decay_gap", Type: algo.Int, Min: int64(1), Default: algo.Const(int64(10)),
				Doc: "the least step by which the target falls; a fifth if that is more"},
			{Name: "heartbeat_rounds", Type: algo.Int, Min: int64(0), Default: algo.Const(int64(0)),
				Doc: "rounds of heartbeats after which a leader falls silent; 0: never"},
			{Name: "last_term", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "term of the last entry of a process's log"},
			{Name: "last_index", Type: algo.Int, Default: algo.Const(int64(0)), PerProcess: true,
				Doc: "index of the last entry of a process's log"},
		},
		Sets:      sets(),
		Perpetual: true,
		Periods:   []algo.Period{{Param: "heartbeat", Spread: "heartbeat_spread", Timer: heartbeatTimer}},
		Settles:   settles,
		Needs: algo.Needs{
			Synchrony: algo.PartiallySynchronous,
			Params:    live,
		},
		Survives: algo.Faults{
			Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 },
		},
		// Election Safety
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm, Live: connected},
		Service:  algo.Led,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "4N-6 when the leader crashed and one candidate wins, first heartbeat included",
			Bound: algo.Exactly(func(n int) float64 { return float64(4*n - 6) }),
		}},
		Breaks: "Without a majority no process is elected. Time-outs that are short for the delays call " +
			"the next election before the votes of this one are in, and no process ever leads. A leader " +
			"that is cut off believes that it leads until it hears of a higher term. Without " +
			"check_quorum processes keep a leader that reaches them and does not hear them, and under " +
			"pre_vote and sticky also one that reaches too few: a leader is promised then only where the " +
			"parts of the network are whole. With check_quorum a connected majority is enough, and with " +
			"pre_vote as well one process that reaches a majority, if no log is behind.",
	}, New)
}

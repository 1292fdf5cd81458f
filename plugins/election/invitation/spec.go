package invitation

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "invitation",
		Summary: "every group has its leader; leaders invite each other, and groups merge",
		Paper: algo.Paper{
			Authors: "H. Garcia-Molina",
			Title:   "Elections in a distributed computing system",
			Venue:   "IEEE Transactions on Computers C-31(1), 48-59", Year: 1982,
			DOI: "10.1109/TC.1982.1675885",
			Deviations: "The form of lecture notes, completed: one message merges two groups, where " +
				"the paper has a reorganization with a state and a message of its own. The leader of " +
				"the larger group leads, or the inviter if the groups are equal (merge; larger-id is " +
				"the rule of some notes, against their own figure). A process invites when it is made " +
				"an initiator, meets another leader, returns, or loses its leader. A process that " +
				"returns sends RECOVERED to all, in place of the paper's periodic question to the " +
				"leader: its former members and its former leader have lost it, even if none noticed " +
				"that it was away. A NEW_LEADER that arrives before the one that it builds on waits " +
				"for it. A process that follows a member, or a group that its leader no longer knows, " +
				"is sent the new leader at once.",
		},
		Messages: []algo.Message{
			Invite{}, Accept{}, Takeover{}, Redirect{}, Busy{}, NewLeader{},
			Recovered{},
		},
		Params: []algo.Param{
			{Name: "t_answer", Type: algo.Duration, Min: time.Duration(0),
				Doc: "T, how long to wait for the answer to an INVITE; " +
					"default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "pause", Type: algo.Duration, Min: time.Microsecond,
				Doc:     "between two invitations of a leader: a random time below this; default T",
				Default: func(net algo.Network) any { return net.Params.Duration("t_answer") }},
			{Name: "merge", Type: algo.Enum, Choices: []string{"larger-group", "larger-id"},
				Default: algo.Const("larger-group"),
				Doc:     "which leader leads when two groups merge"},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect,
			Params: func(net algo.Network, p algo.Params) error {
				return timeout.Covers(net, p, "t_answer")
			},
		},
		Survives: algo.Faults{
			Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true, Partition: true,
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerGroup},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "2(N-1) when one leader absorbs all others one by one",
			Bound: algo.Exactly(func(n int) float64 { return float64(2 * (n - 1)) }),
		}},
		Breaks: "There are several leaders by design, one for each group, until the groups have met. A " +
			"NEW_LEADER that is lost leaves a process behind: it follows a process that no longer " +
			"leads, and its new leader counts it as a member.",
	}, New)
}

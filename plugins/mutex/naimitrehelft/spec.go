package naimitrehelft

import (
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterMutex(algo.Spec{
		Name:    "naimi-trehel-ft",
		Summary: "path reversal with one token, which is regenerated when its holder crashed",
		Paper: algo.Paper{
			Authors: "M. Naimi, M. Trehel",
			Title: "How to detect a failure and regenerate the token in the log(n) distributed " +
				"algorithm for mutual exclusion",
			Venue: "WDAG", Year: 1987,
			Deviations: "As lecture notes describe it, completed where they are silent. Messages carry " +
				"an epoch, which each new tree raises; those of an older one are dropped, and questions " +
				"of an older one are answered with the newer. A process that is asked for the token " +
				"while it is on its way answers when it comes. After a second answer that the token " +
				"lives, a waiter makes the holder build a new tree, since its request may have died with " +
				"a process (rebuild; false is the notes' text, which starves); if the token has moved " +
				"on, the REBUILD follows it, and a process that it has passed builds the tree when the " +
				"token comes. By default Twait is as long as a queue of all processes takes. An observer " +
				"whose candidate dies consults again. In a new tree pending requests are issued again. A " +
				"process that comes back has saved its epoch, not the token, and takes part only in a " +
				"newer epoch.",
		},
		Token: "TOKEN",
		Messages: []algo.Message{
			Request{}, Token{}, Consult{}, ConsultOK{}, Query{}, TokenHere{}, Election{},
			CandidateElected{}, Rebuild{},
		},
		Saves: []algo.Message{Saved{}},
		Params: []algo.Param{
			{Name: "t_elec", Type: algo.Duration, Min: 10 * time.Microsecond,
				Doc:     "Telec, how long to wait for answers; default 3d + 20 ms, d the largest latency",
				Default: func(net algo.Network) any { return 3*net.Latency + algo.Slack }},
			{Name: "t_wait", Type: algo.Duration, Min: 10 * time.Microsecond,
				Doc: "Twait, how long to wait for the token before asking; default N(h + d) + 20 ms, h " +
					"the longest stay inside: as long as a queue of all processes takes, so that without " +
					"failures none asks, and recovery takes longer the more processes there are",
				Default: func(net algo.Network) any {
					return time.Duration(net.Nodes)*(net.Hold+net.Latency) + algo.Slack
				}},
			{Name: "rebuild", Type: algo.Bool, Default: algo.Const(true),
				Doc: "have a new tree built when the token lives but does not come"},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous,
			Params: func(net algo.Network, p algo.Params) error {
				switch t := p.Duration("t_elec"); {
				case t <= 3*net.Latency:
					return fmt.Errorf("t_elec %v is not above 3d = %v", t, 3*net.Latency)
				case !p.Bool("rebuild"):
					return errors.New("rebuild false: a process whose request went through one that died " +
						"starves")
				}
				return nil
			},
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{StarvationFree: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "light", Source: algo.Derived,
			Text:  "H(n-1) on average, as without failures",
			Bound: algo.Within(0.10, func(n int) float64 { return algo.Harmonic(n - 1) }),
		}, {
			Metric: "messages/entry", Load: "worst", Source: algo.Derived,
			Text:  "4N-3 when the idle holder died",
			Bound: algo.Exactly(func(n int) float64 { return float64(4*n - 3) }),
		}},
		Breaks: "With Telec below three delays a second token is made while the first lives, and two are " +
			"inside at once. With rebuild false, the notes' text, a process whose request died with " +
			"another starves. Otherwise recovery takes time only: Twait and three Telec for a lost " +
			"token, twice Twait and Telec for a lost request.",
	}, New)
}

package lease

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "lease",
		Summary: "a process that holds the lease of a record on a store leads: client-go's rule, or " +
			"Patroni's",
		Paper: algo.Paper{
			Authors: "The Kubernetes authors; the Patroni authors",
			Title:   "client-go, tools/leaderelection, and Patroni, ha.py, as read in their sources",
			Venue:   "github.com/kubernetes/client-go at 32ce75a, github.com/patroni/patroni at de6b22c",
			Year:    2026,
			Deviations: "The store is a process of the trial, store, so that requests to it are counted, " +
				"delayed and lost like all messages: a linearizable record that survives its restart. It " +
				"names the process that its record names, and never campaigns. A process that has lost " +
				"the lease campaigns again after retry_period, where client-go's Run returns; a process " +
				"that has released it does so only on the command of a script. After a request without " +
				"an answer the attempt has failed; client-go continues with the next request. A follower " +
				"names the holder of the record as it last saw it. Patroni's failsafe mode, its watchdog " +
				"and its choice of the healthiest member are missing: all are as healthy. Suspicions of " +
				"a failure detector are ignored.",
		},
		Messages: []algo.Message{Get{}, GetReply{}, Put{}, PutReply{}, Delete{}, Expired{}},
		Saves:    []algo.Message{Record{}},
		Params: []algo.Param{
			{Name: "store", Type: algo.Int, Min: int64(1), Process: true, Default: algo.Const(int64(1)),
				Doc: "the process that is the store"},
			{Name: "rule", Type: algo.Enum, Choices: []string{"renew", "ttl"}, Default: algo.Const("renew"),
				Doc: "renew: client-go's; ttl: Patroni's"},
			{Name: "retry_period", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "between two attempts or renewals; default 20d, 20 ms at least",
				Default: of("renew", unit)},
			{Name: "renew_deadline", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "how long a renewal may take until the holder gives up; default five retry_period",
				Default: of("renew", times(5, 1, "retry_period"))},
			{Name: "lease_duration", Type: algo.Duration, Min: time.Duration(0), Tunes: algo.Patience,
				Doc: "how long a record must stay unchanged before others take it; default 7.5 " +
					"retry_period",
				Default: of("renew", times(15, 2, "retry_period"))},
			{Name: "t_request", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "how long to wait for an answer; default half of renew_deadline",
				Default: of("renew", times(1, 2, "renew_deadline"))},
			{Name: "jitter", Type: algo.Float, Min: -1.0, Max: 1.0, PerProcess: true,
				Default: algo.Const(-1.0),
				Doc:     "a failed attempt adds so much of 1.2 retry_period to the wait; below 0: drawn"},
			{Name: "loop_wait", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "between two cycles; default 100d, 100 ms at least",
				Default: of("ttl", func(net algo.Network) time.Duration { return 5 * unit(net) })},
			{Name: "retry_timeout", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "how long to wait for an answer; default loop_wait",
				Default: of("ttl", times(1, 1, "loop_wait"))},
			{Name: "ttl", Type: algo.Duration, Min: time.Duration(0), Tunes: algo.Patience,
				Doc:     "how long the record lasts; default three loop_wait",
				Default: of("ttl", times(3, 1, "loop_wait"))},
			{Name: "watch", Type: algo.Bool, Default: algo.Const(false),
				Doc: "rule ttl: the store tells all when the record is gone"},
			{Name: "phase", Type: algo.Duration, Min: time.Duration(0), PerProcess: true,
				Doc:     "rule ttl: a member's first cycle; 0: at once, or loop_wait if a leader is settled",
				Default: algo.Const(time.Duration(0))},
		},
		Sets:      sets(),
		Perpetual: true,
		Periods: []algo.Period{
			{Param: "retry_period", Timer: retryTimer, Reply: true}, {Param: "loop_wait", Timer: cycleTimer},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Params: safe,
			Nodes: func(n int) error {
				if n < 2 {
					return fmt.Errorf("%d processes: want the store and a member at least", n)
				}
				return nil
			},
		},
		Survives: algo.Faults{
			Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return n - 2 },
			Anchor:  func(p algo.Params) algo.ID { return algo.ID(p.Int("store")) },
		},
		Promises: algo.Promises{Announced: true, Leadership: algo.AtMostOne},
		Service:  algo.Agreed,
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "all begin", Source: algo.Derived,
			Text: "6N-8 to 6N-2 when N-1 members start at once: each looks and tries, N-2 look again, " +
				"and the winner renews",
			Bound: func(n int) (lo, hi float64) { return float64(6*n - 8), float64(6*n - 2) },
		}},
		Breaks: "Without the store no process leads. Two lead at once if a holder may lead on for longer " +
			"than others wait: under renew if lease_duration is below retry_period + renew_deadline, " +
			"which client-go accepts, under ttl if ttl is below loop_wait + 2 retry_timeout; if clocks " +
			"run at different rates; and if a holder is paused or slowed down for longer than its lease " +
			"lasts. Then only a store of its actions that knows versions keeps them apart.",
	}, New)
}

// unit is the least time that is worth waiting for.
func unit(net algo.Network) time.Duration { return max(20*net.Latency, algo.Slack) }

// of is a default under one rule; under the other the parameter is of no use, and 0.
func of(rule string, value func(algo.Network) time.Duration) func(algo.Network) any {
	return func(net algo.Network) any {
		if net.Params.Enum("rule") != rule {
			return time.Duration(0)
		}
		return value(net)
	}
}

// times is a part of a parameter that stands before.
func times(a, b time.Duration, name string) func(algo.Network) time.Duration {
	return func(net algo.Network) time.Duration { return a * net.Params.Duration(name) / b }
}

// follows says what a parameter of rule renew follows from where it is not set.
func follows(name string) string {
	switch name {
	case "t_request":
		return "; unless it is set it is half of renew_deadline, and that 5 retry_period"
	case "renew_deadline":
		return "; unless it is set it is 5 retry_period"
	case "lease_duration":
		return "; unless it is set it is 7.5 retry_period"
	}
	return ""
}

// safe says with which parameters two may lead at once, or nobody may.
func safe(net algo.Network, p algo.Params) error {
	d := net.Latency
	least := func(name string, bound time.Duration, what string) error {
		if t := p.Duration(name); t < bound {
			return fmt.Errorf("%s %v is below %s = %v%s", name, t, what, bound, follows(name))
		}
		return nil
	}
	if p.Enum("rule") == "ttl" {
		wait := p.Duration("retry_timeout")
		return first(least("retry_timeout", 2*d, "2d"), least("loop_wait", 4*d, "4d"),
			least("ttl", p.Duration("loop_wait")+2*wait, "loop_wait + 2 retry_timeout: two may lead"))
	}
	retry, patience := p.Duration("retry_period"), p.Duration("renew_deadline")
	return first(least("t_request", 2*d, "2d"), least("renew_deadline", 6*d, "6d"),
		least("retry_period", time.Microsecond, "the least"),
		least("lease_duration", retry+patience+d, "retry_period + renew_deadline + d: two may lead"))
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

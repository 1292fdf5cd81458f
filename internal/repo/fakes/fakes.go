// Package fakes registers mutual-exclusion algorithms for the tests of commands: some end badly, each in its
// own way. They have a package of their own since a goroutine that an algorithm's package has started counts
// as the algorithm's.
package fakes

import (
	"runtime"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	paper := algo.Paper{Authors: "A. Author", Title: "On nothing", Venue: "Proc. Nowhere", Year: 1999}
	add := func(name string, s algo.Spec, make func(algo.Config) algo.Mutex) {
		s.Name, s.Paper, s.Messages = name, paper, []algo.Message{token{}}
		if s.Summary == "" {
			s.Summary = "for tests: " + name
		}
		algo.RegisterMutex(s, make)
	}
	add("test-greedy", algo.Spec{Promises: algo.Promises{StarvationFree: true}},
		func(algo.Config) algo.Mutex { return &greedy{} })
	add("test-goexit", algo.Spec{}, func(algo.Config) algo.Mutex { return &leaves{} })
	add("test-panic", algo.Spec{}, func(algo.Config) algo.Mutex { return &panics{} })
	add("test-restless", algo.Spec{Perpetual: true, Promises: algo.Promises{StarvationFree: true}},
		func(algo.Config) algo.Mutex { return &restless{} })
	add("test-slower", algo.Spec{Params: []algo.Param{{Name: "after", Type: algo.Duration,
		Default: algo.Const(20 * time.Millisecond), Doc: "what it waits for"}}},
		func(c algo.Config) algo.Mutex { return &slower{after: c.Params.Duration("after")} })
	add("test-turns", algo.Spec{Params: []algo.Param{{Name: "turn", Type: algo.Duration,
		Default: algo.Const(20 * time.Millisecond), Doc: "how long after one the next is let in"}}},
		func(c algo.Config) algo.Mutex {
			return &slower{after: time.Duration(c.ID) * c.Params.Duration("turn")}
		})
	add("test-hopeless", algo.Spec{Perpetual: true}, func(algo.Config) algo.Mutex { return &restless{} })
	algo.RegisterMutex(everything(), func(algo.Config) algo.Mutex { return &greedy{} })
}

type token struct{}

func (token) Kind() string { return "TOKEN" }

type ack struct{}

func (ack) Kind() string { return "ACK" }

// greedy lets everybody in at once.
type greedy struct{}

func (*greedy) Receive(algo.Env, algo.ID, algo.Message) {}
func (*greedy) Request(env algo.Env)                    { env.Granted() }
func (*greedy) Release(algo.Env)                        {}

type panics struct{ greedy }

func (*panics) Request(algo.Env) { panic("no such rule") }

// leaves ends the goroutine that asks it for something.
type leaves struct{ greedy }

func (*leaves) Request(algo.Env) { runtime.Goexit() }

// slower lets its own process in after a while. With one request at a time that is safe.
type slower struct {
	greedy
	after time.Duration
}

func (s *slower) Request(env algo.Env) { env.SetTimer("grant", s.after) }

func (*slower) Timeout(env algo.Env, _ algo.Timer) { env.Granted() }

// restless never grants and never rests.
type restless struct{ greedy }

func (*restless) Request(env algo.Env)               { env.SetTimer("again", time.Millisecond) }
func (*restless) Timeout(env algo.Env, _ algo.Timer) { env.SetTimer("again", time.Millisecond) }

// everything has something in every field that bench describe shows.
func everything() algo.Spec {
	return algo.Spec{
		Name: "test-everything", Summary: "for tests: a Spec with nothing left out",
		Paper: algo.Paper{
			Authors: "A. Author and B. Writer",
			Title:   "A rather long title of a paper about mutual exclusion",
			Venue:   "Journal of Long Names and of Volumes 12(3), 4-56", Year: 1987, DOI: "10.1000/182",
			Deviations: "The paper leaves open what happens when two requests meet in one process.",
		},
		Messages: []algo.Message{token{}}, Auxiliary: []algo.Message{ack{}}, Perpetual: true,
		Token: token{}.Kind(),
		Params: []algo.Param{
			{Name: "patience", Type: algo.Duration, Doc: "how long to wait; default 3d",
				Default: func(n algo.Network) any { return 3 * n.Latency }, Min: time.Duration(0)},
			{Name: "mode", Type: algo.Enum, Choices: []string{"fast", "safe"},
				Default: algo.Const("safe"), Doc: "which of the two rules"},
			{Name: "rank", Type: algo.Int, Default: algo.Const(int64(1)), Min: int64(1), Max: int64(9),
				PerProcess: true, Unit: "points", Doc: "what decides"},
		},
		Sets: []algo.Set{{Name: "hasty", Doc: "for those who do not want to wait",
			Params: map[string]any{"patience": time.Millisecond, "mode": "fast"}}},
		Needs: algo.Needs{
			Topology: algo.Complete, FIFO: true, Synchrony: algo.Synchronous, Detector: algo.Perfect,
			Nodes: func(n int) error {
				if n%2 == 0 {
					return errEven
				}
				return nil
			},
			Params: func(algo.Network, algo.Params) error { return nil },
		},
		Survives: algo.Faults{Loss: true, Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 }},
		Promises: algo.Promises{StarvationFree: true, RequestOrder: true},
		Claims: []algo.Claim{{
			Metric: "messages/entry", Load: "light", Source: algo.FromPaper, Text: "3(N-1)",
			Bound: algo.Exactly(func(n int) float64 { return float64(3 * (n - 1)) }),
		}, {
			Metric: "messages/entry", Source: algo.Derived, Text: "H(N-1) on average",
			Bound: algo.Within(0.1, func(n int) float64 { return algo.Harmonic(n - 1) }),
		}},
		Breaks: "When more crash than it survives, those who are left wait for a majority that cannot " +
			"come, and nobody enters.",
	}
}

type evenError struct{}

func (evenError) Error() string { return "want an odd number of processes" }

var errEven error = evenError{}

// Package etcdraft has the state machine of go.etcd.io/raft, the library of etcd, CockroachDB and TiDB, elect
// leaders as a plugin: the library's RawNode is one, an event in and effects out. It runs in the simulator and on
// sockets, and repeats exactly. The library draws its time-outs from a source that nobody can seed. So this plugin
// draws them, from the same range, and puts them in place of the library's.
package etcdraft

import (
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Module is the library.
const Module = "go.etcd.io/raft/v3"

func init() {
	s := Spec()
	s.Name, s.Summary = "etcd-raft", Module+", the library of etcd, as a state machine"
	s.Paper.Deviations = "The library's RawNode runs unmodified. Its random time-outs are drawn by the " +
		"process itself, from the same range. The log holds the entries of elections alone."
	s.Saves, s.Told = []algo.Message{Stable{}}, true
	s.Params = append(s.Params, algo.Param{Name: "t_election_fixed", Type: algo.Duration,
		Min: time.Duration(0), PerProcess: true, Default: algo.Const(time.Duration(0)),
		Doc: "value of the time-out, in whole ticks, in place of a random one; 0s: random"})
	needs := s.Needs.Params
	s.Needs.Params = func(net algo.Network, p algo.Params) error {
		if p.Duration("t_election_fixed") > 0 {
			return errors.New("t_election_fixed: processes that stand together do so again and again")
		}
		return needs(net, p)
	}
	algo.RegisterElector(s, New)
}

// Spec is what holds of the library, as a state machine and as a whole.
func Spec() algo.Spec {
	return algo.Spec{
		Paper:    algo.Paper{Authors: "The etcd authors", Title: "Raft library", Venue: Module, Year: 2026},
		Messages: messages,
		Params: []algo.Param{
			{Name: "heartbeat", Type: algo.Duration, Min: time.Millisecond, Default: algo.Const(100 * time.Millisecond),
				Doc: "a tick, and from one heartbeat to the next"},
			{Name: "t_election", Type: algo.Duration, Min: time.Millisecond, Tunes: algo.Patience,
				Default: algo.Const(time.Second),
				Doc: "a follower that has heard nothing for so long, and for up to as long again, stands for " +
					"election; in whole ticks"},
			{Name: "pre_vote", Type: algo.Bool, Default: algo.Const(true),
				Doc: "a candidate asks first whether it would be elected"},
			{Name: "check_quorum", Type: algo.Bool, Default: algo.Const(true),
				Doc: "a leader that does not hear from a majority steps down"},
		},
		Perpetual: true,
		Periods:   []algo.Period{{Param: "heartbeat", Timer: tick}},
		Needs: algo.Needs{Synchrony: algo.PartiallySynchronous, Params: func(net algo.Network, p algo.Params) error {
			if beat, tau := p.Duration("heartbeat"), p.Duration("t_election"); tau <= beat+2*net.Latency {
				return fmt.Errorf("t_election %v is not above heartbeat + 2d = %v", tau, beat+2*net.Latency)
			}
			return nil
		}},
		Survives: algo.Faults{Loss: true, Duplication: true, Partition: true, Recovery: true,
			Crashes: func(n int, _ algo.Params) int { return (n - 1) / 2 }},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm},
		Service:  algo.Led,
		Predicted: &algo.Prediction{By: "raft", Set: "etcd",
			Differs: "Both draw time-outs from the same range of ticks, from other random numbers."},
		Breaks: "Without a majority that reaches each other there is no leader. Without check_quorum, a leader " +
			"that is cut off keeps considering itself leader.",
	}
}

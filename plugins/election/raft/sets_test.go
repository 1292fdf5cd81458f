package raft_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestSets: by each set of parameters a crashed leader is replaced within the system's time-outs, and
// all promises hold. A leader that is cut off gives up within twice the time between two looks.
func TestSets(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, id).Spec
	for name, c := range map[string]struct{ least, most, quorum time.Duration }{
		"etcd-3-4":    {900 * ms, 1900 * ms, time.Second},
		"etcd":        {900 * ms, 1900 * ms, time.Second},
		"cockroachdb": {1500 * ms, 3500 * ms, 2 * time.Second},
		"consul":      {5 * time.Second, 10 * time.Second, 2500 * ms},
		"mongodb":     {10 * time.Second, 11500 * ms, 10 * time.Second},
		"nomad":       {time.Second, 2 * time.Second, 500 * ms},
		"tikv":        {9 * time.Second, 19 * time.Second, 10 * time.Second},
	} {
		set, err := spec.SetOf(name)
		if err != nil {
			t.Fatal(err)
		}
		p, errs := spec.Resolve(set.Params, algo.Network{Nodes: 5, Latency: ms, Bounded: true})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		under := algo.QuorumConnected
		if !p.Bool("pre_vote") { // a process that comes back with a new term deposes the leader
			under = algo.MajorityConnected
		}
		if l := spec.LiveOf(5, p); l.Under != under {
			t.Errorf("%s: %+v", name, l)
		}
		for seed := range uint64(20) {
			crash := 7*time.Second + 123*ms
			plan := script(t, 5, set.Params, time.Minute, algotest.Crash(crash, 5))
			plan.Leader, plan.Seed = 5, seed
			o := run(t, plan)
			// The last heartbeat is heard before the crash. Those whose ticks begin together
			// stand together now and then, and once more.
			waited := o.Operations[len(o.Operations)-1].End - crash
			if beat := p.Duration("heartbeat"); o.Status != trace.OK || waited < c.least-beat || waited > 2*c.most {
				t.Errorf("%s: %s %s, a leader %v after the crash", name, o.Status, o.Reason, waited)
			}
		}
		cut := script(t, 5, set.Params, 40*time.Second,
			harness.Event{At: 7 * time.Second, Do: "cut", Groups: [][]uint32{{5}, {1, 2, 3, 4}}})
		cut.Leader = 5
		gave := time.Duration(0)
		for _, r := range run(t, cut).Trace {
			if r.Type == trace.Elected && r.Process == 5 && gave == 0 {
				gave = r.At - 7*time.Second
			}
		}
		if gave <= 0 || gave > 2*c.quorum {
			t.Errorf("%s: gives up after %v", name, gave)
		}
	}
	if _, err := spec.SetOf("etdc"); err == nil ||
		err.Error() != `unknown set "etdc" of raft; did you mean "etcd"? (has: etcd, etcd-3-4, cockroachdb, consul, mongodb, nomad, raft, rancher, tikv)` {
		t.Errorf("an unknown set: %v", err)
	}
}

// TestSets_Phases: processes whose ticks come together stand together in every tenth election, and then a second
// time-out follows, so that it often takes longer than 2.6 s from the crash on. With ticks apart it rarely does.
func TestSets_Phases(t *testing.T) {
	t.Parallel()
	const trials = 200
	spec, long := &algotest.Lookup(t, id).Spec, map[string]int{}
	for _, name := range []string{"etcd", "etcd-3-4"} {
		set, err := spec.SetOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(trials) {
			crash := 3*time.Second + time.Duration(seed)*7*ms
			plan := script(t, 3, set.Params, time.Minute, algotest.Crash(crash, 3))
			plan.Leader, plan.Seed = 3, seed
			o := run(t, plan)
			if o.Operations[len(o.Operations)-1].End-crash > 2600*ms {
				long[name]++
			}
		}
	}
	if together, apart := long["etcd"], long["etcd-3-4"]; together < trials/25 || apart > together/2 {
		t.Errorf("longer than 2.6 s: %d of %d with ticks together, %d with ticks apart", together, trials, apart)
	}
}

// TestSets_Demands: what each system takes, and the setting next to what it does not.
func TestSets_Demands(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, id).Spec
	const sec = time.Second
	for i, c := range []struct {
		set         string
		given, want params // want: what differs
	}{
		{"etcd", params{"t_election": 354 * ms}, params{"t_election": 500 * ms, "t_election_spread": 500 * ms, "t_quorum": 500 * ms}},
		{"etcd", params{"t_election": 1060 * ms, "t_election_spread": 1100 * ms},
			params{"t_election": 1100 * ms, "t_quorum": 1100 * ms}},
		{"etcd", params{"heartbeat": 50 * ms}, params{"tick": 50 * ms}},
		{"etcd", params{"heartbeat": 20 * sec, "t_election": 70 * sec, "tick": sec}, params{"heartbeat": 10 * sec, "tick": 10 * sec,
			"t_election": 50 * sec, "t_election_spread": 50 * sec, "t_quorum": 50 * sec}},
		{"etcd", params{"heartbeat": 300 * ms, "tick": 300 * ms, "t_election": time.Minute}, params{
			"t_election": 49800 * ms, "t_election_spread": 49800 * ms, "t_quorum": 49800 * ms}},
		{"etcd", params{"pre_vote": false, "heartbeat": 200 * ms, "tick": 200 * ms}, nil},
		{"cockroachdb", params{"t_election": 900 * ms}, params{"t_election": 1500 * ms, "t_election_spread": 1500 * ms, "t_quorum": 1500 * ms}},
		{"cockroachdb", params{"tick": 200 * ms}, nil},
		{"consul", params{"t_election": 3400 * ms}, params{"t_election": 3 * sec, "t_election_spread": 3 * sec, "t_quorum": 1500 * ms,
			"heartbeat": 300 * ms, "heartbeat_spread": 300 * ms}},
		{"consul", params{"t_election": 14 * sec, "commit_timeout": 20 * ms}, params{"t_election": 10 * sec, "t_election_spread": 10 * sec,
			"t_quorum": 5 * sec, "heartbeat": sec, "heartbeat_spread": sec, "commit_timeout": 50 * ms}},
		{"nomad", params{"t_election": 2400 * ms}, params{"t_election": 2 * sec, "t_election_spread": 2 * sec, "t_quorum": sec,
			"heartbeat": 200 * ms, "heartbeat_spread": 200 * ms, "commit_timeout": 100 * ms}},
		{"tikv", params{"tick": 500 * ms, "t_election": 5 * sec}, params{"t_election": 9 * sec, "t_election_spread": 9 * sec,
			"t_quorum": 9 * sec}},
		{"tikv", params{"heartbeat": 10 * sec}, params{"t_election": 11 * sec, "t_election_spread": 11 * sec, "t_quorum": 11 * sec}},
		{"mongodb", params{"t_election": 5 * sec}, params{"t_election_spread": 750 * ms}},
		{"raft", params{"t_election": 70 * ms}, params{"t_election": 76 * ms}},
		{"rancher", params{"t_election": sec}, params{"t_election": 2500 * ms, "t_election_spread": 2500 * ms, "t_quorum": 2500 * ms}},
		{"mongodb", params{"heartbeat": 1500 * time.Microsecond}, params{"heartbeat": 2 * ms}},
	} {
		set, err := spec.SetOf(c.set)
		if err != nil {
			t.Fatal(err)
		}
		given := maps.Clone(set.Params)
		maps.Copy(given, c.given)
		p, errs := spec.Resolve(given, algo.Network{Nodes: 3, Latency: ms, Bounded: true})
		if errs != nil {
			t.Fatal(errs)
		}
		fit, changed := set.Fitted(p)
		got := params{}
		for _, name := range changed {
			got[name] = fit[name]
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("case %d, %s with %v: %v, want %v", i, c.set, c.given, got, c.want)
		}
		if _, again := set.Fitted(fit); again != nil {
			t.Errorf("case %d, %s: what fits is changed again: %v", i, c.set, again)
		}
	}
	for i := range spec.Sets {
		if s := &spec.Sets[i]; s.Source == "" || s.Differs == "" || s.Demands == "" {
			t.Errorf("%s: says not of what it is: %+v", s.Name, s)
		}
	}
}

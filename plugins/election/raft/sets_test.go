package raft_test

import (
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
		"etcd":        {900 * ms, 1900 * ms, time.Second},
		"cockroachdb": {1500 * ms, 3500 * ms, 2 * time.Second},
		"consul":      {5 * time.Second, 10 * time.Second, 2500 * ms},
		"mongodb":     {10 * time.Second, 11500 * ms, 10 * time.Second},
	} {
		set, err := spec.SetOf(name)
		if err != nil {
			t.Fatal(err)
		}
		p, errs := spec.Resolve(set.Params, algo.Network{Nodes: 5, Latency: ms, Bounded: true})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if l := spec.LiveOf(5, p); l.Under != algo.QuorumConnected {
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
		err.Error() != `unknown set "etdc" of raft; did you mean "etcd"? (has: etcd, cockroachdb, consul, mongodb)` {
		t.Errorf("an unknown set: %v", err)
	}
}

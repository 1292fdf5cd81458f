package leasecas_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/leasecas"
)

const id = "election/lease-cas"

type params = map[string]any

const ms = time.Millisecond

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

func script(t *testing.T, n int, until time.Duration, events ...harness.Event) harness.Plan {
	t.Helper()
	return algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Script{Until: until, Events: events}},
		params{"ttl": 60 * ms, "renew": 20 * ms, "retry": 20 * ms, "margin": 5 * ms})
}

func expect(t *testing.T, p harness.Plan, what ...harness.Expect) {
	t.Helper()
	p.Scenario.Expect = what
	if o := algotest.MustSimulate(t, p); o.Status == trace.Violated {
		t.Errorf("n = %d, seed %d: %v", p.Nodes, p.Seed, o.Violations)
	}
}

// TestCounts is the claim: all ask at once, and all know after a round trip.
func TestCounts(t *testing.T) {
	for n := int64(2); n <= 9; n++ {
		expect(t, script(t, int(n), 3*ms), harness.Exactly("sent", 2*(n-1)),
			harness.Exactly("leader", algo.ID(2)), harness.Exactly("all_informed_at", 2*ms))
	}
}

// TestSteady: a renewal is two messages, every 20 ms.
func TestSteady(t *testing.T) {
	p := script(t, 2, 110*ms)
	p.Leader = 2
	expect(t, p, harness.Exactly("sent", int64(10)), harness.Exactly("leader", algo.ID(2)))
}

// TestFailOver: within the ttl, a retry and 2d of the last renewal.
func TestFailOver(t *testing.T) {
	for seed := range uint64(50) {
		p := script(t, 5, 300*ms, harness.Event{At: 50 * ms, Do: "crash", Node: 5})
		p.Leader, p.Seed = 5, seed
		o := algotest.MustSimulate(t, p)
		for _, r := range o.Trace {
			if r.Type == trace.Elected && r.Process == r.Peer && (r.At < 101*ms || r.At > 41*ms+60*ms+40*ms+2*ms) {
				t.Errorf("seed %d: p%d leads at %v, want the end of the lease and a retry at most", seed, r.Process, r.At)
			}
		}
		if o.Status != trace.OK {
			t.Errorf("seed %d: %s: %s", seed, o.Status, o.Reason)
		}
	}
}

// TestSlowClock is what the margin is for: a holder that is cut off, and whose clock is slower.
func TestSlowClock(t *testing.T) {
	for factor, two := range map[float64]bool{1: false, 0.95: false, 0.5: true} {
		drift := harness.Event{Do: "drift", Node: 2, Args: fault.Args{Own: &fault.Drifting{Factor: factor}}}
		p := script(t, 4, 300*ms, drift, harness.Event{At: 30 * ms, Do: "cut", Groups: [][]uint32{{2}, {1, 3, 4}}})
		p.Leader, p.InModel = 2, false
		if o := algotest.MustSimulate(t, p); (o.Status == trace.Violated) != two {
			t.Errorf("factor %v: %s: %v, two leaders expected: %t", factor, o.Status, o.Violations, two)
		}
	}
}

// TestMember is rules 1 to 4, seen by process 2 of three.
func TestMember(t *testing.T) {
	given := params{"ttl": 60 * ms, "renew": 20 * ms, "retry": 20 * ms, "margin": 5 * ms}
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 2}, given)
	r.Starts("CAS{1 0}>1 next+")
	r.Suspects(3, "")
	r.Restores(3, "")
	r.Elects("") // once is enough (P5)
	r.Hears(1, leasecas.CASReply{R: 1, Holder: 3, Revision: 1}, "deadline- leader=3/1 next+")
	r.Hears(1, leasecas.CASReply{R: 1, OK: true, Holder: 2, Revision: 1}, "") // answered already
	r.Feed(algotest.Commanded("campaign"), "CAS{2 1}>1 next+")
	r.Expires("next", "CAS{3 1}>1 next+")                                     // no answer
	r.Hears(1, leasecas.CASReply{R: 2, OK: true, Holder: 2, Revision: 2}, "") // too late (P1)
	r.Hears(1, leasecas.CASReply{R: 3, Holder: 2, Revision: 2}, "CAS{4 2}>1 next+")
	r.Now = 54 * ms
	r.Hears(1, leasecas.CASReply{R: 4, OK: true, Holder: 2, Revision: 3}, "deadline+ leader=2/3")
	r.Elects("")
	r.Expires("next", "CAS{5 3}>1 next+")
	r.Now = 56 * ms
	r.Hears(1, leasecas.CASReply{R: 5, OK: true, Holder: 2, Revision: 4}, "deadline+")
	r.Expires("next", "CAS{6 4}>1 next+")
	r.Expires("deadline", "leader=0/0")
	r.Now = 111 * ms // the lease that was asked for at 56 ms ends for it: it has come too late
	r.Hears(1, leasecas.CASReply{R: 6, OK: true, Holder: 2, Revision: 5}, "CAS{7 5}>1 next+")
	r.Hears(1, leasecas.CASReply{R: 7, OK: true, Holder: 2, Revision: 6}, "deadline+ leader=2/6")
	r.Expires("next", "CAS{8 6}>1 next+")
	r.Hears(1, leasecas.CASReply{R: 8, Holder: 3, Revision: 7}, "deadline- leader=3/7 next+") // refused
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 2, Leader: 2}, given)
	r.Starts("deadline+ next+")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 2, Leader: 3}, given)
	r.Starts("next+")
	r.Elects("CAS{1 1}>1 next+")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 2, Leader: 1}, given) // the store cannot
	r.Starts("leader=0/0 CAS{1 0}>1 next+")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 2, Incarnation: 1}, given)
	r.Starts("CAS{4294967297 0}>1 next+")
}

// TestStore: a lease ends by the store's clock since the record changed, whatever others' say (P35).
func TestStore(t *testing.T) {
	given := params{"ttl": 60 * ms}
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, given)
	r.Starts("")
	r.Suspects(2, "")
	r.Restores(2, "")
	r.Elects("")
	r.Feed(algotest.Commanded("campaign"), "")
	r.Now = 10 * ms
	r.Hears(2, leasecas.CAS{R: 1}, "SAVE{2 1} leader=2/1 CAS_REPLY{1 true 2 1}>2")
	r.Hears(3, leasecas.CAS{R: 1}, "CAS_REPLY{1 false 2 1}>3")
	r.Hears(3, leasecas.CAS{R: 2, Revision: 1}, "CAS_REPLY{2 false 2 1}>3") // it is held
	r.Now = 50 * ms
	r.Hears(2, leasecas.CAS{R: 2}, "CAS_REPLY{2 false 2 1}>2") // of an earlier record
	r.Hears(2, leasecas.CAS{R: 3, Revision: 1}, "SAVE{2 2} CAS_REPLY{3 true 2 2}>2")
	r.Now = 110*ms - 1
	r.Hears(3, leasecas.CAS{R: 3, Revision: 2}, "CAS_REPLY{3 false 2 2}>3")
	r.Now = 110 * ms
	r.Hears(3, leasecas.CAS{R: 4, Revision: 1}, "CAS_REPLY{4 false 2 2}>3") // over, but it has seen another
	r.Hears(3, leasecas.CAS{R: 5, Revision: 2}, "SAVE{3 3} leader=3/3 CAS_REPLY{5 true 3 3}>3")
	back := algo.Config{ID: 1, Incarnation: 1, Saved: leasecas.Record{Holder: 3, Revision: 3}}
	r = algotest.NewTranscript(t, id, 3, back, given)
	r.Now = time.Second
	r.Starts("SAVE{3 3} leader=3/3")
	r.Now += 60*ms - 1
	r.Hears(2, leasecas.CAS{R: 9, Revision: 3}, "CAS_REPLY{9 false 3 3}>2")
	r.Now++
	r.Hears(2, leasecas.CAS{R: 9, Revision: 3}, "SAVE{2 4} leader=2/4 CAS_REPLY{9 true 2 4}>2")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 1}, given)
	r.Starts("leader=0/0")
}

// TestParams: with which parameters a healthy holder would lose its lease.
func TestParams(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, id).Spec
	for name, test := range map[string]struct {
		given params
		want  string // "": in the model
	}{
		"defaults":            {nil, ""},
		"often":               {params{"renew": 4 * ms}, ""},
		"too often":           {params{"renew": 4*ms - 1}, "renew 3.999999ms is below"},
		"short":               {params{"renew": 20 * ms, "ttl": 30 * ms, "margin": 6*ms - 1}, ""},
		"too short":           {params{"renew": 20 * ms, "ttl": 30 * ms, "margin": 6 * ms}, "ttl - margin 24ms is not above"},
		"more margin than it": {params{"ttl": 30 * ms, "margin": 40 * ms}, "ttl - margin -10ms"},
	} {
		net := algo.Network{Nodes: 3, Latency: 2 * ms, Bounded: true}
		p, errs := spec.Resolve(test.given, net)
		err := spec.Needs.Params(net, p)
		if len(errs) > 0 || (err == nil) != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v, want %q", name, errs, err, test.want)
		}
	}
	if spec.Needs.Nodes(1) == nil || spec.Needs.Nodes(2) != nil {
		t.Error("want the store and a member")
	}
	p := script(t, 4, ms, harness.Event{Do: "crash", Node: 1})
	if why, _ := p.Beyond(); len(why) != 1 {
		t.Errorf("%q: the store has to come back", why)
	}
	if spec.Survives.CrashesOf(5, nil) != 3 {
		t.Error("all members may crash but one")
	}
}

// TestOperations: a process knows what it can be told, and says so.
func TestOperations(t *testing.T) {
	for p := range algo.ID(2) {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, "has: campaign") {
					t.Errorf("p%d: %s", p+1, said)
				}
			}()
			r := algotest.NewTranscript(t, id, 2, algo.Config{ID: p + 1}, nil)
			r.Feed(algotest.Commanded("abdicate"), "")
		}()
	}
}

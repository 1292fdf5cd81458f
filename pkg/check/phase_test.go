package check_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// phasesOf simulates the plan with several seeds and says at what share of the leader's
// period each event of type what fell, by the records: since it last did what it repeats. What
// the judge says is the same.
func phasesOf(t *testing.T, p harness.Plan, seeds int, what trace.Type) (all []float64) {
	t.Helper()
	period := p.Period()
	if period.Length == 0 {
		t.Fatalf("%s repeats nothing", p.Algorithm)
	}
	origin := p.Scenario.Declared().Draws
	for seed := range seeds {
		p.Seed = uint64(seed + 1)
		o, err := algotest.Simulate(p)
		if err != nil {
			t.Fatal(err)
		}
		leader, last := uint32(p.Leader), make([]time.Duration, p.Nodes+1)
		var seen, judged []float64
		for i := range o.Trace {
			switch r := &o.Trace[i]; {
			case r.Type == what && (what != trace.Crash || r.Process == leader) &&
				(what != trace.Up || r.Incarnation > 0):
				seen = append(seen, float64(r.At-last[leader])/float64(period.Length))
			case r.Type == trace.Elected && r.Peer == r.Process:
				leader = r.Process
			case r.Type == trace.Timeout && period.Timer != "" && r.Text == string(period.Timer),
				r.Type == trace.Send && period.Timer == "" && harness.IsHeartbeat(r):
				last[r.Process] = r.At
			}
		}
		for _, op := range o.Operations {
			if op.Origin == origin && op.Phase > 0 {
				judged = append(judged, op.Phase)
			}
		}
		spared := what == trace.Cut && len(judged) == 0 // the leader is in the larger part
		if origin != "" && !spared && !same(seen, judged) {
			t.Fatalf("seed %d: %v of %s at phases %v, the judge says %v", p.Seed, what, p.Algorithm, seen, judged)
		}
		all = append(all, seen...)
	}
	return all
}

func same(a, b []float64) bool {
	for i := range a {
		if len(a) != len(b) || math.Abs(a[i]-b[i]) > 1e-9 {
			return false
		}
	}
	return len(a) == len(b)
}

// settled is a plan in which a leader of three settles for two and a half periods, so that a
// span as long as that, or half of it, would not be a whole number of them.
func settled(t *testing.T, id string, s harness.Scenario) harness.Plan {
	t.Helper()
	p, err := algotest.Plan(id, 3, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Period().Length == 0 {
		p.Detector = harness.HeartbeatDetector(20*time.Millisecond, 50*time.Millisecond)
	}
	if p.Scenario.Does().Settling() != nil {
		p.Scenario.Set("settle", p.Period().Length*5/2)
	}
	return p
}

// TestPhase: whatever an elector repeats, on its own account or on that of the detector, its
// leader crashes at a uniform phase of it.
func TestPhase(t *testing.T) {
	t.Parallel()
	for _, a := range algo.All() {
		if a.Problem != algo.Election || strings.HasPrefix(a.Spec.Name, "test-") {
			continue
		}
		t.Run(a.Spec.Name, func(t *testing.T) {
			t.Parallel()
			seeds := 150
			if len(a.Spec.Periods) > 0 {
				seeds = 600
			}
			p := settled(t, a.ID, harness.Scenario{Plot: &harness.LeaderCrash{}})
			uniform(t, phasesOf(t, p, seeds, trace.Crash), seeds)
		})
	}
}

func uniform(t *testing.T, phases []float64, want int) {
	t.Helper()
	if u := stats.Uniform(phases); u.N != want || !(u.P > 0.001) {
		t.Errorf("%d phases in bins %v: p %v, want %d that are uniform", u.N, u.Bins, u.P, want)
	}
}

// TestPhase_Scenarios: so do the leaders of one election after the other, of which each sets
// its timer when it is elected; and a cut and a return come at a uniform phase as well.
func TestPhase_Scenarios(t *testing.T) {
	t.Parallel()
	elections := map[trace.Type]int{trace.Crash: 4, trace.Cut: 1, trace.Up: 1}
	for _, id := range []string{"election/raft", "election/stable-leader"} {
		for what, s := range map[trace.Type]harness.Scenario{
			trace.Crash: {Plot: &harness.LeaderCrash{Elections: elections[trace.Crash]}},
			trace.Cut:   {Plot: &harness.Partition{Shape: "halves", Duration: 300 * time.Millisecond}},
			trace.Up:    {Plot: &harness.LeaderRestart{}},
		} {
			t.Run(id+" "+s.Kind(), func(t *testing.T) {
				t.Parallel()
				seeds := 200
				uniform(t, phasesOf(t, settled(t, id, s), seeds, what), seeds*elections[what])
			})
		}
	}
}

// TestPhase_Teeth: crashes that come between one and one and a half settlings, or between one
// and two, which was the rule before periods were known, are found out.
func TestPhase_Teeth(t *testing.T) {
	t.Parallel()
	churn := harness.Scenario{Plot: &harness.Churn{Duration: 150 * time.Millisecond}}
	for spread, trials := range map[float64]int{0.5: 400, 1: 900} {
		rng := rand.New(rand.NewPCG(1, 2))
		var phases []float64
		for range trials {
			p := settled(t, "election/raft", churn)
			at := (1 + spread*rng.Float64()) * float64(p.Period().Length*5/2)
			p.Faults.Events = []harness.Event{{At: time.Duration(at), Do: harness.DoCrash, Node: p.Leader}}
			phases = append(phases, phasesOf(t, p, 1, trace.Crash)...)
		}
		if u := stats.Uniform(phases); u.N != trials || !(u.P < 0.001) {
			t.Errorf("within %v settlings: %d phases in bins %v, p %v: not found out", spread, u.N, u.Bins, u.P)
		}
	}
}

package viewstampedreplication_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	vsr "github.com/conclave-bench/conclave/plugins/election/viewstampedreplication"
)

const id = "election/viewstamped-replication"

type params = map[string]any

const ms = time.Millisecond

func TestConformance(t *testing.T) {
	t.Parallel()
	algotest.Run(t, id)
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestCounts is VR-CRASH at every odd size, whoever suspects: N²-2 messages, and with all at
// once three delays. Of an even number f+1 is a majority, too, so that f are waited for.
func TestCounts(t *testing.T) {
	for n := int64(3); n <= 9; n++ {
		for _, all := range []bool{false, true} {
			events := []harness.Event{{At: 10 * ms, Do: "suspect", Node: 2}}
			for p := algo.ID(1); all && int64(p) < n; p++ {
				events = append(events, harness.Event{At: 10 * ms, Do: "suspect", Node: p})
			}
			if all {
				events = events[1:]
			}
			p := algotest.MustPlan(t, id, int(n), harness.Scenario{Plot: &harness.Script{Until: 30 * ms,
				Events: events}}, params{"heartbeat_rounds": int64(1)})
			p.Leader, p.Crashed = algo.ID(n), []algo.ID{algo.ID(n)}
			at, leader := 14*ms, algo.ID(1)
			if all {
				at = 13 * ms
			}
			p.Scenario.Expect = []harness.Expect{
				harness.Exactly("sent", n*n-2), harness.Exactly("delivered", (n-2)*(n+1)),
				harness.Exactly("leader", leader), harness.Exactly("all_informed_at", at),
				harness.Each("sent_by_kind", map[string]int64{"START_VIEW_CHANGE": (n - 1) * (n - 1),
					"DO_VIEW_CHANGE": n - 2, "START_VIEW": n - 1})}
			if o := algotest.MustSimulate(t, p); o.Status != trace.OK {
				t.Errorf("n = %d, all %t: %s: %v", n, all, o.Status, o.Violations)
			}
		}
	}
}

// all is a message to everybody but 2 of five.
func all(m string) string { return m + ">1 " + m + ">3 " + m + ">4 " + m + ">5" }

// TestViewChange is rules 1 to 7, seen by process 2 of five, of whom 5 leads view 4. F is 2.
func TestViewChange(t *testing.T) {
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 2, Leader: 5}, params{"op": int64(3)})
	r.Starts("view+")
	r.Hears(5, vsr.Commit{View: 4}, "view+")
	r.Hears(4, vsr.Commit{View: 3}, "")
	r.Hears(1, vsr.StartViewChange{View: 4}, "") // over: it reports to nobody
	r.Hears(3, vsr.StartViewChange{View: 4}, "")
	r.Suspects(5, "")
	r.Restores(5, "")
	r.Elects("leader=0/0 " + all("START_VIEW_CHANGE{5}") + " view+")
	r.Elects("") // a suspicion during a change (P5)
	r.Hears(1, vsr.StartViewChange{View: 5}, "")
	r.Hears(1, vsr.StartViewChange{View: 5}, "") // the network's second copy
	r.Hears(3, vsr.StartViewChange{View: 4}, "") // an earlier one (P1)
	r.Hears(5, vsr.Recovery{Nonce: 1}, "")       // not normal: no answer
	r.Hears(1, vsr.Commit{View: 5}, "")
	r.Hears(3, vsr.StartViewChange{View: 5}, "DO_VIEW_CHANGE{5 4 3}>1")
	r.Hears(4, vsr.StartViewChange{View: 5}, "") // once in a view
	r.Hears(1, vsr.StartView{View: 5, Op: 7}, "leader=1/6 view+")
	r.Hears(1, vsr.StartView{View: 5, Op: 7}, "view+")
	r.Hears(5, vsr.StartView{View: 4, Op: 8}, "")
	r.Hears(3, vsr.StartViewChange{View: 5}, "") // over
	r.Hears(4, vsr.Recovery{Nonce: 9}, "RECOVERY_RESPONSE{5 9 false 0}>4")

	// Its own turn. It hears the reports of 3 and 4 before it reports to itself.
	r.Expires("view", "leader=0/7 "+all("START_VIEW_CHANGE{6}")+" view+")
	r.Hears(3, vsr.DoViewChange{View: 6, Normal: 5, Op: 6}, "")
	r.Hears(3, vsr.DoViewChange{View: 6, Normal: 5, Op: 6}, "")
	r.Hears(4, vsr.DoViewChange{View: 6, Normal: 4, Op: 9}, "") // longer, of an earlier view
	r.Hears(1, vsr.DoViewChange{View: 5, Normal: 5, Op: 9}, "")
	r.Hears(1, vsr.DoViewChange{View: 6, Normal: 4, Op: 9}, "") // f+1, not its own
	r.Hears(3, vsr.StartViewChange{View: 6}, "")
	r.Hears(4, vsr.StartViewChange{View: 6}, "view- "+all("START_VIEW{6 7}")+" heartbeat+ leader=2/7")
	r.Hears(5, vsr.DoViewChange{View: 6, Normal: 5, Op: 9}, "") // too late
	r.Expires("heartbeat", all("COMMIT{6}")+" heartbeat+")
	r.Elects("")
	r.Hears(4, vsr.Recovery{Nonce: 10}, "RECOVERY_RESPONSE{6 10 true 7}>4")
	r.Hears(4, vsr.RecoveryResponse{View: 9, Nonce: 0, Primary: true}, "") // it has not asked

	// It is drawn along, and escalates: 3 does not come.
	r.Hears(1, vsr.StartViewChange{View: 7}, "heartbeat- leader=0/0 "+all("START_VIEW_CHANGE{7}")+" view+")
	r.Hears(5, vsr.StartViewChange{View: 7}, "DO_VIEW_CHANGE{7 6 7}>3")
	r.Expires("view", "leader=0/0 "+all("START_VIEW_CHANGE{8}")+" view+")
	r.Hears(1, vsr.StartViewChange{View: 8}, "") // of 7 and 8 each for itself
	r.Hears(5, vsr.StartViewChange{View: 8}, "DO_VIEW_CHANGE{8 6 7}>4")
	r.Hears(5, vsr.Commit{View: 9}, "leader=5/10 view+")
}

// TestReports: f+1 different processes have to report; and the same primary may come again.
func TestReports(t *testing.T) {
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 2, Leader: 1}, nil)
	r.Starts("view+")
	r.Hears(1, vsr.Commit{View: 5}, "leader=1/6 view+") // five views later
	r.Elects("leader=0/7 " + all("START_VIEW_CHANGE{6}") + " view+")
	r.Hears(1, vsr.StartViewChange{View: 6}, "")
	r.Hears(3, vsr.StartViewChange{View: 6}, "")
	r.Hears(3, vsr.DoViewChange{View: 6, Normal: 5}, "")
	r.Hears(3, vsr.DoViewChange{View: 6, Normal: 5}, "") // the network's second copy
	r.Hears(4, vsr.DoViewChange{View: 6, Normal: 5}, "view- "+all("START_VIEW{6 0}")+" heartbeat+ leader=2/7")
}

// TestDrawnByReport: a DO_VIEW_CHANGE of a higher view is a reason to go there, and a report.
func TestDrawnByReport(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1, Leader: 3}, params{"op": int64(3)})
	r.Starts("view+")
	r.Hears(2, vsr.DoViewChange{View: 3, Normal: 2, Op: 5},
		"leader=0/4 START_VIEW_CHANGE{3}>2 START_VIEW_CHANGE{3}>3 view+")
	r.Hears(2, vsr.StartViewChange{View: 3},
		"view- START_VIEW{3 5}>2 START_VIEW{3 5}>3 heartbeat+ leader=1/4")
	r.Hears(2, vsr.StartView{View: 4, Op: 6}, "heartbeat- leader=2/5 view+")
	r.Hears(2, vsr.Recovery{Nonce: 1}, "RECOVERY_RESPONSE{4 1 false 0}>2")
}

// TestColdStart: process 1 leads view 0 at once; the others name it when they hear it.
func TestColdStart(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 1}, nil)
	r.Starts("leader=0/1 view- COMMIT{0}>2 COMMIT{0}>3 heartbeat+ leader=1/1")
	r.Elects("")
	r = algotest.NewTranscript(t, id, 3, algo.Config{ID: 3}, nil)
	r.Starts("view+")
	r.Hears(1, vsr.Commit{}, "leader=1/1 view+")
	r.Hears(1, vsr.Commit{}, "view+")
}

// TestRecovery is rule 8, seen by process 2 of five in its second life.
func TestRecovery(t *testing.T) {
	const x = 1<<32 + 1 // the nonce
	old := params{"op": int64(3)}
	r := algotest.NewTranscript(t, id, 5, algo.Config{ID: 2, Incarnation: 1}, old)
	r.Starts(all("RECOVERY{4294967297}") + " view+")
	r.Elects("")
	r.Hears(5, vsr.Commit{View: 4}, "")
	r.Hears(3, vsr.StartViewChange{View: 5}, "") // a vote would be one too many
	r.Hears(3, vsr.DoViewChange{View: 6}, "")
	r.Hears(3, vsr.Recovery{Nonce: 1}, "")
	r.Hears(3, vsr.RecoveryResponse{View: 4, Nonce: x - 1<<32}, "") // of its former life (P8)
	r.Hears(3, vsr.RecoveryResponse{View: 4, Nonce: x}, "")
	r.Hears(3, vsr.RecoveryResponse{View: 4, Nonce: x}, "")
	r.Hears(5, vsr.RecoveryResponse{View: 4, Nonce: x, Primary: true, Op: 7}, "")
	r.Hears(1, vsr.RecoveryResponse{View: 5, Nonce: x}, "") // f+1, but not of view 5's primary
	r.Expires("view", all("RECOVERY{4294967298}")+" view+")
	r.Hears(4, vsr.RecoveryResponse{View: 5, Nonce: x}, "") // of the first question (P1)
	r.Hears(1, vsr.RecoveryResponse{View: 5, Nonce: x + 1, Primary: true, Op: 8}, "")
	r.Hears(3, vsr.RecoveryResponse{View: 4, Nonce: x + 1}, "")
	r.Hears(5, vsr.RecoveryResponse{View: 4, Nonce: x + 1, Primary: true, Op: 7}, "leader=1/6 view+")
	r.Expires("view", "leader=0/7 "+all("START_VIEW_CHANGE{6}")+" view+")
	r.Hears(1, vsr.StartViewChange{View: 6}, "")
	r.Hears(3, vsr.StartViewChange{View: 6}, "")
	r.Hears(3, vsr.DoViewChange{View: 6, Normal: 4, Op: 9}, "")
	r.Hears(4, vsr.DoViewChange{View: 6, Normal: 5, Op: 6},
		"view- "+all("START_VIEW{6 8}")+" heartbeat+ leader=2/7")

	r = algotest.NewTranscript(t, id, 5, algo.Config{ID: 2, Incarnation: 1}, old)
	r.Starts(all("RECOVERY{4294967297}") + " view+")
	r.Hears(3, vsr.StartView{View: 2, Op: 4}, "leader=3/3 view+")
	r.Hears(3, vsr.RecoveryResponse{View: 2, Nonce: x, Primary: true}, "") // normal already
}

// TestSilence: heartbeat_rounds is how often a primary is heard, START_VIEW included.
func TestSilence(t *testing.T) {
	r := algotest.NewTranscript(t, id, 3, algo.Config{ID: 3, Leader: 3},
		params{"heartbeat_rounds": int64(2)})
	r.Starts("COMMIT{2}>1 COMMIT{2}>2 heartbeat+")
	r.Expires("heartbeat", "COMMIT{2}>1 COMMIT{2}>2")
	r.Hears(2, vsr.StartViewChange{View: 5},
		"heartbeat- leader=0/6 START_VIEW_CHANGE{5}>1 START_VIEW_CHANGE{5}>2 view+")
	r.Hears(2, vsr.DoViewChange{View: 5}, "view- START_VIEW{5 0}>1 START_VIEW{5 0}>2 heartbeat+ leader=3/6")
	r.Expires("heartbeat", "COMMIT{5}>1 COMMIT{5}>2")
}

// TestPatience: it is drawn from t_view to twice that, or as each process has it.
func TestPatience(t *testing.T) {
	shortest, longest := time.Hour, time.Duration(0)
	for seed := range uint64(200) {
		p := algotest.MustPlan(t, id, 3, harness.Scenario{Plot: &harness.Script{Until: time.Second,
			Events: []harness.Event{{Do: "crash", Who: "leader"}}}}, params{"t_view": 100 * ms})
		p.Leader, p.Seed = 3, seed
		for _, r := range algotest.MustSimulate(t, p).Trace {
			if r.Type == trace.Send && r.At > 0 {
				shortest, longest = min(shortest, r.At), max(longest, r.At)
				break
			}
		}
	}
	if shortest < 100*ms || shortest > 102*ms || longest > 200*ms || longest < 170*ms {
		t.Errorf("the first view change begins at %v to %v, want 100ms to 200ms", shortest, longest)
	}
}

// TestParams: with which parameters no leader is promised.
func TestParams(t *testing.T) {
	t.Parallel()
	spec := &algotest.Lookup(t, id).Spec
	for name, test := range map[string]struct {
		given params
		want  string // "": in the model
	}{
		"defaults":        {nil, ""},
		"impatient":       {params{"t_view": 8*ms - 1, "heartbeat": ms}, "t_view 7.999999ms is below"},
		"patient":         {params{"t_view": 8 * ms, "heartbeat": 6 * ms}, ""},
		"no heartbeat":    {params{"t_view": 8 * ms, "heartbeat": 7 * ms}, "heartbeat + d = 9ms"},
		"fixed":           {params{"t_view_fixed": 8 * ms, "heartbeat": ms, "t_view": ms}, ""},
		"fixed too short": {params{"t_view_fixed": 7 * ms}, "t_view_fixed 7ms is below"},
		"silent":          {params{"heartbeat_rounds": int64(1)}, "heartbeat_rounds 1"},
	} {
		net := algo.Network{Nodes: 3, Latency: 2 * ms, Bounded: true}
		p, errs := spec.Resolve(test.given, net)
		err := spec.Needs.Params(net, p)
		if len(errs) > 0 || (err == nil) != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v, want %q", name, errs, err, test.want)
		}
	}
	for n, want := range map[int]int{1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2, 7: 3} {
		if got := spec.Survives.CrashesOf(n, spec.Defaults(algo.Network{Nodes: n})); got != want {
			t.Errorf("of %d processes %d may crash, want %d", n, got, want)
		}
	}
}

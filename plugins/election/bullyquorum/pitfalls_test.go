package bullyquorum_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/election/bullyquorum"
)

// TestElectable is pitfall P19: 1, the best, reaches 2 alone; the others reach each
// other. Whoever reaches no quorum says so, so that 2 joins nobody and leads them;
// otherwise 2 joins 1, and all others 2, for ever.
func TestElectable(t *testing.T) {
	t.Parallel()
	for electable, want := range map[bool]string{
		true: "map[1:0 2:2 3:2 4:2 5:2]", false: "map[1:0 2:0 3:0 4:0 5:0]",
	} {
		for seed := range uint64(50) {
			o := run(t, 5, func(p *harness.Plan) {
				p.Seed, p.Leader = seed, algo.None
				p.Scenario.Set("until", time.Second)
				p.Params["electable"] = electable
			}, nil, cut(0, []uint32{1}), // all links of 1, and then that to 2 is mended
				harness.Event{Do: harness.DoHeal, Groups: [][]uint32{{1, 3, 4, 5}, {2}}},
				event(0, harness.DoElect, 3))
			if got := fmt.Sprint(named(o.Trace)); got != want {
				t.Fatalf("electable %t, seed %d: %s, want %s", electable, seed, got, want)
			}
		}
	}
}

// TestElectable_Rule: process 2 of five. Who found no quorum says so, until it finds
// one or a leader; who says so is not joined, but followed if it leads.
func TestElectable_Rule(t *testing.T) {
	t.Parallel()
	const probes = "leader=0/0 PROBE{{0 %[1]d}}>1 PROBE{{0 %[1]d}}>3 PROBE{{0 %[1]d}}>4 " +
		"PROBE{{0 %[1]d}}>5 backoff- T+"
	var k uint32
	own := func() bullyquorum.Round { return bullyquorum.Round{Count: k} }
	start := func() *algotest.Transcript {
		k = 1
		p := algotest.NewTranscript(t, id, 5, algo.Config{ID: 2}, nil)
		p.Elects(fmt.Sprintf(probes, k))
		return p
	}
	hears := func(p *algotest.Transcript, from, leader algo.ID, unelectable bool) {
		t.Helper()
		p.Hears(from, bullyquorum.ProbeReply{Round: own(), Leader: leader, Unelectable: unelectable}, "")
	}
	says := func(p *algotest.Transcript, what string) {
		t.Helper()
		p.Hears(3, bullyquorum.Probe{Round: bullyquorum.Round{Count: 1}},
			fmt.Sprintf("PROBE_REPLY{{0 1} 0 0 %s}>3", what))
	}
	again := func(p *algotest.Transcript) {
		t.Helper()
		k++
		p.Expires("backoff", fmt.Sprintf(probes, k))
	}

	p := start()
	says(p, "0 false") // it does not know yet
	hears(p, 1, 0, false)
	p.Expires("T", "backoff+") // two are no quorum
	says(p, "0 true")
	again(p)
	says(p, "0 true")
	hears(p, 3, 0, false)
	hears(p, 4, 0, false)
	p.Expires("T", "backoff+") // waits for those who join
	says(p, "0 false")

	p = start()
	hears(p, 1, 0, true)
	hears(p, 3, 0, false)
	p.Expires("T", "backoff+") // itself, since 1 cannot lead
	again(p)
	hears(p, 1, 0, false)
	hears(p, 3, 0, false)
	p.Expires("T", "backoff+ JOIN{0}>1")
	again(p)
	hears(p, 3, 0, false)
	hears(p, 4, 4, true) // leads nevertheless
	p.Expires("T", "backoff+ FOLLOW{}>4")

	p = start()
	p.Expires("T", "backoff+")
	p.Hears(4, bullyquorum.Elected{Term: 1}, "SAVE{1} T- backoff- leader=4/1")
	p.Hears(3, bullyquorum.Probe{Round: bullyquorum.Round{Count: 1}}, "PROBE_REPLY{{0 1} 0 1 4 false}>3")

	p = algotest.NewTranscript(t, id, 5, algo.Config{ID: 2}, map[string]any{"electable": false})
	k = 1
	p.Elects(fmt.Sprintf(probes, k))
	p.Expires("T", "backoff+")
	says(p, "0 false") // the original does not say
}

// TestLateAnswer: a leader that is slow is not in the choice of those who probe, since its answer comes
// after T. Whoever they elect tells it.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		p := algotest.MustPlan(t, "election/bully-quorum", 3, harness.Scenario{Plot: &harness.Script{
			Events: []harness.Event{
				event(0, harness.DoElect, 2), event(0, harness.DoElect, 1),
				{At: 160 * ms, Do: harness.DoSlow, Node: 1, Args: fault.SlowBy(20 * ms), For: 160 * ms},
				{At: 200 * ms, Do: harness.DoCrash, Node: 2, For: 5 * ms},
			}}}, map[string]any{"t_answer": 80 * ms, "backoff": 160 * ms})
		p.Seed, p.Network.Latency = seed, link.Constant(20*ms)
		p.Detector = harness.HeartbeatDetector(40*ms, 80*ms)
		if o := algotest.MustSimulate(t, p); o.Status != trace.OK {
			t.Fatalf("seed %d: %s: %s", seed, o.Status, o.Reason)
		}
	}
}

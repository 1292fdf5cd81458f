package sim_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// fit gives a plan the parameters and the graph of its algorithm.
func fit(tb rapid.TB, p *harness.Plan) *harness.Plan {
	alg, err := algo.Lookup(p.Algorithm)
	if err != nil {
		tb.Fatal(err)
	}
	p.Shape = algo.DefaultShape(alg.Spec.Needs.Topology)
	params, errs := alg.Spec.Resolve(nil, p.Known())
	if len(errs) > 0 {
		tb.Fatal(errs)
	}
	p.Params = params
	return p
}

// busy is a plan in which much happens, with a luck of its own.
func busy(tb rapid.TB, id string) *harness.Plan {
	p := plan(id, 6, harness.Scenario{Plot: &harness.Script{}}, nil)
	p.Network.Latency = link.Uniform(ms/2, 2*ms)
	p.Leader = 6
	p.Detector = harness.PerfectDetector(10 * ms)
	if id == "mutex/naimi-trehel" {
		p.Scenario = harness.Scenario{Plot: &harness.Closed{Requests: 60, Think: link.Constant(3 * ms),
			Hold: link.Constant(ms)}}
		p.Leader = algo.None
		return fit(tb, p)
	}
	for i, do := range []string{harness.DoCrash, harness.DoRestart, harness.DoCrash, harness.DoCrash,
		harness.DoRestart} {
		p.Scenario.Add(harness.Event{
			At: time.Duration(i) * 60 * ms, Do: do, Node: algo.ID([]int{6, 6, 5, 6, 5}[i])})
	}
	return fit(tb, p)
}

func anyLatency(t *rapid.T) link.Latency {
	return rapid.SampledFrom([]link.Latency{
		link.Constant(ms), link.Constant(0), link.Uniform(0, 3*ms), link.Uniform(ms/10, 10*ms),
		{Law: &link.Exponential{Mean: 2 * ms, Min: ms}},
		{Law: &link.Normal{Mean: ms, Sigma: ms}},
		{Law: &link.Lognormal{Median: ms, Sigma: 1}}, {Law: &link.Pareto{Min: ms, Alpha: 1.5}},
		{Law: &link.Quantiles{Values: []time.Duration{0, ms, ms, 20 * ms}}},
	}).Draw(t, "latency")
}

func anyPlan(t *rapid.T) *harness.Plan {
	id := rapid.SampledFrom([]string{
		"election/bully", "election/ring-list", "mutex/naimi-trehel"}).Draw(t, "algorithm")
	n := rapid.IntRange(1, 6).Draw(t, "nodes")
	p := plan(id, n, harness.Scenario{Plot: &harness.Script{Until: 300 * ms}}, nil)
	p.Seed = rapid.Uint64Range(0, 1<<53-1).Draw(t, "seed")
	p.Network = link.Network{
		Latency:     anyLatency(t),
		Loss:        rapid.SampledFrom([]float64{0, 0.1, 0.9}).Draw(t, "loss"),
		Duplication: rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, "duplication"),
		Unordered:   rapid.Bool().Draw(t, "unordered"),
	}
	p.Detector = rapid.SampledFrom([]harness.Detector{
		harness.NoDetector(), harness.PerfectDetector(5 * ms), harness.HeartbeatDetector(10*ms, 30*ms),
	}).Draw(t, "detector")
	work := []string{harness.DoElect, harness.DoSuspect}
	if id == "mutex/naimi-trehel" {
		work = []string{harness.DoRequest}
	} else {
		p.Leader = algo.ID(rapid.IntRange(0, n).Draw(t, "leader"))
	}
	verbs := append([]string{harness.DoCrash, harness.DoRestart, harness.DoCut, harness.DoHeal},
		work...)
	for range rapid.IntRange(0, 14).Draw(t, "events") {
		e := harness.Event{
			At: time.Duration(rapid.IntRange(0, 200).Draw(t, "at")) * ms / 2,
			Do: rapid.SampledFrom(verbs).Draw(t, "do"),
		}
		switch e.Do {
		case harness.DoCut, harness.DoHeal:
			e.Groups = [][]uint32{{1}, {2, 3}}
		default:
			e.Node = algo.ID(rapid.IntRange(1, n).Draw(t, "node"))
		}
		if rapid.IntRange(0, 5).Draw(t, "after") == 0 {
			e.At, e.After = 0, "quiet"
		}
		p.Scenario.Add(e)
	}
	if rapid.Bool().Draw(t, "costs") {
		span := func(what string) time.Duration {
			return rapid.SampledFrom([]time.Duration{0, time.Microsecond, ms}).Draw(t, what)
		}
		p.Costs = &harness.Costs{
			Processors: rapid.IntRange(1, 3).Draw(t, "processors"), Wake: link.Uniform(0, ms/10),
			Receive: span("receive"), Send: span("send"), Byte: span("byte"), Timer: span("timer"),
			Relay: span("relay"), Rest: span("rest"), Transit: span("transit"),
			Save: link.Latency{Law: &link.Exponential{Mean: ms}},
		}
	}
	for q := range n - 1 {
		if rapid.IntRange(0, 9).Draw(t, "crashed") == 0 {
			p.Crashed = append(p.Crashed, algo.ID(q+1))
		}
	}
	return fit(t, p)
}

// conserved: no message is unaccounted for.
func conserved(tb rapid.TB, end harness.End, list trace.List) {
	tb.Helper()
	count := map[trace.Type]int64{}
	for _, r := range list {
		if r.Plane == trace.Data && r.Seq > 0 {
			count[r.Type]++
		}
	}
	in := count[trace.Send] + count[trace.Duplicate]
	out := count[trace.Deliver] + count[trace.Lose] + count[trace.Undelivered] + end.Pending
	if in != out || end.Pending < 0 {
		tb.Errorf("%d sent or duplicated, %d delivered, lost, undeliverable or pending: %v, pending %d",
			in, out, count, end.Pending)
	}
}

// A copyOf names one copy of one message.
type copyOf struct {
	plane, kind, copy     uint8
	from, incarnation, to uint32
	seq                   uint64
}

// accounted: every copy meets at most one end, when it is due, or later where handling takes time, as long as its
// receiver is up; on a FIFO link none overtakes another; time never goes back.
func accounted(tb rapid.TB, p *harness.Plan, list trace.List) {
	tb.Helper()
	sent, lastDue := map[copyOf]trace.Record{}, map[copyOf]time.Duration{}
	lastSeq := map[copyOf]uint64{}
	up := make([]bool, p.Nodes+1)
	now := time.Duration(0)
	for i, r := range list {
		if r.At < now {
			tb.Fatalf("record %d: %v after %v", i, r.At, now)
		}
		now = r.At
		k := copyOf{r.Plane, r.Kind, r.Copy, r.Process, r.Incarnation, r.Peer, r.Seq}
		switch r.Type {
		case trace.Up:
			up[r.Process] = true
			continue
		case trace.Crash:
			up[r.Process] = false
			continue
		case trace.Send, trace.Duplicate:
			if !up[r.Process] || r.Due < r.At || r.Sent != r.At {
				tb.Fatalf("record %d: sent by one that is down, or due before: %+v", i, r)
			}
			sent[k] = r
			continue
		case trace.Deliver, trace.Lose, trace.Undelivered:
			k.from, k.to = r.Peer, r.Process
		default:
			if r.Process > 0 && !up[r.Process] {
				tb.Fatalf("record %d: %s at p%d, which is down", i, r.Type, r.Process)
			}
			continue
		}
		s, ok := sent[k]
		if !ok || r.At < s.Due || r.At > s.Due && p.Costs == nil || r.Sent != s.At || r.Bytes != s.Bytes || r.Depth != s.Depth {
			tb.Fatalf("record %d: %+v is not what was sent: %+v", i, r, s)
		}
		delete(sent, k)
		if r.Type == trace.Deliver && !up[r.Process] {
			tb.Fatalf("record %d: delivered to p%d, which is down", i, r.Process)
		}
		link := copyOf{plane: k.plane, from: k.from, incarnation: k.incarnation, to: k.to}
		if !p.Network.Unordered {
			if r.Due < lastDue[link] || r.Copy == 0 && r.Seq <= lastSeq[link] {
				tb.Fatalf("record %d: message %d of link %+v overtakes another", i, r.Seq, link)
			}
			lastDue[link] = r.Due
			if r.Copy == 0 {
				lastSeq[link] = r.Seq
			}
		}
	}
}

// TestAnyPlan: whatever happens, messages add up, time passes one way, nothing
// comes from or to the dead, links keep their order, and it happens again.
func TestAnyPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlan(t)
		s, err := p.Setup()
		if err != nil {
			t.Fatal(err)
		}
		var list, again trace.List
		end := runSetup(s, &list)
		if end.Reason == harness.Broken && p.Network.Duplication == 0 {
			t.Fatalf("broken: %v", end.Err)
		}
		conserved(t, end, list)
		accounted(t, p, list)
		if runSetup(s, &again); hash(list) != hash(again) {
			t.Fatal("different records the second time")
		}
	})
}

package host_test

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// needWire skips where there can be no wire; in CI it fails.
func needWire(t *testing.T) {
	t.Helper()
	if err := wire.Available(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// onWire is p with a wire in place of the bus.
func onWire(p harness.Plan) harness.Plan {
	p.Network.Wire = true
	p.InModel = false // TCP waits longer than any latency
	return p
}

// TestTrial_WireLosesNoMessage: where a bus would lose every tenth message, TCP sends lost packets again.
// All messages arrive, once and in order, and some as late as TCP notices a loss.
func TestTrial_WireLosesNoMessage(t *testing.T) {
	needWire(t)
	const n, messages = 3, 300
	p := plan(t, "election/test-numbered", n, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"messages": int64(messages)})
	p.Network = link.Network{Latency: link.Constant(ms(5)), Loss: 0.1, Seed: 3}
	lost := 0
	for _, f := range fates(t, simulate(t, p).Trace) {
		if f.what == trace.Lose {
			lost++
		}
	}
	if lost == 0 {
		t.Fatal("the model loses no message")
	}
	got := run(t, newMachine(t, n), onWire(p))
	ends := fates(t, got.Trace)
	if len(ends) != n*(n-1)*messages {
		t.Errorf("%d messages ended, want %d", len(ends), n*(n-1)*messages)
	}
	least, most := time.Hour, time.Duration(0)
	last := map[[2]uint32]uint64{}
	for i := range got.Trace {
		r := &got.Trace[i]
		if r.Type == trace.Lose || r.Type == trace.Undelivered {
			t.Fatalf("message %d of p%d to p%d: %v", r.Seq, r.Peer, r.Process, r.Type)
		}
		if r.Type != trace.Deliver {
			continue
		}
		way := [2]uint32{r.Peer, r.Process}
		if r.Seq != last[way]+1 {
			t.Fatalf("message %d of p%d came to p%d after %d", r.Seq, r.Peer, r.Process, last[way])
		}
		last[way] = r.Seq
		least, most = min(least, r.At-r.Sent), max(most, r.At-r.Sent)
	}
	if least < ms(5) {
		t.Errorf("a message took %v over links of 5ms", least)
	}
	t.Logf("the model loses %d of %d messages; over TCP they took %v to %v", lost, len(ends), least, most)
	w := got.quality.Wire
	if w == nil || w.Missed != 0 || w.Lost == 0 || w.Sent < 6*n || w.DelayP50 <= 0 ||
		w.DelayP50 > w.DelayP99 || w.DelayP99 > w.DelayMax {
		t.Fatalf("of the packets: %+v", w)
	}
	// Five standard deviations about 0.1: one run in two million is outside.
	if rate, bound := float64(w.Lost)/float64(w.Sent), 5*math.Sqrt(0.1*0.9/float64(w.Sent)); math.Abs(rate-0.1) > bound {
		t.Errorf("%d of %d packets were lost, want 0.1 within %.3f", w.Lost, w.Sent, bound)
	}
}

// TestTrial_WireElects: an election over a wire, whose leader is killed.
func TestTrial_WireElects(t *testing.T) {
	needWire(t)
	for _, id := range []string{"election/bully", "election/raft"} {
		p := plan(t, id, 3, harness.Scenario{Plot: &harness.LeaderCrash{}}, nil)
		p.Network = link.Network{Latency: link.Constant(ms(2))}
		got := run(t, newMachine(t, 3), onWire(p))
		if got.Verdict.Status != trace.OK {
			t.Errorf("%s: %v: %v", id, got.Verdict.Status, got.Verdict.Reason)
		}
		t.Logf("%s: %v", id, got.End)
	}
}

// TestTrial_WireIsCutAndHealed: what is sent on a link that is cut comes after the heal; the other
// direction carries packets meanwhile.
func TestTrial_WireIsCutAndHealed(t *testing.T) {
	needWire(t)
	p := plan(t, "election/test-chatter", 3, script(
		harness.Event{At: ms(100), Do: harness.DoCut, Links: [][2]uint32{{1, 2}}},
		harness.Event{At: ms(400), Do: harness.DoHeal, Links: [][2]uint32{{1, 2}}},
	), map[string]any{"rounds": int64(40), "pause": ms(10)})
	p.Network.Latency = link.Constant(ms(2))
	got := run(t, newMachine(t, 3), onWire(p))
	meanwhile, later := 0, 0
	for i := range got.Trace {
		r := &got.Trace[i]
		if r.Type == trace.Lose || r.Type == trace.Undelivered {
			t.Fatalf("message %d of p%d to p%d: %v", r.Seq, r.Peer, r.Process, r.Type)
		}
		if r.Type != trace.Deliver {
			continue
		}
		switch way := [2]uint32{r.Peer, r.Process}; {
		case way == [2]uint32{1, 2} && r.Sent > ms(100) && r.Sent < ms(390):
			if r.At < ms(400) {
				t.Errorf("sent at %v, it came at %v, while the link was cut", r.Sent, r.At)
			}
			later++
		case way == [2]uint32{1, 3} && r.Sent > ms(100) && r.At < ms(390):
			meanwhile++
		}
	}
	if later == 0 || meanwhile == 0 {
		t.Errorf("%d messages came after the heal, and %d on another link meanwhile", later, meanwhile)
	}
}

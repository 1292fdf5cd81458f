package host_test

import (
	"maps"
	"math"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTrial_BurstsAreTheSameInBothWorlds, and as many and as long as was asked for.
func TestTrial_BurstsAreTheSameInBothWorlds(t *testing.T) {
	const z, n, messages = 3.2905, 4, 1000 // z: 99.9 % of a normal distribution
	p := plan(t, "election/test-numbered", n, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"messages": int64(messages)})
	b := link.Burst{Enter: 0.02, Leave: 0.2, Bad: 1} // what is lost met a bad state
	p.Network = link.Network{Latency: link.Uniform(ms(1), ms(30)), Burst: &b, Unordered: true}
	want, got := simulate(t, p), run(t, newMachine(t, n), p)
	ends := fates(t, got.Trace)
	if !maps.Equal(fates(t, want.Trace), ends) {
		t.Error("simulated and on nodes, messages have different fates")
	}
	total, lost, runs := 0, 0, 0
	for k := range maps.Keys(ends) {
		total++
		if ends[k].what != trace.Lose {
			continue
		}
		lost++
		before := linkMessage{k.from, k.to, k.seq - 1, 0}
		if ends[before].what != trace.Lose {
			runs++
		}
	}
	if total != n*(n-1)*messages {
		t.Fatalf("%d messages ended, want %d", total, n*(n-1)*messages)
	}
	share, memory := p.Network.LossRate(), 1-b.Enter-b.Leave
	spread := z * math.Sqrt(share*(1-share)*(1+memory)/(1-memory)/float64(total))
	if achieved := float64(lost) / float64(total); math.Abs(achieved-share) > spread {
		t.Errorf("%.4f were lost, want %.4f ± %.4f", achieved, share, spread)
	}
	length := float64(lost) / float64(runs)
	spread = z * math.Sqrt((1-b.Leave)/float64(runs)) / b.Leave
	if math.Abs(length-1/b.Leave) > spread {
		t.Errorf("bursts of %.2f messages on average, want %.2f ± %.2f", length, 1/b.Leave, spread)
	}
	t.Logf("%d of %d lost in %d bursts of %.2f messages", lost, total, runs, length)
}

// TestTrial_RegionsAreFarApart, equally so in both worlds.
func TestTrial_RegionsAreFarApart(t *testing.T) {
	p := plan(t, "election/test-numbered", 4, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"messages": int64(50)})
	p.Network.Latency = link.Latency{Law: &link.Regions{Places: []string{"california", "oregon", "virginia"}}}
	want, got := simulate(t, p), run(t, newMachine(t, 4), p)
	ends := fates(t, got.Trace)
	if len(ends) != 600 || !maps.Equal(fates(t, want.Trace), ends) {
		t.Errorf("on nodes, %d messages ended, or not as simulated", len(ends))
	}
	away := map[[2]uint32]time.Duration{ // process 4 is where process 1 is
		{1, 2}: 11_250, {1, 3}: 42_250, {1, 4}: 275, {2, 3}: 41_450, {2, 4}: 11_250, {3, 4}: 42_250,
	}
	for k, f := range ends {
		if takes := away[[2]uint32{min(k.from, k.to), max(k.from, k.to)}] * time.Microsecond; f.takes != takes {
			t.Errorf("from p%d to p%d it took %v, want %v", k.from, k.to, f.takes, takes)
		}
	}
}

// TestTrial_LinksAreCutAndHealed: a link that is cut in one direction carries messages in the
// other, in both worlds; a heal of one link heals no other.
func TestTrial_LinksAreCutAndHealed(t *testing.T) {
	p := plan(t, "election/test-chatter", 3, script(
		harness.Event{At: ms(40), Do: harness.DoCut, Links: [][2]uint32{{1, 2}, {3, 1}}},
		harness.Event{At: ms(80), Do: harness.DoHeal, Links: [][2]uint32{{1, 2}}},
	), map[string]any{"rounds": int64(60), "pause": ms(2)})
	p.Network.Latency = link.Uniform(0, ms(8))
	p.InModel = false
	want, got := simulate(t, p), run(t, newMachine(t, 3), p)
	for world, list := range map[string]trace.List{"simulated": want.Trace, "on nodes": got.Trace} {
		lost := map[[2]uint32]int{}
		for i := range list {
			r := &list[i]
			if r.Type != trace.Deliver && r.Type != trace.Lose {
				continue
			}
			way := [2]uint32{r.Peer, r.Process}
			cut := r.Due >= ms(40) && (way == [2]uint32{3, 1} || way == [2]uint32{1, 2} && r.Sent < ms(80))
			if cut != (r.Type == trace.Lose) {
				t.Errorf("%s: %v of p%d to p%d, sent %v, due %v", world, r.Type, r.Peer, r.Process, r.Sent, r.Due)
			}
			if cut {
				lost[way]++
			}
		}
		if len(lost) != 2 {
			t.Errorf("%s: lost were %v", world, lost)
		}
	}
}

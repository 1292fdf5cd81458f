package harness

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func accrual(threshold float64) func(*Plan) {
	return func(p *Plan) {
		p.Leader = 3
		p.Detector = Detector{&phi{
			beats: beats{Interval: 20 * ms}, Threshold: threshold, Window: 50, Deviation: 2 * ms,
		}}
	}
}

// TestPatience: the silence that phi bears is where the normal distribution of the
// intervals leaves 10^-threshold.
func TestPatience(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, threshold := range []float64{1, 3, 8, 12} {
		d := phi{beats: beats{Interval: 20 * ms}, Threshold: threshold, Window: 400}
		v := newIntervals(&d)
		for range 2000 { // the window forgets the ones never seen
			v.add(30*ms + time.Duration(rng.NormFloat64()*float64(3*ms)))
		}
		z := (float64(v.patience()) - float64(30*ms)) / float64(3*ms)
		// Of 400 values the deviation is known to about 4 %, the mean to 0.05 of it.
		tail := 0.5 * math.Erfc(z/math.Sqrt2)
		if got := -math.Log10(tail); math.Abs(got/threshold-1) > 0.25 {
			t.Errorf("threshold %v: bears %v, where phi is %.2f", threshold, v.patience(), got)
		}
	}
	regular := newIntervals(&phi{beats: beats{Interval: 20 * ms}, Threshold: 8, Window: 3, Deviation: 5 * ms})
	for range 3 {
		regular.add(20 * ms)
	}
	// z(10^-8) = 5.612: the least deviation keeps it from suspecting at once.
	if got, want := regular.patience(), 20*ms+time.Duration(5.612*float64(5*ms)); (got - want).Abs() > ms/10 {
		t.Errorf("regular heartbeats: bears %v, want %v", got, want)
	}
}

// TestPhiSuspects: who is silent is suspected, the later the higher the threshold;
// who is not, never.
func TestPhiSuspects(t *testing.T) {
	t.Parallel()
	noticed := func(threshold float64) time.Duration {
		w := newWorld(t, mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}}, accrual(threshold)))
		w.at(333*ms, func() { w.crash(3) })
		w.start()
		w.run(time.Second)
		var first time.Duration
		for _, r := range w.records {
			if r.Type == trace.Suspect && r.Peer != 3 {
				t.Errorf("threshold %v: p%d suspects %d, which lives", threshold, r.Process, r.Peer)
			}
			if r.Type == trace.Suspect && first == 0 {
				first = r.At
			}
		}
		return first
	}
	low, high := noticed(2), noticed(10)
	if low < 333*ms || high <= low || high > 450*ms {
		t.Errorf("noticed at %v with threshold 2, at %v with 10", low, high)
	}
}

// TestPhiForgives: a suspected process that is heard of again is trusted again.
func TestPhiForgives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "election/test-puppet", 2, Scenario{Plot: &Script{}}, func(p *Plan) {
		accrual(8)(p)
		p.Leader = 2
	}))
	w.lose = func(from, _ algo.ID, at time.Duration) bool { return from == 2 && at > 200*ms && at < 400*ms }
	w.start()
	w.run(time.Second)
	if s, r := w.notes(trace.Suspect), w.notes(trace.Restore); len(s) != 1 || len(r) != 1 {
		t.Errorf("suspected %q, restored %q, want once each", s, r)
	}
}

// TestLeaderOnly: the leader alone sends, and is watched by those that name it.
func TestLeaderOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}}, func(p *Plan) {
		heartbeat(10*ms, 35*ms)(p)
		p.Detector.beats().LeaderOnly = true
	}))
	senders := map[algo.ID]int{}
	w.lose = func(from, _ algo.ID, _ time.Duration) bool {
		senders[from]++
		return false
	}
	for _, p := range []algo.ID{1, 2} { // elect 2 when 3 is gone
		w.puppet(p).on = func(env algo.Env, what string, _ algo.ID) {
			if what == "elect" {
				env.Elected(2, 1)
			}
		}
	}
	w.at(105*ms, func() { w.crash(3) })
	w.at(300*ms, func() { w.crash(1) }) // nobody watches it
	w.start()
	w.run(500 * ms)
	for _, r := range w.records {
		if r.Type == trace.Suspect && r.Peer != 3 {
			t.Errorf("p%d suspects %d at %v", r.Process, r.Peer, r.At)
		}
	}
	if n := len(w.notes(trace.Suspect)); n != 2 {
		t.Errorf("%d suspicions, want those of 3 by 1 and 2", n)
	}
	if senders[1] != 0 || senders[3] < 18 || senders[3] > 22 || senders[2] < 60 {
		t.Errorf("heartbeats sent: %v", senders)
	}
}

// TestPhi_Threshold: at every threshold that may be set, a normal distribution leaves
// 10^-threshold above so many deviations.
func TestPhi_Threshold(t *testing.T) {
	t.Parallel()
	last := 0.0
	for threshold := 1.0; threshold <= 100; threshold += 0.25 {
		d := phi{Threshold: threshold}
		z := d.z()
		if left := -math.Log10(math.Erfc(z/math.Sqrt2) / 2); !(math.Abs(left-threshold) < 1e-4) || z <= last {
			t.Errorf("threshold %v: %v deviations, after %v: 10^-%v is left", threshold, z, last, left)
		}
		last = z
	}
}

package check_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// climb simulates a ramp of an algorithm among 5 processes.
func climb(t *testing.T, id string, seed uint64, from, to float64, latency, hold link.Latency) algotest.Outcome {
	t.Helper()
	o := simulate(t, id, seed, harness.Scenario{Plot: &harness.Ramp{From: from, To: to, Steps: 40,
		Duration: 4 * time.Second, Hold: hold}}, func(p *harness.Plan) { p.Network.Latency = latency })
	if o.Status != trace.OK {
		t.Fatalf("%s, seed %d: %s: %s", id, seed, o.Status, o.Reason)
	}
	return o
}

// TestKnee: it is the capacity, where that is known: a hand-over of one message delay, or
// of two but for the coordinator, which is one of the five. The interval over trials covers
// it. A ramp that is over before finds none, but what it kept up with.
func TestKnee(t *testing.T) {
	t.Parallel()
	const trials = 6
	constant, exponential := link.Constant(ms), link.Latency{Law: &link.Exponential{Mean: ms}}
	for id, test := range map[string]struct {
		capacity      float64
		latency, hold link.Latency
		within        float64
	}{
		"mutex/suzuki-kasami": {500, constant, constant, 0.005},
		"mutex/central":       {5 / 0.013, constant, constant, 0.005},
		"mutex/naimi-trehel":  {1 / 0.00205, link.Uniform(ms/10, 2*ms), exponential, 0.03},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			var found []float64
			for seed := range uint64(trials) {
				o := climb(t, id, seed, test.capacity/4, 2*test.capacity, test.latency, test.hold)
				found = append(found, value(o, "knee_per_s"))
				if kept := value(o, "kept_up_per_s"); kept < 0.6*test.capacity || kept > 1.2*test.capacity {
					t.Errorf("seed %d: kept up with %v, of a capacity of %v", seed, kept, test.capacity)
				}
				if w := value(o, "waiting_ms"); !math.IsNaN(w) {
					t.Errorf("seed %d: waiting_ms %v of a whole ramp", seed, w)
				}
			}
			const rounding = 1e-3 // of the instants between which grants are counted
			d := stats.Describe(found, 0)
			if math.Abs(d.Median/test.capacity-1) > test.within ||
				d.CILow > test.capacity*(1+rounding) || d.CIHigh < test.capacity*(1-rounding) {
				t.Errorf("knee %v [%v, %v], want %v", d.Median, d.CILow, d.CIHigh, test.capacity)
			}
			for seed := range uint64(trials) {
				o := climb(t, id, seed, test.capacity/10, 0.85*test.capacity, test.latency, test.hold)
				kept := value(o, "kept_up_per_s")
				if got := value(o, "knee_per_s"); !math.IsNaN(got) || kept < 0.75*test.capacity {
					t.Errorf("seed %d: knee %v of a ramp to 0.85 of the capacity, want none; kept up with %v",
						seed, got, kept)
				}
			}
		})
	}
}

// TestRamp_Arrivals: each step has as many arrivals as it asks for, within chance, evenly in
// its time; and half the ramp at half the rate has the same ones twice as far apart.
func TestRamp_Arrivals(t *testing.T) {
	t.Parallel()
	const steps, trials = 5, 40
	span := 5 * time.Second
	var counts [2 * steps]float64 // of half steps
	s := harness.Ramp{From: 10, To: 50, Steps: steps, Duration: span, Hold: link.Constant(ms)}
	for seed := range uint64(trials) {
		list := arrivals(simulate(t, "mutex/central", seed, harness.Scenario{Plot: &s}, nil))
		for _, a := range list {
			if at := time.Duration(a[0]); at > span {
				t.Fatalf("seed %d: an arrival at %v", seed, at)
			}
			counts[min(int(a[0]*2*steps/uint64(span)), 2*steps-1)]++
		}
		slow := s
		slow.From, slow.To, slow.Duration = 5, 25, 2*span
		for i, a := range arrivals(simulate(t, "mutex/central", seed, harness.Scenario{Plot: &slow}, nil)) {
			if d := int64(a[0]) - 2*int64(list[i][0]); a[1] != list[i][1] || d < -1000 || d > 1000 {
				t.Fatalf("seed %d: arrival %d is %v, want %v twice as late", seed, i+1, a, list[i])
			}
		}
	}
	for i, n := range counts {
		want := s.StepRate(i/2) / 2 * trials
		if math.Abs(n-want) > 3.5*math.Sqrt(want) {
			t.Errorf("half a step %d: %v arrivals, want about %v", i, n, want)
		}
	}
	if got := fmt.Sprint(s.StepRate(0), s.StepRate(1), s.StepRate(4), s.StepAt(span), s.MeanRate()); got != "10 20 50 4 30" {
		t.Errorf("steps %s", got)
	}
}

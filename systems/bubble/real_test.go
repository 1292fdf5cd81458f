package bubble_test

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/systems/bubble"
	_ "github.com/conclave-bench/conclave/systems/hashicorpraft"
)

// TestRealTime: failovers of hashicorp/raft in a bubble take as long as in real time. The largest distance of the
// two distribution functions is below 0.15. Of 400 and 2 000 failovers alike, it is above by chance once in a million.
// On a machine that wakes goroutines late, real time is another.
func TestRealTime(t *testing.T) {
	const inReal, inBubble = 400, 2000
	real, virtual := make([]float64, inReal), make([]float64, inBubble)
	var all sync.WaitGroup
	stop := make(chan struct{})
	late := lateness(stop)
	for i := range real { // beside each other: they wait most of the time
		all.Go(func() {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			real[i] = failover(t, uint64(i), bubble.RunReal)
		})
	}
	all.Wait()
	close(stop)
	if mean := <-late; mean > 2*time.Millisecond {
		t.Logf("not judged: this machine is busy, and wakes goroutines %v late", mean)
		return
	}
	for i := range virtual {
		virtual[i] = failover(t, uint64(inReal+i), bubble.Run)
	}
	distance, low, high := stats.Apart(real, virtual, stats.Confidence)
	t.Logf("n %d and %d, medians %.0f and %.0f ms, distance %.3f [%.3f, %.3f]", inReal, inBubble, middle(real),
		middle(virtual), distance, low, high)
	if distance >= 0.15 || math.IsNaN(distance) {
		t.Errorf("the distributions are %.3f apart", distance)
	}
}

// lateness is how late a goroutine is woken in the mean, until stop.
func lateness(stop <-chan struct{}) <-chan time.Duration {
	mean := make(chan time.Duration, 1)
	go func() {
		const nap = 10 * time.Millisecond
		var sum, n time.Duration
		for {
			begun := time.Now()
			select {
			case <-stop:
				mean <- sum / max(n, 1)
				return
			case <-time.After(nap):
				sum += time.Since(begun) - nap
				n++
			}
		}
	}()
	return mean
}

// failover is how long a crash of the leader leaves three servers without one, in ms.
func failover(t *testing.T, seed uint64, run func(*harness.Setup, trace.Sink) harness.End) float64 {
	p := algotest.MustPlan(t, "election/hashicorp-raft", 3, harness.Scenario{Plot: &harness.LeaderCrash{}}, nil)
	p.Leader, p.Seed, p.TimeLimit, p.Network.Latency = algo.None, seed+1, 2*time.Minute, link.Constant(2*time.Millisecond)
	s, err := p.Setup()
	if err != nil {
		t.Error(err)
		return math.NaN()
	}
	s.Virtual = true
	judge := check.NewJudge(s)
	v := judge.Finish(run(s, judge))
	i := slices.IndexFunc(v.Metrics, func(m metric.Value) bool { return m.Name == metric.Downtime.Name })
	if v.Status != trace.OK || i < 0 {
		t.Errorf("seed %d: %s: %s", seed, v.Status, v.Reason)
		return math.NaN()
	}
	return v.Metrics[i].Value
}

func middle(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }

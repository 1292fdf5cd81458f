package check_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// openLoad simulates one trial of open load at 20 requests per second of 5 processes.
func openLoad(t *testing.T, id string, seed uint64, requests int, duration time.Duration) algotest.Outcome {
	t.Helper()
	o := simulate(t, id, seed, harness.Scenario{Plot: &harness.Open{Rate: 20, Requests: requests,
		Duration: duration, Hold: link.Constant(ms)}}, nil)
	if o.Status != trace.OK {
		t.Fatalf("seed %d: %s: %s", seed, o.Status, o.Reason)
	}
	return o
}

// arrivals are the intended instants of a trial's requests, and whose they are.
func arrivals(o algotest.Outcome) (out [][2]uint64) {
	for i := range o.Trace {
		if r := &o.Trace[i]; r.Type == trace.Request {
			out = append(out, [2]uint64{r.Arg, uint64(r.Process)})
		}
	}
	slices.SortFunc(out, func(a, b [2]uint64) int { return int(a[0]) - int(b[0]) })
	return out
}

func value(o algotest.Outcome, name string) float64 {
	for _, m := range o.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	return math.NaN()
}

// TestOpenLoad: a Poisson stream of the rate that was asked for, to its very end, however
// it ends: the gaps between arrivals have the mean and the deviation of an exponential
// distribution, in the last tenth too. What was offered stands in a metric.
func TestOpenLoad(t *testing.T) {
	t.Parallel()
	const trials, requests = 60, 100
	var gaps, last, rates, timed []float64
	for seed := range uint64(trials) {
		o := openLoad(t, "mutex/central", seed, requests, 0)
		list := arrivals(o)
		if len(list) != requests {
			t.Fatalf("seed %d: %d requests, want %d", seed, len(list), requests)
		}
		before := uint64(0)
		for i, a := range list {
			gap := float64(a[0]-before) / 1e9
			before = a[0]
			if gaps = append(gaps, gap); i >= requests*9/10 {
				last = append(last, gap)
			}
		}
		rates = append(rates, value(o, "arrival_rate_achieved"))
		if want := float64(requests-1) / (float64(before) / 1e9); math.Abs(rates[seed]-want) > 1e-6 {
			t.Errorf("seed %d: arrival_rate_achieved %v, want %v", seed, rates[seed], want)
		}
		if got := value(o, "arrival_rate_requested"); got != 20 {
			t.Errorf("arrival_rate_requested %v, want 20", got)
		}
		timed = append(timed, value(openLoad(t, "mutex/central", seed, 0, 5*time.Second), "arrival_rate_achieved"))
	}
	for name, sample := range map[string]struct {
		values   []float64
		want, sd float64 // of one
	}{
		"gaps": {gaps, 0.05, 0.05}, "gaps at the end": {last, 0.05, 0.05},
		"rates": {rates, 20, 20 / math.Sqrt(requests)}, "rates of a span": {timed, 20, math.Sqrt(20.0 / 5)},
	} {
		sum, squares := 0.0, 0.0
		for _, v := range sample.values {
			sum += v
			squares += v * v
		}
		n := float64(len(sample.values))
		mean := sum / n
		if off := math.Abs(mean-sample.want) / (sample.sd / math.Sqrt(n)); off > 3.3 {
			t.Errorf("%s: mean %v of %v, want %v: %v standard errors off", name, mean, n, sample.want, off)
		}
		if sd := math.Sqrt(squares/n - mean*mean); math.Abs(sd/sample.sd-1) > 0.35 {
			t.Errorf("%s: standard deviation %v, want about %v", name, sd, sample.sd)
		}
	}
}

// TestOpenLoad_Luck: the stream is the same for every algorithm, and a longer one goes on
// where a shorter one ends.
func TestOpenLoad_Luck(t *testing.T) {
	t.Parallel()
	long := arrivals(openLoad(t, "mutex/central", 7, 200, 0))
	for _, id := range []string{"mutex/central", "mutex/lamport", "mutex/token-ring"} {
		if got := arrivals(openLoad(t, id, 7, 50, 0)); fmt.Sprint(got) != fmt.Sprint(long[:50]) {
			t.Errorf("%s: %v, want %v", id, got, long[:50])
		}
	}
	span := arrivals(openLoad(t, "mutex/central", 7, 0, 3*time.Second))
	if fmt.Sprint(span) != fmt.Sprint(long[:len(span)]) {
		t.Errorf("for a time: %v, want %v", span, long[:len(span)])
	}
}

package check

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// surely is by how many standard deviations arrivals must outnumber grants before a load
// is called unstable: by chance a load that is served does so less than once in 700 times,
// were all its requests to queue without a pause, which it seldom does.
const surely = 3.0

// fewest is how many arrivals and grants it takes to tell.
const fewest = 30

// arrivals are the requests of open load: when they came and were granted, ascending, without
// those whose process crashed.
type arrivals struct {
	came, granted []time.Duration
	waits         []int // by came: requests that waited when it came
}

func arrivalsOf(ops []trace.Operation) (q arrivals) {
	for _, op := range ops {
		if op.Status == trace.Crashed {
			continue
		}
		q.came = append(q.came, op.Cause)
		if op.End >= 0 {
			q.granted = append(q.granted, op.End)
		}
	}
	slices.Sort(q.came)
	slices.Sort(q.granted)
	served := 0
	for i, at := range q.came {
		for served < len(q.granted) && q.granted[served] <= at {
			served++
		}
		q.waits = append(q.waits, i-served)
	}
	return q
}

// within are those of sorted instants that lie behind from, up to end.
func within(instants []time.Duration, from, end time.Duration) []time.Duration {
	i, _ := slices.BinarySearch(instants, from+1)
	k, _ := slices.BinarySearch(instants, end+1)
	return instants[i:max(i, k)]
}

// beyond says whether so many arrivals in a span outnumber the grants beyond chance: by
// surely times the square root of both together, the standard deviation of the difference
// of two Poisson counts.
func beyond(arrivals, grants int) bool {
	both := float64(arrivals + grants)
	return arrivals+grants >= fewest && float64(arrivals-grants) > surely*math.Sqrt(both)
}

// overload says why an open load is unstable; "" if it is not. It is if more requests come
// than are granted, so that those who wait become more and more: no waiting time is steady
// then, and every mean of them grows with the duration. Looked at is the second half of
// the time in which requests come. Each of them must have found somebody waiting, and
// arrivals must outnumber grants beyond chance.
func overload(ops []trace.Operation) string {
	q := arrivalsOf(ops)
	if len(q.came) == 0 {
		return ""
	}
	end := q.came[len(q.came)-1]
	half := end / 2
	came, granted := within(q.came, half, end), within(q.granted, half, end)
	if slices.Min(append(q.waits[len(q.came)-len(came):], math.MaxInt)) < 1 ||
		!beyond(len(came), len(granted)) {
		return ""
	}
	span := (end - half).Seconds()
	return fmt.Sprintf("unstable: in the second half of the load %.4g requests came and %.4g were "+
		"granted per second, and %d waited at its end: every waiting time grows with its duration; "+
		"lower scenario.rate",
		float64(len(came))/span, float64(len(granted))/span,
		len(q.came)-len(within(q.granted, -1, end)))
}

// knee finds where a ramp outruns what serves it. Behind the last request that found nobody
// waiting somebody always waits. If more come than are granted in that span, beyond chance,
// the knee is the rate of the grants in its second half, when all queues are long: were
// fewer to come per second, all would be granted. Otherwise the ramp has not reached it,
// which is NaN.
func knee(s *harness.Scenario, ops []trace.Operation) []metric.Value {
	q := arrivalsOf(ops)
	kept, found := math.NaN(), math.NaN()
	if n := len(q.came); n > 0 {
		last := n - 1
		for q.waits[last] > 0 {
			last--
		}
		start, end := q.came[last], q.came[n-1]
		kept = s.Does().RateAt(start)
		if beyond(n-1-last, len(within(q.granted, start, end))) {
			if g := within(q.granted, start+(end-start)/2, end); len(g) > 1 {
				found = float64(len(g)-1) / (g[len(g)-1] - g[0]).Seconds()
			}
		}
	}
	return []metric.Value{metric.Knee.Of(found), metric.KeptUp.Of(kept)}
}

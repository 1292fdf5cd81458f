package check

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// surely is by how many standard deviations arrivals must outnumber grants before a load
// is called unstable: by chance a load that is served does so less than once in 700 times,
// were all its requests to queue without a pause, which it seldom does.
const surely = 3.0

// fewest is how many arrivals and grants it takes to tell.
const fewest = 30

// overload says why an open load is unstable; "" if it is not. It is if more requests come
// than are granted, so that those who wait become more and more: no waiting time is steady
// then, and every mean of them grows with the duration. Looked at is the second half of
// the time in which requests come. Each of them must have found somebody waiting, and
// arrivals must outnumber grants beyond chance: by surely times the square root of both
// together, the standard deviation of the difference of two Poisson counts.
func overload(ops []trace.Operation) string {
	var came, granted []time.Duration
	for _, op := range ops {
		if op.Status == trace.Crashed {
			continue
		}
		came = append(came, op.Cause)
		if op.End >= 0 {
			granted = append(granted, op.End)
		}
	}
	if len(came) == 0 {
		return ""
	}
	slices.Sort(came)
	slices.Sort(granted)
	end := came[len(came)-1]
	half := end / 2
	arrivals, grants, served := 0, 0, 0
	for i, at := range came {
		for served < len(granted) && granted[served] <= at {
			if granted[served] > half {
				grants++
			}
			served++
		}
		if at <= half {
			continue
		}
		if arrivals++; i <= served { // nobody waited when it came
			return ""
		}
	}
	both := float64(arrivals + grants)
	if arrivals+grants < fewest || float64(arrivals-grants) <= surely*math.Sqrt(both) {
		return ""
	}
	span := (end - half).Seconds()
	return fmt.Sprintf("unstable: in the second half of the load %.4g requests came and %.4g were "+
		"granted per second, and %d waited at its end: every waiting time grows with its duration; "+
		"lower scenario.rate",
		float64(arrivals)/span, float64(grants)/span, len(came)-served)
}

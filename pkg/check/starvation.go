package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// mostOthers is how many entries of others are not yet too many, see starved.
func mostOthers(s *harness.Setup) int {
	n := s.Nodes
	if c := s.Graph.Class; c != algo.Complete && c != algo.LogicalRing {
		return 4 * n * n
	}
	return 4 * n
}

// slack is what a process of a real system may take for a message.
const slack = 20 * time.Millisecond

// starved objects to a request that waits while others enter again and again, where
// every request is promised to be granted.
//
// A request is on its way for a time, and whoever has not heard of it enters as
// often as it likes. So the entries count from when n messages of the slowest kind
// seen could have come one after the other, which is as far as any request travels.
// From then on it stands in a queue, where each other process has one request before
// it, or a few where priorities collide: more than four of each are too many. Where
// requests go from neighbor to neighbor, as in a tree, up to n queues lie on the
// way. While processes or links are hindered nothing counts, and behind a crash or a
// lost message not either: an algorithm finds that out by time-outs, during which
// others may enter as often as they like.
func (e *entries) starved(j *Judge, at time.Duration) {
	if !j.promisesGrants() || !e.setup.InModel || !j.calm() || j.mishaps.crashes > 0 ||
		j.totals.Lost+j.totals.Undeliverable > 0 {
		return
	}
	travel := j.links.slowest
	if !e.setup.Virtual {
		travel += slack
	}
	travel *= time.Duration(e.setup.Nodes)
	for k := range e.waiting {
		if op := &e.waiting[k]; max(op.Begin, j.calmed)+travel <= at {
			o := &e.others[k]
			if o.knowing++; o.knowing == e.most+1 {
				j.violate(starvation, "p%d waits since %v, and at %v others have entered %d times since "+
					"its request could have been known", op.Process, op.Begin, at, o.knowing)
			}
		}
	}
}

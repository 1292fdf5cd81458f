package check

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// slack is what a process of a real system may take for a message.
const slack = 20 * time.Millisecond

// timeouts is how many of its longest time-outs an algorithm may take to find out
// what a fault has done, and to make it good: each of its questions takes one at
// most, and of the algorithms that recover here none asks ten in a row.
const timeouts = 10

// Patience is what others may do while a request waits, until it is starved: enter as
// often as they like for a time after a fault, until the algorithm has dealt with
// that (a detector says so, if it needs one, and then come its own time-outs); and
// from then on so many times.
func Patience(s *harness.Setup) (fault time.Duration, others int) {
	fault = timeouts * s.Params.Timeout()
	if s.Alg.Spec.Needs.Detector != algo.NoDetector {
		fault += s.Detector.Bound(s.Latency)
	}
	n := s.Nodes
	c := s.Graph.Class
	if c != algo.Complete && c != algo.LogicalRing || s.Alg.Spec.Admits.Sessions != "" {
		return fault, 4 * n * n
	}
	return fault, 4 * n
}

// starved objects to a request that waits while others enter again and again, where
// every request is promised to be granted.
//
// A request is on its way for a time, and a process that has not heard of it enters as
// often as it likes. So the entries count from when n messages of the slowest kind
// seen could have come one after the other, which is as far as any request travels.
// From then on it stands in a queue, where each other process has one request before
// it, or a few where priorities collide: more than four of each are too many. Where
// requests go from neighbor to neighbor, as in a tree, up to n queues lie on the
// way. Where requests name sessions, others of one that is open may enter beside each of
// those before it, and while one of them stays each counts once. While processes or links
// are impaired nothing counts.
//
// A request may be lost with a process or a message, and one that is made later may
// be sent to where the dead one was. An algorithm finds that out by its time-outs,
// during which others may enter as often as they like. So where anything has gone
// wrong the entries count from when those can be over; and with the next fault all
// begins anew.
func (e *entries) starved(j *Judge, at time.Duration) {
	if !j.promisesGrants() || !e.setup.InModel || !j.calm() {
		return
	}
	travel := j.links.slowest
	if !e.setup.Virtual {
		travel += slack
	}
	travel *= time.Duration(e.setup.Nodes)
	if j.troubled {
		travel += e.patience
	}
	if j.calmed+travel > at {
		return
	}
	e.waiting.count(at-travel, e.most, func(r *request, seen int) {
		if seen > e.most+1 { // which was said before
			return
		}
		known := ""
		if j.troubled {
			known = fmt.Sprintf(" and the last fault, over at %v, found out", j.calmed)
		}
		j.violate(starvation, "p%d waits since %v, and at %v others have entered %d times since "+
			"its request could have been known%s", r.Process, r.Begin, at, seen, known)
	})
}

// strike is a fault behind which requests may have to be made known anew.
func (j *Judge) strike(at time.Duration) {
	j.troubled, j.calmed = true, at
	if e := j.entries; e != nil {
		e.waiting.recount()
	}
}

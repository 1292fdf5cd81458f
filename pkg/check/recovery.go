package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// recovery is how much longer the processes waited that were waiting when something went wrong: from a
// crash, or from the loss of a token, until all requests are granted that waited then. Those of
// processes that crash themselves do not count. If no process waits at that instant it counts from the
// next request: nothing is wrong while no process wants to enter.
type recovery struct {
	faults  int    // in all
	idle    int    // faults since which nobody has waited
	open    []wait // since the others, the oldest first
	over    int
	lasting time.Duration // of those that are over, added up
}

// A wait is that of all requests from begin or before.
type wait struct {
	begin   time.Duration
	granted time.Duration // when the last of them was; negative: none yet
}

// fault is something that went wrong, while somebody waits or not.
func (r *recovery) fault(at time.Duration, waiting bool) {
	r.faults++
	r.idle++
	if waiting {
		r.request(at)
	}
}

func (r *recovery) request(at time.Duration) {
	for ; r.idle > 0; r.idle-- {
		r.open = append(r.open, wait{at, -1})
	}
}

// grant is that of a request from begin.
func (r *recovery) grant(at, begin time.Duration) {
	for i := len(r.open) - 1; i >= 0 && r.open[i].begin >= begin; i-- {
		r.open[i].granted = at
	}
}

// left says when the oldest request was made that still waits.
func (r *recovery) left(oldest time.Duration) {
	for len(r.open) > 0 && r.open[0].begin < oldest {
		if w := r.open[0]; w.granted < 0 { // all that waited are dead
			r.idle++
		} else {
			r.over++
			r.lasting += w.granted - w.begin
		}
		r.open = r.open[1:]
	}
}

// metrics is none if nothing went wrong.
func (r *recovery) metrics() []metric.Value {
	if r.faults == 0 {
		return nil
	}
	return []metric.Value{metric.Recovery.Of(mean(ms(r.lasting), r.over))}
}

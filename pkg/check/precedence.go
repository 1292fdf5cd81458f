package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// precedence checks that grants follow the happened-before order of requests, where an
// algorithm promises it: that nobody enters while another still waits whose request
// happened before its own, so that it could have known.
//
// One request happened before another if messages lead from it to the other. What
// each process could know of is kept as a number for each process: how many of its
// requests happened before the present point. Every message carries these numbers
// of its sender along.
type precedence struct {
	made   []uint32 // requests of each process, by ID - 1
	width  int      // of the trees that follow
	known  []*count // what each process could know of
	asked  []*count // what each could when it asked
	flying transits[*count]
}

// newPrecedence is nil where nothing is promised.
func newPrecedence(s *harness.Setup) *precedence {
	if !s.Alg.Spec.Promises.RequestOrder {
		return nil
	}
	o := &precedence{
		made: make([]uint32, s.Nodes), width: width(s.Nodes),
		known: make([]*count, s.Nodes), asked: make([]*count, s.Nodes),
	}
	return o
}

// message follows what is known along the messages of the algorithm. Heartbeats
// tell it nothing.
func (o *precedence) message(r *trace.Record) {
	if harness.IsHeartbeat(r) {
		return
	}
	switch r.Type {
	case trace.Send:
		o.flying.send(r, o.known[r.Process-1])
	case trace.Duplicate:
		o.flying.again(r)
	default:
		if news, _ := o.flying.end(r); news != nil && r.Type == trace.Deliver {
			known := &o.known[r.Process-1]
			*known = (*known).or(*news, o.width)
		}
	}
}

// request notes what p could know of when it asked.
func (o *precedence) request(p algo.ID) {
	i := p - 1
	o.made[i]++
	own := o.known[i].with(int(i), o.made[i], o.width)
	o.known[i], o.asked[i] = own, own
}

// grant wants no request of those who still wait to have happened before p's.
func (o *precedence) grant(j *Judge, p algo.ID, at time.Duration, place int, waiting *waiting) {
	for i, w := range waiting.all() {
		if i == place {
			break
		}
		if i := w.Process - 1; o.asked[p-1].at(int(i), o.width) == o.made[i] {
			j.violate(requestOrder,
				"p%d granted at %v before p%d, whose request at %v happened before its own",
				p, at, w.Process, w.Begin)
		}
	}
}

// up is a process that came back and remembers nothing.
func (o *precedence) up(p algo.ID) {
	var nothing *count
	o.known[p-1] = nothing.with(int(p-1), o.made[p-1], o.width)
}

package check

import (
	"slices"
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
	known  []count  // what each process could know of
	asked  []count  // what each could when it asked
	flying transits[count]
}

// A count is how many requests of each process happened before, by ID - 1. It is
// never modified, so that messages and processes can share it.
type count []uint32

// newPrecedence is nil where nothing is promised.
func newPrecedence(s *harness.Setup) *precedence {
	if !s.Alg.Spec.Promises.RequestOrder {
		return nil
	}
	o := &precedence{
		made: make([]uint32, s.Nodes), known: make([]count, s.Nodes), asked: make([]count, s.Nodes),
	}
	nothing := make(count, s.Nodes)
	for i := range o.known {
		o.known[i] = nothing
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
			o.learn(int(r.Process-1), *news)
		}
	}
}

// learn adds what came with a message to what process i knows.
func (o *precedence) learn(i int, news count) {
	own := o.known[i]
	if len(news) == 0 || &news[0] == &own[0] {
		return
	}
	for k := range news {
		if news[k] <= own[k] {
			continue
		}
		if &own[0] == &o.known[i][0] { // nothing new until now
			own = slices.Clone(own)
		}
		own[k] = news[k]
	}
	o.known[i] = own
}

// request notes what p could know of when it asked.
func (o *precedence) request(p algo.ID) {
	i := p - 1
	o.made[i]++
	own := slices.Clone(o.known[i])
	own[i] = o.made[i]
	o.known[i], o.asked[i] = own, own
}

// grant wants no request of those who still wait to have happened before p's.
func (o *precedence) grant(j *Judge, p algo.ID, at time.Duration, place int, waiting *waiting) {
	for i, w := range waiting.all() {
		if i == place {
			break
		}
		if i := w.Process - 1; o.asked[p-1][i] == o.made[i] {
			j.violate(requestOrder,
				"p%d granted at %v before p%d, whose request at %v happened before its own",
				p, at, w.Process, w.Begin)
		}
	}
}

// up is a process that came back and remembers nothing.
func (o *precedence) up(p algo.ID) {
	o.known[p-1] = make(count, len(o.made))
	o.known[p-1][p-1] = o.made[p-1]
}

package check

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// owners tells the messages of the measured requests from those of the warm-up. At
// the end of the warm-up some requests wait already and have sent much of what they
// cost, while what ended requests have sent is still on its way: an instant cannot
// part them. So each message belongs to one request:
//
//   - what a process sends at its own request or release belongs to that request;
//   - what it sends because a message came belongs to the request of that message;
//   - but an answer that was put off belongs to the request that it answers, whatever
//     it is that lets the process answer now;
//   - what it sends for another reason (a timer) belongs to its own request, from when
//     it asks until it leaves.
//
// The messages of the measured requests are those of the requests that waited at the
// end of the warm-up or came later, and those of nobody's from that end on. A
// perpetual algorithm sends whether somebody requests or not: all of its messages are
// nobody's.
type owners struct {
	perpetual bool
	costs     []cost        // by request, which are numbered from 1 on; 0: nobody's
	askers    []uint32      // by request likewise
	flying    transits[int] // the request of each message on its way
	parties   []party       // by ID - 1
	apart     cost          // nobody's at the end of the warm-up
	carried   []int         // requests that waited then
	before    int           // requests made until then
}

// A cost is what was sent.
type cost struct{ messages, bytes int64 }

func (c *cost) add(d cost, sign int64) {
	c.messages += sign * d.messages
	c.bytes += sign * d.bytes
}

// A party is what a process acts on.
type party struct {
	own     int  // its request, until the release; 0: none
	waits   bool // the request is not granted
	request int  // that the present event is about; 0: none
	asks    bool // the present event is its request
	debts   []debt
}

// A debt is a request of which a message came that nothing was sent for yet.
type debt struct {
	request  int
	of, from uint32 // the process whose request it is, and the sender of the message
}

// newOwners is nil where all messages count.
func newOwners(s *harness.Setup) *owners {
	if s.Scenario.Does().Unmeasured() == 0 {
		return nil
	}
	return &owners{
		perpetual: s.Alg.Spec.Perpetual, costs: make([]cost, 1), askers: make([]uint32, 1),
		parties: make([]party, s.Nodes),
	}
}

// record follows what happens to processes: each record begins another event, but
// that of a grant, which some event leads to.
func (o *owners) record(r *trace.Record) {
	if r.Process == 0 {
		return
	}
	p := &o.parties[r.Process-1]
	if r.Type == trace.Granted {
		p.waits = false
		return
	}
	p.request, p.asks = p.own, false
	switch r.Type {
	case trace.Request:
		p.own, p.waits, p.request, p.asks = len(o.costs), true, len(o.costs), true
		o.costs, o.askers = append(o.costs, cost{}), append(o.askers, r.Process)
	case trace.Released:
		p.own = 0
	case trace.Crash:
		*p = party{}
	}
}

// message follows the requests along the messages of the algorithm.
func (o *owners) message(r *trace.Record) {
	if harness.IsHeartbeat(r) {
		return
	}
	switch r.Type {
	case trace.Send:
		owner := o.send(r)
		o.flying.send(r, owner)
		if r.Plane == trace.Data {
			o.costs[owner].add(cost{1, int64(r.Bytes)}, 1)
		}
	case trace.Duplicate:
		o.flying.again(r)
	default:
		request := 0
		if owner, _ := o.flying.end(r); owner != nil {
			request = *owner
		}
		if r.Type == trace.Deliver {
			o.deliver(r, request)
		}
	}
}

// send finds whose message r is, and settles what it answers.
func (o *owners) send(r *trace.Record) (owner int) {
	if o.perpetual {
		return 0
	}
	p := &o.parties[r.Process-1]
	owner = p.request
	if !p.asks {
		if i := o.owed(p, r.Peer); i >= 0 {
			owner = p.debts[i].request
		}
	}
	p.debts = slices.DeleteFunc(p.debts, func(d debt) bool { return d.request == owner || !o.open(d) })
	return owner
}

// owed is the debt of p that a message to process to answers: of a request of its
// own, or else of one that it passed on; negative: none.
func (o *owners) owed(p *party, to uint32) int {
	if i := slices.IndexFunc(p.debts, func(d debt) bool { return d.of == to && o.open(d) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(p.debts, func(d debt) bool { return d.from == to && o.open(d) })
}

// open says whether the request that is owed an answer still waits.
func (o *owners) open(d debt) bool {
	q := &o.parties[d.of-1]
	return q.waits && q.own == d.request
}

// deliver begins an event that is about the request of a message.
func (o *owners) deliver(r *trace.Record, request int) {
	p := &o.parties[r.Process-1]
	p.request, p.asks = request, false
	if d := (debt{request, o.askers[request], r.Peer}); request > 0 && d.of != r.Process && o.open(d) {
		p.debts = append(p.debts, d)
	}
}

// warm ends the warm-up.
func (o *owners) warm() {
	o.apart, o.before = o.costs[0], len(o.costs)
	for i := range o.parties {
		if p := &o.parties[i]; p.waits {
			o.carried = append(o.carried, p.own)
		}
	}
}

// measured is what the measured requests cost, if the warm-up is over.
func (o *owners) measured() (sum cost) {
	sum = o.costs[0]
	sum.add(o.apart, -1)
	for _, request := range o.carried {
		sum.add(o.costs[request], 1)
	}
	for _, c := range o.costs[o.before:] {
		sum.add(c, 1)
	}
	return sum
}

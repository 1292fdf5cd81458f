package check

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// outages follow one definition of when a leader is there. What ends and begins again at
// one instant is one outage; one that ends where it began is none, since no time passed
// without a leader.
type outages struct {
	of      *metric.Outages
	endless time.Duration           // what has lasted so long at the end is said never to end
	named   bool                    // the Spec of the algorithm names this definition
	measure func(trace.Origin) bool // whether an outage of that origin is what is measured

	down  bool
	ended bool // it is over, unless it goes on at this very instant
	// hastened says that the loss of the leader, since which it counts, is not why it is over.
	hastened bool
	from     time.Duration // when the present or last one began
	until    time.Duration // of one that has ended
	late     time.Duration // how much of it is lateness
	counted  time.Duration // from where the downtime counts
	origin   trace.Origin

	over    []trace.Outage
	total   time.Duration // of all
	longest time.Duration
	lost    span          // of those that are measured and came to their end
	pending time.Duration // of one that is measured and has not
}

func newOutages(of *metric.Outages, endless time.Duration, named bool,
	measure func(trace.Origin) bool) *outages {
	return &outages{of: of, endless: endless, named: named, measure: measure}
}

// follow takes note of whether a leader is there from now on. Origin is why it is not,
// and late by how much the event came late that says that it is; they are asked only
// when that changes.
func (o *outages) follow(there bool, at time.Duration, origin func() trace.Origin,
	late func() time.Duration) {
	if o.ended && at > o.until {
		o.settle()
	}
	switch {
	case there && o.down:
		o.down, o.ended, o.until, o.late = false, true, at, late()
	case there || o.down:
	case o.ended: // at this instant
		o.down, o.ended = true, false
	default:
		o.down, o.from, o.counted, o.origin, o.hastened = true, at, at, origin(), false
	}
}

// lose has an outage count from now on that began for what is not measured: the leader that
// there was before is gone as well.
func (o *outages) lose(at time.Duration) {
	if o.down && !o.measure(o.origin) {
		o.origin, o.counted, o.hastened = trace.LeaderCrashed, at, false
	}
}

// settle counts the outage that is over.
func (o *outages) settle() {
	o.ended = false
	if o.until == o.from && o.origin != trace.AtStart && o.origin != trace.Asked {
		return
	}
	status := trace.Unasked
	switch {
	case !o.measure(o.origin):
	case o.hastened:
		status = trace.Hastened
	default:
		status = trace.Completed
		o.lost.add(o.until-o.counted, o.late)
	}
	o.add(o.until, o.until, status)
}

// add takes in an outage that lasted until then; end is negative if it was not over.
func (o *outages) add(until, end time.Duration, status trace.Progress) {
	o.over = append(o.over, trace.Outage{Definition: o.of.Service.String(), Spec: o.named, Begin: o.from,
		Cause: o.counted, End: end, Origin: o.origin, Status: status})
	o.total += until - o.from
	o.longest = max(o.longest, until-o.from)
}

// finish is the end of the trial.
func (o *outages) finish(at time.Duration) {
	if o.ended {
		o.settle()
	}
	if o.down {
		status := trace.Unasked
		if o.measure(o.origin) {
			status = trace.Pending
			o.pending = max(at, o.from) - o.counted
		}
		o.add(max(at, o.from), -1, status)
	}
}

// attribute finds the first operation that went on during each outage.
func (o *outages) attribute(operations []trace.Operation) {
	for i := range o.over {
		out := &o.over[i]
		out.Operation = 1 + slices.IndexFunc(operations, func(op trace.Operation) bool {
			return op.Cause == out.Begin ||
				(out.End < 0 || op.Cause < out.End) && (op.End < 0 || op.End > out.Begin)
		})
	}
}

// metrics are those of the definition; share is its availability. The downtime is that of all
// outages that count for each that ended: so an outage that the end of the trial cut short, and
// that is known only to last longer, counts with what was seen of it.
func (o *outages) metrics(share float64) []metric.Value {
	never := 0.0
	if o.pending > o.endless {
		never = 1
	}
	return []metric.Value{
		o.of.Downtime.Of(mean(ms(o.lost.total.total+o.pending), o.lost.total.n)),
		o.of.Never.Of(never),
		o.of.Availability.Of(share),
		o.of.Longest.Of(ms(o.longest)),
		o.of.Number.Of(float64(len(o.over))),
	}
}

// clients are virtual: beside each process that is up one sends a request at every whole
// millisecond to whomever its process believes to lead.
type clients struct {
	since          time.Duration
	asking         int // of those that are there
	answered       int
	sent, received int64
}

// every is how often a client asks.
const every = time.Millisecond

// elapse counts the requests up to an instant, that one left out.
func (c *clients) elapse(at time.Duration) {
	at = max(at, c.since)
	n := int64((at+every-1)/every - (c.since+every-1)/every)
	c.since = at
	c.sent += n * int64(c.asking)
	c.received += n * int64(c.answered)
}

// survey is the service at an instant: the process, if any, that leads a majority of all processes and
// reaches it, and how many clients get an answer. It notes which process ruled.
func (e *elections) survey(at time.Duration) (leader algo.ID, answered int) {
	for _, p := range e.Leaders {
		c := e.Around(p, at)
		if c.Led {
			leader = p
		}
		if c.Serves || e.writes != nil && c.Reaches { // what its disk does, writes tell
			answered += c.Served
		}
		e.ruled[p-1] = c.Reaches && (e.ruled[p-1] || c.Led)
	}
	return leader, answered
}

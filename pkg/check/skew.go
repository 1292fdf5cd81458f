package check

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Late messages and timers lengthen what a trial on real nodes reports. A time is
// compared with itself: the share of it that lateness explains says how far it can
// be believed, whatever the latency that was asked for.
const (
	// marked is the share beyond which a trial is marked: a time is then 10 % longer
	// than it would have been.
	marked = 1.0 / 11
	// spoiled is the share beyond which a trial is invalid: half as long again.
	spoiled = 1.0 / 3
	// finest is the least mean latency that an idle machine keeps well enough to be
	// held to it. Its own noise is some 0.05 to 0.1 ms a message; an experiment that asks for less
	// than finest is told, and the trial stands.
	finest = 500 * time.Microsecond
)

// A span is how long something took, in all, and how much of that is lateness.
type span struct {
	metric    *metric.Metric
	total, of sum // of: lateness
}

func (s *span) add(took, late time.Duration) {
	s.total.add(took)
	s.of.add(late)
}

// delays are the times at which something was due on a real node and did not happen
// yet, whatever it was: disjoint, in their order. So are those at which a process handled
// events.
type delays []delay

type delay struct{ from, to time.Duration }

// mostDelays bounds what is remembered: of more the older half is forgotten.
const mostDelays = 1 << 16

// record takes in what happens to a process on its own account, in the order in which
// it happens. For so much of the time since it was due it waited for its own algorithm.
func (d *delays) record(r *trace.Record, behind time.Duration) {
	switch r.Type {
	case trace.Deliver, trace.Timeout, trace.Request, trace.Granted, trace.Released, trace.Elect,
		trace.Elected, trace.Suspect, trace.Restore, trace.Do:
	default:
		return
	}
	if from := r.Due + behind; from < r.At {
		d.add(delay{from, r.At})
	}
}

// add adds a time that ends after all others.
func (d *delays) add(last delay) {
	list := *d
	for len(list) > 0 && list[len(list)-1].to >= last.from {
		last.from = min(last.from, list[len(list)-1].from)
		list = list[:len(list)-1]
	}
	if len(list) == mostDelays {
		list = append(list[:0], list[mostDelays/2:]...)
	}
	*d = append(list, last)
}

// behind is for how much of the time since r was due its process handled other events: the
// algorithm's time, and not the machine's lateness.
func (j *Judge) behind(r *trace.Record) time.Duration {
	if j.busy == nil || r.Process == 0 || r.Due >= r.At {
		return 0
	}
	return j.busy[r.Process-1].since(r.Due)
}

// lateness is by how much the machine was late with r.
func (j *Judge) lateness(r *trace.Record) time.Duration { return r.At - r.Due - j.behind(r) }

// since is for how much of the time from an instant on something was delayed.
func (d delays) since(at time.Duration) (sum time.Duration) {
	for i := len(d) - 1; i >= 0 && d[i].to > at; i-- {
		sum += d[i].to - max(d[i].from, at)
	}
	return sum
}

// within is how much of what began at an instant, at such a lag, and ends now, at another,
// is lateness. What led from there to here lags by the difference; but if something
// else led here, with a history of its own, it was late at most while anything was.
func (d delays) within(from, lagThen, lagNow time.Duration) time.Duration {
	return min((lagNow - lagThen).Abs(), d.since(from))
}

// A skew is the largest share of a reported time that lateness explains, and of which
// metric; NaN if there is no such time.
type skew struct {
	share   float64
	metric  string        // its name
	latency time.Duration // that was asked for, in the mean
}

func (j *Judge) skew() skew {
	l := &j.links
	n := int(l.errors.n)
	var spans []*span
	if !j.setup.Network.Bare() { // else the time on the way has no lateness in it
		late := sum{l.errors.sum, n}
		spans = append(spans, &span{metric.LatencyAchieved, sum{l.given + l.errors.sum, n}, late})
	}
	if !j.faults.stalled { // else what runs late does so by plan
		spans = append(spans, j.problem.spans()...)
	}
	out := skew{share: math.NaN(), latency: l.given / time.Duration(max(n, 1))}
	for _, s := range spans {
		// What is hardly a latency long is compared with a latency.
		whole := max(s.total.mean(), ms(out.latency))
		if share := max(s.of.mean(), 0) / whole; !(share <= out.share) && !math.IsNaN(share) {
			out.share, out.metric = share, s.metric.Name
		}
	}
	return out
}

// JudgeTimes marks a trial on real nodes whose times lateness skews, by its Reason, or
// makes it invalid. It is no part of Finish: what an algorithm did is true however late
// the machine was; code that publishes how long it took calls this as well.
func (v *Verdict) JudgeTimes() {
	what := fmt.Sprintf("%.0f %% of %s is lateness of messages and timers", 100*v.skew.share, v.skew.metric)
	switch {
	case v.Status != trace.OK && v.Status != trace.TimedOut:
	case v.skew.share > spoiled && v.skew.latency >= finest:
		v.Status = trace.Invalid
		v.Reason = fmt.Sprintf("the machine was late: %s (%.0f %% is bearable); use fewer nodes or longer "+
			"latencies, or end what else it does", what, 100*spoiled)
	case v.skew.share > marked && v.Status == trace.OK:
		v.Reason = "late: " + what
	}
}

package check

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// entries judges mutual exclusion. A process is inside from Granted to Released
// or to its crash; the interval is closed, so that a grant at the very instant
// of a release is ordered by the records.
type entries struct {
	setup     *harness.Setup
	room      algo.Room
	inside    []stay // the first to enter comes first
	crowd     *crowd // nil: one at a time
	ownership *ownership
	waiting   waiting
	done      []trace.Operation
	leaves    []time.Duration // turnaround of the measured entries that are over

	patience time.Duration // with those who recover from a fault
	most     int           // entries of others that are not too many
	arrivals int           // of open load: requests made, and when the last was meant
	latest   time.Duration

	warmup    int
	entered   int
	warm      bool          // the warm-up is over
	measured  time.Duration // when it was
	owners    *owners       // nil: without a warm-up, when all messages count
	free      time.Duration // last release while someone waited; negative: none
	freeLag   time.Duration // of that release
	waits     span          // of the measured entries
	sync      span          // of the measured handovers
	handovers []time.Duration
	byProcess []int
	overlaps  int
	maxBypass int

	tokens   tokens
	recovery recovery
}

// A stay is that of a process inside.
type stay struct {
	process algo.ID
	session algo.Session // 0: there are none
	since   time.Duration
}

func newEntries(s *harness.Setup) *entries {
	e := &entries{
		setup: s, waiting: newWaiting(s.Nodes), room: s.Alg.Spec.Room(s.Params), crowd: newCrowd(s),
		warmup: s.Scenario.Does().Unmeasured(), warm: s.Scenario.Does().Unmeasured() == 0, free: -1,
		byProcess: make([]int, s.Clients()), tokens: newTokens(s), owners: newOwners(s),
		waits: span{metric: metric.Waiting}, sync: span{metric: metric.SyncDelay},
	}
	e.patience, e.most = Patience(s)
	e.ownership = newOwnership(e.room, s.Network.Wire)
	return e
}

func (e *entries) record(j *Judge, r *trace.Record) {
	p := algo.ID(r.Process)
	if e.owners != nil {
		e.owners.record(r)
	}
	switch r.Type {
	case trace.Request:
		e.arrivals++
		e.latest = max(e.latest, time.Duration(r.Arg))
		e.waiting.add(trace.Operation{
			Process: r.Process, Cause: time.Duration(r.Arg), Begin: r.At, End: -1, Status: trace.Pending,
		}, j.intendedLag(r))
		e.ownership.wait(r.At, true, false)
		e.recovery.request(r.At)
		if j.order != nil {
			j.order.request(p)
		}
	case trace.Up:
		if j.order != nil && r.Incarnation > 0 {
			j.order.up(p)
		}
	case trace.Granted:
		e.grant(j, p, r)
	case trace.Written, trace.Unwritten:
		e.ownership.write(j, r, e.done)
	case trace.Released:
		e.release(j, p, r)
	case trace.Crash:
		e.crash(p, r.At)
		e.warmedUp(r.At)
		e.tokens.crash(p)
		e.recovery.fault(r.At, e.waiting.n > 0)
	}
}

// warmedUp ends the warm-up, if its last entry is over, or has begun where there may always be
// somebody inside.
func (e *entries) warmedUp(at time.Duration) {
	if !e.warm && e.entered >= e.warmup && (len(e.inside) == 0 || e.room.Places > 1) {
		e.warm, e.measured = true, at
		e.owners.warm()
		e.crowd.reset(at)
	}
}

// intendedLag is the lag of the instant at which a request was meant: that of the
// event that planned it, and none if it was meant whatever happened.
func (j *Judge) intendedLag(r *trace.Record) time.Duration {
	if time.Duration(r.Arg) != r.Due {
		return 0
	}
	return r.Lag() - j.lateness(r)
}

func (e *entries) grant(j *Judge, p algo.ID, r *trace.Record) {
	at := r.At
	j.granted = append(j.granted, p)
	e.tokens.granted(j, p, at)
	session := algo.Session(r.Peer)
	door := e.room.Door(session)
	for _, other := range e.inside {
		if door.Bars(other.session) {
			e.overlaps++
			j.violate(mutualExclusion, "p%d granted at %v while p%d is inside since %v%s",
				p, at, other.process, other.since, e.room.Reason(other.session, session))
		}
	}
	i := e.waiting.first(p)
	if i < 0 {
		j.violate(mutualExclusion, "p%d granted at %v without a request", p, at)
		return
	}
	op, lag, bypassed := e.waiting.requests[i].Operation, e.waiting.requests[i].lag, e.waiting.bypassed(i)
	if j.order != nil {
		j.order.grant(j, p, at, i, &e.waiting)
	}
	e.recovery.grant(at, op.Begin)
	e.leave(i, true)
	e.ownership.wait(at, e.waiting.n > 0, true)
	if !e.crowd.again(p, e.inside) {
		e.starved(j, at)
	}
	op.End, op.Status = at, trace.Completed
	if e.entered++; e.entered <= e.warmup {
		op.Status = trace.Warmup
	} else {
		e.byProcess[p-1]++
		e.maxBypass = max(e.maxBypass, bypassed)
		e.waits.add(at-op.Cause, j.delays.within(op.Cause, lag, r.Lag()))
		if e.free >= 0 {
			e.sync.add(at-e.free, j.delays.within(e.free, e.freeLag, r.Lag()))
			e.handovers = append(e.handovers, at-e.free)
		}
	}
	e.free = -1
	e.done = append(e.done, op)
	e.inside = append(e.inside, stay{p, session, at})
	e.crowd.enters(p, at, session)
	e.crowd.change(at, len(e.inside))
	e.ownership.follow(at, e.inside)
	e.warmedUp(at)
}

func (e *entries) beat(*trace.Record) {}

func (e *entries) spans() []*span { return []*span{&e.waits, &e.sync} }

func (e *entries) release(j *Judge, p algo.ID, r *trace.Record) {
	at := r.At
	i := e.stay(p)
	if i < 0 {
		return
	}
	entered := e.inside[i].since
	e.goes(i, at)
	if e.waiting.n > 0 {
		e.free, e.freeLag = at, r.Lag()
	}
	e.warmedUp(at)
	for k := len(e.done) - 1; k >= 0; k-- { // the last entry of p
		if op := &e.done[k]; algo.ID(op.Process) == p {
			if op.End == entered && op.Status == trace.Completed {
				e.leaves = append(e.leaves, at-op.Cause)
			}
			break
		}
	}
}

// stay is the place of p among those inside; negative: it is not.
func (e *entries) stay(p algo.ID) int {
	return slices.IndexFunc(e.inside, func(s stay) bool { return s.process == p })
}

// goes takes the process at place i from those inside.
func (e *entries) goes(i int, at time.Duration) {
	e.inside = slices.Delete(e.inside, i, i+1)
	e.crowd.change(at, len(e.inside))
	e.ownership.follow(at, e.inside)
}

// leave takes the request of place i from those waiting.
func (e *entries) leave(i int, granted bool) {
	e.waiting.leave(i, granted)
	oldest := time.Duration(math.MaxInt64)
	if e.waiting.n > 0 {
		oldest = e.waiting.requests[e.waiting.head].Begin
	}
	e.recovery.left(oldest)
}

// crash takes p out of wherever it is.
func (e *entries) crash(p algo.ID, at time.Duration) {
	if i := e.stay(p); i >= 0 {
		e.goes(i, at)
	}
	for i := e.waiting.first(p); i >= 0; i = e.waiting.first(p) {
		op := e.waiting.requests[i].Operation
		op.Status = trace.Crashed
		e.done = append(e.done, op)
		e.leave(i, false)
	}
	if e.waiting.n == 0 {
		e.free = -1
	}
	e.ownership.wait(at, e.waiting.n > 0, false)
}

func (e *entries) finish(j *Judge, end harness.End, v *Verdict) {
	v.Operations = slices.Grow(e.done, e.waiting.n)
	for i, r := range e.waiting.all() {
		v.Operations = append(v.Operations, r.Operation)
		e.maxBypass = max(e.maxBypass, e.waiting.bypassed(i))
	}
	var waits []float64
	sum := 0.0
	for _, op := range e.done {
		if op.Status == trace.Completed || op.Status == trace.Warmup {
			v.Completed++
		}
		if op.Status == trace.Completed {
			waits = append(waits, ms(op.End-op.Cause))
			sum += ms(op.End - op.Cause)
		}
	}
	e.metrics(j, end, v, waits, sum)
	switch {
	case e.waiting.n > 0:
		op := e.waiting.requests[e.waiting.head]
		what := fmt.Sprintf("%d requests not granted, the first of p%d at %v", e.waiting.n,
			op.Process, op.Begin)
		j.incomplete(end, v, j.promisesGrants(), deadlock, what)
	case v.Completed == 0:
		v.Status, v.Reason = trace.Unknown, "no process entered the critical section"
	case end.Reason != harness.Finished:
		v.Status, v.Reason = trace.TimedOut, "the scenario did not come to its end within "+end.At.String()
	}
	s := &j.setup.Scenario
	if s.Does().MeanRate() == 0 || s.Varies() || v.Status != trace.OK && v.Status != trace.TimedOut {
		return
	}
	if why := overload(v.Operations); why != "" {
		v.Status, v.Reason = trace.Unstable, why
	}
}

func (e *entries) metrics(j *Judge, end harness.End, v *Verdict, waits []float64, sum float64) {
	slices.Sort(waits)
	n := len(waits)
	throughput := math.NaN()
	if span := (end.At - e.measured).Seconds(); n > 0 && span > 0 {
		throughput = float64(n) / span
	}
	turnaround, handover := 0.0, 0.0
	for _, d := range e.leaves {
		turnaround += ms(d)
	}
	for _, d := range e.handovers {
		handover += ms(d)
	}
	sent := cost{j.totals.Sent, j.totals.Bytes}
	if e.owners != nil {
		sent = e.owners.measured()
	}
	v.Metrics = []metric.Value{
		metric.MessagesPerEntry.Of(mean(float64(sent.messages), n)),
		metric.BytesPerEntry.Of(mean(float64(sent.bytes), n)),
		metric.Waiting.Of(mean(sum, n)),
		metric.WaitingP99.Of(stats.Quantile(waits, 0.99)),
		metric.Turnaround.Of(mean(turnaround, len(e.leaves))),
		metric.SyncDelay.Of(mean(handover, len(e.handovers))),
		metric.Throughput.Of(throughput),
		metric.Fairness.Of(jain(e.byProcess)),
		metric.MaxBypass.Of(float64(e.maxBypass)),
		metric.Violations.Of(float64(e.overlaps)),
		metric.NeverGranted.Of(float64(e.waiting.n)),
	}
	if s := &j.setup.Scenario; s.Does().MeanRate() != 0 {
		v.Metrics = append(v.Metrics, metric.ArrivalRateRequested.Of(s.Does().MeanRate()),
			metric.ArrivalRateAchieved.Of(e.offered(j, end)))
		if s.Varies() {
			v.Metrics = slices.DeleteFunc(v.Metrics, ofOneRate)
			v.Metrics = append(v.Metrics, knee(s, v.Operations)...)
		}
	}
	v.Metrics = append(v.Metrics, e.tokens.metrics()...)
	v.Metrics = append(v.Metrics, e.recovery.metrics()...)
	v.Metrics = append(v.Metrics, e.crowd.metrics(end.At)...)
	v.Metrics = append(v.Metrics, e.ownership.metrics(end.At)...)
	v.Metrics = append(v.Metrics, j.faults.metrics()...)
}

// ofOneRate says whether a metric means something only where the rate of a load, if it has
// one, is the same throughout.
func ofOneRate(v metric.Value) bool {
	switch metric.Named(v.Name) {
	case metric.Waiting, metric.WaitingP99, metric.Turnaround, metric.Throughput:
		return true
	}
	return false
}

// offered is how many requests per second open load made while all processes were up.
// Where their number ends it, the span ends with the last of them, which it therefore
// does not count: (n - 1) / t is without bias. It is unknown until all are made.
func (e *entries) offered(j *Judge, end harness.End) float64 {
	s := j.setup.Scenario.Does()
	n, span := e.arrivals, s.Lasts()
	if s.Total() > 0 {
		n, span = n-1, e.latest
	}
	if end.Reason != harness.Finished || n < 0 {
		return math.NaN()
	}
	return ratio(float64(n)*float64(j.setup.Clients()), j.faults.uptime(span).Seconds())
}

// promisesGrants says whether every request is to be granted.
func (j *Judge) promisesGrants() bool { return j.setup.Alg.Spec.Promises.StarvationFree }

// jain is Jain's index of fairness: 1 if all counts are equal, 1/n if one
// process got everything; NaN if nobody got anything.
func jain(counts []int) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range counts {
		sum += float64(c)
		squares += float64(float64(c) * float64(c))
	}
	return sum * sum / (float64(len(counts)) * squares)
}

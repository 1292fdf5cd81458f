package check

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// elections judges leader elections. There is agreement when every live process
// in the largest part of the network names the same live leader, who is there as
// well. A paused process is live but in no part: it is not asked, and if it holds
// itself leader, that does not count until it goes on. An operation begins when
// agreement is lost, or at the start if there is none, and ends when there is
// agreement again.
type elections struct {
	setup   *harness.Setup
	network *network
	faults  *faults
	belief  []algo.ID // by ID - 1
	scope   []bool    // in the largest part of a cut network
	votes   []int     // live processes in scope that name each process; by ID, 0 for nobody
	live    int       // processes in scope that are up
	support []int     // live processes, in scope or not, that name each process
	alive   int
	agreed  algo.ID // the leader that there is agreement on; None: there is none
	last    algo.ID // the leader before
	changes int
	terms   map[uint64]algo.ID // the leader of each term, where terms mean something

	current   trace.Operation
	open      bool
	touched   bool          // somebody named a leader or none during it
	before    Totals        // when the operation was caused
	marked    time.Duration // when something came to a process that may cause the next one
	mark      Totals        // then
	counting  bool          // the messages of the last operation are still being counted
	messages  int64         // of the operations that are over
	bytes     int64
	rounds    []uint32
	done      []trace.Operation
	ok        int           // operations that count
	took      span          // from the begin of those
	down      span          // from their cause
	beginLate time.Duration // how late the event was by which the current one began
	beginLag  time.Duration // and its lag
	timed     bool          // a timer has fired since
	cause     trace.Type    // of the current one
	apart     bool          // some link is cut
	healedAt  time.Duration // when the network was whole again, with no agreement since; negative: none
	heals     sum           // from there to agreement
	duplicate bool          // two live processes hold themselves leader

	since     time.Duration // of the spans below
	split     time.Duration
	available time.Duration
	majority  bool
}

func newElections(s *harness.Setup, net *network, m *faults) *elections {
	n := s.Nodes
	e := &elections{
		setup: s, network: net, faults: m, belief: make([]algo.ID, n), scope: make([]bool, n),
		terms: map[uint64]algo.ID{}, healedAt: -1,
		took: span{metric: metric.Election}, down: span{metric: metric.Downtime},
	}
	for i := range n {
		e.belief[i], e.scope[i] = s.Leader, true
	}
	e.recount()
	e.agreed = e.agreement(algo.None)
	e.last, e.marked = s.Leader, -1
	if e.agreed == algo.None {
		e.open = true
		e.current = trace.Operation{Begin: -1, End: -1, Status: trace.Pending}
	}
	return e
}

// remember notes that what a process does now may be the next operation.
func (e *elections) remember(j *Judge, at time.Duration) {
	if !e.open && e.marked != at {
		e.marked, e.mark = at, j.totals
		j.chains.mark()
	}
}

// begin opens an operation. What its first process sent before it said that it
// trusts nobody is part of it.
func (e *elections) begin(j *Judge, cause trace.Type, at time.Duration) {
	e.remember(j, at)
	e.cause = cause
	e.settle(&e.mark)
	e.open, e.touched, e.before, e.beginLate = true, false, e.mark, 0
	e.current = trace.Operation{Cause: at, Begin: -1, End: -1, Status: trace.Pending}
}

// close ends an operation with agreement on leader. Its messages are counted on
// until all is quiet; those of an algorithm that never is, until now.
func (e *elections) close(j *Judge, leader algo.ID, r *trace.Record) {
	e.open = false
	if !e.touched { // a heal or a crash has made those agree that never ceased to
		return
	}
	op := &e.current
	op.Process, op.End, op.Status = uint32(leader), r.At, e.status(leader)
	late := e.lateness(j, r)
	if op.Begin < 0 {
		op.Begin = op.Cause
	}
	e.done = append(e.done, *op)
	if op.Status != trace.Completed {
		return
	}
	e.ok++
	e.took.add(op.End-op.Begin, late)
	if op.Begin > op.Cause { // else it is the cause that was late
		late += e.beginLate
	}
	e.down.add(op.End-op.Cause, late)
	e.counting = true
	e.rounds = append(e.rounds, j.chains.longest)
	if e.setup.Alg.Spec.Perpetual {
		e.settle(&j.totals)
	}
}

// started is the first event by which a process takes part in the operation.
func (e *elections) started(j *Judge, r *trace.Record) {
	if e.open && e.current.Begin < 0 {
		e.current.Begin, e.beginLag, e.beginLate = r.At, r.Lag(), r.At-r.Due
		e.timed, j.links.latest = false, 0
	}
}

// lateness is how much longer the operation that r ends may have taken than on a
// machine that runs everything the moment it is due: what ran late on the way from
// its begin to its end; and if timers fired, which a late message may have
// missed, as much as the latest message was late.
func (e *elections) lateness(j *Judge, r *trace.Record) time.Duration {
	late := time.Duration(0)
	if r.Type == trace.Elected && e.current.Begin >= 0 {
		late = j.delays.within(e.current.Begin, e.beginLag, r.Lag())
	}
	if e.timed {
		late = max(late, j.links.latest)
	}
	return late
}

func (e *elections) spans() []*span { return []*span{&e.took, &e.down} }

// status says whether the operation that ends with leader is an election that
// counts. A return does not cause one that leaves the leader in place; and where a
// crash of the leader is what is measured, nothing else causes one that does.
func (e *elections) status(leader algo.ID) trace.Progress {
	k := e.setup.Scenario.Declared()
	switch {
	case k.Crashes && e.cause != trace.Crash && e.cause != trace.Up:
		return trace.Unasked
	case e.cause != trace.Up:
	case k.Crashes && leader != e.last:
		return trace.Restarted
	case k.Crashes || k.Timed && leader == e.last:
		return trace.Joined
	}
	return trace.Completed
}

// settle adds the messages of the last operation, up to now, to the sum.
func (e *elections) settle(now *Totals) {
	if e.counting {
		e.counting = false
		e.messages += now.Sent - e.before.Sent
		e.bytes += now.Bytes - e.before.Bytes
	}
}

// regroup follows a change of who is up, or of who reaches whom.
func (e *elections) regroup(at time.Duration) {
	e.divide(at)
	e.recount()
}

// recount is needed when processes come and go; beliefs are counted as they
// change.
func (e *elections) recount() {
	n := e.setup.Nodes
	e.votes, e.support, e.live, e.alive = make([]int, n+1), make([]int, n+1), 0, 0
	for i := range n {
		if !e.faults.up[i] {
			continue
		}
		e.alive++
		e.support[e.belief[i]]++
		if e.asked(algo.ID(i + 1)) {
			e.live++
			e.votes[e.belief[i]]++
		}
	}
	e.majority, e.duplicate = e.widely(), e.leaders() > 1
}

// agreement is the leader that all name; hint is one to look at first.
func (e *elections) agreement(hint algo.ID) algo.ID {
	if hint == algo.None {
		for p, votes := range e.votes {
			if p > 0 && votes > 0 {
				hint = algo.ID(p)
				break
			}
		}
	}
	if e.agreedOn(hint) {
		return hint
	}
	return algo.None
}

func (e *elections) agreedOn(p algo.ID) bool {
	return p != algo.None && e.live > 0 && e.votes[p] == e.live && e.asked(p)
}

// widely says whether a majority of the live processes agrees on a live leader.
func (e *elections) widely() bool {
	for p := 1; p < len(e.support); p++ {
		if 2*e.support[p] > e.alive && e.present(uint32(p)) {
			return true
		}
	}
	return false
}

// leaders counts the live processes that hold themselves leader.
func (e *elections) leaders() (count int) {
	for i := range e.belief {
		if e.belief[i] == algo.ID(i+1) && e.present(uint32(i+1)) {
			count++
		}
	}
	return count
}

func (e *elections) record(j *Judge, r *trace.Record) {
	e.elapse(r.At)
	p := algo.ID(r.Process)
	switch r.Type {
	case trace.Up:
		if r.Incarnation == 0 {
			return
		}
		e.belief[p-1] = algo.None
		j.chains.up(r.Process)
		e.regroup(r.At)
	case trace.Pause, trace.Resume:
		e.regroup(r.At)
		e.onlyOne(j, p, r.At)
	case trace.Crash:
		e.regroup(r.At)
		e.anew(j, r.At)
	case trace.Cut, trace.Heal:
		e.rejoin(r.At)
		e.regroup(r.At)
	case trace.Elect:
		e.remember(j, r.At)
		e.started(j, r)
		return
	case trace.Suspect, trace.Restore, trace.Timeout, trace.Do:
		e.timed = e.timed || r.Type == trace.Timeout
		e.remember(j, r.At)
		return
	case trace.Elected:
		e.elected(j, r)
	default:
		return
	}
	e.judge(j, r)
}

// elapse adds the span since the last change to what was true during it.
func (e *elections) elapse(at time.Duration) {
	at = max(at, 0)
	if e.duplicate {
		e.split += at - e.since
	}
	if e.majority {
		e.available += at - e.since
	}
	e.since = at
}

func (e *elections) elected(j *Judge, r *trace.Record) {
	i, leader := r.Process-1, algo.ID(r.Peer)
	if int(leader) > len(e.belief) {
		j.violate(agreement, "p%d names p%d at %v, which is no process", r.Process, leader, r.At)
		leader = algo.None
	}
	if leader != algo.None {
		j.informed = r.At
	}
	if !e.faults.up[i] {
		return
	}
	e.touched = true
	if algo.ID(r.Process) == leader && e.setup.Alg.Spec.Promises.Leadership == algo.PerTerm {
		if other := e.terms[r.Arg]; other != algo.None && other != leader {
			j.violate(leadership, "p%d leads term %d at %v, which p%d led", leader, r.Arg, r.At, other)
		}
		e.terms[r.Arg] = leader
	}
	old := e.belief[i]
	if e.belief[i] = leader; old == leader {
		return
	}
	e.support[old]--
	e.support[leader]++
	if e.asked(algo.ID(r.Process)) {
		e.votes[old]--
		e.votes[leader]++
	}
	if algo.ID(r.Process) == leader || algo.ID(r.Process) == old {
		e.duplicate = e.leaders() > 1
		e.onlyOne(j, algo.ID(r.Process), r.At)
	}
	// Only these two counts changed, so no other leader can have gained a majority.
	if e.majority || 2*e.support[leader] > e.alive {
		e.majority = e.widely()
	}
}

// onlyOne objects if p has become one leader of several, where that is promised never
// to happen.
func (e *elections) onlyOne(j *Judge, p algo.ID, at time.Duration) {
	if e.duplicate && e.belief[p-1] == p && e.present(uint32(p)) &&
		e.setup.Alg.Spec.Promises.Leadership == algo.AtMostOne {
		j.violate(leadership, "p%d holds itself leader at %v, while another does", p, at)
	}
}

// anew has an election that is to be measured begin with the crash that falls into
// another one.
func (e *elections) anew(j *Judge, at time.Duration) {
	if e.open && e.cause != trace.Crash && e.setup.Scenario.Declared().Crashes {
		e.cause, e.before = trace.Crash, j.totals
		e.current.Cause, e.current.Begin = at, -1
		j.chains.mark()
	}
}

// judge opens an operation when agreement is lost and closes it when there is
// agreement again.
func (e *elections) judge(j *Judge, r *trace.Record) {
	now := e.agreed
	if !e.agreedOn(now) {
		hint := algo.None
		if r.Type == trace.Elected {
			hint = e.belief[r.Process-1]
		}
		now = e.agreement(hint)
	}
	switch {
	case now == algo.None && e.agreed != algo.None:
		e.begin(j, r.Type, r.At)
	case now != algo.None && e.open:
		e.close(j, now, r)
	}
	if r.Type == trace.Elected && r.Peer == 0 {
		e.started(j, r)
	}
	if now != algo.None && now != e.last {
		e.changes++
		e.last = now
	}
	if now != algo.None && e.healedAt >= 0 {
		e.heals.add(r.At - e.healedAt)
		e.healedAt = -1
	}
	e.agreed = now
}

// rejoin notes when the network becomes whole again.
func (e *elections) rejoin(at time.Duration) {
	switch {
	case e.network.apart:
		e.healedAt = -1
	case e.apart:
		e.healedAt = at
	}
	e.apart = e.network.apart
}

func (e *elections) finish(j *Judge, end harness.End, v *Verdict) {
	e.elapse(end.At)
	e.settle(&j.totals)
	var detection, election, downtime float64
	for _, op := range e.done {
		if op.Status != trace.Completed {
			continue
		}
		detection += ms(op.Begin - op.Cause)
		election += ms(op.End - op.Begin)
		downtime += ms(op.End - op.Cause)
	}
	n := e.ok
	v.Operations, v.Completed = e.done, len(e.done)
	spec := &e.setup.Alg.Spec
	switch {
	case e.open && e.last != algo.None && e.lasting() && end.Reason == harness.Finished:
		// The end found one going on.
		v.Operations = append(v.Operations, e.current)
	case e.open:
		v.Operations = append(v.Operations, e.current)
		e.incomplete(j, end, v, spec.Promises)
	case n == 0 && e.lasting() && end.Reason == harness.Finished: // all agreed all the time
	case n == 0:
		v.Status, v.Reason = trace.Unknown, "no election took place"
	case end.Reason != harness.Finished:
		v.Status, v.Reason = trace.TimedOut, "the scenario did not come to its end within "+end.At.String()
	default:
		e.judgeHighest(j)
	}
	rounds := 0.0
	for _, r := range e.rounds {
		rounds += float64(r)
	}
	total := math.NaN()
	if end.At > 0 {
		total = ms(end.At)
	}
	v.Metrics = []metric.Value{
		metric.Detection.Of(mean(detection, n)),
		metric.Election.Of(mean(election, n)),
		metric.Downtime.Of(mean(downtime, n)),
		metric.MessagesPerElection.Of(mean(float64(e.messages), n)),
		metric.BytesPerElection.Of(mean(float64(e.bytes), n)),
		metric.MessageDelays.Of(mean(rounds, n)),
		metric.LeaderChanges.Of(float64(e.changes)),
		metric.SplitBrain.Of(ms(e.split)),
		metric.Availability.Of(ms(e.available) / total),
	}
	if e.heals.n > 0 || e.healedAt >= 0 {
		v.Metrics = append(v.Metrics, metric.Heal.Of(e.heals.mean()))
	}
	v.Metrics = append(v.Metrics, j.faults.metrics()...)
}

// lasting says whether the scenario is about a span of time and not about one
// election: none is needed then, and one may be going on at the end.
func (e *elections) lasting() bool {
	k := e.setup.Scenario.Declared()
	return k.Timed || k.Lasting && !e.open
}

package check

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// elections judges leader elections. There is agreement when every live process in
// the largest part of the network names the same live leader, which is there as
// well. A paused process is live but in no part: it is not asked, and if it
// considers itself leader, that does not count until it goes on. An operation
// begins when agreement is lost, or at the start if there is none, and ends when
// there is agreement again.
type elections struct {
	*harness.Leadership
	setup  *harness.Setup
	links  *harness.Links
	faults *faults

	agreed  algo.ID // the leader that there is agreement on; None: there is none
	last    algo.ID // the last one that there was agreement on
	prior   algo.ID // that of before the operation
	changes int
	leads   map[uint64]algo.ID // the leader of each term, where one is promised
	terms   terms              // likewise

	current   trace.Operation
	open      bool
	closing   *closing      // it has ended, unless it goes on at this very instant
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
	beginLate time.Duration // how late the event was by which the current one began
	beginLag  time.Duration // and its lag
	timed     bool          // a timer has fired since
	apart     bool          // some link is cut
	healedAt  time.Duration // when the network was whole again, with no agreement since; negative: none
	heals     sum           // from there to agreement

	haste   haste
	phases  phases
	since   time.Duration
	split   time.Duration // while two live processes held themselves leader
	outages map[algo.Service]*outages
	clients clients
	writes  *writes // nil: clients are virtual
	vigil   vigil
	there   bool                 // a leader, as Spec.Service defines one
	woke    []waking             // what last had each process act on its own account, by ID - 1
	handled []delay              // when each last handled an event on a real node, likewise
	doubts  []map[algo.ID]waking // whom the detector of each suspects: since when, and why
	ruled   []bool               // leaders that lost no majority since one followed them
	demoted int                  // leaders that gave up for nothing
	reigns  *reigns              // nil: nobody asks
}

// A waking is what had a process act otherwise than by a message, and what an election is
// put down to that follows at once.
type waking struct {
	at     time.Duration
	origin trace.Origin
}

// closing is the end of an operation, as it was at that instant.
type closing struct {
	leader algo.ID
	at     time.Duration
	late   time.Duration
	totals Totals
	delays uint32 // the longest chain of messages
}

func newElections(s *harness.Setup, links *harness.Links, m *faults) *elections {
	n := s.Nodes
	e := &elections{
		Leadership: harness.NewLeadership(s.Leader, m.up, m.paused, links),
		setup:      s, links: links, faults: m, leads: map[uint64]algo.ID{}, terms: newTerms(n), healedAt: -1,
		took: span{metric: metric.Election}, outages: map[algo.Service]*outages{},
		woke: make([]waking, n), handled: make([]delay, n), doubts: make([]map[algo.ID]waking, n),
		ruled: make([]bool, n),
		vigil: newVigil(s), phases: newPhases(s),
		haste: newHaste(s),
	}
	for _, service := range algo.Services() {
		e.outages[service] = newOutages(metric.OutagesOf(service), s.Recovers(&s.Alg.Spec),
			service == s.Alg.Spec.Service, e.measured)
	}
	e.Disks = m.disks
	if s.WritesEvery > 0 {
		e.writes = &writes{rounds: map[time.Duration]*round{}}
	}
	if s.Reigns {
		e.reigns = newReigns(n)
		e.reigns.follow(&trace.Record{}, e)
	}
	e.agreed = e.Agreement(algo.None)
	e.last, e.marked = s.Leader, -1
	if e.agreed == algo.None {
		e.open = true
		e.current = trace.Operation{Begin: -1, End: -1, Origin: trace.AtStart, Status: trace.Pending}
	}
	e.follow(0, func() trace.Origin { return trace.AtStart }, nil)
	return e
}

// remember notes that what a process does now may be the next operation, unless one goes on or may do so at
// this very instant.
func (e *elections) remember(j *Judge, at time.Duration) {
	if !e.open && e.closing == nil && e.marked != at {
		e.marked, e.mark = at, j.totals
		j.chains.mark()
	}
}

// begin opens an operation. What its first process sent before it said that it
// trusts nobody is part of it.
func (e *elections) begin(j *Judge, r *trace.Record, origin trace.Origin) {
	at := e.began(r)
	e.remember(j, r.At)
	e.prior = e.last
	e.settle(&e.mark)
	e.open, e.touched, e.before, e.beginLate = true, r.Type == trace.Elected, e.mark, 0
	e.haste.now = false
	e.current = trace.Operation{Cause: at, Begin: -1, End: -1, Origin: origin, Status: trace.Pending,
		Phase: e.phase(r)}
}

// phase is that of the leader of before when r happens, if it still leads.
func (e *elections) phase(r *trace.Record) float64 {
	if e.last == algo.None || e.Belief[e.last-1] != e.last {
		return 0
	}
	return e.phases.at(r, e.last)
}

// close ends an operation with agreement on leader, if that lasts: what is lost again at
// the same instant goes on. Its messages are counted on until all is quiet; those of an
// algorithm that never is, until now.
func (e *elections) close(j *Judge, leader algo.ID, r *trace.Record) {
	e.open = false
	if e.touched { // else a heal or a crash has made those agree that never ceased to
		e.closing = &closing{leader, r.At, e.lateness(j, r), j.totals, j.chains.longest}
	}
}

// conclude counts the operation that is over. One that ended where it began is none: no
// time passed without agreement.
func (e *elections) conclude() {
	c, op := e.closing, &e.current
	e.closing = nil
	if c.at == op.Cause && op.Origin != trace.AtStart && op.Origin != trace.Asked {
		return
	}
	op.Process, op.End, op.Status = uint32(c.leader), c.at, e.status(c.leader)
	if op.Status == trace.Completed && e.haste.now {
		op.Status = trace.Hastened
		e.haste.n++
	}
	if op.Begin < 0 {
		op.Begin = op.Cause
	}
	e.done = append(e.done, *op)
	if op.Status != trace.Completed {
		return
	}
	e.ok++
	e.terms.add(op.Cause, op.End)
	e.took.add(op.End-op.Begin, c.late)
	e.counting = true
	e.rounds = append(e.rounds, c.delays)
	if e.setup.Alg.Spec.Perpetual {
		e.settle(&c.totals)
	}
}

// started is the first event by which a process takes part in the operation.
func (e *elections) started(j *Judge, r *trace.Record) {
	if e.open && e.current.Begin < 0 {
		e.current.Begin, e.beginLag, e.beginLate = e.began(r), r.Lag(), j.lateness(r)
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

// downLate is lateness from the cause on, which may have been noticed late.
func (e *elections) downLate(j *Judge, r *trace.Record) time.Duration {
	late := e.lateness(j, r)
	if e.current.Begin > e.current.Cause { // else it is the cause that was late
		late += e.beginLate
	}
	return late
}

func (e *elections) spans() []*span {
	down := e.outages[e.setup.Alg.Spec.Service].lost
	down.metric = metric.Downtime
	return []*span{&e.took, &down}
}

// measured says whether an outage of that origin is what the scenario is about.
func (e *elections) measured(o trace.Origin) bool {
	if o == trace.AtStart && e.setup.Leaderless() {
		return false
	}
	return e.setup.Scenario.Declared().Measures(o)
}

// status says whether the operation that ends with leader is an election that counts. A
// return does not cause one that leaves the leader in place.
func (e *elections) status(leader algo.ID) trace.Progress {
	switch origin := e.current.Origin; {
	case e.measured(origin):
		return trace.Completed
	case origin != trace.CameBack:
		return trace.Unasked
	case leader != e.prior:
		return trace.Restarted
	}
	return trace.Joined
}

// settle adds the messages of the last operation, up to now, to the sum.
func (e *elections) settle(now *Totals) {
	if e.counting {
		e.counting = false
		e.messages += now.Sent - e.before.Sent
		e.bytes += now.Bytes - e.before.Bytes
	}
}

func (e *elections) record(j *Judge, r *trace.Record) {
	e.overdue(j, r.At)
	e.elapse(r.At)
	p := algo.ID(r.Process)
	switch r.Type {
	case trace.Up:
		if r.Incarnation == 0 {
			return
		}
		e.Belief[p-1], e.doubts[p-1], e.woke[p-1] = algo.None, nil, waking{}
		e.haste.missed[p-1] = never
		j.chains.up(r.Process)
		e.Regroup(r.At)
		e.judge(j, r, false)
	case trace.Resume:
		e.Regroup(r.At)
		e.onlyOne(j, p, r.At)
		e.judge(j, r, false)
	case trace.Crash, trace.Pause:
		e.terms.gone(p)
		led := slices.Contains(e.Leaders, p) || e.last == p
		e.ruled[p-1] = false
		e.Regroup(r.At)
		underway := e.open && (e.current.Origin == trace.Mistrusted || e.current.Origin == trace.Unneeded)
		e.judge(j, r, led)
		if led || slices.Contains(e.setup.Scenario.Does().Cause(), r.Type) {
			e.anew(j, r)
		}
		if led {
			e.bereave(p, r.At, underway)
		}
	case trace.Cut, trace.Heal:
		e.rejoin(r.At)
		e.Regroup(r.At)
		e.judge(j, r, false)
	case trace.Fault:
		e.judge(j, r, false)
	case trace.Elect:
		e.wake(j, r, e.initiates(p, r.At))
		e.started(j, r)
		e.disturbed(j, r.At, false)
	case trace.Do:
		e.wake(j, r, trace.Asked)
	case trace.Suspect:
		e.wake(j, r, e.suspects(p, algo.ID(r.Peer), r.At))
	case trace.Restore:
		e.wake(j, r, e.restores(p, algo.ID(r.Peer)))
	case trace.Timeout:
		e.timed = true
		e.wake(j, r, trace.Mistrusted)
		e.phases.record(r)
	case trace.Elected:
		e.elected(j, r)
		e.judge(j, r, false)
	}
	e.reigns.follow(r, e)
}

func (e *elections) beat(r *trace.Record) { e.phases.record(r) }

// wake notes that a process acts otherwise than by a message, and so may begin the next
// operation. Of several reasons at one instant the first is that of the others.
func (e *elections) wake(j *Judge, r *trace.Record, origin trace.Origin) {
	e.remember(j, r.At)
	if w := &e.woke[r.Process-1]; w.at != r.At || w.origin == "" {
		*w = waking{r.At, origin}
	}
}

// moved notes that what a process asks for in the present event happens when r does: its handler
// took until then.
func (e *elections) moved(r *trace.Record) {
	took := time.Duration(r.Arg)
	e.handled[r.Process-1] = delay{r.At - took, r.At}
	if w := &e.woke[r.Process-1]; w.at == r.At-took {
		w.at = r.At
	}
	if e.marked == r.At-took {
		e.marked = r.At
	}
}

// began is when the event happened that r is part of. No operation begins before the last one ended.
func (e *elections) began(r *trace.Record) time.Duration {
	at := r.At
	if r.Type == trace.Elected && e.handled[r.Process-1].to == at {
		at = e.handled[r.Process-1].from
	}
	if n := len(e.done); n > 0 {
		at = max(at, e.done[n-1].End)
	}
	return max(at, min(e.current.Cause, r.At))
}

// suspects says what an election is put down to that p begins since its detector suspects q.
func (e *elections) suspects(p, q algo.ID, at time.Duration) trace.Origin {
	origin := trace.Mistrusted
	switch {
	case q == algo.None || !e.Present(q):
		origin = trace.OtherCrashed
	case e.links.Apart && e.Severed(p, q, at):
		origin = trace.Parted
	}
	if e.doubts[p-1] == nil {
		e.doubts[p-1] = map[algo.ID]waking{}
	}
	e.doubts[p-1][q] = waking{at, origin}
	return origin
}

// restores is the same for one that it suspects no longer.
func (e *elections) restores(p, q algo.ID) trace.Origin {
	doubt := e.doubts[p-1][q]
	delete(e.doubts[p-1], q)
	return e.regained(q, doubt)
}

// initiates is the same for one that p begins as an initiator: on account of its detector if that suspects
// the leader that p names, unless it is a script that says who begins.
func (e *elections) initiates(p algo.ID, at time.Duration) trace.Origin {
	q := e.Belief[p-1]
	doubt, doubts := e.doubts[p-1][q]
	switch {
	case !doubts || e.setup.Scenario.Declared().Scripted:
		return trace.Asked
	case !e.Present(q):
		return trace.OtherCrashed
	case e.links.Apart && e.Severed(p, q, at):
		return trace.Parted
	}
	return e.regained(q, doubt)
}

// regained is the same for q that was doubted, and is present and in reach.
func (e *elections) regained(q algo.ID, doubt waking) trace.Origin {
	switch i := q - 1; {
	case doubt.origin == trace.OtherCrashed,
		q != algo.None && max(e.faults.crashedAt[i], e.faults.resumed[i]) > doubt.at:
		return trace.CameBack
	case doubt.origin == trace.Mistrusted:
		return trace.Mistrusted
	}
	return trace.Mended
}

// elapse adds the span since the last change to what was true during it.
func (e *elections) elapse(at time.Duration) {
	at = max(at, 0)
	if e.closing != nil && at > e.closing.at {
		e.conclude()
	}
	if len(e.Leaders) > 1 {
		e.split += at - e.since
	}
	e.clients.elapse(at)
	e.since = at
}

func (e *elections) elected(j *Judge, r *trace.Record) {
	i, leader := r.Process-1, algo.ID(r.Peer)
	if int(leader) > len(e.Belief) {
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
	if leader != algo.None {
		e.learnt(j, r.Process, r.At)
	}
	if e.perTerm() {
		e.terms.elected(r, leader == algo.None && e.Present(algo.ID(r.Process)) &&
			e.Around(algo.ID(r.Process), r.At).Reaches)
		if algo.ID(r.Process) == leader {
			if other := e.leads[r.Arg]; other != algo.None && other != leader {
				j.violate(leadership, "p%d leads term %d at %v, which p%d led", leader, r.Arg, r.At, other)
			}
			e.leads[r.Arg] = leader
		}
	}
	old, p := e.Belief[i], algo.ID(r.Process)
	if !e.Name(p, leader) {
		return
	}
	e.gives(p, old)
	if old == p {
		if e.ruled[i] {
			e.demoted++
		}
		e.ruled[i] = false
	}
	if leader == p && e.Present(p) {
		e.onlyOne(j, p, r.At)
	}
}

// perTerm says whether terms mean something: in each there is one leader at most.
func (e *elections) perTerm() bool { return e.setup.Alg.Spec.Promises.Leadership == algo.PerTerm }

// onlyOne objects if p has become one leader of several, where that is promised never
// to happen.
func (e *elections) onlyOne(j *Judge, p algo.ID, at time.Duration) {
	if len(e.Leaders) > 1 && slices.Contains(e.Leaders, p) &&
		e.setup.Alg.Spec.Promises.Leadership == algo.AtMostOne {
		j.violate(leadership, "p%d holds itself leader at %v, while another does", p, at)
		e.reigns.doubled(j, at)
	}
}

// anew has what is measured begin now, if something else is going on: the leader of
// before is gone as well.
func (e *elections) anew(j *Judge, r *trace.Record) {
	if e.open && !e.measured(e.current.Origin) {
		e.before = j.totals
		e.current.Origin, e.current.Cause, e.current.Begin = trace.LeaderCrashed, r.At, -1
		e.current.Phase = e.phase(r)
		e.haste.now = false
		j.chains.mark()
	}
	for _, o := range e.outages {
		o.lose(r.At)
	}
}

// origin says why there is no leader any more, if that is so since r; led says whether
// the process that r is about was one.
func (e *elections) origin(r *trace.Record, led bool) trace.Origin {
	switch r.Type {
	case trace.Crash, trace.Pause:
		if led {
			return trace.LeaderCrashed
		}
		return trace.OtherCrashed
	case trace.Fault:
		return trace.Unwritable
	case trace.Up, trace.Resume:
		return trace.CameBack
	case trace.Cut:
		return trace.Parted
	case trace.Heal:
		return trace.Mended
	}
	w := e.woke[r.Process-1]
	switch {
	case e.open && !e.current.Origin.Loss(): // what began that is not over
		return e.current.Origin
	case w.at == r.At && w.origin != "" && w.origin != trace.Mistrusted:
		return w.origin
	case e.trouble() != "":
		return e.trouble()
	case w.at == r.At && w.origin == trace.Mistrusted,
		e.doubts[r.Process-1][e.last].origin == trace.Mistrusted:
		return trace.Mistrusted
	}
	return trace.Unneeded
}

// trouble is what, at present, can keep processes from having a leader that is up; "": nothing.
func (e *elections) trouble() trace.Origin {
	switch {
	case e.links.Apart:
		return trace.Parted
	case slices.ContainsFunc(e.faults.disks, fault.Disk.Delays):
		return trace.Unwritable
	case !e.Majority(e.Standing):
		return trace.OtherCrashed
	}
	return ""
}

// judge opens an operation when agreement is lost and closes it when there is agreement
// again, and follows the outages.
func (e *elections) judge(j *Judge, r *trace.Record, led bool) {
	now := e.agreed
	if !e.AgreedOn(now) {
		hint := algo.None
		if r.Type == trace.Elected {
			hint = e.Belief[r.Process-1]
		}
		now = e.Agreement(hint)
	}
	switch {
	case now == algo.None && e.agreed != algo.None && e.closing != nil: // at this instant
		e.closing, e.open = nil, true
	case now == algo.None && e.agreed != algo.None:
		e.begin(j, r, e.origin(r, led))
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
	e.follow(r.At, func() trace.Origin { return e.origin(r, led) },
		func() time.Duration { return e.downLate(j, r) })
	e.missed(j, r.At)
}

// follow has the outages follow what is so from now on.
func (e *elections) follow(at time.Duration, origin func() trace.Origin, late func() time.Duration) {
	leader, answered := e.survey(at)
	e.clients.asking, e.clients.answered = e.Alive, answered
	e.outages[algo.Agreed].follow(e.agreed != algo.None, at, origin, late)
	e.outages[algo.Led].follow(leader != algo.None, at, origin, late)
	e.outages[algo.Served].follow(answered > 0, at, origin, late)
	if e.writes != nil {
		e.writes.follow(at, e.trouble())
	}
	e.there = [...]bool{e.agreed != algo.None, leader != algo.None, answered > 0}[e.setup.Alg.Spec.Service]
}

// rejoin notes when the network becomes whole again.
func (e *elections) rejoin(at time.Duration) {
	switch {
	case e.links.Apart:
		e.healedAt = -1
	case e.apart:
		e.healedAt = at
	}
	e.apart = e.links.Apart
}

func (e *elections) finish(j *Judge, end harness.End, v *Verdict) {
	e.overdue(j, end.At)
	e.elapse(end.At)
	if e.closing != nil {
		e.conclude()
	}
	e.settle(&j.totals)
	if e.open && e.measured(e.current.Origin) {
		e.terms.pending(e.current.Cause, end.At)
	}
	var detection, election float64
	for _, op := range e.done {
		if op.Status == trace.Completed {
			detection += ms(op.Begin - op.Cause)
			election += ms(op.End - op.Begin)
		}
	}
	n := e.ok
	v.Operations, v.Completed = e.done, len(e.done)
	e.conclusion(j, end, v)
	unneeded := 0
	for _, op := range v.Operations {
		if op.Origin == trace.Mistrusted || op.Origin == trace.Unneeded {
			unneeded++
		}
	}
	rounds := 0.0
	for _, r := range e.rounds {
		rounds += float64(r)
	}
	headline, outages := e.outaged(end.At, v)
	v.Metrics = []metric.Value{
		metric.Detection.Of(mean(detection, n)),
		metric.Election.Of(mean(election, n)),
		metric.Downtime.Of(headline[0].Value),
		metric.NeverRecovered.Of(headline[1].Value),
		metric.MessagesPerElection.Of(mean(float64(e.messages), n)),
		metric.BytesPerElection.Of(mean(float64(e.bytes), n)),
		metric.MessageDelays.Of(mean(rounds, n)),
		metric.LeaderChanges.Of(float64(e.changes)),
		metric.SplitBrain.Of(ms(e.split)),
		metric.Availability.Of(headline[2].Value),
	}
	if e.heals.n > 0 || e.healedAt >= 0 {
		v.Metrics = append(v.Metrics, metric.Heal.Of(e.heals.mean()))
	}
	if e.perTerm() {
		v.Metrics = append(v.Metrics, e.terms.metrics(n)...)
	}
	v.Metrics = append(v.Metrics, outages...)
	v.Metrics = append(v.Metrics, e.reigns.finish(j, end.At)...)
	v.Metrics = append(v.Metrics,
		metric.UnneededElections.Of(ratio(float64(unneeded), end.At.Seconds())),
		metric.UnjustifiedDemotions.Of(ratio(float64(e.demoted), end.At.Seconds())))
	v.Metrics = append(v.Metrics, struck(&end.Toll)...)
	if hastened := float64(e.haste.n); e.haste.ever {
		v.Metrics = append(v.Metrics, metric.HastenedShare.Of(ratio(hastened, hastened+float64(n))))
	}
	v.Metrics = append(v.Metrics, j.faults.metrics()...)
}

// struck are the metrics of what happened to leaders; none, if nothing was to.
func struck(t *harness.Toll) (out []metric.Value) {
	if t.Due > 0 {
		out = append(out, metric.LeaderWait.Of(mean(ms(t.Waited), t.Struck)))
	}
	if t.Drawn > 0 {
		out = append(out, metric.SettledShare.Of(ratio(float64(t.Settled), float64(t.Drawn))))
	}
	return out
}

// outaged are the metrics of all definitions of an outage, and those of the one that the
// problem of the algorithm means. The outages become those of the verdict.
func (e *elections) outaged(end time.Duration, v *Verdict) (headline, all []metric.Value) {
	for _, service := range algo.Services() {
		o := e.outages[service]
		o.finish(end)
		if service == algo.Served && e.writes != nil {
			o = e.writes.outages(o, end)
		}
		o.attribute(v.Operations)
		v.Outages = append(v.Outages, o.over...)
		share := ratio(ms(end-o.total), ms(end))
		switch {
		case service == algo.Served && e.writes != nil:
			share = ratio(float64(e.writes.acknowledged), float64(e.writes.ended))
		case service == algo.Served:
			share = ratio(float64(e.clients.received), float64(e.clients.sent))
		}
		values := o.metrics(share)
		if service == e.setup.Alg.Spec.Service {
			headline = values
		}
		all = append(all, values...)
	}
	return headline, all
}

// lasting says whether the scenario is about a span of time and not about one
// election: none is needed then, and one may be going on at the end.
func (e *elections) lasting() bool {
	k := e.setup.Scenario.Declared()
	return k.Lasting && (!e.open || e.setup.Scenario.Does().Ends() > 0)
}

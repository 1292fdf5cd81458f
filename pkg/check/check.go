// Package check judges a trial by its records: whether the algorithm kept its
// promises, whether it came to an end, and what it cost. It reads records in
// the order in which they happened, and does not know whether they are simulated.
//
// A verdict is never "ok" for lack of evidence: a trial in which nothing
// happened is unknown.
package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Verdict is what a trial came to.
type Verdict struct {
	Status     trace.Status
	Reason     string
	Violations []string
	Missed     []string // what a script expects and did not come; violations as well
	// Beyond says that more processes were down at once than the algorithm survives, where that is
	// not known before the trial and no promise had been broken by then; "": they were not.
	Beyond     string
	Operations []trace.Operation
	Outages    []trace.Outage // of elections: by every definition, one after the other
	Completed  int
	// Unseen: the subject's messages are not seen. Totals, Kinds and the metrics of messages
	// say nothing.
	Unseen  bool
	Totals  Totals
	Kinds   []trace.MessageCount
	Metrics []metric.Value // those that apply to the trial
	skew    skew
}

// Figures are all metrics of a trial that ended then: the fixed ones, but for those that only the
// machine tells, and Metrics.
func (v *Verdict) Figures(end time.Duration) []metric.Value {
	t := &v.Totals
	return append([]metric.Value{
		metric.Operations.Of(float64(len(v.Operations))), metric.Completed.Of(float64(v.Completed)),
		metric.Duration.Of(float64(end) / float64(time.Millisecond)),
		metric.Messages.Of(float64(t.Sent)), metric.Delivered.Of(float64(t.Delivered)),
		metric.Lost.Of(float64(t.Lost)), metric.Duplicated.Of(float64(t.Duplicated)),
		metric.Undeliverable.Of(float64(t.Undeliverable)), metric.BytesSent.Of(float64(t.Bytes)),
		metric.DetectorMessages.Of(float64(t.Detector)),
	}, v.Metrics...)
}

// Totals counts messages of the algorithm, and the detector's apart.
type Totals struct {
	Sent, Delivered, Lost, Duplicated, Undeliverable, Bytes int64
	Detector                                                int64
	// Met and Missed are the copies that the network let through, and lost.
	Met, Missed int64
	// Late is how many deliveries the bus brought after they were due.
	Late int64
}

// A Judge watches one trial. It is a trace.Sink.
type Judge struct {
	setup      *harness.Setup
	kinds      []trace.MessageCount
	totals     Totals
	violations []string
	beyond     string // Verdict.Beyond
	problem    problem
	links      links
	chains     chains
	faults     faults
	network    harness.Links
	troubled   bool          // something has gone wrong
	calmed     time.Duration // when the last of it was over
	entries    *entries      // the problem, if it is mutual exclusion
	elections  *elections    // the problem, if it is leader election
	informed   time.Duration // when a process last named a leader
	granted    []algo.ID
	order      *precedence // nil: none is promised
	delays     delays
	busy       []delays // by ID - 1: when a real process handled an event
	load       []int64  // messages that each process sent or handled, by ID - 1
	saves      int64
	outcome    outcome // for what a script expects
}

// problem is the part of the judge that knows elections or mutual exclusion.
type problem interface {
	record(j *Judge, r *trace.Record)
	beat(r *trace.Record) // a message of the detector
	finish(j *Judge, end harness.End, v *Verdict)
	spans() []*span // that it reports, with what of them is lateness
}

// NewJudge makes the judge of one trial.
func NewJudge(s *harness.Setup) *Judge {
	j := &Judge{
		setup: s, informed: -1, chains: newChains(s), faults: newFaults(s),
		network: harness.Links{Nodes: uint32(s.Nodes)}, order: newPrecedence(s), links: newLinks(s),
		troubled: len(s.Crashed) > 0, load: make([]int64, s.Nodes),
	}
	if !s.Virtual {
		j.busy = make([]delays, s.Nodes)
	}
	if j.faults.detects() && !s.Detector.LeaderOnly() {
		j.faults.mistakes = &mistakes{faults: &j.faults, since: map[pair]time.Duration{}}
	}
	for _, name := range s.Alg.Codec.Kinds()[:len(s.Alg.Spec.Messages)] {
		j.kinds = append(j.kinds, trace.MessageCount{Name: name})
	}
	if s.Alg.Problem == algo.Election {
		j.elections = newElections(s, &j.network, &j.faults)
		j.problem = j.elections
		j.elections.disturbed(j, 0, true)
		j.elections.missed(j, 0)
	} else {
		j.entries = newEntries(s)
		j.problem = j.entries
	}
	return j
}

// Record takes the next record.
func (j *Judge) Record(r *trace.Record) {
	if !j.setup.Virtual {
		j.delays.record(r, j.behind(r))
		if j.elections != nil && j.late(r) {
			j.elections.disturbed(j, r.At, false)
		}
	}
	if j.setup.Scenario.Expect != nil && r.Type != trace.Handled {
		j.outcome.keep(r)
	}
	switch r.Type {
	case trace.Send, trace.Duplicate, trace.Deliver, trace.Lose, trace.Undelivered:
		if r.Type == trace.Send && j.elections != nil {
			j.elections.sent(j, r)
		}
		if r.Type == trace.Lose && j.elections != nil {
			j.elections.lose(r)
		}
		j.message(r)
	case trace.Save:
		j.saves++
	case trace.Unsound:
		j.violate(invariant, "p%d at %v: %s", r.Process, r.At, r.Text)
	case trace.Log, trace.Done:
	case trace.Written, trace.Unwritten:
		switch {
		case j.entries != nil:
			j.entries.record(j, r)
		case j.elections.writes != nil:
			j.elections.writes.record(r)
		}
	case trace.Handled:
		if j.busy == nil {
			break
		}
		j.busy[r.Process-1].add(delay{r.At - time.Duration(r.Arg), r.At})
		if j.elections != nil {
			j.elections.moved(r)
		}
	case trace.Request, trace.Granted, trace.Released, trace.Elect, trace.Elected, trace.Timeout:
		j.problem.record(j, r) // nothing is done to anybody
	default:
		j.disturb(r)
		j.problem.record(j, r)
	}
}

// Outage says whether the leader is gone by the records so far, by the definition of the
// algorithm's Spec and so that the downtime counts, and since when it counts.
func (j *Judge) Outage() (since time.Duration, gone bool) {
	if j.elections == nil {
		return 0, false
	}
	o := j.elections.outages[j.setup.Alg.Spec.Service]
	return o.counted, o.down && o.measure(o.origin)
}

// disturb follows what is done to processes and links.
func (j *Judge) disturb(r *trace.Record) {
	if j.faults.roll.Elapse(r.At) {
		j.overstep()
	}
	calm := j.calm()
	j.faults.record(r)
	j.network.Record(r)
	switch {
	case r.Type == trace.Crash, r.Type == trace.Up && r.Incarnation > 0:
		j.strike(r.At)
	case !calm:
		j.troubled, j.calmed = true, r.At
	}
	if j.elections != nil {
		j.elections.disturbed(j, r.At, true)
	}
}

// calm says whether nothing is done to any process, and no link is cut or flaky.
func (j *Judge) calm() bool {
	return j.faults.impaired+j.network.Overrides == 0 && !j.network.Apart
}

func (j *Judge) message(r *trace.Record) {
	if j.setup.Alg.Unseen() { // then they are not its own
		return
	}
	if j.order != nil {
		j.order.message(r)
	}
	if e := j.entries; e != nil && e.owners != nil {
		e.owners.message(r)
	}
	if !harness.IsHeartbeat(r) {
		j.chains.record(r)
	}
	if r.Plane != trace.Data {
		if r.Type == trace.Send {
			j.totals.Detector++
			j.problem.beat(r)
		}
		return
	}
	if e := j.entries; e != nil && int(r.Kind) == e.tokens.kind && e.tokens.message(j, r) {
		e.recovery.fault(r.At, e.waiting.n > 0)
	}
	k := &j.kinds[r.Kind]
	switch r.Type {
	case trace.Send:
		j.load[r.Process-1]++
		k.Sent++
		k.Bytes += int64(r.Bytes)
		j.totals.Sent++
		j.totals.Bytes += int64(r.Bytes)
		j.links.sent(r)
	case trace.Duplicate:
		j.totals.Duplicated++
		j.links.sent(r)
	case trace.Deliver:
		j.load[r.Process-1]++
		k.Delivered++
		j.totals.Delivered++
		j.links.met++
		if j.faults.excused(r) {
			break
		}
		if r.Arg > 0 {
			j.totals.Late++
		}
		j.links.delivered(r, j.behind(r))
	case trace.Lose:
		k.Lost++
		j.totals.Lost++
		j.strike(r.At)
		if j.elections != nil && r.Arg != trace.Severed {
			j.elections.disturbed(j, r.At, false)
		}
		switch r.Arg {
		case 0:
			j.links.lost++
		case trace.Severed: // its link was cut, but the draw would have let it through
			j.links.met++
		}
	case trace.Undelivered:
		j.totals.Undeliverable++
		j.links.met++
	}
}

// maxViolations bounds how many violations are described in words; all are
// counted.
const maxViolations = 20

func (j *Judge) violate(rule, format string, args ...any) {
	j.overstep()
	if len(j.violations) < maxViolations {
		j.violations = append(j.violations, rule+": "+fmt.Sprintf(format, args...))
	}
}

// Finish gives the verdict.
func (j *Judge) Finish(end harness.End) Verdict {
	j.overstep()
	j.totals.Met, j.totals.Missed = j.links.met, j.links.lost
	j.faults.elapse(end.At)
	if j.faults.mistakes != nil {
		j.faults.mistakes.elapse(end.At)
	}
	v := Verdict{Status: trace.OK, Totals: j.totals, Kinds: j.kinds}
	j.problem.finish(j, end, &v)
	v.Metrics = append(v.Metrics, metric.FaultsSkipped.Of(float64(end.Skipped)))
	total := int64(0)
	for _, n := range j.load {
		total += n
	}
	v.Metrics = append(v.Metrics, metric.Saves.Of(float64(j.saves)),
		metric.BusiestShare.Of(ratio(float64(slices.Max(j.load)), float64(total))))
	if j.setup.Scenario.Declared().Steady {
		v.Metrics = append(v.Metrics, steady(v.Operations)...)
	}
	v.Metrics = append(v.Metrics, j.links.metrics(j.setup)...)
	if !j.setup.Virtual {
		v.skew = j.skew()
		v.Metrics = append(v.Metrics, metric.Skew.Of(v.skew.share))
	}
	if v.Unseen = j.setup.Alg.Unseen(); v.Unseen {
		v.Metrics = slices.DeleteFunc(v.Metrics, func(m metric.Value) bool {
			return metric.Named(m.Name).Traffic
		})
	}
	v.Missed = j.expect(end)
	for _, missed := range v.Missed {
		j.violate(expectation, "%s", missed)
	}
	v.Violations, v.Beyond = j.violations, j.beyond
	switch {
	case end.Err != nil: // what else is wrong may follow from that
		v.Status, v.Reason = trace.Failed, end.Err.Error()
	case len(end.Invalid) > 0:
		v.Status, v.Reason = trace.Invalid, strings.Join(end.Invalid, "; ")
		return v
	case len(j.violations) > 0:
		v.Status, v.Reason = trace.Violated, j.violations[0]
	}
	if why := j.outrun(); why != "" && (v.Status == trace.Violated || v.Status == trace.TimedOut) {
		v.Reason = why + "; it came to: " + v.Reason
		v.Status, v.Violations = trace.Invalid, nil
		return v
	}
	if t := &j.totals; v.Status != trace.Failed && !v.Unseen &&
		t.Sent+t.Duplicated != t.Delivered+t.Lost+t.Undeliverable+end.Pending {
		v.Status = trace.Failed
		v.Reason = fmt.Sprintf("messages do not add up: %d sent + %d duplicated, but %d delivered + "+
			"%d lost + %d undeliverable + %d pending", t.Sent, t.Duplicated, t.Delivered, t.Lost,
			t.Undeliverable, end.Pending)
	}
	return v
}

// still says whether the system is quiescent in the end, and nothing could.
func (j *Judge) still(end harness.End) bool {
	return end.Reason == harness.Stuck || end.Reason == harness.Finished &&
		j.setup.Scenario.Does().Ends() == 0 && !j.setup.Alg.Spec.Perpetual
}

// settled says whether the end shows what the algorithm has come to: within its
// model nothing moves any more, nobody is paused, and no link is half cut.
func (j *Judge) settled(end harness.End) bool {
	return j.still(end) && j.setup.InModel && !slices.Contains(j.faults.paused, true) &&
		!j.network.OneWay(end.At)
}

// incomplete settles the status of a trial in which an operation did not
// complete: broken, if the algorithm promised that it would and nothing can
// make it happen any more; otherwise censored.
func (j *Judge) incomplete(end harness.End, v *Verdict, promised bool, rule, what string) {
	switch {
	case promised && j.settled(end):
		j.violate(rule, "%s, and the system is quiescent", what)
		return
	case j.still(end):
		what += "; the system is quiescent"
	case end.Reason == harness.Livelock:
		what += fmt.Sprintf("; livelock: messages without end at %v", end.At)
	default:
		what += " within " + end.At.String()
	}
	for i, paused := range j.faults.paused {
		if paused {
			what += fmt.Sprintf("; p%d is paused", i+1)
		}
	}
	v.Status, v.Reason = trace.TimedOut, what
}

// PromisesEnd says whether an algorithm promises that what is begun ends: else a time-out
// is a figure like any other. One that is not linked in (nil) is taken to promise it.
func PromisesEnd(a *algo.Algorithm) bool {
	switch {
	case a == nil:
		return true
	case a.Problem == algo.MutualExclusion:
		return a.Spec.Promises.StarvationFree
	}
	return a.Spec.Promises.Leadership != algo.PerGroup
}

// Within says whether the trial is one of those that the algorithm's model is about: by its
// plan, and by its records.
func (v *Verdict) Within(p *harness.Plan) bool { return p.InModel && v.Beyond == "" }

// Outside says why it is not, a reason each.
func (v *Verdict) Outside(p *harness.Plan) []string {
	if p.InModel && v.Beyond != "" {
		return []string{v.Beyond}
	}
	return p.OutOfModel
}

// Brief is the table of what bench run shows of a scenario; k may be nil.
func Brief(k *harness.ScenarioKind) metric.Tables {
	if k == nil || k.Table == 0 {
		return metric.Brief
	}
	return k.Table
}

// ms is d in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ratio is NaN where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return math.NaN()
	}
	return a / b
}

// mean is NaN for no values.
func mean(sum float64, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

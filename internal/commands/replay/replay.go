package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Replay is one trial that was run again.
type Replay struct {
	*Trial
	*Rerun
	kinds    []string       // of its messages
	Recorded *results.Trial // nil: the run has none
	fed      int            // events of real nodes that were fed to the algorithm; 0: it was run again
	details  []harness.Detail
	doubt    string   // why they may be wrong; "": they are certain
	differs  []string // from what is recorded
}

// A Request says which trial of a run is run again, and what is reported of it.
type Request struct {
	Path                string
	Number              int
	Events, State, Live bool
	Again               Again
}

// Answer runs the trial again. An error beside the answer says what is wrong with the trial.
func Answer(q *Request) (*answer.Document, error) {
	t, err := recordedTrial(q.Path, q.Number)
	if err != nil {
		return nil, err
	}
	r, virtual := &Replay{Trial: t}, t.Of.Virtual()
	if err := unrepeatable(t.Of, q.Path); err != nil {
		return nil, err
	}
	setup, err := r.Plan.Setup()
	if err != nil {
		return nil, err
	}
	r.kinds = setup.Alg.Codec.Kinds()
	if !virtual && !q.Live {
		err = r.retrace(setup, q.State)
	} else {
		r.Rerun, err = q.Again(t.Of, t.Trial)
	}
	if err != nil {
		return nil, err
	}
	d := answer.New("replay", fmt.Sprintf("Trial %d of %s, run again", q.Number, t.Of.Name))
	if q.State && r.details == nil && r.Verdict.Status == trace.Failed && r.End.Events == 0 {
		d.Add(answer.Note{Text: "its states are not known: its process died", Aside: true})
	} else if q.State && r.details == nil {
		if err := r.tell(setup); err != nil {
			return nil, fmt.Errorf("trial %d: its states are not known: %w", q.Number, err)
		}
		if r.doubt != "" {
			d.Add(answer.Note{Text: "the states may be wrong: " + r.doubt, Aside: true})
		}
	}
	if r.Recorded, err = r.latest(); err != nil {
		return nil, err
	}
	if r.Recorded != nil && virtual {
		r.differs = r.Differences()
	}
	if err := r.document(d, virtual, q.Events || q.State); err != nil {
		return nil, err
	}
	switch {
	case len(r.differs) > 0:
		return d, fmt.Errorf("trial %d differs from the record in %s: %s; another program ran it, "+
			"or something is not deterministic", q.Number, r.dir, strings.Join(r.differs, "; "))
	case r.Verdict.Status == trace.Failed:
		return d, fmt.Errorf("trial %d could not be run: %s", q.Number, r.Verdict.Reason)
	case r.Verdict.Status == trace.Violated && r.Verdict.Within(&r.Design().Plan):
		d.Exit = answer.Violated
	}
	return d, nil
}

// unrepeatable is an error if no trial of the experiment can be run again as it was.
func unrepeatable(e *experiment.Experiment, path string) error {
	if !e.Virtual() || transport.Repeats(e.Transport) {
		return nil
	}
	return answer.Mistaken("%s ran with transport: %s, and nothing controls the order of a library's "+
		"goroutines: no trial can be run again as it was. A trial that kept its trace (trace: all) can be "+
		"drawn with bench trace. Algorithms of Conclave can be replayed from a run with transport: %s",
		path, e.Transport, transport.Sim.Name)
}

// tell finds what the records do not say: what messages hold, and which variables events change.
func (r *Replay) tell(setup *harness.Setup) error {
	found, err := retraced(setup, r.Records, harness.Details)
	if err != nil {
		return err
	}
	if r.details = found.Details; len(found.Differences) > 0 {
		r.doubt = found.Differences[0]
	}
	return nil
}

// retrace feeds what reached the real nodes of the trial to the same algorithm.
func (r *Replay) retrace(setup *harness.Setup, state bool) error {
	if setup.Alg.Service {
		return answer.Mistaken("%s is a system of other programs, which cannot be run again event by event; "+
			"draw its trace with bench trace, or run the trial again with --live", setup.Algorithm)
	}
	kept, err := results.ReadTrace(r.dir, r.Number)
	if errors.Is(err, fs.ErrNotExist) {
		return answer.Mistaken("trial %d kept no trace to retrace: run the experiment with --set trace=all, "+
			"or run the trial on real nodes again with --live", r.Number)
	}
	if err != nil {
		return err
	}
	r.Rerun = &Rerun{Records: kept.Records}
	feed := harness.Feed
	if state {
		feed = harness.Details
	}
	found, err := retraced(setup, kept.Records, feed)
	if err != nil {
		return fmt.Errorf("trial %d: it cannot be retraced: %w", r.Number, err)
	}
	r.details, r.fed, r.differs = found.Details, found.Fed, found.Differences
	return nil
}

// Differences says in what the replay is not what was recorded.
func (r *Replay) Differences() (out []string) {
	old, now := r.Recorded, runner.Row(&r.Verdict, r.End)
	text := func(name, was, is string) {
		if was != is {
			out = append(out, fmt.Sprintf("%s was %s and is %s", name, cmp.Or(was, "none"),
				cmp.Or(is, "none")))
		}
	}
	text("status", string(old.Status), string(now.Status))
	if now.Status == trace.Failed && out != nil {
		return []string{fmt.Sprintf("%s (%s: %s)", out[0], r.Design().Algorithm, now.Reason)}
	}
	known := func(t *results.Trial, name string) string {
		v, named := t.Figure(name)
		if !named {
			return ""
		}
		return results.Number(v)
	}
	for _, m := range metric.Fixed() {
		text(m.Name, known(old, m.Name), known(&now, m.Name))
	}
	for _, m := range old.Metrics() {
		text(m.Name, results.Number(m.Value), known(&now, m.Name))
	}
	return out
}

// sampled is how many trials of a run Sample runs again.
const sampled = 20

// Sample runs trials of a simulated run again, evenly spread over it. It returns how many, and how the first
// one that is not as recorded differs; "": all are.
func Sample(path string, again Again) (trials int, differs string, err error) {
	e, dir, err := Recorded(path)
	if err == nil {
		err = unrepeatable(e, path)
	}
	if err != nil {
		return 0, "", err
	}
	all := e.Trials()
	for i, n := 0, min(sampled, len(all)); i < n; i++ {
		r := &Replay{Trial: &Trial{Trial: &all[i*len(all)/n], Of: e, dir: dir}}
		if r.Recorded, err = r.latest(); err != nil {
			return trials, "", err
		}
		if r.Recorded == nil || !r.Recorded.Status.Judged() { // what ended it was the machine
			continue
		}
		if r.Rerun, err = again(e, r.Trial.Trial); err != nil {
			return trials, "", err
		}
		found := r.Differences()
		if now := runner.Row(&r.Verdict, r.End); len(found) == 0 && !sameLists(r.Recorded, &now) {
			found = []string{"its operations, outages or kinds of messages are others"}
		}
		if len(found) > 0 {
			return trials, fmt.Sprintf("trial %d: %s", r.Number, strings.Join(found, "; ")), nil
		}
		trials++
	}
	return trials, "", nil
}

// sameLists compares what trials have several of, as a journal would hold it.
func sameLists(a, b *results.Trial) bool {
	x, errA := results.EncodeTrial(&results.Trial{Ops: a.Ops, Outages: a.Outages, Kinds: a.Kinds})
	y, errB := results.EncodeTrial(&results.Trial{Ops: b.Ops, Outages: b.Outages, Kinds: b.Kinds})
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// document adds what came of the trial.
func (r *Replay) document(d *answer.Document, virtual, events bool) error {
	cell := r.Design()
	v, plan := &r.Verdict, &cell.Plan
	facts := answer.Facts{{Name: "trial", Value: r.Number}, {Name: "cell", Value: r.Cell},
		{Name: "seed", Value: r.Seed}, {Name: "design", Value: metric.ByName(cell.Design)},
		{Name: "in_model", Value: v.Within(plan)}, {Name: "violations", Value: v.Violations},
		{Name: "differs", Value: r.differs}}
	status, reason, took, messages := v.Status, v.Reason, float64(r.End.At)/1e6, v.Totals.Sent
	recorded := trace.Status("")
	if old := r.Recorded; old != nil {
		if recorded = old.Status; r.fed > 0 { // it was not judged again
			status, reason, took = old.Status, old.Reason, old.Value(metric.Duration)
			messages = old.Count(metric.Messages)
		}
	}
	facts = append(facts, answer.Fact{Name: "status", Value: string(status)},
		answer.Fact{Name: "reason", Value: reason}, answer.Fact{Name: "duration_ms", Value: took},
		answer.Fact{Name: "messages", Value: messages},
		answer.Fact{Name: "recorded_status", Value: string(recorded)})
	if r.fed > 0 {
		facts = append(facts, answer.Fact{Name: "retraced_events", Value: r.fed})
	}
	d.Add(facts)
	if events {
		var text strings.Builder
		if err := diagram.WriteEvents(&text, r.Records, r.kinds, nil, r.details); err != nil {
			return err
		}
		d.Add(answer.Lines(text.String()))
		t, all := EventTable(d, "events"), diagram.Events(r.Records, r.kinds, r.details)
		for i := range all {
			EventRow(t, &all[i])
		}
	}
	d.Say(fmt.Sprintf("trial %d: cell %d, %s, %d nodes, %s, repetition %d, seed %d", r.Number,
		r.Cell, cell.Algorithm, plan.Nodes, plan.Scenario.Kind(), r.Repetition, r.Seed))
	if r.fed > 0 {
		r.sayRetraced(d)
		return nil
	}
	d.Say(fmt.Sprintf("status: %s, after %v", v.Status, r.End.At.Round(time.Microsecond)))
	if v.Reason != "" && len(v.Violations) == 0 {
		d.Say("reason: " + v.Reason)
	}
	if !v.Within(plan) {
		d.Say("in_model=false: " + strings.Join(v.Outside(plan), "; "))
	}
	for _, text := range v.Violations {
		d.Say(fmt.Sprintf("violation: %s: %s", cell.Algorithm, text))
	}
	r.metrics(d)
	switch {
	case r.Recorded == nil:
		d.Say("not recorded: the run, or its cell, ended before this trial")
	case !virtual:
		d.Say(fmt.Sprintf("recorded: status %s, %d messages; real nodes never repeat exactly", recorded,
			r.Recorded.Count(metric.Messages)))
	case len(r.differs) == 0:
		d.Say("same as recorded")
	}
	return nil
}

// metrics adds the figures: for people those that there are, of a trial that ran as it should.
func (r *Replay) metrics(d *answer.Document) {
	columns := []answer.Column{{Name: "metric", Kind: answer.Words}, {Name: "value", Kind: answer.Number}}
	all := d.Table("metrics", columns...)
	all.Only = answer.Programs
	told := &answer.Table{Name: "told", Columns: columns, Only: answer.People}
	told.Row(metric.Messages.Name, answer.Shown{Value: r.Verdict.Totals.Sent,
		Text: fmt.Sprint(r.Verdict.Totals.Sent)})
	for _, m := range r.Verdict.Metrics {
		all.Row(m.Name, m.Value)
		if results.Finite(m.Value) != nil {
			told.Row(m.Name, answer.Shown{Value: m.Value, Text: console.Number(m.Value)})
		}
	}
	if r.Verdict.Status != trace.Failed {
		d.Add(told)
	}
}

// sayRetraced says what came of feeding the algorithm what reached real nodes.
func (r *Replay) sayRetraced(d *answer.Document) {
	if r.Recorded != nil {
		d.Say(fmt.Sprintf("recorded: status %s, %d messages", r.Recorded.Status,
			r.Recorded.Count(metric.Messages)))
	}
	text := fmt.Sprintf("retraced: %s that reached its processes, in the recorded order: ",
		console.Plural(r.fed, "event", "events"))
	if len(r.differs) == 0 {
		d.Say(text + "the algorithm reacts as recorded")
		return
	}
	d.Say(strings.Join(append([]string{text + console.Plural(len(r.differs), "difference", "differences")},
		r.differs...), "\n  "))
}

// EventTable adds a table of events for programs, behind more columns.
func EventTable(d *answer.Document, name string, first ...answer.Column) *answer.Table {
	t := d.Table(name, slices.Concat(first,
		answer.Columns(answer.Everybody,
			"event:count at_ns:count type process:count peer:count text message holds"),
		answer.Columns(answer.Nested, "changes:list"))...)
	t.Columns[len(first)+1].Unit = "ns"
	t.Only = answer.Programs
	return t
}

// EventRow adds an event to such a table.
func EventRow(t *answer.Table, e *diagram.Event, first ...answer.Value) {
	known := func(process uint32) answer.Value {
		if process == 0 { // the event is of the network
			return nil
		}
		return process
	}
	t.Row(append(first, e.Number, e.At, e.Type, known(e.Process), known(e.Peer), e.Text, e.Message, e.Holds,
		e.Changes)...)
}

// figure is a metric that a trial has recorded.

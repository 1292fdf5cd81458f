package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Formats are those of drawings, and those of answers in which the events are a table.
var Formats = append(slices.Clone(diagram.Formats), "json", "csv", "markdown", "latex")

// A Drawing says which trial of a run is drawn, and how.
type Drawing struct {
	Number    int
	Format    string // one of Formats
	Window    diagram.Window
	Violation bool // what could have caused the first broken promise, alone
}

// Drawn is what was drawn, and what it leaves out, a sentence each.
type Drawn struct {
	Text  []byte
	Notes []string
}

// Draw draws the trial of the run at path. An error beside the drawing says that the trial could not be
// run again to its end.
func (q *Drawing) Draw(path string, again Again) (*Drawn, error) {
	r, err := Trace(path, q.Number, again)
	if err != nil {
		return nil, err
	}
	out := &Drawn{}
	if q.Violation || diagram.Tells(q.Format) {
		if note := r.Explain(); note != "" {
			out.Notes = append(out.Notes, note)
		}
	}
	if q.Violation {
		if q.Window.Event = r.Broken(); q.Window.Event == 0 {
			return nil, answer.Mistaken("--violation: no event of trial %d breaks a promise; something "+
				"missing at the end, such as a leader, has no event: choose a time with --from", q.Number)
		}
	}
	d, err := diagram.New(r.Drawn, q.Window)
	if err != nil && r.Failed != nil {
		return nil, r.Failed
	} else if err != nil {
		return nil, answer.Mistaken("trial %d: %v", q.Number, err)
	}
	var text bytes.Buffer
	if slices.Contains(diagram.Formats, q.Format) {
		var notes []string
		notes, err = d.Write(&text, q.Format)
		out.Notes = append(out.Notes, notes...)
	} else {
		table := answer.New("trace", r.Drawn.Title)
		t := EventTable(table, "events")
		t.Only = answer.Everybody
		for _, e := range d.Listed() {
			EventRow(t, &e)
		}
		err = answer.Named(q.Format).Write(&text, table)
	}
	if err != nil {
		return nil, err
	}
	out.Text = text.Bytes()
	return out, r.Failed
}

// A Traced trial is one whose records are known.
type Traced struct {
	*Trial
	Drawn diagram.Trace

	Failed error // why it could not be run again to its end; nil: it could
	died   bool  // then: its process did, and would again
}

// Trace finds the records of a trial: what was kept of them, or what a simulation
// gives again.
func Trace(path string, number int, run Again) (*Traced, error) {
	t, err := recordedTrial(path, number)
	if err != nil {
		return nil, err
	}
	r := &Traced{Trial: t, Drawn: diagram.Trace{
		Title: fmt.Sprintf("%s, trial %d: %s, %s, %s", t.Of.Name, number, t.Design().Algorithm,
			console.Plural(t.Plan.Nodes, "process", "processes"), t.Plan.Scenario.Kind()),
		Nodes: t.Plan.Nodes, Leader: uint32(t.Plan.Leader),
	}}
	alg, unknown := algo.Lookup(t.Plan.Algorithm)
	if unknown == nil {
		r.Drawn.Room = alg.Spec.Room(t.Plan.Params)
	}
	kept, err := results.ReadTrace(t.dir, number)
	switch {
	case err == nil:
		r.Drawn.Kinds, r.Drawn.Records = kept.Kinds, kept.Records
		return r, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !t.Of.Virtual():
		return nil, fmt.Errorf("trial %d of %s kept no trace, and real nodes never repeat exactly: "+
			"run it with --set trace=all", number, t.dir)
	}
	if err := unrepeatable(t.Of, t.dir); err != nil {
		return nil, err
	}
	if unknown != nil {
		return nil, unknown
	}
	again, err := run(t.Of, t.Trial)
	if err != nil {
		return nil, err
	}
	r.Drawn.Kinds, r.Drawn.Records = alg.Codec.Kinds(), again.Records
	if again.Verdict.Status == trace.Failed {
		r.Failed = fmt.Errorf("%s could not be run: %s", t.Design().Algorithm, again.Verdict.Reason)
	}
	r.died = again.End.Events == 0
	return r, nil
}

// ended is how the trial did, in words; "" if that is not recorded.
func (r *Traced) ended() string {
	last, err := r.latest()
	if err != nil || last == nil {
		return ""
	}
	if last.Reason == "" {
		return string(last.Status)
	}
	return string(last.Status) + ": " + last.Reason
}

// mostStates bounds the work for the states of a trial: its processes times its records.
const mostStates = 20_000_000

// Explain adds what the records do not say: which promises they break, what their messages
// hold and which variables their events change. It returns why that is not all known.
func (r *Traced) Explain() string {
	r.Drawn.Note, r.Drawn.Verdict = r.explained(), r.ended()
	return r.Drawn.Note
}

func (r *Traced) explained() (note string) {
	judged, err := r.Plan.Setup()
	if err != nil {
		return err.Error()
	}
	r.Drawn.Breaches = check.Breaches(judged, r.Drawn.Records)
	if judged.Alg.Subject {
		return judged.Algorithm + " is a library: its states and the content of its messages are not known"
	}
	if judged.Alg.Service {
		return judged.Algorithm + " is a system of other programs: its states and messages are not known"
	}
	if r.Drawn.Nodes*len(r.Drawn.Records) > mostStates {
		return "the trial is too large to show states and the content of messages; use bench replay --state"
	}
	setup, err := r.Plan.Setup()
	if err != nil {
		return err.Error()
	}
	if r.Failed != nil && r.died {
		return "states and the content of messages are not known: " + r.Failed.Error()
	}
	found, err := retraced(setup, r.Drawn.Records, harness.Details)
	switch {
	case err != nil:
		if r.Failed == nil {
			r.Failed = err
		}
		return "states and the content of messages are not known: " + err.Error()
	case found.Panic != nil && r.Failed == nil:
		r.Failed = fmt.Errorf("%s could not be run: %w", setup.Algorithm, found.Panic)
		fallthrough
	case len(found.Differences) > 0:
		note = "states and the content of messages may be wrong: " + found.Differences[0]
	}
	r.Drawn.Details = found.Details
	return note
}

// Broken is the event, from 1 on, at which a promise was broken for the first time; 0 if
// no event has broken one.
func (r *Traced) Broken() int {
	if len(r.Drawn.Breaches) == 0 {
		return 0
	}
	return r.Drawn.Breaches[0].Record + 1
}

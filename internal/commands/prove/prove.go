// Package prove answers bench prove: it searches every schedule of a small system, reports how large that
// is, and saves the shortest schedule that breaks a promise as an experiment.
package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/commands/explore/search"
	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Request is what is asked for, in the words of the command line.
type Request struct {
	prove.System
	prove.Limits
	MiB   int64    // of memory; 0: half of what this machine has
	Words []string // parameters, as NAME=VALUE
	Out   string
}

// Answer searches. An error beside the answer says that the algorithm could not be run.
func (q *Request) Answer(ctx context.Context, alg *algo.Algorithm) (*answer.Document, error) {
	if err := search.Vacant(q.Out); err != nil {
		return nil, err
	}
	given, err := search.Given(alg, q.Words, []int{q.Nodes})
	if err != nil {
		return nil, err
	}
	q.System.Params = given
	beyond, err := q.Beyond(alg.ID)
	if err != nil {
		return nil, answer.Mistaken("bench prove %s: %v", alg.ID, err)
	}
	if q.Memory = q.MiB << 20; q.MiB == 0 {
		q.Memory = int64(guard.Share(1) / 3 * 2)
	}
	s, err := prove.Search(ctx, alg.ID, q.System, q.Limits)
	var bad *prove.CheckpointError
	if errors.As(err, &bad) {
		return nil, answer.Mistaken("--checkpoint %v", bad)
	}
	if err != nil {
		return nil, err
	}
	d := answer.New("prove", "Every schedule of a small system of "+alg.ID)
	q.count(d, alg, &s)
	for _, why := range beyond {
		d.Note(fmt.Sprintf("beyond the model of %s, which %s: what breaks is a finding, not an error",
			alg.ID, why))
	}
	if err := q.kept(d, &s); err != nil {
		return nil, err
	}
	if s.Find != nil {
		return d, q.found(ctx, d, alg, &s, beyond)
	}
	d.Add(answer.Facts{{Name: "broken", Value: ""}, {Name: "file", Value: ""}})
	if s.Bound == "" {
		text := fmt.Sprintf("%s: no broken promise in any schedule", alg.ID)
		if s.Live {
			text += "; every state can still reach completion"
		}
		d.Say(text)
		return d, context.Cause(ctx)
	}
	d.End(answer.Incomplete, "incomplete")
	d.Say(fmt.Sprintf("%s: incomplete, stopped at %s: no broken promise in the schedules of up to %d "+
		"events; %d states are left to explore, and each of the last levels was %.2f times as large as the "+
		"one before", alg.ID, s.Bound, max(s.Depth-1, 0), s.Frontier, s.Growth()))
	return d, context.Cause(ctx)
}

// kept tells of the file that the search is kept in. That of one that is over is of no use any more.
func (q *Request) kept(d *answer.Document, s *prove.Space) error {
	path := ""
	if s.Saved {
		path = q.Checkpoint.Path
	}
	d.Add(answer.Facts{{Name: "resumed", Value: s.Resumed}, {Name: "checkpoint", Value: path}})
	switch {
	case s.Saved:
		d.Note(fmt.Sprintf("the search is kept in %s; the same command continues it", path))
	case s.Resumed:
		d.Note(fmt.Sprintf("the search is over; %s is removed", q.Checkpoint.Path))
		return os.Remove(q.Checkpoint.Path)
	}
	return nil
}

// count adds how large the system is.
func (q *Request) count(d *answer.Document, alg *algo.Algorithm, s *prove.Space) {
	perSecond := float64(s.States) / max(s.Elapsed.Seconds(), 1e-3)
	perState := float64(s.Memory) / float64(max(s.States, 1))
	d.Add(answer.Facts{
		{Name: "algorithm", Value: alg.ID}, {Name: "nodes", Value: q.Nodes},
		{Name: "complete", Value: s.Bound == "" && s.Find == nil}, {Name: "states", Value: s.States},
		{Name: "steps", Value: s.Steps}, {Name: "depth", Value: s.Depth}, {Name: "ends", Value: s.Terminal},
		{Name: "live", Value: s.Live}, {Name: "frontier", Value: s.Frontier},
		{Name: "growth", Value: s.Growth()},
		{Name: "process_states", Value: s.Locals}, {Name: "calls", Value: s.Calls},
		{Name: "states_per_second", Value: perSecond}, {Name: "bytes_per_state", Value: perState},
		{Name: "missed", Value: s.Missed()}, {Name: "bound", Value: s.Bound},
	})
	d.Say(fmt.Sprintf("%s, %s: %d states, %d steps, depth %d, %d terminal states", alg.ID, q.text(), s.States,
		s.Steps, s.Depth, s.Terminal))
	d.Say(fmt.Sprintf("%d states of single processes, %d calls of the algorithm; probability of a missed "+
		"state: %.1g", s.Locals, s.Calls, s.Missed()))
}

// text is the system in a few words.
func (q *Request) text() string {
	return strings.Join(append([]string{q.System.String()}, q.Words...), " ")
}

// found tells of a broken promise, and saves its script.
func (q *Request) found(ctx context.Context, d *answer.Document, alg *algo.Algorithm, s *prove.Space,
	beyond []string) error {
	f, within := s.Find, len(beyond) == 0
	lines := []string{}
	for i, step := range f.Schedule {
		lines = append(lines, fmt.Sprintf("%3d. %s", i+1, step))
	}
	d.Add(answer.Lines("\n" + strings.Join(lines, "\n") + "\n\n"))
	if len(f.Cycle) > 0 {
		repeats := []string{"from then on, this may repeat without end:"}
		for _, step := range f.Cycle {
			repeats = append(repeats, "     "+step.String())
		}
		d.Add(answer.Lines(strings.Join(repeats, "\n") + "\n\n"))
	}
	what := "violation"
	if !within {
		what = "finding"
	}
	shortest := "no schedule is shorter"
	if left := f.Removable(); len(left) > 0 {
		shortest = fmt.Sprintf("event %d is not needed", left[0]+1)
	}
	d.Say(fmt.Sprintf("%s: %s: %s, after %s; %s", what, alg.ID, f.Broken,
		console.Plural(len(f.Schedule), "event", "events"), shortest))
	path, err := q.save(ctx, d, alg, f, beyond)
	if err != nil {
		return err
	}
	d.Add(answer.Facts{{Name: "broken", Value: f.Broken}, {Name: "file", Value: path}})
	switch {
	case within && f.Panicked:
		return fmt.Errorf("%s could not be run: %s", alg.ID, f.Broken)
	case within:
		d.Exit = answer.Violated
	}
	return nil
}

// save writes the script of a find, and says so. "": it has none.
func (q *Request) save(ctx context.Context, d *answer.Document, alg *algo.Algorithm, f *prove.Find,
	beyond []string) (path string, err error) {
	made, err := script(ctx, alg, &q.System, f, beyond)
	if made == nil {
		d.Say(fmt.Sprintf("  no script: %v", err))
		return "", nil
	}
	if err != nil {
		return "", err
	}
	minimal, err := made.Minimal(ctx)
	if err != nil {
		return "", err
	}
	text, err := made.File()
	if err != nil {
		return "", err
	}
	if path, err = search.Save(q.Out, "prove-"+alg.Spec.Name, text); err != nil {
		return "", err
	}
	if err := made.Reproduces(path); err != nil {
		return "", fmt.Errorf("what was found cannot be repeated from the file: %w", err)
	}
	d.Say(fmt.Sprintf("  script:    %s, %s, %s\n  reproduce: %s", path,
		console.Plural(len(made.Schedule.Events), "line", "lines"), minimal, program.Command("run", path)))
	return path, nil
}

// Shown is the progress of a search in words.
func Shown(p prove.Progress) string {
	return fmt.Sprintf("%d states at depth %d, %d left to explore, %v", p.States, p.Depth, p.Frontier,
		p.Elapsed.Round(time.Second))
}

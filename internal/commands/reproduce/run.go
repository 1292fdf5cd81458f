package reproduce

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/internal/commands/progress"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// A Request selects studies, and says how to run them.
type Request struct {
	Names                  []string // of studies; none: all
	Papers, Transport, Out string   // folders, and what to run on
	List, Quick, Markdown  bool
	Argv                   []string // as it is written down
	Options                runner.Options
	Say                    func(text string) // what went wrong in a trial
	Begin                  func(name string, trials int)
}

// Answer runs the studies one after the other, and ends with what all of them came to.
func Answer(ctx context.Context, q *Request) (*answer.Document, error) {
	switch {
	case transport.Of(q.Transport) == nil, q.Transport == transport.Bubble.Name:
		return nil, answer.Mistaken("bench reproduce: --transport %q, expected sim or nats", q.Transport)
	case q.Quick && transport.Real(q.Transport):
		return nil, answer.Mistaken("bench reproduce: --quick with --transport %s: those runs are short "+
			"already; leave it out", q.Transport)
	}
	names := q.Names
	if len(names) == 0 {
		var err error
		if names, err = Names(q.Papers); err != nil {
			return nil, err
		}
	}
	var studies []*Study
	for _, name := range names {
		study, err := Load(q.Papers, name)
		if err != nil {
			return nil, err
		}
		studies = append(studies, study)
	}
	if q.List {
		return Listed(studies), nil
	}
	var sum outcome.Tally
	var runs []Run
	var skipped []string
	for _, study := range studies {
		if transport.Real(q.Transport) && study.Sockets == nil {
			if len(q.Names) > 0 {
				return nil, answer.Mistaken("bench reproduce: study %s is too large for real processes; "+
					"leave out --transport", study.Name)
			}
			skipped = append(skipped, study.Name)
			continue
		}
		r, err := q.run(ctx, study, &sum)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	d := Document(runs)
	if q.Markdown {
		var page strings.Builder
		Page(&page, runs)
		d.Blocks = []answer.Block{answer.File{Name: "page", Text: page.String()}}
	} else if text := "in simulation only: " + strings.Join(skipped, ", "); len(skipped) > 0 {
		d.Add(answer.Note{Text: text, Aside: true, Line: text})
	}
	sum.Missed = Unexpected(runs)
	d.End(sum.Code(), answer.Meaning("reproduce", sum.Code()))
	return d, nil
}

// run runs the study's experiment into a folder of its own, as bench run does,
// and judges it. What its trials and verdicts come to adds to sum.
func (q *Request) run(ctx context.Context, study *Study, sum *outcome.Tally) (r Run, err error) {
	settings := []string{"transport=" + q.Transport}
	cut := q.Quick && study.Quick != nil
	switch {
	case transport.Real(q.Transport):
		settings, cut = append(settings, study.Sockets...), true
	case cut:
		settings = append(settings, study.Quick...)
	}
	e, err := study.Experiment(settings...)
	if err != nil {
		return r, err
	}
	config, err := e.Resolved()
	if err != nil {
		return r, err
	}
	folder, err := results.Create(q.Out, runner.Header(e, q.Argv), config)
	if err != nil {
		return r, err
	}
	defer func() { _ = folder.Close() }() // whatever was finished is on disk already
	q.Begin(study.Name, len(e.Trials()))
	if _, err = launch.Execute(ctx, e, folder, q.Options, progress.Silent); err != nil {
		return r, err
	}
	o, err := outcome.Of(e, folder.Dir())
	if err != nil {
		return r, err
	}
	for _, text := range o.Failures() {
		q.Say(text)
	}
	sum.Errors += o.Tally.Errors
	sum.Violations += o.Tally.Violations
	for _, t := range o.Violations {
		q.Say(fmt.Sprintf("violation: %s; reproduce: %s", t.Reason,
			program.Command("replay", folder.Dir(), "--trial", strconv.Itoa(t.Trial))))
	}
	r = Run{Study: study, Dir: folder.Dir()}
	r.Rows, err = study.Judge(e, r.Dir, cut)
	return r, err
}

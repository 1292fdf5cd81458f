// Package bisect finds the commit of a repository that changed a simulated trial.
package bisect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/commits"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/commands/diff"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Question is which commit changed a trial.
type Question struct {
	Good, Bad   string // names of commits
	Package     string // that has the command
	Metric      string // that changed; "": anything
	FirstParent bool
	Subject     *diff.Subject
	Say         func(text string) // how far the search is
}

// check refuses a metric that no program tells of one trial.
func (q *Question) check() error {
	if q.Metric == "" {
		return nil
	}
	if text := metric.Missing(q.Metric, q.Subject.Problem); text != "" {
		return answer.Mistaken("--metric: %s", text)
	}
	names := metric.Names(metric.Columns(q.Subject.Problem))
	names = append([]string{metric.Messages.Name, metric.Duration.Name}, names...)
	if !slices.Contains(names, q.Metric) {
		return answer.Mistaken("--metric %q, expected one of: %s", q.Metric, strings.Join(names, ", "))
	}
	return nil
}

// A Cause is the commit that changed a trial.
type Cause struct {
	*Question
	from, to *commits.Commit // the good and the bad one
	found    *commits.Found  // nil: nothing changed
	skipped  []skippedCommit
	tried    int
	trials   trials
	// diff is between the trials before and at the commit, or at from and to if nothing changed.
	diff *diff.Difference
}

// A skippedCommit cannot be tested.
type skippedCommit struct {
	*commits.Commit
	Reason string
}

// Cause searches for the commit that changed the trial, and says where it is.
func (q *Question) Cause(ctx context.Context) (c *Cause, err error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return nil, err
	}
	c = &Cause{Question: q}
	if c.from, err = repo.Find(ctx, q.Good); err != nil {
		return nil, fmt.Errorf("GOOD: %w", err)
	}
	if c.to, err = repo.Find(ctx, q.Bad); err != nil {
		return nil, fmt.Errorf("BAD: %w", err)
	}
	if c.from.Hash == c.to.Hash {
		return nil, answer.Mistaken("%s and %s are the same commit, %s", q.Good, q.Bad, c.from.Title())
	}
	if _, err := repo.Bases(ctx, c.from, c.to); err != nil {
		return nil, err
	}
	if dirty, err := repo.Uncommitted(ctx); err != nil {
		return nil, err
	} else if dirty {
		q.Say("note: uncommitted changes belong to no commit, and are not built")
	}
	builder, err := repo.Builder(q.Package)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, builder.Close()) }()
	c.trials = trials{builder: builder, subject: q.Subject, sides: map[string]*replay.Side{}}
	if err := c.ends(ctx); err != nil {
		return nil, err
	}
	good, bad := c.trials.sides[c.from.Hash], c.trials.sides[c.to.Hash]
	if !q.changed(good, bad) {
		c.diff = diff.New([2]*replay.Side{good, bad})
		return c, nil
	}
	c.found, err = repo.First(ctx, &commits.Search{Good: c.from, Bad: c.to, FirstParent: q.FirstParent,
		Test: func(ctx context.Context, commit *commits.Commit, left int) (bool, error) {
			return c.test(ctx, commit, left)
		}})
	if err != nil {
		return nil, err
	}
	before := good // unless there is a nearer one
	if c.found.Before != nil {
		if made, err := c.trials.at(ctx, c.found.Before); err == nil {
			before = made
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	c.diff = diff.New([2]*replay.Side{before, c.trials.sides[c.found.First.Hash]})
	return c, nil
}

// ends are the trials of both ends, that of the good one twice.
func (c *Cause) ends(ctx context.Context) error {
	for _, end := range []*commits.Commit{c.from, c.to} {
		c.Say("building " + end.Title())
		made, err := c.trials.at(ctx, end)
		if err == nil && end == c.from {
			var again *replay.Side
			delete(c.trials.sides, end.Hash)
			if again, err = c.trials.at(ctx, end); err == nil && c.changed(made, again) {
				err = errors.New("two runs of the trial differ: something is not deterministic")
			}
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", end.Title(), err)
		}
	}
	c.tried = 2
	return nil
}

// test says whether the trial of a commit is another than the good one.
func (c *Cause) test(ctx context.Context, commit *commits.Commit, left int) (bool, error) {
	c.Say(fmt.Sprintf("%d left, building %s", left, commit.Title()))
	c.tried++
	made, err := c.trials.at(ctx, commit)
	if skip := (*commits.UntestableError)(nil); errors.As(err, &skip) {
		c.skipped = append(c.skipped, skippedCommit{commit, skip.Reason})
		c.Say("  skipped: " + Brief(skip.Reason))
	}
	if err != nil {
		return false, err
	}
	changed := c.changed(c.trials.sides[c.from.Hash], made)
	c.Say("  " + map[bool]string{true: "changed", false: "the same"}[changed])
	return changed, nil
}

// trials are what programs of commits make of a trial.
type trials struct {
	builder *commits.Builder
	subject *diff.Subject
	sides   map[string]*replay.Side // by hash
}

// at is the trial of a commit.
func (t *trials) at(ctx context.Context, commit *commits.Commit) (*replay.Side, error) {
	if made := t.sides[commit.Hash]; made != nil {
		return made, nil
	}
	program, err := t.builder.Build(ctx, commit)
	if err != nil {
		return nil, err
	}
	made, err := t.subject.By(ctx, program)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &commits.UntestableError{Reason: strings.ReplaceAll(err.Error(), program, "its program")}
	}
	made.Name = commit.Title()
	t.sides[commit.Hash] = made
	return made, nil
}

// changed says whether a trial is another, in what the Question is about. A figure that follows from
// the same events by another rule is no other trial.
func (q *Question) changed(a, b *replay.Side) bool {
	if q.Metric == "" {
		return a.Status != b.Status || diff.New([2]*replay.Side{a, b}).Parted()
	}
	x, y := a.Figure(q.Metric), b.Figure(q.Metric)
	return (x == nil) != (y == nil) || x != nil && *x != *y
}

// Brief is the first line of a reason.
func Brief(reason string) string {
	line, _, _ := strings.Cut(reason, "\n")
	return line
}

// inWords is a figure, for a sentence.
func inWords(v *float64) string {
	if v == nil {
		return "none"
	}
	return console.Number(*v)
}

// Answer is the cause, with so many events of each side behind the parting.
func (c *Cause) Answer(events int) *answer.Document {
	what := c.Subject.Name
	if c.Metric != "" {
		what = c.Metric + " of " + what
	}
	d := answer.New("bisect", "What changed "+what)
	d.Add(answer.Facts{{Name: "good", Value: c.from.Hash}, {Name: "bad", Value: c.to.Hash},
		{Name: "metric", Value: c.Metric}, {Name: "same", Value: c.found == nil}})
	switch d.Exit = answer.Missed; {
	case c.found == nil:
		d.Exit = answer.Good
		d.Say(fmt.Sprintf("%s is the same at %s and %s", what, c.Good, c.Bad))
	case len(c.found.Others) > 0:
		d.Exit = answer.Incomplete
		d.Say(fmt.Sprintf("one of these commits changed %s; only the last can be tested:", what))
	default:
		d.Say(fmt.Sprintf("the first commit that changed %s:", what))
	}
	c.candidates(d)
	skipped := list(d, "skipped", "reason")
	for _, skip := range c.skipped {
		d.Say(fmt.Sprintf("skipped %s: %s", skip.Title(), Brief(skip.Reason)))
		row(skipped, skip.Commit, skip.Reason)
	}
	ends := list(d, "ends", "end")
	row(ends, c.from, "good")
	row(ends, c.to, "bad")
	d.Add(answer.Lines(""))
	c.diff.Describe(d, "difference_", c.Subject.Name, events)
	return d
}

// candidates adds the commits of which one changed the trial, the oldest first.
func (c *Cause) candidates(d *answer.Document) {
	t := list(d, "candidates", "")
	if c.found == nil {
		return
	}
	for _, commit := range c.found.Others {
		d.Add(answer.Lines("  " + commit.Title()))
		row(t, commit)
	}
	last := c.found.First
	row(t, last)
	d.Add(answer.Lines(fmt.Sprintf("  %s\n  %s, %s\n  %s", last.Hash, last.Author, last.Date, last.Subject)))
	if c.Metric != "" {
		d.Say(fmt.Sprintf("%s was %s and is %s", c.Metric, inWords(c.diff.Sides[0].Figure(c.Metric)),
			inWords(c.diff.Sides[1].Figure(c.Metric))))
	}
	d.Add(answer.Facts{{Name: "commits_between", Value: c.found.Between, Line: fmt.Sprintf(
		"%s between, %d tried", console.Plural(c.found.Between, "commit", "commits"), c.tried)},
		{Name: "commits_tried", Value: c.tried}})
}

// list adds a table of commits for programs, with one more column behind.
func list(d *answer.Document, name, more string) *answer.Table {
	t := d.Table(name, answer.Columns(answer.Everybody, "commit author date subject "+more)...)
	t.Only = answer.Programs
	return t
}

func row(t *answer.Table, c *commits.Commit, more ...answer.Value) {
	t.Row(append([]answer.Value{c.Hash, c.Author, c.Date, c.Subject}, more...)...)
}

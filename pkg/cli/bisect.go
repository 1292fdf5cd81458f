package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/commits"
	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// bisectFlags are the flags of bench bisect.
type bisectFlags struct {
	trial, events int
	json          bool
	question
}

func (s *streams) bisectCommand() *cobra.Command {
	var f bisectFlags
	c := &cobra.Command{
		Use:   "bisect GOOD BAD FILE",
		Short: "Find the commit that changed a simulated trial",
		Long: `Find the first commit between GOOD and BAD at which trial N of FILE is not what
it is at GOOD, and print the first message at which it parts from the trial
before. GOOD and BAD are commits of the git repository of this folder: tags,
branches, hashes. FILE is an experiment or a folder of results as it is now,
whatever the commits have.

The search goes as that of git bisect: of N commits it builds about log2(N), in
a temporary folder, and has each simulate the trial. Commits that do not build,
or cannot simulate it, are skipped. The repository and its working tree stay as
they are; uncommitted changes have no part.

Any change counts: another event, another instant, other content of a message,
another verdict. With --metric, only a change of this figure of the trial does:
that is the flag for a figure that got worse.

` + exitHelp("bisect", "0", "1", "2", "4", "5", "130, 143"),
		Example: `  bench bisect v1.0 HEAD configs/quickstart.yaml --trial 3
  bench bisect v1.0 HEAD configs/quickstart.yaml --trial 3 --metric messages
  bench bisect HEAD~20 main results/mine/latest --trial 1 --package .`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return s.bisect(&f, args) },
	}
	flags := c.Flags()
	flags.IntVar(&f.trial, "trial", 0, aTrial)
	flags.StringVar(&f.metric, "metric", "", "search for a change of the metric `NAME` alone")
	flags.StringVar(&f.pkg, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	flags.BoolVar(&f.firstParent, "first-parent", false, "take a merge for one commit, whatever it merged")
	flags.IntVar(&f.events, "events", 10, "print `N` events of each side behind the parting")
	flags.BoolVar(&f.json, "json", false, "print the outcome as JSON")
	return c
}

func (s *streams) bisect(f *bisectFlags, args []string) error {
	if len(args) != 3 {
		return usage("bench bisect: %s, want two commits and FILE, as bench bisect v1.0 HEAD "+
			"configs/quickstart.yaml", report.Plural(len(args), "argument", "arguments"))
	}
	if f.trial < 0 || f.events < 0 {
		return usage("--trial %d --events %d: want no number below 0", f.trial, f.events)
	}
	var err error
	f.good, f.bad = args[0], args[1]
	if f.world, err = readWorld(args[2], &f.trial); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	c, err := s.cause(ctx, &f.question)
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(s.out, c.report(f.events))
	} else {
		c.print(s.text(), f.events)
	}
	switch {
	case err != nil, c.found == nil:
		return err
	case len(c.found.Others) > 0:
		return exit(Incomplete)
	}
	return exit(Missed)
}

// A question is which commit changed a trial.
type question struct {
	good, bad   string // names of commits
	pkg         string // that has the command
	metric      string // that changed; "": anything
	firstParent bool
	world       *world
}

// check refuses a metric that no program tells of one trial.
func (q *question) check() error {
	if q.metric == "" {
		return nil
	}
	if text := metric.Missing(q.metric, q.world.problem); text != "" {
		return usage("--metric: %s", text)
	}
	names := metric.Names(metric.Columns(q.world.problem))
	return oneOf("metric", q.metric, append([]string{metric.Messages.Name, metric.Duration.Name}, names...))
}

// A cause is the commit that changed a trial.
type cause struct {
	*question
	from, to *commits.Commit // the good and the bad one
	found    *commits.Found  // nil: nothing changed
	skipped  []skippedCommit
	tried    int
	trials   trials
	// diff is between the trials before and at the commit, or at from and to if nothing changed.
	diff *difference
}

// A skippedCommit cannot be tested.
type skippedCommit struct {
	*commits.Commit
	Reason string `json:"reason"`
}

// cause searches for the commit that changed a trial, and says on standard error where it is.
func (s *streams) cause(ctx context.Context, q *question) (c *cause, err error) {
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return nil, err
	}
	c = &cause{question: q}
	if c.from, err = commitCalled(ctx, repo, "GOOD", q.good); err != nil {
		return nil, err
	}
	if c.to, err = commitCalled(ctx, repo, "BAD", q.bad); err != nil {
		return nil, err
	}
	if c.from.Hash == c.to.Hash {
		return nil, usage("%s and %s are the same commit, %s", q.good, q.bad, c.from.Title())
	}
	if _, err := repo.Bases(ctx, c.from, c.to); err != nil {
		return nil, wrongWay(err)
	}
	if dirty, err := repo.Uncommitted(ctx); err != nil {
		return nil, err
	} else if dirty {
		s.say("note: uncommitted changes are in no commit, and are not built")
	}
	builder, err := repo.Builder(q.pkg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, builder.Close()) }()
	c.trials = trials{builder: builder, world: q.world, sides: map[string]*side{}}
	if err := s.ends(ctx, c); err != nil {
		return nil, err
	}
	good, bad := c.trials.sides[c.from.Hash], c.trials.sides[c.to.Hash]
	if !q.changed(good, bad) {
		c.diff = newDifference([2]*side{good, bad})
		return c, nil
	}
	c.found, err = repo.First(ctx, &commits.Search{Good: c.from, Bad: c.to, FirstParent: q.firstParent,
		Test: func(ctx context.Context, commit *commits.Commit, left int) (bool, error) {
			return s.test(ctx, c, commit, left)
		}})
	if err != nil {
		return nil, wrongWay(err)
	}
	before := good // unless there is a nearer one
	if c.found.Before != nil {
		if made, err := c.trials.at(ctx, c.found.Before); err == nil {
			before = made
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	c.diff = newDifference([2]*side{before, c.trials.sides[c.found.First.Hash]})
	return c, nil
}

// ends are the trials of both ends, that of the good one twice.
func (s *streams) ends(ctx context.Context, c *cause) error {
	for _, end := range []*commits.Commit{c.from, c.to} {
		s.say("building " + end.Title())
		made, err := c.trials.at(ctx, end)
		if err == nil && end == c.from {
			var again *side
			delete(c.trials.sides, end.Hash)
			if again, err = c.trials.at(ctx, end); err == nil && c.changed(made, again) {
				err = errors.New("the trial is not the same twice: something is not deterministic")
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
func (s *streams) test(ctx context.Context, c *cause, commit *commits.Commit, left int) (bool, error) {
	s.say(fmt.Sprintf("%d left, building %s", left, commit.Title()))
	c.tried++
	made, err := c.trials.at(ctx, commit)
	if skip := (*commits.UntestableError)(nil); errors.As(err, &skip) {
		c.skipped = append(c.skipped, skippedCommit{commit, skip.Reason})
		s.say("  skipped: " + brief(skip.Reason))
	}
	if err != nil {
		return false, err
	}
	changed := c.changed(c.trials.sides[c.from.Hash], made)
	s.say("  " + map[bool]string{true: "changed", false: "the same"}[changed])
	return changed, nil
}

// trials are what programs of commits make of a trial.
type trials struct {
	builder *commits.Builder
	world   *world
	sides   map[string]*side // by hash
}

// at is the trial of a commit.
func (t *trials) at(ctx context.Context, commit *commits.Commit) (*side, error) {
	if made := t.sides[commit.Hash]; made != nil {
		return made, nil
	}
	program, err := t.builder.Build(ctx, commit)
	if err != nil {
		return nil, err
	}
	made, err := t.world.by(ctx, program)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &commits.UntestableError{Reason: strings.ReplaceAll(err.Error(), program, "its program")}
	}
	made.name = commit.Title()
	t.sides[commit.Hash] = made
	return made, nil
}

// commitCalled is the commit of a name that the command line has for what.
func commitCalled(ctx context.Context, repo *commits.Repo, what, name string) (*commits.Commit, error) {
	c, err := repo.Find(ctx, name)
	if unknown := (*commits.UnknownError)(nil); errors.As(err, &unknown) {
		return nil, usage("%s: %v", what, err)
	}
	return c, err
}

// wrongWay makes a mistake on the command line of an error that says where nothing can be found.
func wrongWay(err error) error {
	if errors.As(err, new(*commits.DirectionError)) {
		return usage("%v", err)
	}
	return err
}

// changed says whether a trial is another, in what the question is about. A figure that follows from
// the same events by another rule is no other trial.
func (q *question) changed(a, b *side) bool {
	if q.metric == "" {
		return a.Status != b.Status || newDifference([2]*side{a, b}).parted()
	}
	x, y := a.figure(q.metric), b.figure(q.metric)
	return (x == nil) != (y == nil) || x != nil && *x != *y
}

// figure is a metric of a trial; nil: it has none.
func (s *side) figure(name string) *float64 {
	switch name {
	case metric.Messages.Name:
		v := float64(s.Messages)
		return &v
	case metric.Duration.Name:
		return &s.DurationMS
	}
	return s.Metrics[name]
}

// brief is the first line of a reason.
func brief(reason string) string {
	line, _, _ := strings.Cut(reason, "\n")
	return line
}

// inWords is a figure, for a sentence.
func inWords(v *float64) string {
	if v == nil {
		return "none"
	}
	return compare.Number(*v)
}

func (c *cause) print(w io.Writer, events int) {
	what := c.world.name
	if c.metric != "" {
		what = c.metric + " of " + what
	}
	switch {
	case c.found == nil:
		fmt.Fprintf(w, "%s is the same at %s and %s\n", what, c.good, c.bad)
	case len(c.found.Others) > 0:
		fmt.Fprintf(w, "one of these commits changed %s; all but the last cannot be tested:\n", what)
	default:
		fmt.Fprintf(w, "the first commit that changed %s:\n", what)
	}
	if c.found != nil {
		for _, commit := range c.found.Others {
			fmt.Fprintln(w, "  "+commit.Title())
		}
		last := c.found.First
		fmt.Fprintf(w, "  %s\n  %s, %s\n  %s\n", last.Hash, last.Author, last.Date, last.Subject)
	}
	if c.metric != "" && c.found != nil {
		fmt.Fprintf(w, "%s was %s and is %s\n", c.metric, inWords(c.diff.sides[0].figure(c.metric)),
			inWords(c.diff.sides[1].figure(c.metric)))
	}
	if c.found != nil {
		between := report.Plural(c.found.Between, "commit", "commits")
		fmt.Fprintf(w, "%s between, %d tried\n", between, c.tried)
	}
	for _, skip := range c.skipped {
		fmt.Fprintf(w, "skipped %s: %s\n", skip.Title(), brief(skip.Reason))
	}
	fmt.Fprintln(w)
	c.diff.print(w, c.world.name, events)
}

// candidates are the commits of which one changed it, the oldest first.
func (c *cause) candidates() []*commits.Commit {
	if c.found == nil {
		return []*commits.Commit{}
	}
	return append(c.found.Others, c.found.First)
}

// A causeReport is a cause, for programs.
type causeReport struct {
	Schema     int               `json:"schema_version"`
	Good       *commits.Commit   `json:"good"`
	Bad        *commits.Commit   `json:"bad"`
	Metric     string            `json:"metric,omitempty"`
	Same       bool              `json:"same"`
	Candidates []*commits.Commit `json:"candidates"` // the oldest first; one of them changed it
	Skipped    []skippedCommit   `json:"skipped"`
	Between    int               `json:"commits_between"`
	Difference diffReport        `json:"difference"` // before the last candidate and at it
}

func (c *cause) report(events int) causeReport {
	out := causeReport{Schema: 1, Good: c.from, Bad: c.to, Metric: c.metric, Same: c.found == nil,
		Candidates: c.candidates(), Skipped: append([]skippedCommit{}, c.skipped...),
		Difference: c.diff.report(events)}
	if c.found != nil {
		out.Between = c.found.Between
	}
	return out
}

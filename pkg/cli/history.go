package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/bisect"
	"github.com/conclave-bench/conclave/internal/commits"
	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/history"
	"github.com/conclave-bench/conclave/internal/view"
	"github.com/conclave-bench/conclave/pkg/results"
)

// historyFlags are those that several of bench history's commands have.
type historyFlags struct {
	store     string
	at, since string
	alpha     float64
	least     string
	metrics   []string
	where     []string
	all       bool
}

// defaultStore is the folder of a history, unless somebody names another place.
const defaultStore = "history"

func (s *streams) historyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "history",
		Short: "Track figures over commits, and find what changed them",
		Long: `Keep what runs found at each commit, and find the commits that changed it.

A history is a folder, or a reference of the git repository, as
git:refs/notes/conclave or git:BRANCH. It needs no server, and jobs that add to
it at once lose nothing. A reference is written only if nothing or a history is
on it, and no working tree has it checked out.

Figures of simulations are exact: the first commit at which a trial differs
changed it. Figures of real processes are noisy: steps and drifts are found by
their probability, which counts the places that were looked at.`,
		Example: `  bench history add results/ci/latest
  bench history analyze
  bench history report --out trends.html`,
		RunE: func(_ *cobra.Command, args []string) error {
			return usage("bench history: want add, analyze, bless, backfill, report or roc, as " +
				"bench history add results/ci/latest")
		},
	}
	c.AddCommand(s.historyAddCommand(), s.historyAnalyzeCommand(), s.historyBlessCommand(),
		s.historyBackfillCommand(),
		s.historyReportCommand(), s.historyRocCommand())
	return c
}

func (f *historyFlags) place(c *cobra.Command) {
	c.Flags().StringVar(&f.store, "store", defaultStore,
		"the history: a `PLACE`, which is a folder or git:REF")
}

// open opens the history to write to it.
func (f *historyFlags) open(ctx context.Context) (*history.Store, error) {
	store, err := history.Open(ctx, f.store)
	if err == nil {
		err = store.Writable(ctx)
	}
	if err != nil {
		return nil, usage("--store: %v", err)
	}
	return store, nil
}

// choice adds the flags that say what is analyzed.
func (f *historyFlags) choice(c *cobra.Command) {
	f.place(c)
	flags := c.Flags()
	flags.StringVar(&f.at, "at", "HEAD", "look at the commits up to `COMMIT`, without side branches")
	flags.BoolVar(&f.all, "all", false, "look at the commits of all runs by date, not at those of a branch")
	flags.Float64Var(&f.alpha, "alpha", history.DefaultAlpha,
		"accept a false alarm, in all noisy series together, with probability `P`")
	flags.StringVar(&f.least, "least", "1%", "ignore changes of noisy figures below `CHANGE`")
	flags.StringSliceVar(&f.metrics, "metrics", nil,
		"look at the noisy `METRICS` (default: the problem's main ones)")
	flags.StringArrayVar(&f.where, "where", nil, "look only at cells where `COLUMN=VALUE`; repeatable")
}

// analysis reads the history and analyzes it.
func (f *historyFlags) analysis(ctx context.Context) (*history.Store, *history.Analysis, error) {
	o := history.Options{Alpha: f.alpha, Metrics: f.metrics}
	var err error
	if o.Least, err = compare.ReadShare(f.least); err != nil {
		return nil, nil, usage("--least %s: %v, want a percentage as 1%%, or a fraction as 0.01", f.least,
			err)
	}
	if !(f.alpha > 0 && f.alpha < 1) {
		return nil, nil, usage("--alpha %v: want a probability between 0 and 1, as 0.01", f.alpha)
	}
	where, err := view.ReadWhere(f.where)
	if err != nil {
		return nil, nil, err
	}
	store, err := history.Open(ctx, f.store)
	if err != nil {
		return nil, nil, usage("--store: %v", err)
	}
	entries, err := store.Entries(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(entries) == 0 {
		return nil, nil, usage("%s has no runs; bench history add RUN adds one", f.store)
	}
	blessings, err := store.Blessings(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !f.all {
		if o.Line, err = line(ctx, f.at); err != nil {
			return nil, nil, fmt.Errorf("%w; with --all, the runs are taken by the dates of their commits",
				err)
		}
	}
	if entries, err = history.Select(entries, where); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", store, err)
	}
	a := history.Analyze(entries, blessings, o)
	if len(entries) == 0 {
		a.Notes = append(a.Notes, view.None(where))
	}
	lack := ""
	if !f.all {
		lack = older(ctx)
	}
	switch {
	case a.Runs == 0 && len(entries) > 0:
		return nil, nil, usage("none of the %d runs of %s is of a commit that %s has%s", len(entries),
			f.store, f.at, cmp.Or(lack, "; want another --at, or --all"))
	case a.Elsewhere > 0 && lack != "":
		a.Notes = append(a.Notes, "commits are missing"+lack)
	}
	if f.since != "" {
		c, err := history.Describe(ctx, f.since)
		if err == nil {
			err = a.After(c.Hash)
		}
		if err != nil {
			return nil, nil, usage("--since %s: %v", f.since, err)
		}
	}
	return store, a, nil
}

// older says where commits are that this repository lacks, "" if it lacks none.
func older(ctx context.Context) string {
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return ""
	}
	if text := repo.Shallow(ctx); text != "" {
		return " in this repository, " + text
	}
	return ""
}

// line is the commits that led to the one of a name.
func line(ctx context.Context, name string) ([]*commits.Commit, error) {
	repo, err := commits.Open(ctx, ".")
	if err != nil {
		return nil, err
	}
	c, err := bisect.Commit(ctx, repo, "--at", name)
	if err != nil {
		return nil, err
	}
	return repo.Line(ctx, c)
}

func (s *streams) historyAddCommand() *cobra.Command {
	var f historyFlags
	var commit, push string
	c := &cobra.Command{
		Use:   "add RUN...",
		Short: "Keep the figures of runs",
		Long: `Keep the figures of runs, each with its commit, its machine and its experiment.
RUN is a folder of results. Of a run that is kept already, nothing is added.

The commit is the one that the program was built from, as the run's manifest
says. Where it says none, as with go run, or where changes were uncommitted,
name it with --commit.

With --push, a history in git:REF then goes to a remote repository, and what
others have added there comes here.

` + answer.Explain("history", "0", "1", "2", "130, 143"),
		Example: `  bench history add results/ci/latest
  bench history add results/ci/latest --commit HEAD
  bench history add results/ci/latest --store git:bench-history --push origin`,
		Args: cobra.ArbitraryArgs,
	}
	f.place(c)
	c.Flags().StringVar(&commit, "commit", "", "the runs are of `COMMIT`, as HEAD")
	c.Flags().StringVar(&push, "push", "", "exchange a history in git:REF with a `REMOTE`, as origin")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) == 0 {
			return nil, usage("bench history add: want a run, as bench history add results/ci/latest")
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		if c.Flags().Changed("push") && (push == "" || strings.HasPrefix(push, "-")) {
			return nil, usage("--push %q: want a remote repository by its name or URL, as origin", push)
		}
		store, err := f.open(ctx)
		if err != nil {
			return nil, err
		}
		d := answer.New("history add", "Runs of the history "+store.String())
		for _, path := range args {
			if err := historyAdd(ctx, d, store, path, commit); err != nil {
				return nil, err
			}
		}
		if push != "" {
			err = store.Sync(ctx, push)
		}
		return d, err
	})
}

// historyAdd keeps a run, and says so.
func historyAdd(ctx context.Context, d *answer.Document, store *history.Store, path, commit string) error {
	t, err := results.ReadTable(path)
	if err != nil {
		return err
	}
	if commit == "" && t.Manifest != nil {
		switch tool := t.Manifest.Tool; {
		case tool.Dirty:
			return usage("%s: the program was built from uncommitted changes on top of %.12s, so that "+
				"nobody can get it again; commit them, or name a commit with --commit", path, tool.Commit)
		case tool.Commit == "":
			return usage("%s: the manifest does not say of which commit the program was built (go run "+
				"does not tell it); use go build, or name the commit with --commit HEAD", path)
		default:
			commit = tool.Commit
		}
	}
	of, err := history.Describe(ctx, commit)
	if err != nil {
		return usage("--commit: %v", err)
	}
	e, err := history.NewEntry(t, of)
	if err != nil {
		return err
	}
	if err := store.Add(ctx, e, t.Config); err != nil {
		return err
	}
	d.Say(fmt.Sprintf("%s: %s, %s, of %s", store, e.Experiment, console.Plural(len(e.Cells), "cell", "cells"),
		commitText(&of)))
	return nil
}

// commitText is a commit in a line.
func commitText(c *commits.Commit) string { return strings.TrimSpace(c.Short() + " " + c.Subject) }

func (s *streams) historyAnalyzeCommand() *cobra.Command {
	var f historyFlags
	var pkg string
	var cause bool
	c := &cobra.Command{
		Use:   "analyze",
		Short: "Find the commits that changed figures",
		Long: `Find the commits that changed figures, of all runs of the history whose commits
the current one has.

  exact   a simulated trial differs from that of the commit before
  step    a figure of real processes has another level from a commit on
  drift   it moves a little with every commit

A step or a drift has the probability P that noise alone looks like it,
anywhere around. It is told if that is small (--alpha, for all series
together), and needs three runs behind it: of the last runs it is said when
they lie apart, no more. Runs on different machines are different series.
What the time of a round trip over the bare bus explains is taken out.

With --cause, the newest exact changes are traced to the first message at which
a trial parts from that of the commit before, as bench bisect does it.

What somebody has blessed is told, and is no failure.

` + answer.Explain("history", "0", "1", "2", "4", "130, 143"),
		Example: `  bench history analyze
  bench history analyze --cause
  bench history analyze --since HEAD~20 --format markdown --out trend.md
  bench history analyze --store git:refs/notes/conclave --where nodes=5`,
		Args: noArguments,
	}
	f.choice(c)
	c.Flags().StringVar(&f.since, "since", "", "tell only changes behind `COMMIT`")
	c.Flags().BoolVar(&cause, "cause", false, "find the causes of exact changes; this builds commits")
	c.Flags().StringVar(&pkg, "package", "./cmd/bench",
		"with --cause, build the command in the Go package `PATH`")
	return s.answering(c, func([]string) (*answer.Document, error) {
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		store, a, err := f.analysis(ctx)
		if err == nil && cause {
			err = s.explain(ctx, store, a, pkg)
		}
		if err != nil {
			return nil, err
		}
		return a.Document(store.String()), nil
	})
}

func (s *streams) historyBlessCommand() *cobra.Command {
	var f historyFlags
	var metricName, reason string
	c := &cobra.Command{
		Use:   "bless COMMIT",
		Short: "Accept what a commit changed",
		Long: `Accept what a commit changed, with the reason for those who read it later. It
is told from then on, and is no failure any more. Of a change that lies
somewhere between two commits, bless any of those between.

` + answer.Explain("history", "0", "1", "2", "130, 143"),
		Example: `  bench history bless HEAD --reason "raft now asks before it votes"
  bench history bless 3f2a91c --where algorithm=raft --metric messages \
    --reason "one more round, on purpose"`,
		Args: cobra.ArbitraryArgs,
	}
	f.place(c)
	c.Flags().StringVar(&metricName, "metric", "", "only of the metric `NAME`")
	c.Flags().StringArrayVar(&f.where, "where", nil, "only of cells where `COLUMN=VALUE`; repeatable")
	c.Flags().StringVar(&reason, "reason", "", "say why, in `TEXT`")
	return s.answering(c, func(args []string) (*answer.Document, error) {
		if len(args) != 1 {
			return nil, usage("bench history bless: %s, want one commit, as bench history bless HEAD "+
				"--reason ...", console.Plural(len(args), "argument", "arguments"))
		}
		if strings.TrimSpace(reason) == "" {
			return nil, usage("bench history bless: want --reason: those who read it later need to know")
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		return historyBless(ctx, &f, args[0], metricName, reason)
	})
}

// historyBless accepts what a commit changed.
func historyBless(ctx context.Context, f *historyFlags, commit, metricName,
	reason string) (*answer.Document, error) {
	store, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	c, err := history.Describe(ctx, commit)
	if err != nil {
		return nil, usage("bench history bless: %v", err)
	}
	b := &history.Blessing{Commit: c.Hash, Metric: metricName, Reason: reason,
		At: time.Now().UTC().Format(time.RFC3339)}
	if repo, err := commits.Open(ctx, "."); err == nil {
		b.By = repo.User(ctx)
	}
	where, err := view.ReadWhere(f.where)
	if err != nil {
		return nil, err
	}
	b.Where = history.Design(where)
	entries, err := store.Entries(ctx)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 { // what is blessed may be measured later
		if _, err := history.Select(entries, where); err != nil {
			return nil, fmt.Errorf("%s: %w", store, err)
		}
	}
	if err := store.Bless(ctx, b); err != nil {
		return nil, err
	}
	d := answer.New("history bless", "Blessed")
	d.Say(fmt.Sprintf("%s: blessed %s", store, commitText(&c)))
	return d, nil
}

// historyReportCommand is bench history report.
func (s *streams) historyReportCommand() *cobra.Command {
	var f historyFlags
	var out string
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a page of trends",
		Long: `Write a page with a line for each series: values, levels, change points,
blessings, changes of machine. It needs no network.`,
		Example: `  bench history report --out trends.html
  bench history report --metrics messages,election_ms --where nodes=5`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := s.interruptible(context.Background())
			defer stop()
			store, a, err := f.analysis(ctx)
			if err != nil {
				return err
			}
			page, err := history.Page(store.String(), a)
			if err != nil {
				return err
			}
			if err := files.Write(out, page); err != nil {
				return err
			}
			fmt.Fprintln(s.text(), out)
			return nil
		},
	}
	f.choice(c)
	c.Flags().StringVar(&out, "out", "trends.html", "write the page to `FILE`")
	return c
}

func (s *streams) historyRocCommand() *cobra.Command {
	var f historyFlags
	var alarms float64
	c := &cobra.Command{
		Use:   "roc",
		Short: "Tell what the history would notice, and how often it cries wolf",
		Long: `Add steps of 1, 2, 5 and 10 % to the noisy series of the history, one at a time,
and tell how many are found, how many commits later, and how many false alarms
a year there are, for several probabilities to choose --alpha from. Alarms are
those that a look at every commit would have raised in the series as they are,
and that the whole series does not bear out.`,
		Example: `  bench history roc
  bench history roc --alarms 4`,
		Args: noArguments,
	}
	f.choice(c)
	c.Flags().Float64Var(&alarms, "alarms", 1, "propose what raises at most `N` false alarms a year")
	return s.answering(c, func([]string) (*answer.Document, error) {
		if !(alarms >= 0) || math.IsInf(alarms, 0) {
			return nil, usage("--alarms %v: want a number of false alarms a year, as 1", alarms)
		}
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		_, a, err := f.analysis(ctx)
		if err != nil {
			return nil, err
		}
		r, err := history.Roc(ctx, a, alarms)
		if err != nil {
			return nil, err
		}
		return r.Document(), nil
	})
}

package cli

import (
	"context"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/commands/history"
)

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
		s.historyBackfillCommand(), s.historyReportCommand(), s.historyRocCommand())
	return c
}

// historyPlace adds the flag that says which history.
func historyPlace(c *cobra.Command, f *history.Request) {
	c.Flags().StringVar(&f.Store, "store", defaultStore,
		"the history: a `PLACE`, which is a folder or git:REF")
}

// historyChoice adds the flags that say what is analyzed.
func historyChoice(c *cobra.Command, f *history.Request) {
	historyPlace(c, f)
	flags := c.Flags()
	flags.StringVar(&f.At, "at", "HEAD", "look at the commits up to `COMMIT`, without side branches")
	flags.BoolVar(&f.All, "all", false, "look at the commits of all runs by date, not at those of a branch")
	flags.Float64Var(&f.Alpha, "alpha", history.DefaultAlpha,
		"accept a false alarm, in all noisy series together, with probability `P`")
	flags.StringVar(&f.Least, "least", "1%", "ignore changes of noisy figures below `CHANGE`")
	flags.StringSliceVar(&f.Metrics, "metrics", nil,
		"look at the noisy `METRICS` (default: the problem's main ones)")
	flags.StringArrayVar(&f.Where, "where", nil, "look only at cells where `COLUMN=VALUE`; repeatable")
}

func (s *streams) historyAddCommand() *cobra.Command {
	var f history.Request
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
	historyPlace(c, &f)
	c.Flags().StringVar(&commit, "commit", "", "the runs are of `COMMIT`, as HEAD")
	c.Flags().StringVar(&push, "push", "", "exchange a history in git:REF with a `REMOTE`, as origin")
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		if len(args) == 0 {
			return nil, usage("bench history add: want a run, as bench history add results/ci/latest")
		}
		if c.Flags().Changed("push") && (push == "" || strings.HasPrefix(push, "-")) {
			return nil, usage("--push %q: want a remote repository by its name or URL, as origin", push)
		}
		return f.Add(ctx, args, commit, push)
	})
}

func (s *streams) historyAnalyzeCommand() *cobra.Command {
	var f history.Request
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
	historyChoice(c, &f)
	c.Flags().StringVar(&f.Since, "since", "", "tell only changes behind `COMMIT`")
	c.Flags().BoolVar(&f.Cause, "cause", false, "find the causes of exact changes; this builds commits")
	c.Flags().StringVar(&f.Package, "package", "./cmd/bench",
		"with --cause, build the command in the Go package `PATH`")
	f.Say = s.say
	return s.working(c, func(ctx context.Context, _ []string) (*answer.Document, error) {
		store, a, err := f.Analysis(ctx)
		if err != nil {
			return nil, err
		}
		return a.Document(store.String()), nil
	})
}

func (s *streams) historyBlessCommand() *cobra.Command {
	var f history.Request
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
	historyPlace(c, &f)
	c.Flags().StringVar(&metricName, "metric", "", "only of the metric `NAME`")
	c.Flags().StringArrayVar(&f.Where, "where", nil, "only of cells where `COLUMN=VALUE`; repeatable")
	c.Flags().StringVar(&reason, "reason", "", "say why, in `TEXT`")
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		if len(args) != 1 {
			return nil, usage("bench history bless: %s, want one commit, as bench history bless HEAD "+
				"--reason ...", console.Plural(len(args), "argument", "arguments"))
		}
		if strings.TrimSpace(reason) == "" {
			return nil, usage("bench history bless: want --reason: those who read it later need to know")
		}
		return f.Bless(ctx, args[0], metricName, reason)
	})
}

// historyReportCommand is bench history report.
func (s *streams) historyReportCommand() *cobra.Command {
	var f history.Request
	var out string
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a page of trends",
		Long: `Write a page with a line for each series: values, levels, change points,
blessings, changes of machine. It needs no network.`,
		Example: `  bench history report --out trends.html
  bench history report --metrics messages,election_ms --where nodes=5`,
		Args: noArguments,
	}
	historyChoice(c, &f)
	c.Flags().StringVar(&out, "out", "trends.html", "write the page to `FILE`")
	return s.working(c, func(ctx context.Context, _ []string) (*answer.Document, error) {
		store, a, err := f.Analysis(ctx)
		if err != nil {
			return nil, err
		}
		page, err := history.Page(store.String(), a)
		if err == nil {
			err = files.Write(out, page)
		}
		if err != nil {
			return nil, err
		}
		d := answer.New("history report", "A page of trends of "+store.String())
		d.Add(answer.Facts{{Name: "page", Value: out, Line: out}})
		return d, nil
	})
}

func (s *streams) historyRocCommand() *cobra.Command {
	var f history.Request
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
	historyChoice(c, &f)
	c.Flags().Float64Var(&alarms, "alarms", 1, "propose what raises at most `N` false alarms a year")
	return s.working(c, func(ctx context.Context, _ []string) (*answer.Document, error) {
		if !(alarms >= 0) || math.IsInf(alarms, 0) {
			return nil, usage("--alarms %v: want a number of false alarms a year, as 1", alarms)
		}
		_, a, err := f.Analysis(ctx)
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

func (s *streams) historyBackfillCommand() *cobra.Command {
	var f history.Request
	c := &cobra.Command{
		Use:   "backfill RANGE FILE",
		Short: "Run an experiment with the programs of past commits",
		Long: `Run the experiment of FILE, as it is now, with the program of each commit in
RANGE, and keep the figures. RANGE is as git has it: v1.0..HEAD, or HEAD~20..;
of merged branches the merges alone count. Each commit is checked out into a
temporary folder and built. The repository and its working tree stay as they
are.

Commits of which the history has a run of this experiment are left out, on
real processes a run on a machine like this one. So a backfill that was
interrupted goes on where it was. Commits that do not build, or cannot run the
experiment, are skipped.

` + answer.Explain("history", "0", "1", "2", "5", "130, 143"),
		Example: `  bench history backfill v1.0..HEAD configs/ci.yaml
  bench history backfill HEAD~50..HEAD configs/ci.yaml --package ./cmd/mybench`,
		Args: cobra.ArbitraryArgs,
	}
	historyPlace(c, &f)
	c.Flags().StringVar(&f.Package, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	c.Flags().BoolVar(&f.Again, "again", false, "run also what the history has")
	f.Say = s.say
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		if len(args) != 2 {
			return nil, usage("bench history backfill: %s, want a range of commits and FILE, as bench "+
				"history backfill HEAD~20..HEAD configs/ci.yaml",
				console.Plural(len(args), "argument", "arguments"))
		}
		return f.Backfill(ctx, args[0], args[1])
	})
}

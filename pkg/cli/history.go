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
		Long: `Keep the figures of runs by commit, and find the commits that changed them. A
history is a folder, or a reference of the git repository: git:refs/notes/NAME
or git:BRANCH. It needs no server, and concurrent jobs can add to it.

Simulated figures are exact: the first commit where a trial differs changed it.
In figures of real processes, change points are tested against noise.
docs/how-to/history.md has the method.`,
		Example: `  bench history add results/ci/latest
  bench history analyze
  bench history report --out trends.html`,
		RunE: func(_ *cobra.Command, args []string) error {
			return usage("bench history: expected add, analyze, bless, backfill, report or roc, as " +
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
	flags, usual := c.Flags(), history.Usual("")
	flags.StringVar(&f.At, "at", usual.At, "look at the commits up to `COMMIT`, without side branches")
	flags.BoolVar(&f.All, "all", false, "look at the commits of all runs by date, not at those of a branch")
	flags.Float64Var(&f.Alpha, "alpha", usual.Alpha,
		"raise a false alarm with probability `P`, over all noisy series together")
	flags.StringVar(&f.Least, "least", usual.Least, "ignore changes of noisy figures below `CHANGE`")
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
		Long: `Keep the figures of runs, each with its commit, machine and experiment. RUN is
a folder of results; a run that is in the history already adds nothing. The
commit is the one that the program was built from; if the run's manifest has
none, as with go run, or changes were uncommitted, name it with --commit.

--push then pushes a history in git:REF to a remote repository, and fetches what
others have added there.

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
			return nil, usage("bench history add: expected a run, as bench history add results/ci/latest")
		}
		if c.Flags().Changed("push") && (push == "" || strings.HasPrefix(push, "-")) {
			return nil, usage("--push %q: expected a remote repository by its name or URL, as origin", push)
		}
		return f.Add(ctx, args, commit, push)
	})
}

func (s *streams) historyAnalyzeCommand() *cobra.Command {
	var f history.Request
	c := &cobra.Command{
		Use:   "analyze",
		Short: "Find the commits that changed figures",
		Long: `Find the commits that changed figures, among the ancestors of the current one.
A change is exact (a simulated trial differs from that of the commit before), a
step (a figure of real processes has a new level), or a drift (it moves a little
with every commit). A blessed change is reported but does not fail.

Each step or drift is reported with a p-value against noise. It needs three
later runs to be confirmed; until then an outlying run is only flagged. Each
machine has a series of its own, corrected for the round trip over its bus.

` + answer.Explain("history", "0", "1", "2", "4", "130, 143"),
		Example: `  bench history analyze
  bench history analyze --cause
  bench history analyze --since HEAD~20 --format markdown --out trend.md
  bench history analyze --store git:refs/notes/conclave --where nodes=5`,
		Args: noArguments,
	}
	historyChoice(c, &f)
	c.Flags().StringVar(&f.Since, "since", "", "report only changes after `COMMIT`")
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
		Long: `Accept what a commit changed, with the reason for later readers. The change is
still reported, but no longer a failure. Of a change somewhere between two
commits, bless any commit in that range.

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
			return nil, usage("bench history bless: %s, expected one commit, as bench history bless HEAD "+
				"--reason ...", console.Plural(len(args), "argument", "arguments"))
		}
		if strings.TrimSpace(reason) == "" {
			return nil, usage("bench history bless: expected --reason, for later readers")
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
		Short: "Estimate detection rate, delay and false-alarm rate (ROC)",
		Long: `Add steps of 1, 2, 5 and 10 % to the noisy series of the history, one at a time,
and print how many are found, after how many commits, and how many false alarms
a year to expect, for several values of --alpha. A false alarm is one that an
analysis after every commit would raise in the unchanged series, and that the
whole series does not confirm.`,
		Example: `  bench history roc
  bench history roc --alarms 4`,
		Args: noArguments,
	}
	historyChoice(c, &f)
	c.Flags().Float64Var(&alarms, "alarms", 1, "propose an --alpha with at most `N` false alarms a year")
	return s.working(c, func(ctx context.Context, _ []string) (*answer.Document, error) {
		if !(alarms >= 0) || math.IsInf(alarms, 0) {
			return nil, usage("--alarms %v: expected a number of false alarms a year, as 1", alarms)
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
		Long: `Build the program of each commit in RANGE, run the experiment of FILE as it is
now, and keep the figures. RANGE is a git range: v1.0..HEAD or HEAD~20..; of
merged branches only the merges count. Commits are built in temporary folders;
the repository and its working tree stay unchanged.

Commits with a run of this experiment are skipped, on real processes only if the
machine was like this one, so that an interrupted backfill resumes. Commits that
do not build, or cannot run the experiment, are skipped too.

` + answer.Explain("history", "0", "1", "2", "5", "130, 143"),
		Example: `  bench history backfill v1.0..HEAD configs/ci.yaml
  bench history backfill HEAD~50..HEAD configs/ci.yaml --package ./cmd/mybench`,
		Args: cobra.ArbitraryArgs,
	}
	historyPlace(c, &f)
	c.Flags().StringVar(&f.Package, "package", "./cmd/bench",
		"build the command in the Go package `PATH`, as seen from this folder")
	c.Flags().BoolVar(&f.Again, "again", false, "also run commits that the history has")
	f.Say = s.say
	return s.working(c, func(ctx context.Context, args []string) (*answer.Document, error) {
		if len(args) != 2 {
			return nil, usage("bench history backfill: %s, expected a range of commits and FILE, as bench "+
				"history backfill HEAD~20..HEAD configs/ci.yaml",
				console.Plural(len(args), "argument", "arguments"))
		}
		return f.Backfill(ctx, args[0], args[1])
	})
}

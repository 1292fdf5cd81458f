package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/commits"
	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/history"
	"github.com/conclave-bench/conclave/internal/report"
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
	json      bool
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
	if o.Least, err = fraction(f.least); err != nil {
		return nil, nil, usage("--least %s: %v, want a percentage as 1%%, or a fraction as 0.01", f.least,
			err)
	}
	if !(f.alpha > 0 && f.alpha < 1) {
		return nil, nil, usage("--alpha %v: want a probability between 0 and 1, as 0.01", f.alpha)
	}
	where, err := readWhere(f.where)
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
		return nil, nil, unknownName(fmt.Errorf("%s: %w", store, err))
	}
	a := history.Analyze(entries, blessings, o)
	lack := ""
	if !f.all {
		lack = older(ctx)
	}
	switch {
	case a.Runs == 0:
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
	c, err := commitCalled(ctx, repo, "--at", name)
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

` + exitHelp("history", "0", "1", "2", "130, 143"),
		Example: `  bench history add results/ci/latest
  bench history add results/ci/latest --commit HEAD
  bench history add results/ci/latest --store git:bench-history --push origin`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("bench history add: want a run, as bench history add results/ci/latest")
			}
			ctx, stop := s.interruptible(context.Background())
			defer stop()
			if c.Flags().Changed("push") && (push == "" || strings.HasPrefix(push, "-")) {
				return usage("--push %q: want a remote repository by its name or URL, as origin", push)
			}
			store, err := f.open(ctx)
			if err != nil {
				return err
			}
			for _, path := range args {
				if err := s.historyAdd(ctx, store, path, commit); err != nil {
					return err
				}
			}
			if push != "" {
				return store.Sync(ctx, push)
			}
			return nil
		},
	}
	f.place(c)
	c.Flags().StringVar(&commit, "commit", "", "the runs are of `COMMIT`, as HEAD")
	c.Flags().StringVar(&push, "push", "", "exchange a history in git:REF with a `REMOTE`, as origin")
	return c
}

func (s *streams) historyAdd(ctx context.Context, store *history.Store, path, commit string) error {
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
	fmt.Fprintf(s.text(), "%s: %s, %s, of %s\n", store, e.Experiment, report.Plural(len(e.Cells), "cell",
		"cells"),
		commitText(&of))
	return nil
}

// commitText is a commit in a line.
func commitText(c *commits.Commit) string { return strings.TrimSpace(c.Short() + " " + c.Subject) }

func (s *streams) historyAnalyzeCommand() *cobra.Command {
	var f historyFlags
	var format, out, pkg string
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

` + exitHelp("history", "0", "1", "2", "4", "130, 143"),
		Example: `  bench history analyze
  bench history analyze --cause
  bench history analyze --since HEAD~20 --format markdown --out trend.md
  bench history analyze --store git:refs/notes/conclave --where nodes=5`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("format", format, analyzeFormats); err != nil {
				return err
			}
			ctx, stop := s.interruptible(context.Background())
			defer stop()
			store, a, err := f.analysis(ctx)
			if err != nil {
				return err
			}
			if cause {
				if err := s.explain(ctx, store, a, pkg); err != nil {
					return err
				}
			}
			var text strings.Builder
			switch format {
			case "json":
				err = writeJSON(&text, newTrends(store.String(), a))
			case "markdown":
				markdownTrends(&text, a)
			default:
				printTrends(&console.Folding{W: &text}, a)
			}
			if err == nil {
				err = s.output(out, []byte(text.String()))
			}
			if err == nil && len(a.Bad()) > 0 {
				return exit(Missed)
			}
			return err
		},
	}
	f.choice(c)
	c.Flags().StringVar(&f.since, "since", "", "tell only changes behind `COMMIT`")
	c.Flags().BoolVar(&cause, "cause", false, "find the causes of exact changes; this builds commits")
	c.Flags().StringVar(&pkg, "package", "./cmd/bench",
		"with --cause, build the command in the Go package `PATH`")
	c.Flags().StringVar(&format, "format", analyzeFormats[0], "write `FORMAT`: "+strings.Join(analyzeFormats,
		", "))
	c.Flags().StringVar(&out, "out", "", "write to `FILE` instead of standard output")
	choices(c, "format", analyzeFormats)
	return c
}

var analyzeFormats = []string{"text", "markdown", "json"}

func (s *streams) historyBlessCommand() *cobra.Command {
	var f historyFlags
	var metricName, reason string
	c := &cobra.Command{
		Use:   "bless COMMIT",
		Short: "Accept what a commit changed",
		Long: `Accept what a commit changed, with the reason for those who read it later. It
is told from then on, and is no failure any more. Of a change that lies
somewhere between two commits, bless any of those between.

` + exitHelp("history", "0", "1", "2", "130, 143"),
		Example: `  bench history bless HEAD --reason "raft now asks before it votes"
  bench history bless 3f2a91c --where algorithm=raft --metric messages \
    --reason "one more round, on purpose"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("bench history bless: %s, want one commit, as bench history bless HEAD "+
					"--reason ...", report.Plural(len(args), "argument", "arguments"))
			}
			if strings.TrimSpace(reason) == "" {
				return usage("bench history bless: want --reason: those who read it later need to know")
			}
			ctx, stop := s.interruptible(context.Background())
			defer stop()
			return s.historyBless(ctx, &f, args[0], metricName, reason)
		},
	}
	f.place(c)
	c.Flags().StringVar(&metricName, "metric", "", "only of the metric `NAME`")
	c.Flags().StringArrayVar(&f.where, "where", nil, "only of cells where `COLUMN=VALUE`; repeatable")
	c.Flags().StringVar(&reason, "reason", "", "say why, in `TEXT`")
	return c
}

func (s *streams) historyBless(ctx context.Context, f *historyFlags, commit, metricName,
	reason string) error {
	store, err := f.open(ctx)
	if err != nil {
		return err
	}
	c, err := history.Describe(ctx, commit)
	if err != nil {
		return usage("bench history bless: %v", err)
	}
	b := &history.Blessing{Commit: c.Hash, Metric: metricName, Reason: reason,
		At: time.Now().UTC().Format(time.RFC3339)}
	if repo, err := commits.Open(ctx, "."); err == nil {
		b.By = repo.User(ctx)
	}
	where, err := readWhere(f.where)
	if err != nil {
		return err
	}
	b.Where = where
	entries, err := store.Entries(ctx)
	if err != nil {
		return err
	}
	if len(entries) > 0 { // what is blessed may be measured later
		if _, err := history.Select(entries, where); err != nil {
			return unknownName(fmt.Errorf("%s: %w", store, err))
		}
	}
	if err := store.Bless(ctx, b); err != nil {
		return err
	}
	fmt.Fprintf(s.text(), "%s: blessed %s\n", store, commitText(&c))
	return nil
}

// printTrends writes an analysis for people.
func printTrends(w *console.Folding, a *history.Analysis) {
	measured := map[string]bool{}
	noisy := 0
	for _, series := range a.Series {
		for _, p := range series.Points {
			measured[p.Entry.Commit.Hash] = true
		}
		if !series.Exact {
			noisy++
		}
	}
	fmt.Fprintf(w, "%s of %s; %d exact series, %d noisy\n", report.Plural(a.Runs, "run", "runs"),
		report.Plural(len(measured), "commit", "commits"), len(a.Series)-noisy, noisy)
	if len(a.Findings) == 0 {
		fmt.Fprintf(w, "\nnothing changed\n")
	}
	last := ""
	for _, f := range a.Findings {
		if head := place(f); head != last {
			fmt.Fprintf(w, "\n%s\n", head)
			last = head
		}
		fmt.Fprintf(w, "  %s\n", findingText(f))
		for _, c := range alsoOf(f) {
			fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(c, "\n", "\n    "))
		}
	}
	fmt.Fprintln(w)
	for _, n := range notesOf(a) {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	if bad := len(a.Bad()); bad > 0 {
		fmt.Fprintf(w, "%s; accept what is meant with bench history bless COMMIT --reason ...\n",
			report.Plural(bad, "change for the worse that nobody has blessed",
				"changes for the worse that nobody has blessed"))
	}
}

// place is the commit of a finding, or between which it is.
func place(f *history.Finding) string {
	text := commitText(&f.Commit)
	switch {
	case f.Kind == history.Contradiction:
		return text + ", two runs"
	case f.From.Hash != f.To.Hash:
		return fmt.Sprintf("near %s (%s to %s)", text, f.From.Short(), f.To.Short())
	case f.Unmeasured > 0:
		return fmt.Sprintf("%s, or one of the %d before it that were not measured", text, f.Unmeasured)
	}
	return text
}

// findingText is a finding in a line.
func findingText(f *history.Finding) string {
	cell := f.Experiment + ": " + f.Cell
	var parts []string
	const most = 3
	for i, c := range f.Changes {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(f.Changes)-most))
			break
		}
		parts = append(parts, figureChange(&c))
	}
	text := strings.Join(parts, ", ")
	switch f.Kind {
	case history.Drift:
		text += fmt.Sprintf(", over %s up to %s", report.Plural(f.Commits, "measured commit",
			"measured commits"),
			f.End.Short())
	case history.Broken:
		text += "; trials break a promise that they kept before"
	case history.Contradiction:
		text += "; the program does not do the same twice"
	}
	switch {
	case f.Kind == history.Step || f.Kind == history.Drift: // P may be 0: smaller than any number
		text += ", P " + compare.P(f.P)
	case f.Trial > 0:
		text += fmt.Sprintf("; %s from trial %d on", report.Plural(f.Trials, "trial differs",
			"trials differ"), f.Trial)
	}
	if f.Verdict == history.Other {
		return fmt.Sprintf("%s: %s: %s", f.Kind, cell, text)
	}
	return fmt.Sprintf("%s, %s: %s: %s", f.Kind, f.Verdict, cell, text)
}

func figureChange(c *history.Change) string {
	number := func(v *float64) string {
		if v == nil {
			return "none"
		}
		return compare.Number(*v)
	}
	if c.Equal {
		return fmt.Sprintf("%s %s in the mean, but not in each trial", c.Metric, number(c.After))
	}
	text := fmt.Sprintf("%s %s -> %s", c.Metric, number(c.Before), number(c.After))
	if r := c.Ratio(); !math.IsNaN(r) {
		text += fmt.Sprintf(" (%s)", compare.Percent(r))
	}
	return text
}

// alsoOf is what else is to be said of a finding.
func alsoOf(f *history.Finding) (out []string) {
	if f.Blessing != nil {
		text := "blessed: " + f.Blessing.Reason
		if f.Blessing.By != "" {
			text += " (" + f.Blessing.By + ")"
		}
		out = append(out, text)
	}
	if f.Configured {
		out = append(out, "the experiment is another, too: it may be the cause")
	}
	if f.Cause != "" {
		out = append(out, f.Cause)
	}
	return out
}

// notesOf is what limits the analysis.
func notesOf(a *history.Analysis) (out []string) {
	if a.Elsewhere > 0 {
		out = append(out, fmt.Sprintf("%s of commits that are not on this line: left out",
			report.Plural(a.Elsewhere, "run is", "runs are")))
	}
	out = append(out, a.Notes...)
	late, short := map[string][]string{}, 0
	for _, s := range a.Series {
		if s.Exact {
			continue
		}
		switch n := s.Course.Late; {
		case len(s.Points) < history.Fewest:
			short++
		case n > 0:
			from := s.Points[len(s.Points)-n].Entry.Commit.Short()
			late[from] = append(late[from], s.Name())
		}
	}
	for _, from := range sortedKeys(late) {
		out = append(out,
			fmt.Sprintf("from %s on, %s lies apart from what was before: it takes %d runs behind a "+
				"change to tell it from an outlier", from, listed(late[from]), history.Behind))
	}
	if short > 0 {
		out = append(out, fmt.Sprintf("%s: fewer than %d runs, so nothing can be said of steps and drifts",
			report.Plural(short, "noisy series is short", "noisy series are short"), history.Fewest))
	}
	return out
}

func sortedKeys(m map[string][]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// listed is a list in words, of which the first few are named.
func listed(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more series", strings.Join(names[:most], ", "), len(names)-most)
}

// markdownTrends writes an analysis for a pull request: the lines that matter, and all others folded.
func markdownTrends(w *strings.Builder, a *history.Analysis) {
	bad := a.Bad()
	fmt.Fprintf(w, "**%s**", cmp.Or(map[bool]string{true: "Nothing became worse"}[len(bad) == 0],
		report.Plural(len(bad), "change for the worse", "changes for the worse")))
	fmt.Fprintf(w, " in %s\n\n", report.Plural(a.Runs, "run", "runs"))
	const most = 3
	shown := slices.Clone(bad)
	if len(bad) == 0 {
		shown = slices.Clone(a.Findings)
	}
	slices.Reverse(shown)
	if len(shown) > most {
		fmt.Fprintf(w, "The newest %d of %d:\n\n", most, len(shown))
	}
	for i, f := range shown {
		if i == most {
			break
		}
		fmt.Fprintf(w, "- %s: %s\n", console.Markdown(place(f)), console.Markdown(findingText(f)))
	}
	if len(a.Findings) > 0 {
		fmt.Fprintf(w, "\n<details><summary>all %s</summary>\n\n", report.Plural(len(a.Findings), "change",
			"changes"))
		for _, f := range a.Findings {
			fmt.Fprintf(w, "- %s: %s", console.Markdown(place(f)), console.Markdown(findingText(f)))
			for _, text := range alsoOf(f) {
				if text == f.Cause {
					fmt.Fprintf(w, "\n\n  ```\n  %s\n  ```", strings.ReplaceAll(text, "\n", "\n  "))
					continue
				}
				fmt.Fprintf(w, "; %s", console.Markdown(text))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "\n</details>\n")
	}
	for _, n := range notesOf(a) {
		fmt.Fprintf(w, "\n%s\n", console.Markdown(n))
	}
}

// trends is an analysis as JSON.
type trends struct {
	Schema    int                `json:"schema_version"`
	Store     string             `json:"store"`
	Runs      int                `json:"runs"`
	Elsewhere int                `json:"runs_elsewhere"`
	Findings  []*history.Finding `json:"findings"`
	Bad       int                `json:"worse_unblessed"`
	Series    []trendOf          `json:"series"`
	Notes     []string           `json:"notes"`
}

// trendOf is a series as JSON.
type trendOf struct {
	Experiment string    `json:"experiment"`
	Cell       string    `json:"cell"`
	Metric     string    `json:"metric"`
	Exact      bool      `json:"exact"`
	Machine    string    `json:"machine,omitempty"`
	Commits    []string  `json:"commits"`
	Values     []float64 `json:"values"`
	Level      []float64 `json:"level,omitempty"`
	Noise      *float64  `json:"noise,omitempty"` // a part of the value
	Bus        float64   `json:"bus,omitempty"`
	Outliers   []int     `json:"outliers,omitempty"`
	Undecided  int       `json:"undecided,omitempty"` // of the last values
}

func newTrends(store string, a *history.Analysis) trends {
	t := trends{Schema: history.Schema, Store: store, Runs: a.Runs, Elsewhere: a.Elsewhere,
		Findings: a.Findings,
		Bad:      len(a.Bad()), Notes: notesOf(a), Series: []trendOf{}}
	if t.Findings == nil {
		t.Findings = []*history.Finding{}
	}
	if t.Notes == nil {
		t.Notes = []string{}
	}
	for _, s := range a.Series {
		o := trendOf{Experiment: s.Experiment, Cell: s.Cell, Metric: s.Metric.Name, Exact: s.Exact,
			Machine: s.Machine,
			Bus:     s.Bus, Outliers: s.Course.Outliers, Undecided: s.Course.Late}
		for _, p := range s.Points {
			o.Commits, o.Values = append(o.Commits, p.Entry.Commit.Hash), append(o.Values, p.Raw)
		}
		if !s.Exact && len(s.Points) >= history.Fewest {
			o.Level, o.Noise = s.Course.Level, results.Finite(s.Noise())
		}
		t.Series = append(t.Series, o)
	}
	return t
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
			if err := writeWhole(out, page); err != nil {
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
		RunE: func(*cobra.Command, []string) error {
			if !(alarms >= 0) || math.IsInf(alarms, 0) {
				return usage("--alarms %v: want a number of false alarms a year, as 1", alarms)
			}
			ctx, stop := s.interruptible(context.Background())
			defer stop()
			_, a, err := f.analysis(ctx)
			if err != nil {
				return err
			}
			r, err := history.Roc(ctx, a, alarms)
			if err != nil {
				return err
			}
			if f.json {
				return writeJSON(s.out, r)
			}
			printRoc(s.text(), r)
			return nil
		},
	}
	f.choice(c)
	c.Flags().Float64Var(&alarms, "alarms", 1, "propose what raises at most `N` false alarms a year")
	c.Flags().BoolVar(&f.json, "json", false, "print the outcome as JSON")
	return c
}

func printRoc(w *console.Folding, r *history.Curve) {
	fmt.Fprintf(w, "%s with %s, %.0f commits a year\n\n", report.Plural(r.Series, "noisy series",
		"noisy series"),
		report.Plural(r.Values, "value", "values"), r.CommitsAYear)
	t := &console.Table{}
	t.Column("alpha", true)
	t.Column("false alarms a year", true)
	for _, shift := range r.Shifts {
		t.Column(fmt.Sprintf("%g %% found", 100*shift), true)
		t.Column("commits later", true)
	}
	for _, row := range r.Rows {
		cells := []string{fmt.Sprint(row.Alpha), compare.Number(row.Alarms)}
		for _, found := range row.Found {
			later := ""
			if found.Share > 0 {
				later = compare.Number(found.Delay)
			}
			cells = append(cells, fmt.Sprintf("%.0f %%", 100*found.Share), later)
		}
		t.Add(cells...)
	}
	t.Write(w)
	fmt.Fprintln(w)
	switch {
	case r.Proposed == nil:
		fmt.Fprintf(w, "none of these raises so few false alarms: measure more trials for each run\n")
	case r.Proposed.Least == nil:
		fmt.Fprintf(w,
			"--alpha %v raises %s false alarms a year, and finds none of these steps nine times in ten\n",
			r.Proposed.Alpha, compare.Number(r.Proposed.Alarms))
	default:
		fmt.Fprintf(w,
			"proposed: --alpha %v --least %g%%: %s false alarms a year, and nine of ten steps of that size "+
				"are found within %d commits\n", r.Proposed.Alpha, 100**r.Proposed.Least,
			compare.Number(r.Proposed.Alarms), history.Within)
	}
}

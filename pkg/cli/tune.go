package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/report/figure"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/internal/tune"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// tuneFlags are the flags of bench tune.
type tuneFlags struct {
	source
	budget, hours, span float64
	spreads             []float64
	out                 string
	quiet, json         bool
}

// The files of bench tune, besides the figure.
const (
	tunePoints     = "tune.csv"
	tuneExperiment = "tuned.yaml"
	tuneFigure     = "front"
)

func (s *streams) tuneCommand() *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune [FILE]",
		Short: "Find each algorithm's fastest time-outs at equal mistakes",
		Long: `Find, for each algorithm of the experiment in FILE, the time-out with which it
replaces a crashed leader the soonest while it makes no more false elections
per hour than --budget. False is an election that nothing called for: every
process was up, and the leader in reach. What is tuned is the algorithm's own
time-out (bench describe ID), or else that of its failure detector. Everything
else stays as FILE has it, heartbeat intervals too, which are a cost.

Each setting is measured twice: in crashes of the leader, and in quiet running
until the interval of the rate of mistakes is on one side of the budget. That
takes five hours per false election allowed at least, in simulation seconds.
Simulated, unless --transport nats runs real processes.

A new folder in --out gets ` + tunePoints + ` with every setting that was measured, the
Pareto front of downtime and mistakes as a figure, and ` + tuneExperiment + `: an
experiment for bench run that compares the algorithms at equal mistakes.

` + exitHelp("tune", "0", "1", "2", "3", "5", "130, 143"),
		Example: `  bench tune configs/tuning.yaml --budget 1000
  bench tune configs/tuning.yaml --budget 1000 --span 4 --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return s.tune(&f, args) },
	}
	f.register(c)
	flags := c.Flags()
	flags.Lookup("transport").Usage = "measure on `TRANSPORT`: sim in simulation (the default), nats on " +
		"real processes"
	flags.Float64Var(&f.budget, "budget", 1, "allow `R` false elections per hour")
	flags.Float64Var(&f.hours, "hours", 0,
		"run a setting quietly for `H` hours at most (default: 21.2 / R, and of that a quarter decides)")
	flags.Float64Var(&f.span, "span", 16, "search from 1/`X` to X times the time-out of FILE")
	flags.Float64SliceVar(&f.spreads, "spread", []float64{0.25, 0.5, 1},
		"try `SHARES` of a time-out as its random part, where it has one")
	flags.StringVar(&f.out, "out", "results", "write into a new folder in `DIR`")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON")
	return c
}

// options are what the flags ask for.
func (f *tuneFlags) options() (o tune.Options, err error) {
	switch {
	case !(f.budget >= 1e-3 && f.budget <= 1e6):
		return o, usage("--budget %v, want 0.001 to 1000000 false elections per hour", f.budget)
	case f.hours != 0 && !(f.hours >= 1e-3 && f.hours <= 1e5):
		return o, usage("--hours %v, want 0.001 to 100000", f.hours)
	case !(f.span >= 2 && f.span <= 1024):
		return o, usage("--span %v, want 2 to 1024", f.span)
	case f.hours == 0 && transport.Real(f.transport):
		return o, usage("--transport %s: real processes run by the clock on the wall, for %s per setting "+
			"at this budget; say with --hours how long they may", f.transport,
			about(time.Duration(tune.Hours(f.budget)*float64(time.Hour))))
	}
	for _, share := range f.spreads {
		if !(share > 0 && share <= 10) {
			return o, usage("--spread %v, want shares above 0 and up to 10, as 0.5,1", share)
		}
	}
	o = tune.Options{Budget: f.budget, Hours: f.hours, Span: f.span, Spreads: f.spreads}
	if o.Hours == 0 {
		o.Hours = tune.Hours(f.budget)
	}
	return o, nil
}

func (s *streams) tune(f *tuneFlags, args []string) error {
	if f.transport == "" && !slices.ContainsFunc(f.set, func(set string) bool {
		return strings.HasPrefix(set, "transport=")
	}) {
		f.transport = transport.Sim.Name
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	e, err := f.load(s, args)
	if err != nil {
		return err
	}
	if _, err := tune.Contenders(e); err != nil {
		return asUsage(err)
	}
	dir, err := results.NewFolder(f.out, e.Name+"-tune")
	if err != nil {
		return err
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	var sum outcome.Tally
	o.Run = func(ctx context.Context, e *experiment.Experiment) ([]results.Trial, error) {
		return s.runTuned(ctx, e, &sum)
	}
	if !f.quiet {
		s.overridden(runner.Header(e, nil).Overrides, true)
		o.Told = func(c *tune.Contender, p *tune.Point) {
			if p.Verdict == tune.Down {
				fmt.Fprintf(s.aside(), "%s %s: no leader before the time limit in most trials: "+
					"dropped\n", c.Label, p.Settings)
				return
			}
			fmt.Fprintf(s.aside(), "%s %s: downtime_ms %s, false elections per hour %s: %s\n", c.Label,
				p.Settings, compare.Number(p.Downtime), interval(p.Rate, p.RateLow, p.RateHigh), p.Verdict)
		}
	}
	found, err := tune.Tune(ctx, e, o)
	err = asUsage(err)
	t := &tuned{name: e.Name, options: &o, dir: dir, found: found}
	if wrote := t.write(s.argv); err == nil {
		err = wrote
	}
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(s.out, t.report())
	} else {
		t.print(s)
	}
	sum.Unknown = t.missing()
	if code := sum.Code(); err == nil && code != Good {
		err = exit(code)
	}
	return err
}

// asUsage reports what cannot be tuned as a usage error.
func asUsage(err error) error {
	var refusal *tune.Refusal
	if errors.As(err, &refusal) {
		return usage("bench tune: %s", refusal.Error())
	}
	return err
}

// runTuned runs an experiment of a search in memory. What is wrong adds to sum.
func (s *streams) runTuned(ctx context.Context, e *experiment.Experiment, sum *outcome.Tally) (
	[]results.Trial, error) {
	config, err := e.Resolved()
	if err != nil {
		return nil, err
	}
	folder, err := results.InMemory(runner.Header(e, nil), config)
	if err != nil {
		return nil, err
	}
	options, err := programs()
	if err != nil {
		return nil, err
	}
	options.SimArgs = nil // the many short runs of a search would wait for processes to start
	if _, err := runner.Run(ctx, e, folder, options); err != nil {
		return nil, err
	}
	var out []results.Trial
	err = folder.EachTrial(func(t *results.Trial) error {
		switch {
		case t.Status == trace.Failed:
			return fmt.Errorf("%s: a trial could not be run: %s", e.Cells[0].Label, t.Reason)
		case t.Status == trace.Violated && t.InModel:
			if sum.Violations++; sum.Violations <= outcome.MostTold {
				s.say(fmt.Sprintf("violation: %s, seed %d: %s", e.Cells[0].Label, t.Seed, t.Reason))
			}
		}
		out = append(out, *t)
		return nil
	})
	return out, err
}

// A tuned is the outcome of a search.
type tuned struct {
	name    string
	options *tune.Options
	dir     string
	found   []tune.Result
	files   []string
}

// missing is how many algorithms have no setting within the budget.
func (t *tuned) missing() (n int) {
	for i := range t.found {
		if t.found[i].Best < 0 {
			n++
		}
	}
	return n
}

// write writes the files.
func (t *tuned) write(argv []string) error {
	table, err := tune.CSV(t.found)
	if err == nil {
		err = files.Write(filepath.Join(t.dir, tunePoints), table)
	}
	if err != nil {
		return err
	}
	t.files = append(t.files, tunePoints)
	yaml, err := tune.Tuned(t.found, fmt.Sprintf("# Algorithms at equal mistakes: at most %s false "+
		"elections per hour. Found by:\n# %s\n", compare.Number(t.options.Budget), strings.Join(argv, " ")))
	if yaml != nil && err == nil {
		t.files = append(t.files, tuneExperiment)
		err = files.Write(filepath.Join(t.dir, tuneExperiment), yaml)
	}
	if err != nil {
		return err
	}
	var fronts []figure.Front
	for i := range t.found {
		r := &t.found[i]
		front := figure.Front{Name: r.Label}
		for j := range r.Points {
			if p := &r.Points[j]; p.Front {
				front.Points = append(front.Points, figure.Tradeoff{X: p.Rate, XLow: p.RateLow,
					XHigh: p.RateHigh, Y: p.Downtime, YLow: p.Low, YHigh: p.High})
			}
		}
		fronts = append(fronts, front)
	}
	names, err := figure.WriteFronts(t.dir, tuneFigure, "false elections per hour", metric.Downtime.Title(),
		t.options.Budget, fronts)
	t.files = append(t.files, names...)
	return err
}

// interval is a figure with its interval, for people.
func interval(v, low, high float64) string {
	return fmt.Sprintf("%s [%s, %s]", compare.Number(v), compare.Number(low), compare.Number(high))
}

// print writes the outcome for people.
func (t *tuned) print(s *streams) {
	w := s.text()
	fmt.Fprintf(w, "budget      %s false elections per hour, quiet for up to %s hours\n\n",
		compare.Number(t.options.Budget), compare.Number(t.options.Hours))
	table := &console.Table{}
	table.Column("algorithm", false)
	table.Column("n", true)
	table.Column("downtime_ms", true)
	table.Column("false per hour", true)
	var settings, without []string
	for i := range t.found {
		r := &t.found[i]
		if text := r.Dropped(); text != "" {
			without = append(without, r.Label+": "+text)
		}
		if r.Best < 0 {
			without = append(without, r.Label+": "+r.Why(t.options))
			continue
		}
		p := &r.Points[r.Best]
		table.Add(r.Label, fmt.Sprint(p.N), interval(p.Downtime, p.Low, p.High),
			interval(p.Rate, p.RateLow, p.RateHigh))
		settings = append(settings, r.Label+": "+p.Settings)
		if text := r.Takes(); text != "" {
			without = append(without, r.Label+": every setting keeps to "+text)
		}
		if r.Bound {
			without = append(without, r.Label+": the shortest setting that the system takes is within the "+
				"budget already")
		}
		if r.Edge {
			without = append(without, r.Label+": the shortest setting is within the budget already; a "+
				"larger --span finds shorter ones")
		}
	}
	if len(table.Rows) > 0 {
		table.Write(w)
		fmt.Fprintln(w)
	}
	for _, text := range slices.Concat(settings, without) {
		fmt.Fprintln(w, strings.TrimLeft(console.Wrap(text, 2), " "))
	}
	fmt.Fprintf(w, "results: %s (%s)\n", t.dir, strings.Join(t.files, ", "))
	if slices.Contains(t.files, tuneExperiment) {
		fmt.Fprintf(w, "compare: %s\n", program.Command("run", filepath.Join(t.dir, tuneExperiment)))
	}
}

// The machine's form. A figure that does not exist is null.
type (
	tuneReport struct {
		Schema     int           `json:"schema_version"`
		Name       string        `json:"name"`
		Budget     float64       `json:"budget_per_hour"`
		Hours      float64       `json:"hours"`
		Dir        string        `json:"dir"`
		Files      []string      `json:"files"`
		Algorithms []tunedReport `json:"algorithms"`
	}
	tunedReport struct {
		Label     string      `json:"label"`
		Algorithm string      `json:"algorithm"`
		Tuned     string      `json:"tuned"`
		Outcome   string      `json:"outcome"` // found, undecided or unreachable
		Why       string      `json:"why,omitempty"`
		Needs     float64     `json:"needs_hours,omitempty"` // undecided: what would decide
		Best      *tunePoint  `json:"best"`
		Points    []tunePoint `json:"points"`
	}
	tunePoint struct {
		Settings   string   `json:"settings"`
		Verdict    string   `json:"verdict"`
		Front      bool     `json:"front"`
		InModel    bool     `json:"in_model"`
		Downtime   *float64 `json:"downtime_ms"`
		Low        *float64 `json:"downtime_low"`
		High       *float64 `json:"downtime_high"`
		N          int      `json:"n"`
		Hours      float64  `json:"quiet_hours"`
		Mistakes   int      `json:"false_elections"`
		Rate       *float64 `json:"false_elections_per_hour"`
		RateLow    *float64 `json:"false_elections_low"`
		RateHigh   *float64 `json:"false_elections_high"`
		Duration   *float64 `json:"mistake_duration_ms"`
		Recurrence *float64 `json:"mistake_recurrence_ms"`
		Accuracy   *float64 `json:"query_accuracy"`
	}
)

func (t *tuned) report() tuneReport {
	r := tuneReport{Schema: 1, Name: t.name, Budget: t.options.Budget, Hours: t.options.Hours, Dir: t.dir,
		Files: t.files}
	for i := range t.found {
		f := &t.found[i]
		a := tunedReport{Label: f.Label, Algorithm: f.Algorithm, Tuned: f.Dial, Outcome: f.Outcome(),
			Needs: f.Needs, Why: f.Why(t.options), Points: []tunePoint{}}
		for j := range f.Points {
			p := &f.Points[j]
			a.Points = append(a.Points, tunePoint{p.Settings, string(p.Verdict), p.Front, p.InModel,
				results.Finite(p.Downtime), results.Finite(p.Low), results.Finite(p.High), p.N, p.Hours,
				p.Mistakes, results.Finite(p.Rate), results.Finite(p.RateLow), results.Finite(p.RateHigh),
				results.Finite(p.Duration), results.Finite(p.Recurrence), results.Finite(p.Accuracy)})
		}
		if f.Best >= 0 {
			a.Best = &a.Points[f.Best]
		}
		r.Algorithms = append(r.Algorithms, a)
	}
	return r
}

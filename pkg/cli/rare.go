package cli

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/internal/rare"
	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// rareFlags are the flags of bench rare.
type rareFlags struct {
	source
	beyond                       []string
	paths, replications, workers int
	csv                          string
	quiet                        bool
}

func (s *streams) rareCommand() *cobra.Command {
	var f rareFlags
	c := &cobra.Command{
		Use:   "rare FILE",
		Short: "Estimate how likely very long outages are, in simulation",
		Long: `Estimate, for each algorithm of the experiment in FILE, how likely a trial is
to have an outage beyond each of --beyond, down to a probability of 1e-9 and
less, where as many plain trials would never end. Numbers are so many
time-outs of the algorithm (bench describe ID); durations are themselves. An
outage is what downtime_ms counts.

It splits paths: where a simulated outage has got further than most, many new
trials go on from there with draws of their own. A pilot finds where; then the
estimate is unbiased, and independent replications of it give the interval.
The same seed gives the same. docs/methodology.md has the method and what it
is blind to.

` + exitHelp("rare", "0", "1", "2", "3", "5", "130, 143"),
		Example: `  bench rare configs/rare.yaml --beyond 2,4 --paths 50
  bench rare configs/rare.yaml --beyond 300ms,600ms --paths 50 --csv rare.csv`,
		Args: cobra.ArbitraryArgs,
	}
	f.register(c)
	flags := c.Flags()
	flags.Lookup("transport").Usage = "only `TRANSPORT` sim, which is the default here"
	flags.StringSliceVar(&f.beyond, "beyond", []string{"2", "4", "6", "8", "10"},
		"ask for outages longer than each of `LIST`: numbers of time-outs, or durations as 2s")
	flags.IntVar(&f.paths, "paths", 1000, "simulate `N` paths from each level")
	flags.IntVar(&f.replications, "replications", 10, "estimate `N` times anew; the interval is theirs")
	flags.IntVar(&f.workers, "workers", 0, "run `N` replications at a time (default: one per core)")
	flags.StringVar(&f.csv, "csv", "", "write the estimates to `FILE`, a row each")
	flags.BoolVar(&f.quiet, "quiet", false, "print only results and errors")
	return s.answering(c, func(args []string) (*answer.Document, error) { return s.rare(&f, args) })
}

// A tail is what was estimated of one cell.
type tail struct {
	cell    *experiment.Cell
	name    string
	wait    string // name of the time-out; "": none
	timeOut time.Duration
	result  *rare.Result
	took    time.Duration
}

func (s *streams) rare(f *rareFlags, args []string) (*answer.Document, error) {
	if f.transport == "" && !slices.ContainsFunc(f.set, func(set string) bool {
		return strings.HasPrefix(set, "transport=")
	}) {
		f.transport = transport.Sim.Name
	}
	switch {
	case f.paths < 10 || f.paths > 1e6:
		return nil, usage("--paths %d, want 10 to 1000000", f.paths)
	case f.replications < 2 || f.replications > 1e4:
		return nil, usage("--replications %d, want 2 to 10000", f.replications)
	case f.workers < 0:
		return nil, usage("--workers %d, want 1 or more", f.workers)
	}
	e, err := f.load(s, args)
	if err != nil {
		return nil, err
	}
	if !e.Virtual() {
		return nil, usage("bench rare: transport %s: a trial on real nodes cannot go on twice from the same "+
			"point; leave --transport out", e.Transport)
	}
	tails := make([]tail, len(e.Cells))
	bounds := make([][]float64, len(e.Cells))
	design := designOf(e)
	for i := range e.Cells {
		t := &tails[i]
		t.cell, t.name = &e.Cells[i], design.name(&e.Cells[i])
		t.wait, t.timeOut = rare.Patience(&t.cell.Plan)
		if err := rare.Refuse(&t.cell.Plan); err != nil {
			return nil, usage("bench rare: %v", err)
		}
		if bounds[i], err = t.bounds(f.beyond); err != nil {
			return nil, err
		}
	}
	if f.workers == 0 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	sum := outcome.Tally{}
	for i := range tails {
		if err := s.split(ctx, &tails[i], f, e.Seed, bounds[i], &sum); err != nil {
			return nil, err
		}
	}
	d := rareDocument(e, tails, f)
	d.End(sum.Code(), meaning("rare", sum.Code()))
	if f.csv != "" {
		if err := writeDocument(f.csv, "csv", d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// bounds are those that the words ask for, in nanoseconds, the least first.
func (t *tail) bounds(words []string) (out []float64, err error) {
	for _, word := range words {
		if n, err := strconv.ParseFloat(word, 64); err == nil {
			if !(n > 0 && n <= 1e6) {
				return nil, usage("--beyond %s, want more than 0 and up to 1000000 time-outs", word)
			}
			if t.timeOut == 0 {
				return nil, usage("--beyond %s: %s has no time-out of one length by which it gives up a "+
					"leader; say how long in durations, as --beyond 2s", word, t.name)
			}
			out = append(out, math.Round(n*float64(t.timeOut)))
			continue
		}
		d, err := time.ParseDuration(word)
		if err != nil || d <= 0 || d > 24*time.Hour {
			return nil, usage("--beyond %q, want numbers of time-outs, as 2,4,10, or durations, as 2s", word)
		}
		out = append(out, float64(d))
	}
	if len(out) == 0 {
		return nil, usage("--beyond: nothing is asked for")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// split estimates the tail of one cell.
func (s *streams) split(ctx context.Context, t *tail, f *rareFlags, seed uint64, bounds []float64,
	sum *outcome.Tally) (err error) {
	o := rare.Options{Beyond: bounds, Paths: f.paths, Replications: f.replications, Seed: seed,
		Workers: f.workers}
	begun := time.Now()
	if !f.quiet {
		told := time.Duration(0)
		o.Progress = func(done int) {
			elapsed := time.Since(begun)
			if elapsed-told < pauseAfter(elapsed) {
				return
			}
			told = elapsed
			fmt.Fprintf(s.aside(), "%s: replication %d of %d\n", t.name, done, f.replications)
		}
	}
	last := time.Duration(bounds[len(bounds)-1])
	t.result, err = rare.Split(ctx, rare.Outages(&t.cell.Plan, last), o)
	t.took = time.Since(begun)
	if err != nil {
		return err
	}
	for i, text := range t.result.Broken {
		if i < outcome.MostTold {
			s.say(fmt.Sprintf("violation: %s: %s", t.name, text))
		}
	}
	sum.Violations += t.result.Violated
	for i := range t.result.Estimates {
		if t.result.Estimates[i].Reached == 0 {
			sum.Unknown++
		}
	}
	return nil
}

// digits3 writes a small number for people.
func digits3(p float64) string {
	if math.IsNaN(p) {
		return "n/a"
	}
	return strconv.FormatFloat(p, 'g', 3, 64)
}

// rareDocument is the estimates, and how they were made.
func rareDocument(e *experiment.Experiment, tails []tail, f *rareFlags) *answer.Document {
	d := answer.New("rare", "Rare outages of "+e.Name)
	d.Add(answer.Facts{{Name: "name", Value: e.Name}, {Name: "seed", Value: e.Seed},
		{Name: "confidence", Value: rare.Confidence}})
	count := func(name string) answer.Column {
		return answer.Column{Name: name, Kind: answer.Count, Only: answer.Programs}
	}
	estimates := d.Table("estimates",
		answer.Column{Name: "cell", Head: "algorithm", Kind: answer.Words},
		answer.Column{Name: "metric", Kind: answer.Words, Only: answer.Programs},
		answer.Column{Name: "beyond_ms", Head: "beyond", Kind: answer.Number, Unit: "ms"},
		answer.Column{Name: "time_outs", Head: "time-outs", Kind: answer.Number},
		answer.Column{Name: "probability", Kind: answer.Number},
		answer.Column{Head: "95 % interval", Kind: answer.Number, Only: answer.People},
		answer.Column{Name: "low", Kind: answer.Number, Only: answer.Programs},
		answer.Column{Name: "high", Kind: answer.Number, Only: answer.Programs},
		count("replications"), count("replications_reached"), count("paths"), count("levels"),
		count("simulated_paths"), count("events"),
		answer.Column{Name: "plain_trials", Kind: answer.Number, Only: answer.Programs},
		answer.Column{Name: "gain", Kind: answer.Number})
	cells := d.Table("cells",
		answer.Column{Name: "cell", Kind: answer.Words}, answer.Column{Name: "design", Kind: answer.Map},
		answer.Column{Name: "time_out_ms", Kind: answer.Number, Unit: "ms"},
		answer.Column{Name: "height", Kind: answer.Words}, answer.Column{Name: "levels", Kind: answer.List},
		answer.Column{Name: "violated_paths", Kind: answer.Count})
	cells.Only = answer.Programs
	d.Say("")
	for i := range tails {
		t := &tails[i]
		t.rows(estimates, f)
		design := metric.ByName(t.cell.Design)
		design["label"] = t.cell.Label
		timeOut := math.NaN()
		if t.timeOut > 0 {
			timeOut = milliseconds(float64(t.timeOut))
		}
		cells.Row(t.name, design, timeOut, rare.Heights[t.result.Height], t.result.Levels, t.result.Violated)
		for _, text := range t.remarks(f) {
			d.Say(text)
		}
	}
	estimates.DropEmpty = true
	d.Say("gain: the variance of plain simulation at the same work, in events, by the variance of " +
		"this estimate")
	if f.csv != "" {
		d.Say("results: " + program.Quote(f.csv))
	}
	return d
}

// rows are a row for each bound.
func (t *tail) rows(table *answer.Table, f *rareFlags) {
	number := func(v float64) answer.Shown { return answer.Shown{Value: v, Text: digits3(v)} }
	for k := range t.result.Estimates {
		e, r := &t.result.Estimates[k], t.result
		var timeOuts answer.Value
		if t.timeOut > 0 {
			n := e.Beyond / float64(t.timeOut)
			timeOuts = answer.Shown{Value: n, Text: compare.Number(n)}
		}
		table.Row(t.name, t.downtime(),
			answer.Shown{Value: milliseconds(e.Beyond), Text: time.Duration(e.Beyond).String()}, timeOuts,
			number(e.Probability), fmt.Sprintf("[%s, %s]", digits3(e.Low), digits3(e.High)), e.Low, e.High,
			f.replications, e.Reached, f.paths, len(r.Levels), r.Paths, r.Events, e.Crude, number(e.Gain))
	}
}

// remarks say how the estimates were made, and what they are worth.
func (t *tail) remarks(f *rareFlags) (out []string) {
	r := t.result
	by := ""
	if t.wait != "" {
		by = fmt.Sprintf("; time-out %s %v", t.wait, t.timeOut)
	}
	out = append(out, fmt.Sprintf("%s: outages by %s%s", t.name, t.downtime(), by),
		fmt.Sprintf("  %s of %s; %s by %s; %d paths, %s events, %s",
			report.Plural(f.replications, "replication", "replications"),
			report.Plural(f.paths, "path", "paths")+" a stage",
			report.Plural(len(r.Levels), "level", "levels"), rare.Heights[r.Height],
			r.Paths, digits3(float64(r.Events)), t.took.Round(100*time.Millisecond)))
	for i := range r.Estimates {
		e := &r.Estimates[i]
		switch {
		case e.Reached == 0:
			return append(out, fmt.Sprintf("  careful: no path got beyond %v: nothing is known but that it "+
				"is rarer than what stands above; more --paths may reach it",
				time.Duration(e.Beyond)))
		case e.Reached < f.replications:
			return append(out, fmt.Sprintf("  careful: %d of %d replications got beyond %v: intervals from "+
				"there on may be too short; give more --paths",
				e.Reached, f.replications, time.Duration(e.Beyond)))
		}
	}
	return out
}

// downtime is the name of what was measured.
func (t *tail) downtime() string {
	alg, err := algo.Lookup(t.cell.Algorithm)
	if err != nil {
		return metric.Downtime.Name
	}
	return metric.OutagesOf(alg.Spec.Service).Downtime.Name
}

func milliseconds(ns float64) float64 { return ns / float64(time.Millisecond) }

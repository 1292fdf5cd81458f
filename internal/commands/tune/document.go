package tune

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/plan"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The files of a search, besides the figure.
const (
	PointsFile     = "tune.csv"
	ExperimentFile = "tuned.yaml"
	figureName     = "front"
)

// Check completes the options for an experiment that runs on a transport. The mistakes that it finds are
// called by the flags of bench tune.
func (o *Options) Check(where string) error {
	switch {
	case !(o.Budget >= 1e-3 && o.Budget <= 1e6):
		return answer.Mistaken("--budget %v, want 0.001 to 1000000 false elections per hour", o.Budget)
	case o.Hours != 0 && !(o.Hours >= 1e-3 && o.Hours <= 1e5):
		return answer.Mistaken("--hours %v, want 0.001 to 100000", o.Hours)
	case !(o.Span >= 2 && o.Span <= 1024):
		return answer.Mistaken("--span %v, want 2 to 1024", o.Span)
	case o.Hours == 0 && transport.Real(where):
		return answer.Mistaken("--transport %s: real processes run by the clock on the wall, for %s per "+
			"setting at this budget; say with --hours how long they may", where,
			plan.About(time.Duration(Hours(o.Budget)*float64(time.Hour))))
	}
	for _, share := range o.Spreads {
		if !(share > 0 && share <= 10) {
			return answer.Mistaken("--spread %v, want shares above 0 and up to 10, as 0.5,1", share)
		}
	}
	if o.Hours == 0 {
		o.Hours = Hours(o.Budget)
	}
	return nil
}

// Answer searches, writes what was found into a folder, also if the search ended early, and answers with it.
// Command is what the folder says about where it comes from.
func Answer(ctx context.Context, e *experiment.Experiment, o Options, dir,
	command string) (*answer.Document, error) {
	found, err := Tune(ctx, e, o)
	d := answer.New("tune", "Time-outs of "+e.Name+" at equal mistakes")
	d.Add(answer.Facts{{Name: "name", Value: e.Name},
		{Name: "budget_per_hour", Value: o.Budget, Line: fmt.Sprintf(
			"budget      %s false elections per hour, quiet for up to %s hours\n",
			console.Number(o.Budget), console.Number(o.Hours))},
		{Name: "hours", Value: o.Hours}, {Name: "dir", Value: dir}})
	addFound(d, found, &o)
	settings := addSettings(d, found)
	files, wrote := write(dir, command, settings, found, o.Budget)
	if err = cmp.Or(err, wrote); err != nil {
		return nil, err
	}
	d.Add(answer.Facts{{Name: "files", Value: files,
		Line: fmt.Sprintf("results: %s (%s)", dir, strings.Join(files, ", "))}})
	if slices.Contains(files, ExperimentFile) {
		d.Say("compare: " + program.Command("run", filepath.Join(dir, ExperimentFile)))
	}
	if slices.ContainsFunc(found, func(r Result) bool { return r.Best < 0 }) {
		d.Exit = answer.Incomplete
	}
	return d, nil
}

// write writes the files, and names them.
func write(dir, command string, settings *answer.Table, found []Result, budget float64) (names []string,
	err error) {
	csv := answer.Document{Blocks: []answer.Block{settings}}
	table, err := csv.In("csv")
	if err == nil {
		err = files.Write(filepath.Join(dir, PointsFile), table)
	}
	if err != nil {
		return nil, err
	}
	names = append(names, PointsFile)
	yaml, err := Tuned(found, fmt.Sprintf("# Algorithms at equal mistakes: at most %s false "+
		"elections per hour. Found by:\n# %s\n", console.Number(budget), command))
	if yaml != nil && err == nil {
		names = append(names, ExperimentFile)
		err = files.Write(filepath.Join(dir, ExperimentFile), yaml)
	}
	if err != nil {
		return nil, err
	}
	var fronts []figure.Front
	for i := range found {
		front := figure.Front{Name: found[i].Label}
		for j := range found[i].Points {
			if p := &found[i].Points[j]; p.Front {
				front.Points = append(front.Points, figure.Tradeoff{X: p.Rate, XLow: p.RateLow,
					XHigh: p.RateHigh, Y: p.Downtime, YLow: p.Low, YHigh: p.High})
			}
		}
		fronts = append(fronts, front)
	}
	figures, err := figure.WriteFronts(dir, figureName, "false elections per hour", metric.Downtime.Title(),
		budget, fronts)
	return append(names, figures...), err
}

// Progress is what was measured of a setting, for people who wait.
func (p *Point) Progress() string {
	if p.Verdict == Down {
		return "no leader before the time limit in most trials: dropped"
	}
	return fmt.Sprintf("downtime_ms %s, false elections per hour %s: %s", console.Number(p.Downtime),
		interval(p.Rate, p.RateLow, p.RateHigh), p.Verdict)
}

// interval is a figure with its interval, for people.
func interval(v, low, high float64) string {
	return fmt.Sprintf("%s [%s, %s]", console.Number(v), console.Number(low), console.Number(high))
}

// addFound adds what was found for each algorithm.
func addFound(d *answer.Document, found []Result, o *Options) {
	people := d.Table("found", answer.Columns(answer.People, "algorithm n:number downtime_ms:number "+
		"false_per_hour:number:false_per_hour")...)
	people.Only = answer.People
	algorithms := d.Table("algorithms", answer.Columns(answer.Everybody, "label algorithm tuned outcome why "+
		"needs_hours:number::h")...) // that would decide
	algorithms.Only = answer.Programs
	var settings, remarks []string
	for i := range found {
		r := &found[i]
		var needs answer.Value
		if r.Needs > 0 {
			needs = r.Needs
		}
		algorithms.Row(r.Label, r.Algorithm, r.Dial, r.Outcome(), r.Why(o), needs)
		remarks = append(remarks, r.remarks(o)...)
		if r.Best >= 0 {
			p := &r.Points[r.Best]
			people.Row(r.Label, p.N, interval(p.Downtime, p.Low, p.High), interval(p.Rate, p.RateLow,
				p.RateHigh))
			settings = append(settings, r.Label+": "+p.Settings)
		}
	}
	if len(people.Rows) > 0 {
		d.Say("")
	} else {
		d.Blocks = slices.DeleteFunc(d.Blocks, func(b answer.Block) bool { return b == answer.Block(people) })
	}
	for _, text := range slices.Concat(settings, remarks) {
		d.Say(strings.TrimLeft(console.Wrap(text, 2), " "))
	}
}

// remarks say what stands in the way of an algorithm.
func (r *Result) remarks(o *Options) (out []string) {
	add := func(text string) { out = append(out, r.Label+": "+text) }
	if text := r.Dropped(); text != "" {
		add(text)
	}
	if r.Best < 0 {
		add(r.Why(o))
		return out
	}
	if text := r.Takes(); text != "" {
		add("every setting keeps to " + text)
	}
	if r.Bound {
		add("the shortest setting that the system takes is within the budget already")
	}
	if r.Edge {
		add("the shortest setting is within the budget already; a larger --span finds shorter ones")
	}
	return out
}

// addSettings adds every setting that was measured. docs/tuning.md says what the columns are.
func addSettings(d *answer.Document, found []Result) *answer.Table {
	t := d.Table("settings", answer.Columns(answer.Everybody, "label algorithm settings in_model:flag "+
		"verdict front:flag chosen:flag downtime_ms:number downtime_low:number downtime_high:number "+
		"n:number censored:number quiet_hours:number false_elections:number dispersion:number "+
		"false_elections_per_hour:number false_elections_low:number false_elections_high:number "+
		"mistake_duration_ms:number mistake_recurrence_ms:number query_accuracy:number "+
		"messages_per_s:number detector_messages_per_s:number")...)
	t.Only, t.Main = answer.Programs, true
	for i := range found {
		r := &found[i]
		for j := range r.Points {
			p := &r.Points[j]
			t.Row(r.Label, r.Algorithm, p.Settings, p.InModel, string(p.Verdict), p.Front, j == r.Best,
				p.Downtime, p.Low, p.High, p.N, p.Censored, p.Hours, p.Mistakes, p.Dispersion, p.Rate,
				p.RateLow, p.RateHigh, p.Duration, p.Recurrence, p.Accuracy, p.Messages, p.Heartbeats)
		}
	}
	return t
}

// Runs has the trials of a search run in memory. Violated is called for each that breaks a promise.
func Runs(options runner.Options, violated func(label string, t *results.Trial)) func(context.Context,
	*experiment.Experiment) ([]results.Trial, error) {
	options.WorkArgs = nil // the many short runs of a search would wait for processes to start
	return func(ctx context.Context, e *experiment.Experiment) (out []results.Trial, err error) {
		config, err := e.Resolved()
		if err != nil {
			return nil, err
		}
		folder, err := results.InMemory(runner.Header(e, nil), config)
		if err != nil {
			return nil, err
		}
		if _, err := runner.Run(ctx, e, folder, options); err != nil {
			return nil, err
		}
		err = folder.EachTrial(func(t *results.Trial) error {
			switch {
			case t.Status == trace.Failed:
				return fmt.Errorf("%s: a trial could not be run: %s", e.Cells[0].Label, t.Reason)
			case t.Status == trace.Violated && t.InModel:
				violated(e.Cells[0].Label, t)
			}
			out = append(out, *t)
			return nil
		})
		return out, err
	}
}

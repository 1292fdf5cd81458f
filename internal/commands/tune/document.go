package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
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
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The files of a search, besides the figure.
const (
	PointsFile     = "tune.csv"
	ExperimentFile = "tuned.yaml"
	frontName      = "front"
	costName       = "cost"
)

// simulatedCrashes is how often the leader of a setting that may be chosen crashes in simulation: the median
// is then known to some percent, which differences between spreads are.
const simulatedCrashes = 200

// Check completes the options for an experiment that runs on a transport. The mistakes that it finds are
// called by the flags of bench tune.
func (o *Options) Check(where string) error {
	switch {
	case !(o.Budget >= 1e-3 && o.Budget <= 1e6):
		return answer.Mistaken("--budget %v, expected 0.001 to 1000000 false elections per hour", o.Budget)
	case !(o.Precision >= 0.05 && o.Precision <= 10):
		return answer.Mistaken("--precision %v, expected 0.05 to 10", o.Precision)
	case o.Hours != 0 && !(o.Hours >= 1e-3 && o.Hours <= 1e5):
		return answer.Mistaken("--hours %v, expected 0.001 to 100000", o.Hours)
	case !(o.Span >= 2 && o.Span <= 1024):
		return answer.Mistaken("--span %v, expected 2 to 1024", o.Span)
	case o.Keep && o.Messages != nil:
		return answer.Mistaken("--messages with --keep-intervals: a limit of messages needs intervals that " +
			"vary; give one of them")
	case o.Hours == 0 && transport.Real(where):
		return answer.Mistaken("--transport %s: real processes run in real time, for up to %s "+
			"per search at this budget; set a limit with --hours", where,
			plan.About(time.Duration(Hours(o.Budget)*float64(time.Hour))))
	}
	for _, m := range o.Messages {
		if !(m >= 1e-3 && m <= 1e9) {
			return answer.Mistaken("--messages %v, expected 0.001 to 1000000000 per second", m)
		}
	}
	if !transport.Real(where) {
		o.Crashes = simulatedCrashes
	}
	for _, share := range o.Spreads {
		if !(share > 0 && share <= 10) {
			return answer.Mistaken("--spread %v, expected shares above 0 and up to 10, as 0.5,1", share)
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
	if len(found) == 0 {
		return nil, err
	}
	d := answer.New("tune", "Time-outs of "+e.Name+" at an equal false-election rate")
	d.Add(answer.Facts{{Name: "name", Value: e.Name},
		{Name: "budget_per_hour", Value: o.Budget, Line: fmt.Sprintf(
			"budget      %s false elections per hour, known to %s %%; quiet for up to %s hours a search\n",
			console.Number(o.Budget), console.Number(100*o.Precision), console.Number(o.Hours))},
		{Name: "precision", Value: o.Precision}, {Name: "hours", Value: o.Hours}, {Name: "dir", Value: dir}})
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
	yaml, err := Tuned(found, fmt.Sprintf("# Algorithms at an equal false-election rate: at most %s "+
		"false "+
		"elections per hour. Found by:\n# %s\n", console.Number(budget), command))
	if yaml != nil && err == nil {
		names = append(names, ExperimentFile)
		err = files.Write(filepath.Join(dir, ExperimentFile), yaml)
	}
	if err != nil {
		return nil, err
	}
	figures, err := draw(dir, found, budget)
	return append(names, figures...), err
}

// draw draws two figures: what the algorithms offer within the first limit of messages, and what they cost.
func draw(dir string, found []Result, budget float64) ([]string, error) {
	var fronts, costs []figure.Front
	for i := range found {
		r := &found[i]
		if r.Limit == found[0].Limit {
			front := figure.Front{Name: r.Label}
			for j := range r.Points {
				if p := &r.Points[j]; p.Front {
					rate, low, high := p.Mistaken()
					front.Points = append(front.Points, figure.Tradeoff{X: rate, XLow: low, XHigh: high,
						Y: p.Downtime, YLow: p.Low, YHigh: p.High})
				}
			}
			fronts, costs = append(fronts, front), append(costs, figure.Front{Name: r.Label})
		}
		if r.Best >= 0 {
			p := &r.Points[r.Best]
			of := &costs[slices.IndexFunc(costs, func(f figure.Front) bool { return f.Name == r.Label })]
			of.Points = append(of.Points, figure.Tradeoff{X: p.Sends(), XLow: p.Sends(), XHigh: p.Sends(),
				Y: p.Downtime, YLow: p.Low, YHigh: p.High})
		}
	}
	names, err := figure.WriteFronts(dir, frontName, "false elections per hour", found[0].downtime.Title(),
		budget, fronts)
	if err != nil || math.IsInf(found[0].Limit, 1) {
		return names, err
	}
	more, err := figure.WriteFronts(dir, costName, "messages per second", found[0].downtime.Title(),
		found[0].Limit, costs)
	return append(names, more...), err
}

// Progress is what was measured of a setting, for people who wait.
func (p *Point) Progress(c *Contender) string {
	if p.Verdict == Down {
		return "no leader before the time limit in most trials: dropped"
	}
	return fmt.Sprintf("%s %s, false elections per hour %s: %s", c.downtime.Name, console.Number(p.Downtime),
		interval(p.Rate, p.RateLow, p.RateHigh), p.Verdict)
}

// interval is a figure with its interval, for people.
func interval(v, low, high float64) string {
	return fmt.Sprintf("%s [%s, %s]", short(v), short(low), short(high))
}

// short is a figure to three digits.
func short(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return console.Number(v)
	}
	return console.Number(round(v))
}

// addFound adds what was found for each algorithm: those of one limit together, the fastest first.
func addFound(d *answer.Document, found []Result, o *Options) {
	people := d.Table("found", answer.Columns(answer.People, "limit algorithm "+
		found[0].downtime.Name+":number false_per_hour:number:false_per_hour "+
		"messages_per_s:number:messages/s")...)
	people.Only, people.DropEmpty = answer.People, true
	algorithms := d.Table("algorithms", answer.Columns(answer.Everybody, "label algorithm tuned "+
		"messages_limit:number outcome why bound needs_hours:number::h")...) // that would decide
	lines := d.Table("lines", answer.Columns(answer.Everybody, "label messages_limit:number into text")...)
	lines.Keys = 3
	algorithms.Only, lines.Only = answer.Programs, answer.Programs
	var settings, remarks []string
	for _, r := range ranked(found) {
		var needs, limit answer.Value
		if r.Needs > 0 {
			needs = r.Needs
		}
		at := ""
		if !math.IsInf(r.Limit, 1) {
			limit, at = r.Limit, console.Number(r.Limit)+"/s"
		}
		algorithms.Row(r.Label, r.Algorithm, r.name(r.Dial), limit, r.Outcome(), r.Why(o), r.Bound, needs)
		if text := r.remark(o); text != "" {
			remarks = append(remarks, r.title(r.Limit)+": "+text)
		}
		if r.Best >= 0 {
			p := &r.Points[r.Best]
			label := r.Label
			if p.Beyond != nil {
				label += " *"
			}
			people.Row(at, label, interval(p.Downtime, p.Low, p.High), interval(p.Mistaken()),
				console.Number(p.Sends()))
			settings = append(settings, r.title(r.Limit)+": "+p.Settings)
			for _, line := range r.lines(p.Patience) {
				lines.Row(r.Label, limit, line.Into, line.Text)
				if !strings.Contains(line.Text, "\n") {
					settings = append(settings, "  "+line.Into+": "+line.Text)
				}
			}
		}
	}
	if len(people.Rows) > 0 {
		beyond := func(r Result) bool { return r.Best >= 0 && r.Points[r.Best].Beyond != nil }
		if slices.ContainsFunc(found, beyond) {
			d.Say("*: out of its model")
		}
		d.Say("")
	} else {
		d.Blocks = slices.DeleteFunc(d.Blocks, func(b answer.Block) bool { return b == answer.Block(people) })
	}
	remarks = append(remarks, general(found, o)...)
	for _, text := range slices.Concat(settings, remarks) {
		d.Say(strings.TrimLeft(console.Wrap(text, 2), " "))
	}
}

// general are remarks on each algorithm, whatever the limit.
func general(found []Result, o *Options) (out []string) {
	var labels, rough []string
	of := map[string][]*Result{}
	for i := range found {
		r := &found[i]
		if of[r.Label] == nil {
			labels = append(labels, r.Label)
		}
		of[r.Label] = append(of[r.Label], r)
		if r.rough(o) {
			rough = append(rough, r.title(r.Limit)+": "+interval(r.Points[r.Best].Mistaken()))
		}
	}
	if rough != nil {
		out = append(out, fmt.Sprintf("%s hours were too few for a rate known to %s %%; a larger --hours "+
			"may find a faster setting: %s", console.Number(o.Hours), console.Number(100*o.Precision),
			strings.Join(rough, "; ")))
	}
	for _, label := range labels {
		add := func(text string) {
			if text != "" {
				out = append(out, label+": "+text)
			}
		}
		add(dropped(of[label]))
		if text := of[label][0].Takes(); text != "" {
			add("every setting satisfies " + text)
		}
		for _, r := range of[label] {
			if r.Best >= 0 && r.Points[r.Best].Beyond != nil {
				add("out of its model, as with " + r.Points[r.Best].Settings + ": " +
					strings.Join(r.Points[r.Best].Beyond, "; "))
				break
			}
		}
	}
	return out
}

// ranked is what was found, the limits in their order and within each the fastest first; last those for
// which nothing was.
func ranked(found []Result) (out []*Result) {
	for i := range found {
		out = append(out, &found[i])
	}
	time := func(r *Result) float64 {
		if r.Best < 0 {
			return math.Inf(1)
		}
		return r.Points[r.Best].Downtime
	}
	slices.SortStableFunc(out, func(a, b *Result) int {
		if a.Limit != b.Limit {
			return 0
		}
		return cmp.Compare(time(a), time(b))
	})
	return out
}

// remark says what stands in the way of an algorithm within a limit; "": nothing does.
func (r *Result) remark(o *Options) string {
	if r.Best < 0 {
		return r.Why(o)
	}
	return r.Bound
}

// rough says whether the hours were too few for the precision.
func (r *Result) rough(o *Options) bool {
	if r.Best < 0 || r.Bound != "" || !r.out {
		return false
	}
	rate, _, high := r.Points[r.Best].Mistaken()
	return high > (1+o.Precision)*rate
}

// addSettings adds every setting that was measured. docs/how-to/tuning.md says what the columns are.
func addSettings(d *answer.Document, found []Result) *answer.Table {
	t := d.Table("settings", answer.Columns(answer.Everybody, "label algorithm messages_limit:number "+
		"settings in_model:flag verdict front:flag chosen:flag metric median_ms:number median_low:number "+
		"median_high:number n:number censored:number quiet_hours:number false_elections:number "+
		"dispersion:number false_elections_per_hour:number false_elections_low:number "+
		"false_elections_high:number fitted_per_hour:number fitted_low:number fitted_high:number "+
		"mistake_duration_ms:number mistake_recurrence_ms:number query_accuracy:number "+
		"messages_per_s:number detector_messages_per_s:number")...)
	t.Only, t.Main = answer.Programs, true
	for i := range found {
		r := &found[i]
		var limit answer.Value
		if !math.IsInf(r.Limit, 1) {
			limit = r.Limit
		}
		for j := range r.Points {
			p := &r.Points[j]
			t.Row(r.Label, r.Algorithm, limit, p.Settings, len(p.Beyond) == 0, string(p.Verdict), p.Front,
				j == r.Best, r.downtime.Name, p.Downtime, p.Low, p.High, p.N, p.Censored,
				p.Hours, p.Mistakes, p.Dispersion, p.Rate, p.RateLow, p.RateHigh,
				p.Fitted,
				p.FittedLow, p.FittedHigh, p.Duration, p.Recurrence, p.Accuracy, p.Messages, p.Heartbeats)
		}
	}
	return t
}

// Runs has the trials of a search run in memory. Violated is called for each that breaks a promise, ran after
// each trial.
func Runs(options runner.Options, violated func(label string, t *results.Trial), ran func()) func(
	context.Context, *experiment.Experiment) ([]results.Trial, error) {
	options.Progress = func(runner.Progress) { ran() }
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

package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Detection is what it takes to find a change.
type Detection struct {
	by        float64
	pilot     string // what it was, in words
	simulated bool
	needs     []compare.Need
	tests     int
	without   []string // cells that the pilot lacks
	legend    view.Legend
}

// The pilot that is simulated unless one is given.
const (
	pilotTrials = 30
	longPilot   = 2 * time.Minute
)

// A Question is what is to be detected.
type Question struct {
	By      float64  // the part of a metric that it changes by
	Metrics []string // none: the main ones
	Pilot   string   // the folder of a run from which the spread is taken; "": one is simulated
	// Load makes the pilot of the experiment that is simulated, with these settings instead of others.
	Load    func(settings []string) (*experiment.Experiment, error)
	Options runner.Options // of that simulation
}

// Detect works out how many trials it takes, from a pilot.
func Detect(ctx context.Context, e *experiment.Experiment, q *Question) (*Detection, error) {
	found := &Detection{by: q.By}
	var metrics []*metric.Metric
	for _, name := range q.Metrics {
		m := metric.Named(name)
		if m == nil || !m.Applies(e.Problem) {
			return nil, answer.Mistaken("--metrics: no metric %q of %s (docs/reference/metrics.md has all)",
				name, e.Problem)
		}
		metrics = append(metrics, m)
	}
	if len(q.Metrics) == 0 {
		var designs [][]metric.Field
		for i := range e.Cells {
			designs = append(designs, e.Cells[i].Design)
		}
		metrics = view.Headlines(designs)
	}
	var table *results.Table
	var err error
	if q.Pilot != "" {
		table, err = results.ReadTable(q.Pilot)
		found.pilot = "the run in " + q.Pilot
	} else {
		table, err = q.simulated(ctx)
		found.simulated = true
		found.pilot = fmt.Sprintf("%d simulated repetitions of each cell", pilotTrials)
	}
	if err != nil {
		return nil, err
	}
	table.Trials = planned(table.Trials, e, &found.without)
	found.needs, found.tests = compare.Needs(table, metrics, q.By, compare.DefaultAlpha, e.Virtual())
	if len(found.needs) == 0 {
		return nil, fmt.Errorf("--detect: %s has no value of a metric in the cells of this experiment",
			found.pilot)
	}
	return found, nil
}

// simulated runs a few repetitions of the experiment in simulation.
func (q *Question) simulated(ctx context.Context) (*results.Table, error) {
	pilot, err := q.Load([]string{fmt.Sprintf("repetitions=%d", pilotTrials), "trace=none"})
	if err != nil {
		return nil, fmt.Errorf("--detect: no pilot can be simulated: %w; give the folder of a run with "+
			"--pilot", err)
	}
	if _, most := pilot.Estimate(); most > longPilot {
		return nil,
			answer.Mistaken("--detect: a pilot takes %s in simulation: give the folder of a run with "+
				"--pilot, or plan fewer cells", About(most))
	}
	config, err := pilot.Resolved()
	if err != nil {
		return nil, err
	}
	folder, err := results.InMemory(runner.Header(pilot, nil), config)
	if err != nil {
		return nil, err
	}
	if _, err := runner.Run(ctx, pilot, folder, q.Options); err != nil {
		return nil, fmt.Errorf("--detect: the pilot: %w", err)
	}
	err = folder.EachTrial(func(t *results.Trial) error {
		if t.Status == trace.Failed {
			return fmt.Errorf("--detect: the pilot: %s: a trial could not be run: %s",
				pilot.Cells[t.Cell-1].Algorithm, t.Reason)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return folder.Table()
}

// planned are the trials of a pilot in the cells of the experiment, whatever carried
// their messages.
func planned(trials []results.Trial, e *experiment.Experiment, without *[]string) (out []results.Trial) {
	d := DesignOf(e)
	for i := range e.Cells {
		design := slices.DeleteFunc(slices.Clone(e.Cells[i].Design), func(f metric.Field) bool {
			return f.Name == "transport"
		})
		before := len(out)
		for _, t := range trials {
			if metric.Where(design).Covers(t.Design) {
				out = append(out, t)
			}
		}
		if len(out) == before {
			*without = append(*without, strings.Join(append([]string{e.Cells[i].Label},
				d.Values(&e.Cells[i])...), " "))
		}
	}
	return out
}

// most is the number that every metric in every cell needs.
func (f *Detection) most() (most int) {
	for i := range f.needs {
		most = max(most, f.needs[i].Needed())
	}
	return most
}

// add adds the answer to that of a plan.
func (f *Detection) add(d *answer.Document, e *experiment.Experiment) {
	d.Add(answer.Facts{
		{Name: "detect_change", Value: f.by, Line: fmt.Sprintf(
			"\ndetect      %s worse, with probability %v (alpha %v, %s, Holm)", view.Share(f.by),
			compare.Power, compare.DefaultAlpha, console.Plural(f.tests, "test", "tests"))},
		{Name: "detect_power", Value: compare.Power}, {Name: "detect_alpha", Value: compare.DefaultAlpha},
		{Name: "detect_tests", Value: f.tests},
		{Name: "detect_pilot", Value: f.pilot, Line: fmt.Sprintf("pilot       %s\n", f.pilot)},
		{Name: "detect_needed", Value: f.most()},
		{Name: "detect_not_in_pilot", Value: append([]string{}, f.without...)},
	})
	f.addNeeds(d, e)
	verdict := "enough"
	if f.most() > e.Repetitions {
		verdict = "too few"
	}
	d.Say(fmt.Sprintf("\n%s\nrepetitions: planned %d, needed %d: %s", strings.Join(f.remarks(e), "\n"),
		e.Repetitions, f.most(), verdict))
}

// addNeeds adds how many trials each metric of each cell needs; no number: none is known.
func (f *Detection) addNeeds(d *answer.Document, e *experiment.Experiment) {
	design, pairs := DesignOf(e), answer.Everybody
	if !e.Virtual() {
		pairs = answer.Programs
	}
	programs := func(name string, kind answer.Kind) answer.Column {
		return answer.Column{Name: name, Kind: kind, Only: answer.Programs}
	}
	t := d.Table("needs", slices.Concat([]answer.Column{
		{Name: "algorithm", Kind: answer.Words, Only: answer.People}}, design.Head(e), []answer.Column{
		programs("design", answer.Map), {Name: "metric", Kind: answer.Words},
		{Name: "trials", Head: "n", Kind: answer.Count, Only: answer.People},
		programs("n", answer.Count), programs("censored", answer.Count),
		{Name: "median", Kind: answer.Number}, programs("exact", answer.Flag),
		{Name: "pairs", Kind: answer.Count, Only: pairs}, {Name: "ranks", Kind: answer.Count},
		programs("needed", answer.Count)})...)
	t.Keys = 2 + len(design.Columns)
	number := func(n int) answer.Value {
		if n == 0 {
			return nil
		}
		return n
	}
	for i := range f.needs {
		n := &f.needs[i]
		row := []answer.Value{n.Cell.Get("label")}
		for _, name := range design.Columns {
			row = append(row, n.Cell.Get(name))
		}
		median := console.Number(n.Median)
		if n.Censored > 0 {
			median = view.OrBeyond(n.Median)
		}
		median += f.legend.Mark(stats.Doubtful(n.Median, n.Cell.Doubt(n.Metric)))
		pairs := answer.Shown{Value: number(n.Pairs), Text: fmt.Sprint(n.Pairs)}
		if n.Exact {
			pairs.Text = "exact"
		}
		t.Row(append(row, metric.ByName(n.Cell.Design), n.Metric.Name, n.N+n.Censored, n.N, n.Censored,
			answer.Shown{Value: n.Median, Text: median}, n.Exact, pairs, number(n.Ranks),
			number(n.Needed()))...)
	}
}

// remarks say what the numbers assume.
func (f *Detection) remarks(e *experiment.Experiment) (out []string) {
	by := view.Share(f.by)
	if e.Virtual() {
		out = append(out, "pairs: trials with equal seeds on each side, if all of them change by "+by+
			"; a change of only some of them needs more", "exact: counts with equal seeds: one trial "+
			"suffices")
	}
	out = append(out, "ranks: trials on each side, whatever their seeds, if each value changes by "+by+
		" and they spread as in the pilot (Noether 1987)")
	for i := range f.needs {
		if n := &f.needs[i]; n.Why != "" && !slices.Contains(out, "no number: "+n.Why) {
			out = append(out, "no number: "+n.Why)
		}
	}
	if f.simulated && !e.Virtual() {
		out = append(out, "careful: a simulated pilot lacks the machine's noise, and real nodes "+
			"need more: give the folder of a run on them with --pilot")
	}
	out = append(out, f.legend.Notes()...)
	for _, name := range f.without {
		out = append(out, "not in the pilot: "+name)
	}
	return append(out, "bench compare ignores changes below its --threshold ("+
		view.Share(compare.DefaultThreshold)+"): lower it, as "+view.Share(f.by/2))
}

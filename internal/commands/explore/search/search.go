// Package search asks the explorer and the model checker for schedules that break a promise or cost
// most, and keeps what they find as experiments.
package search

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/internal/judgement/modelcheck"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// FaultModes are the words for which faults are injected.
var FaultModes = []string{string(explore.None), string(explore.Crashes), string(explore.Survived),
	string(explore.All)}

// A Request is what is asked of the explorer, in the words of the command line.
type Request struct {
	Schedules uint64 // 0: as many as the time allows
	Time      time.Duration
	Workers   int
	Seed      uint64
	Nodes     string
	Latency   time.Duration
	Events    int
	Params    []string
	Faults    string
	Rule      string
	Maximise  string
	Out       string
	Progress  func(tried uint64, elapsed time.Duration)
}

// PerSecond is how many schedules were tried in a second.
func PerSecond(n uint64, d time.Duration) float64 { return float64(n) / max(d.Seconds(), 1e-3) }

// Answer searches. An error beside the answer says that the algorithm could not be run.
func (q *Request) Answer(ctx context.Context, alg *algo.Algorithm) (*answer.Document, error) {
	o, err := q.options(alg)
	if err != nil {
		return nil, err
	}
	if err := Vacant(q.Out); err != nil {
		return nil, err
	}
	if o.Time = q.Time; q.Time == 0 && q.Schedules == 0 {
		o.Time = time.Minute
	}
	o.Progress = q.Progress
	r, err := explore.Run(ctx, alg.ID, o)
	if err != nil {
		return nil, err
	}
	d := answer.New("explore", "A search for schedules of "+alg.ID)
	d.Add(answer.Facts{{Name: "algorithm", Value: alg.ID}, {Name: "seed", Value: q.Seed},
		{Name: "schedules", Value: r.Schedules},
		{Name: "schedules_per_second", Value: PerSecond(r.Schedules, r.Elapsed)}})
	switch {
	case r.Worst != nil:
		return d, q.worst(d, alg, &r)
	case r.Find != nil:
		return d, q.found(ctx, d, alg, &r)
	}
	found(d, "", "", 0, false, nil, "")
	d.Say(fmt.Sprintf("%s: no broken promise in %d schedules (%.0f per second)", alg.ID, r.Schedules,
		PerSecond(r.Schedules, r.Elapsed)))
	return d, context.Cause(ctx)
}

// found adds the facts about a schedule, which is saved in a file.
func found(d *answer.Document, rule, text string, number uint64, inModel bool, outside []string,
	file string) {
	d.Add(answer.Facts{{Name: "rule", Value: rule}, {Name: "text", Value: text},
		{Name: "schedule", Value: number}, {Name: "in_model", Value: inModel},
		{Name: "out_of_model", Value: outside}, {Name: "file", Value: file}})
}

// worst saves and tells the schedule that costs most.
func (q *Request) worst(d *answer.Document, alg *algo.Algorithm, r *explore.Report) error {
	w := r.Worst
	w.Command = q.again(alg, w)
	path, err := q.save("worst-"+w.Name(), w)
	if err != nil {
		return err
	}
	if err := w.Reproduces(path); err != nil {
		return fmt.Errorf("the schedule cannot be repeated from the file: %w", err)
	}
	found(d, "", "", w.Number, w.InModel, w.OutOfModel, path)
	d.Add(answer.Facts{{Name: "metric", Value: w.Metric.Name}, {Name: "value", Value: w.Value}})
	if w.Bound != nil {
		d.Add(answer.Facts{{Name: "bound", Value: w.Bound.Value}, {Name: "bound_text", Value: w.Bound.Text}})
	}
	text := fmt.Sprintf("%s: %s %s in schedule %d, the most of %d (%.0f per second)\n  theory:    %s\n",
		alg.ID, w.Metric.Name, console.Number(w.Value), w.Number, r.Schedules,
		PerSecond(r.Schedules, r.Elapsed), w.Theory())
	if !w.InModel {
		text += fmt.Sprintf("  in_model=false: %s\n", strings.Join(w.OutOfModel, "; "))
	}
	d.Say(text + fmt.Sprintf("  scenario:  %s, %s, %s\n  reproduce: %s", path,
		console.Plural(w.Schedule.Nodes, "process", "processes"),
		console.Plural(len(w.Schedule.Events), "event", "events"), program.Command("run", path)))
	return nil
}

// found saves and tells the schedule that breaks a promise.
func (q *Request) found(ctx context.Context, d *answer.Document, alg *algo.Algorithm,
	r *explore.Report) error {
	find, kinds := r.Find, alg.Codec.Kinds()
	minimal, err := find.Minimal(ctx)
	if err != nil {
		minimal = "perhaps not minimal: the check was interrupted"
	}
	path, err := q.save("explore-"+alg.Spec.Name, find)
	if err != nil {
		return err
	}
	if err := find.Reproduces(path); err != nil {
		return fmt.Errorf("what was found cannot be repeated from the file: %w", err)
	}
	found(d, find.Rule, find.Text, find.Number, find.InModel, find.OutOfModel, path)
	t, all := replay.EventTable(d, "trace"), diagram.Events(find.Records, kinds, nil)
	for i := range all {
		replay.EventRow(t, &all[i])
	}
	d.Say(fmt.Sprintf("schedule %d breaks a promise (%.0f schedules per second); the smallest that does, "+
		"of %d tried:\n", find.Number, PerSecond(r.Schedules, r.Elapsed), find.Tried))
	var w strings.Builder
	if l, repeats := find.Lasso(); repeats {
		printEnds(&w, find.Records[:l.From], kinds, mostBefore)
		fmt.Fprintf(&w, "%s\n", l.Text(find.Records, kinds))
	} else {
		printEnds(&w, find.Records, kinds, mostEvents)
	}
	d.Add(answer.Lines(w.String()))
	what := "violation"
	if !find.InModel {
		what = "finding"
		d.Say("in_model=false: " + strings.Join(find.OutOfModel, "; "))
	}
	d.Say(fmt.Sprintf("%s: %s: %s: %s\n  scenario:  %s, %s, %s, %s\n  reproduce: %s", what, alg.ID,
		find.Rule, find.Text, path, console.Plural(find.Schedule.Nodes, "process", "processes"),
		console.Plural(len(find.Schedule.Events), "line", "lines"), minimal, program.Command("run", path)))
	switch {
	case find.InModel && find.Unrunnable():
		return fmt.Errorf("%s could not be run: %s", alg.ID, find.Text)
	case find.InModel:
		d.Exit = answer.Violated
	}
	return nil
}

// options is the search that the flags describe.
func (q *Request) options(alg *algo.Algorithm) (o explore.Options, err error) {
	switch {
	case q.Workers < 0:
		return o, answer.Mistaken("--workers %d, expected 1 or more", q.Workers)
	case q.Latency < 0 || q.Latency > 0 && q.Latency < 100*time.Microsecond || q.Latency > time.Minute:
		return o, answer.Mistaken("--latency %v, expected 100us to 1m", q.Latency)
	case q.Events < 0:
		return o, answer.Mistaken("--events %d, expected 1 or more", q.Events)
	case q.Events > 0 && q.Maximise == "":
		return o, answer.Mistaken("--events without --maximise")
	case q.Seed >= 1<<53:
		return o, answer.Mistaken("--seed %d, expected one below 2^53", q.Seed)
	}
	o = explore.Options{
		Latency: q.Latency, Faults: explore.Faults(q.Faults), Rule: q.Rule, Seed: q.Seed,
		Schedules: q.Schedules, Workers: q.Workers, Events: q.Events,
	}
	if q.Maximise != "" {
		costs := explore.Costs(alg)
		if o.Maximise = costs[q.Maximise]; o.Maximise == nil {
			return o, answer.Mistaken("--maximise %q%s; expected a metric of which less is better: %s",
				q.Maximise, algo.Hint(q.Maximise, slices.Sorted(maps.Keys(costs))),
				strings.Join(slices.Sorted(maps.Keys(costs)), ", "))
		}
		if q.Rule != "" {
			return o, answer.Mistaken("--rule with --maximise: leave one of them out")
		}
	}
	if q.Nodes != "" {
		for _, word := range strings.Split(q.Nodes, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || n < 2 || n > 100 {
				return o, answer.Mistaken("--nodes %q, expected numbers from 2 to 100, as 3,5", q.Nodes)
			}
			if needs := alg.Spec.Needs.Nodes; needs != nil && needs(n) != nil {
				return o, answer.Mistaken("--nodes %d is not for %s: %v", n, alg.ID, needs(n))
			}
			o.Nodes = append(o.Nodes, n)
		}
	}
	o.Params, err = Given(alg, q.Params, o.Nodes)
	return o, err
}

// Given reads parameters as the experiment that has them would, NAME=VALUE each.
func Given(alg *algo.Algorithm, set []string, nodes []int) (map[string]any, error) {
	if len(set) == 0 {
		return nil, nil
	}
	over := experiment.Overrides{Transport: transport.Sim.Name}
	params := map[string]any{}
	for _, word := range set {
		word = strings.TrimPrefix(word, "params.")
		name, _, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, answer.Mistaken("--params %q, expected NAME=VALUE, as t_answer=5ms", word)
		}
		params[name] = nil
		over.Set = append(over.Set, "params."+word)
	}
	if len(nodes) > 0 {
		over.Set = append(over.Set, fmt.Sprintf("nodes=%d", nodes[0]))
	}
	e, err := experiment.Build([]string{alg.ID}, "", over)
	if err != nil {
		return nil, err
	}
	for name := range params {
		params[name] = e.Cells[0].Plan.Params[name]
	}
	return params, nil
}

// again is the shortest search that finds the same schedule: it ends with it.
func (q *Request) again(alg *algo.Algorithm, w *explore.Worst) string {
	words := []string{"explore", alg.Spec.Name, "--maximise", explore.Word(alg, w.Metric)}
	add := func(is bool, name string, value any) {
		if is {
			words = append(words, "--"+name, fmt.Sprint(value))
		}
	}
	add(q.Faults != string(explore.Survived), "faults", q.Faults)
	add(q.Nodes != "", "nodes", q.Nodes)
	add(q.Latency > 0, "latency", q.Latency)
	add(q.Events > 0, "events", q.Events)
	for _, word := range q.Params {
		add(true, "params", word)
	}
	add(q.Seed != 1, "seed", q.Seed)
	add(true, "schedules", w.Number)
	return program.Command(words...)
}

// mostEvents are printed of a schedule: what never ends is long. Half are the last ones, since the
// promise breaks there.
const mostEvents = 600

// mostBefore are printed of what comes before something that repeats without end.
const mostBefore = 60

// printEnds writes so many events, and says what is left out between them.
func printEnds(w io.Writer, all trace.List, kinds []string, most int) {
	if len(all) <= most {
		events(w, all, kinds, nil)
		return
	}
	first, last := make([]bool, len(all)), make([]bool, len(all))
	for i := range most / 2 {
		first[i], last[len(all)-1-i] = true, true
	}
	events(w, all, kinds, first)
	fmt.Fprintf(w, "... %d events omitted: run the scenario below, then \"bench replay DIR --events\" "+
		"prints "+
		"them ...\n", len(all)-most/2*2)
	events(w, all, kinds, last)
}

// save writes the schedule that was found into a file that does not exist yet.
func (q *Request) save(name string, find interface{ File() ([]byte, error) }) (string, error) {
	text, err := find.File()
	if err != nil {
		return "", err
	}
	return Save(q.Out, name, text)
}

// events writes what happened, a line for each record, with its number.
func events(w io.Writer, list trace.List, kinds []string, kept []bool) {
	_ = diagram.WriteEvents(w, list, kinds, kept, nil) // into memory
}

// Exhaust walks through the smallest systems and tells how large they are. Busy is called with each
// before its turn. An error beside the answer says that the algorithm could not be run.
func Exhaust(alg *algo.Algorithm, busy func(scope string)) (*answer.Document, error) {
	scopes, err := modelcheck.Scopes(alg.ID)
	if err != nil {
		return nil, err
	}
	d := answer.New("explore", "Every schedule of the smallest systems of "+alg.ID)
	d.Add(answer.Facts{{Name: "algorithm", Value: alg.ID}})
	t := d.Table("systems", slices.Concat(answer.Columns(answer.Everybody, "system states:count steps:count "+
		"depth:count ends:count schedules:number"), answer.Columns(answer.Programs, "violation"))...)
	panicked := false
	for _, scope := range scopes {
		scope.States = 200_000
		busy(scope.String())
		space, err := modelcheck.Exhaust(alg.ID, scope)
		if err != nil {
			return nil, err
		}
		schedules, broken := answer.Shown{Text: "without end"}, ""
		check := answer.Check{Group: alg.ID, Name: scope.String()}
		switch {
		case space.Find != nil:
			schedules.Text, broken = "broken", space.Find.Error()
			panicked = panicked || space.Find.Panicked
			check.Failure, check.Kind, check.Failed = broken, "violation", true
			d.Exit = answer.Violated
			d.Say(fmt.Sprintf("\nviolation: %s: %s", alg.ID, broken))
		case space.Bound != "":
			schedules.Text = "stopped at " + space.Bound
		case space.Schedules != nil:
			schedules.Text = space.Schedules.String()
			schedules.Value, _ = new(big.Float).SetInt(space.Schedules).Float64()
		}
		d.Checks = append(d.Checks, check)
		t.Row(scope.String(), space.States, space.Steps, space.Depth, space.Terminal, schedules, broken)
	}
	if panicked {
		return d, fmt.Errorf("%s could not be run", alg.ID)
	}
	return d, nil
}

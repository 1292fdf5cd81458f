package rare

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/plan"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Request is what is asked of an experiment.
type Request struct {
	Beyond                       []string // numbers of time-outs, or durations
	Paths, Replications, Workers int      // no workers: one per core
	File                         string   // that the caller writes; "": none
	// Progress receives the number of replications of a cell that are done, Violated each broken promise;
	// nil: neither is reported.
	Progress func(cell string, done, all int)
	Violated func(cell, text string)
}

// check refuses what makes no sense. The mistakes are called by the flags of bench
func (q *Request) check(e *experiment.Experiment) error {
	switch {
	case q.Paths < 10 || q.Paths > 1e6:
		return answer.Mistaken("--paths %d, expected 10 to 1000000", q.Paths)
	case q.Replications < 2 || q.Replications > 1e4:
		return answer.Mistaken("--replications %d, expected 2 to 10000", q.Replications)
	case q.Workers < 0:
		return answer.Mistaken("--workers %d, expected 1 or more", q.Workers)
	case e != nil && !transport.Repeats(e.Transport):
		return answer.Mistaken("bench rare: transport %s: a trial cannot go on twice from the same point "+
			"there; write transport: %s", e.Transport, transport.Sim.Name)
	}
	return nil
}

// A tail is what was estimated of one cell.
type tail struct {
	cell    *experiment.Cell
	name    string
	wait    string // name of the time-out; "": none
	timeOut time.Duration
	result  *Result
	took    time.Duration
}

// Answer estimates the tails of all cells of an experiment.
func Answer(ctx context.Context, e *experiment.Experiment, q *Request) (*answer.Document, error) {
	if err := q.check(e); err != nil {
		return nil, err
	}
	tails, bounds := make([]tail, len(e.Cells)), make([][]float64, len(e.Cells))
	design := plan.DesignOf(e)
	for i := range e.Cells {
		t := &tails[i]
		t.cell, t.name = &e.Cells[i], design.Name(&e.Cells[i])
		t.wait, t.timeOut = Patience(&t.cell.Plan)
		err := Refuse(&t.cell.Plan)
		if err != nil {
			return nil, answer.Mistaken("bench rare: %v", err)
		}
		if bounds[i], err = t.bounds(q.Beyond); err != nil {
			return nil, err
		}
	}
	violated, unknown := false, false
	for i := range tails {
		if err := tails[i].split(ctx, q, e.Seed, bounds[i]); err != nil {
			return nil, err
		}
		violated = violated || tails[i].result.Violated > 0
		unknown = unknown || slices.ContainsFunc(tails[i].result.Estimates,
			func(e Estimate) bool { return e.Reached == 0 })
	}
	d := document(e, tails, q)
	switch {
	case violated:
		d.Exit = answer.Violated
	case unknown:
		d.Exit = answer.Incomplete
	}
	return d, nil
}

// bounds are those that the words ask for, in nanoseconds, the least first.
func (t *tail) bounds(words []string) (out []float64, err error) {
	for _, word := range words {
		if n, err := strconv.ParseFloat(word, 64); err == nil {
			if !(n > 0 && n <= 1e6) {
				return nil, answer.Mistaken("--beyond %s, expected more than 0 and up to 1000000 "+
					"time-outs", word)
			}
			if t.timeOut == 0 {
				return nil,
					answer.Mistaken("--beyond %s: %s has no single time-out after which it gives up a "+
						"leader; use durations, as --beyond 2s", word, t.name)
			}
			out = append(out, math.Round(n*float64(t.timeOut)))
			continue
		}
		d, err := time.ParseDuration(word)
		if err != nil || d <= 0 || d > 24*time.Hour {
			return nil,
				answer.Mistaken("--beyond %q, expected numbers of time-outs, as 2,4,10, or durations, as 2s",
					word)
		}
		out = append(out, float64(d))
	}
	if len(out) == 0 {
		return nil, answer.Mistaken("--beyond: empty, expected numbers of time-outs or durations")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// split estimates the tail of one cell.
func (t *tail) split(ctx context.Context, q *Request, seed uint64, bounds []float64) (err error) {
	workers := q.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	o := Options{Beyond: bounds, Paths: q.Paths, Replications: q.Replications, Seed: seed, Workers: workers}
	if q.Progress != nil {
		o.Progress = func(done int) { q.Progress(t.name, done, q.Replications) }
	}
	begun := time.Now()
	t.result, err = Split(ctx, Outages(&t.cell.Plan, time.Duration(bounds[len(bounds)-1])), o)
	t.took = time.Since(begun)
	if err != nil {
		return err
	}
	for _, text := range t.result.Broken {
		q.Violated(t.name, text)
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

// digits2 writes a spread for people.
func digits2(v float64) string {
	if math.IsNaN(v) {
		return "n/a"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// document is the estimates, and how they were made.
func document(e *experiment.Experiment, tails []tail, q *Request) *answer.Document {
	d := answer.New("rare", "Rare outages of "+e.Name)
	d.Add(answer.Facts{{Name: "name", Value: e.Name}, {Name: "seed", Value: e.Seed},
		{Name: "confidence", Value: Confidence}})
	all, programs := answer.Everybody, answer.Programs
	estimates := d.Table("estimates", slices.Concat(answer.Columns(all, "cell::algorithm"),
		answer.Columns(programs, "metric"), answer.Columns(all, "beyond_ms:number:beyond:ms "+
			"time_outs:number:time-outs probability:number"),
		answer.Columns(answer.People, ":number:95_%_interval"), answer.Columns(programs, "low:number "+
			"high:number"), answer.Columns(all, "spread:number"), answer.Columns(programs,
			"replications:count replications_reached:count paths:count levels:count "+
				"simulated_paths:count events:count plain_trials:number"),
		answer.Columns(all, "gain:number"))...)
	cells := d.Table("cells", answer.Columns(all, "cell design:map time_out_ms:number::ms height "+
		"levels:list violated_paths:count")...)
	cells.Only = programs
	d.Say("")
	for i := range tails {
		t := &tails[i]
		t.rows(estimates, q)
		design := metric.ByName(t.cell.Design)
		design["label"] = t.cell.Label
		timeOut := math.NaN()
		if t.timeOut > 0 {
			timeOut = ms(float64(t.timeOut))
		}
		cells.Row(t.name, design, timeOut, Heights[t.result.Height], t.result.Levels, t.result.Violated)
		for _, text := range t.remarks(q) {
			d.Say(text)
		}
	}
	estimates.DropEmpty = true
	d.Say("spread: the coefficient of variation of the replications")
	d.Say("gain: the variance of plain Monte Carlo with the same number of events, divided by that of " +
		"this estimate")
	if q.File != "" {
		d.Say("results: " + program.Quote(q.File))
	}
	return d
}

// rows are a row for each bound.
func (t *tail) rows(table *answer.Table, q *Request) {
	number := func(v float64) answer.Shown { return answer.Shown{Value: v, Text: digits3(v)} }
	for k := range t.result.Estimates {
		e, r := &t.result.Estimates[k], t.result
		var timeOuts answer.Value
		if t.timeOut > 0 {
			n := e.Beyond / float64(t.timeOut)
			timeOuts = answer.Shown{Value: n, Text: console.Number(n)}
		}
		table.Row(t.name, t.downtime(),
			answer.Shown{Value: ms(e.Beyond), Text: time.Duration(e.Beyond).String()}, timeOuts,
			number(e.Probability), fmt.Sprintf("[%s, %s]", digits3(e.Low), digits3(e.High)), e.Low, e.High,
			answer.Shown{Value: e.Spread(), Text: digits2(e.Spread())}, q.Replications, e.Reached,
			q.Paths, len(r.Levels), r.Paths, r.Events, e.Crude, number(e.Gain))
	}
}

// remarks say how the estimates were made, and what they are worth.
func (t *tail) remarks(q *Request) (out []string) {
	r := t.result
	by := ""
	if t.wait != "" {
		by = fmt.Sprintf("; time-out %s %v", t.wait, t.timeOut)
	}
	out = append(out, fmt.Sprintf("%s: outages by %s%s", t.name, t.downtime(), by),
		fmt.Sprintf("  %s of %s; %s by %s; %d paths, %s events, %s",
			console.Plural(q.Replications, "replication", "replications"),
			console.Plural(q.Paths, "path", "paths")+" a stage",
			console.Plural(len(r.Levels), "level", "levels"), Heights[r.Height],
			r.Paths, digits3(float64(r.Events)), t.took.Round(100*time.Millisecond)))
	for i := range r.Estimates {
		e := &r.Estimates[i]
		switch {
		case e.Reached == 0:
			return append(out, fmt.Sprintf("  careful: no path exceeded %v: it is rarer than the bounds "+
				"above; more --paths may reach it",
				time.Duration(e.Beyond)))
		case e.Reached < q.Replications:
			return append(out, fmt.Sprintf("  careful: %d of %d replications exceeded %v: intervals from "+
				"there on may be too short; give more --paths",
				e.Reached, q.Replications, time.Duration(e.Beyond)))
		case e.Spread() > MostSpread:
			return append(out, fmt.Sprintf("  careful: replications differ by %.2g of their mean beyond %v: "+
				"intervals from there on may be too short; give more --paths", e.Spread(),
				time.Duration(e.Beyond)))
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

func ms(ns float64) float64 { return ns / float64(time.Millisecond) }

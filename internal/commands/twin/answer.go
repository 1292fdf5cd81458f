package twin

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/plan"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A pair is where a metric of a cell is: of real trials, of their
// simulated counterparts, and of more of those.
type pair struct{ values, controls, more []float64 }

// Answer simulates the trials of the real run at path, and more times as many. Costs is a file of what
// handling costs; "": the experiment says it.
func Answer(ctx context.Context, path, costs string, more int) (*answer.Document, error) {
	e, dir, err := replay.Recorded(path)
	if err != nil {
		return nil, err
	}
	if e.Virtual() {
		return nil, answer.Mistaken("%s was simulated: expected a run on real nodes", path)
	}
	rows, err := results.ReadTrials(dir)
	if err != nil {
		return nil, err
	}
	twins, err := twinOf(path, e, costs, more)
	if err != nil {
		return nil, err
	}
	begun, simulated := time.Now(), 0
	metrics := metric.Shown(e.Problem, metric.Brief)
	pairs := make([]pair, len(e.Cells)*len(metrics))
	real := map[int]*results.Trial{}
	for i := range rows {
		real[rows[i].Trial] = &rows[i]
	}
	for _, t := range twins.Trials() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		verdict, _, err := runner.Replay(ctx, twins, &t, runner.Options{}, nil)
		if err != nil {
			return nil, err
		}
		simulated++
		switch verdict.Status {
		case trace.OK:
		case trace.Failed:
			return nil, fmt.Errorf("%s: a trial could not be run in simulation: %s", t.Plan.Algorithm,
				verdict.Reason)
		default:
			continue
		}
		row := real[(t.Cell-1)*e.Repetitions+t.Repetition]
		for i, m := range metrics {
			p := &pairs[(t.Cell-1)*len(metrics)+i]
			x := math.NaN()
			for _, v := range verdict.Metrics {
				if v.Name == m.Name {
					x = v.Value
				}
			}
			switch {
			case math.IsNaN(x):
			case t.Repetition > e.Repetitions:
				p.more = append(p.more, x)
			case row != nil && row.Seed == t.Seed:
				if y, kind := row.Observe(m.Name); kind == results.Observed {
					p.values, p.controls = append(p.values, y), append(p.controls, x)
				}
			}
		}
	}
	d := answer.New("twin", "The trials of "+path+" and their simulated counterparts")
	found := predictions(e, metrics, pairs)
	d.Say(headline(found))
	addTwins(d, found)
	d.Add(answer.Facts{{Name: "simulated", Value: simulated}})
	d.Say(fmt.Sprintf("%d trials simulated in %.1f s; mean [95 %% interval]",
		simulated, time.Since(begun).Seconds()))
	return d, nil
}

// twinOf is e in simulation, with more repetitions.
func twinOf(path string, e *experiment.Experiment, costs string, more int) (*experiment.Experiment, error) {
	dir, _, config, err := results.ReadConfig(path)
	if err != nil {
		return nil, err
	}
	over := experiment.Overrides{Transport: transport.Sim.Name,
		Set: []string{"repetitions=" + strconv.Itoa(e.Repetitions*(1+more)), "rounds=1"}}
	over.Set = append(over.Set, networkOf(path, e)...)
	if costs != "" {
		over.Set = append(over.Set, "costs={file: "+strconv.Quote(costs)+"}")
	}
	return experiment.LoadContent(filepath.Join(dir, results.ConfigFile), config, over)
}

// networkOf has the counterpart meet the network that a run over a real one has measured.
func networkOf(path string, e *experiment.Experiment) (set []string) {
	for i := range e.Cells {
		if n := &e.Cells[i].Plan.Network; n.Real {
			return []string{"network.real=false", "network.at_most=" + n.AtMost.String(),
				"network.recorded={run: " + strconv.Quote(path) + "}"}
		}
	}
	return nil
}

// A prediction is how a metric of a cell compares with its simulated counterpart.
type prediction struct {
	cell, metric string
	n            int
	stats.Variate
	twins float64       // the mean of all counterparts
	off   stats.Bounded // its difference from the measured mean, as a share of that; NaN: unknown
}

// predictions are those of which enough is known.
func predictions(e *experiment.Experiment, metrics []*metric.Metric, pairs []pair) (list []prediction) {
	design := plan.DesignOf(e)
	for c := range e.Cells {
		for i, m := range metrics {
			p := &pairs[c*len(metrics)+i]
			if len(p.values) < stats.MinimumBootstrap || len(p.more) < 2 {
				continue
			}
			found := prediction{cell: design.Name(&e.Cells[c]), metric: m.Name, n: len(p.values),
				Variate: stats.ControlVariate(p.values, p.controls, p.more, 0.95)}
			simulated := stats.Mean(slices.Concat(p.controls, p.more), 0.95)
			found.twins = simulated.Value
			if y := found.With; y.Low > 0 {
				// Each end combines opposite ends of both intervals, which covers at least 95 %.
				found.off = stats.Bounded{Value: simulated.Value/y.Value - 1, Low: simulated.Low/y.High - 1,
					High: simulated.High/y.Low - 1}
			} else {
				found.off = stats.Bounded{Value: math.NaN()}
			}
			list = append(list, found)
		}
	}
	return list
}

// headline is how well the simulation predicts the run.
func headline(list []prediction) string {
	known, alike := 0, 0
	var worst *prediction
	for i := range list {
		p := &list[i]
		if math.IsNaN(p.off.Value) {
			continue
		}
		known++
		if p.off.Low <= 0 && p.off.High >= 0 {
			alike++
		}
		if worst == nil || math.Abs(p.off.Value) > math.Abs(worst.off.Value) {
			worst = p
		}
	}
	if worst == nil {
		return "prediction  nothing can be compared"
	}
	text := fmt.Sprintf("prediction  the simulated mean differs from the measured one by %s (%s of %s)",
		offBy(worst.off), worst.metric, worst.cell)
	if known > 1 {
		text = fmt.Sprintf("prediction  the simulated mean differs from the measured one by at most %s "+
			"(%s of %s); no difference was found in %d of %d figures", offBy(worst.off), worst.metric,
			worst.cell, alike, known)
	}
	return text + "\n"
}

// offBy is a difference in percent, with its interval.
func offBy(b stats.Bounded) string {
	return fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", 100*b.Value, 100*b.Low, 100*b.High)
}

// addTwins adds a row for each prediction.
func addTwins(d *answer.Document, list []prediction) {
	t := d.Table("twins",
		answer.Column{Name: "cell", Kind: answer.Words},
		answer.Column{Name: "metric", Kind: answer.Words},
		answer.Column{Name: "n", Kind: answer.Count},
		answer.Column{Name: "measured", Kind: answer.Figure},
		answer.Column{Name: "twins", Head: "simulated", Kind: answer.Number},
		answer.Column{Name: "off", Head: "differs by", Kind: answer.Figure},
		answer.Column{Name: "correlation", Kind: answer.Number},
		answer.Column{Name: "with_twins", Head: "with control variate", Kind: answer.Figure},
		answer.Column{Name: "width", Kind: answer.Number})
	t.Keys, t.Empty = 2, "no cell has six trials with a figure: nothing to compare"
	number := func(x float64, form string) answer.Shown {
		return answer.Shown{Value: x, Text: fmt.Sprintf(form, x)}
	}
	for i := range list {
		p := &list[i]
		estimate := func(b stats.Bounded, text string) answer.Shown {
			return answer.Shown{Value: answer.Estimate{Value: b.Value, Low: b.Low, High: b.High, N: p.n},
				Text: text}
		}
		interval := func(b stats.Bounded) answer.Shown {
			return estimate(b, fmt.Sprintf("%.4g [%.4g, %.4g]", b.Value, b.Low, b.High))
		}
		var off answer.Value
		if !math.IsNaN(p.off.Value) {
			off = estimate(p.off, offBy(p.off))
		}
		correlation := answer.Shown{Text: "none"}
		if !math.IsNaN(p.Correlation) {
			correlation = number(p.Correlation, "%.2f")
		}
		var with, width answer.Value
		if p.Used {
			with, width = interval(p.With), number(p.With.Width()/p.Alone.Width(), "%.2f")
		}
		t.Row(p.cell, p.metric, p.n, interval(p.Alone), number(p.twins, "%.4g"), off, correlation, with,
			width)
	}
}

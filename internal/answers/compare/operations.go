package compare

import (
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// ofOperations sees the operations of each trial of both cells.
func (p *pair) ofOperations(m *metric.Metric, base, new *results.Spans) observer {
	of := map[*results.Trial][]float64{}
	for _, side := range []struct {
		cell  *results.Cell
		spans *results.Spans
	}{{p.base, base}, {p.new, new}} {
		for i, values := range side.spans.Of(side.cell, m) {
			of[side.cell.Trials[i]] = values
		}
	}
	return func(t *results.Trial) []float64 { return of[t] }
}

// measureOperations makes the rows of a comparison over operations.
func (r *Report) measureOperations(m *matching, o *Options, base, new *results.Table) error {
	metrics, err := o.tailMetrics(m, base, new)
	if err != nil {
		return err
	}
	old, fresh, err := spansOf(metrics, base, new)
	if err != nil {
		return err
	}
	for _, of := range metrics {
		for _, p := range m.compared {
			if !of.Applies(algo.Problem(p.base.Get("problem"))) {
				continue
			}
			rows := r.overOperations(of, p, p.ofOperations(of, old, fresh), o.statistics(of), o)
			if len(rows) > 0 {
				rows[0].Others = rows[1:]
				r.measured++
				r.Rows = append(r.Rows, *rows[0])
			}
		}
	}
	return nil
}

// overOperations compares the statistics of a metric over the operations of a pair of cells, in pairs of
// trials if enough have a partner.
func (r *Report) overOperations(m *metric.Metric, p pair, see observer, of []Statistic, o *Options) []*Row {
	row := r.begin(m, p)
	any := see.averaged(func(float64) float64 { return 0 })
	if paired := row.pairs(p.base, p.new, p.lucky, any); paired.enough(o.Alpha) {
		row.Paired = &paired
	}
	row.beside(experiment.OverOperations, see, of)
	return row.Others
}

// statistics are those that are compared over operations: all, or the one that was asked for.
func (o *Options) statistics(m *metric.Metric) []Statistic {
	switch o.Stat {
	case "":
		return statisticsOf(m)
	case stats.Figures()[0].Name:
		return []Statistic{Middle}
	}
	return []Statistic{Statistic(o.Stat)}
}

// proveOperations takes into the rows what is to be proved over operations, where trials have several.
func (r *Report) proveOperations(base, new *results.Table, o *Options) {
	var metrics []*metric.Metric
	for i := range r.Rows {
		if of := r.Rows[i].of; of.OfOperations() && !slices.Contains(metrics, of) {
			metrics = append(metrics, of)
		}
	}
	if metrics = Recorded(metrics, base, new); len(metrics) == 0 {
		return
	}
	old, fresh, err := spansOf(metrics, base, new)
	if err != nil {
		r.Notes = append(r.Notes, "not covered by the proof: single operations: "+err.Error())
		return
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if !slices.Contains(metrics, row.of) || !row.measured() || row.Exact {
			continue
		}
		see := row.cells.ofOperations(row.of, old, fresh)
		several := func(t *results.Trial) bool { return len(see(t)) > 1 }
		trials := slices.Concat(row.cells.base.Trials, row.cells.new.Trials)
		if slices.ContainsFunc(trials, several) {
			others := r.overOperations(row.of, row.cells, see, statisticsOf(row.of), o)
			row.Others = append(row.Others, others...)
		}
	}
}

func spansOf(metrics []*metric.Metric, base, new *results.Table) (old, fresh *results.Spans, err error) {
	old, err = base.ReadSpans(metrics)
	if err == nil {
		fresh, err = new.ReadSpans(metrics)
	}
	return old, fresh, err
}

// tailMetrics are those that were asked for, or the main ones that single operations have.
func (o *Options) tailMetrics(m *matching, base, new *results.Table) (out []*metric.Metric, err error) {
	problem := algo.Problem(m.pairs[0].base.Get("problem"))
	names := slices.Clone(o.Metrics)
	for _, c := range o.Conditions {
		if !slices.Contains(names, c.Metric) {
			names = append(names, c.Metric)
		}
	}
	for _, name := range names {
		of := metric.Named(name)
		if why := of.NotOfOperations(problem); why != "" {
			return nil, answer.Mistaken("--over operations: %s", why)
		}
		out = append(out, of)
	}
	if len(out) == 0 {
		out = MainTails(problem, base, new)
	}
	return out, nil
}

package report

import (
	"errors"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A TailRow is the quantiles of a time over all operations of a cell, as text.
type TailRow struct {
	Cell         int
	Name, Metric string
	N            string // operations: ended, and behind a + pending
	Trials       int
	Tails        []TailFigure // as TailNames
}

// A TailFigure is a quantile with its interval, or why that is refused, and the design effect.
type TailFigure struct{ Text, Effect string }

// TailNames are the quantiles that the page shows.
func (*Data) TailNames() []string { return []string{"p50", "p95", "p99"} }

// TailNote explains them.
func (*Data) TailNote() string { return view.TailNote }

// mostTails is how many rows of them the page has at most.
const mostTails = 200

// tails finds the quantiles over operations of the main times.
func (b *builder) tails() error {
	for run, t := range b.tables {
		metrics := compare.MainTails(algo.Problem(t.Cells()[0].Get("problem")), t)
		spans, err := t.ReadSpans(metrics)
		switch {
		case errors.Is(err, results.ErrNoOperations):
			continue
		case err != nil:
			return err
		}
		for i, g := range b.groups {
			if g.run != run {
				continue
			}
			for _, m := range metrics {
				row := TailRow{Cell: b.Cells[i].Number, Name: b.cellName(i), Metric: m.Name}
				groups := spans.Of(g.Cell, m)
				for _, p := range []float64{0.5, 0.95, 0.99} {
					tail := stats.GroupedQuantile(groups, p, stats.Confidence)
					tail.Doubt = g.Doubt(m)
					row.N, row.Trials = view.TailN(&tail), tail.Groups
					row.Tails = append(row.Tails,
						TailFigure{b.legend.Tail(&tail), console.Number(tail.Effect)})
				}
				switch {
				case row.Trials == 0:
				case len(b.Tails) < mostTails:
					b.Tails = append(b.Tails, row)
				default:
					b.MoreTails++
				}
			}
		}
	}
	return nil
}

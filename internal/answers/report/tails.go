package report

import (
	"errors"
	"fmt"

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
type TailFigure struct {
	Value, Interval, Effect string
	Why                     string  // the interval is refused; "": it is not
	near                    float64 // of a refused one the share of the operations that it takes
}

// A tailColumn is one of the quantiles of which the page tells.
type tailColumn struct {
	name string
	p    float64
	rare bool // it is not missed where no row has an interval
}

var tailColumns = []tailColumn{{"p50", 0.5, false}, {"p95", 0.95, false}, {"p99", 0.99, false},
	{"p99.9", 0.999, true}, {"p99.99", 0.9999, true}}

// TailNames are the quantiles that the page shows.
func (d *Data) TailNames() (names []string) {
	for _, c := range d.tailColumns {
		names = append(names, c.name)
	}
	return names
}

// refuse leaves out the quantiles that have no interval in any row, and says once, of each that has none in
// some, how far the row is from one that comes nearest.
func (d *Data) refuse() {
	d.tailColumns = nil
	var kept []int
	for k, c := range tailColumns {
		refused, nearest := 0, TailFigure{near: -1}
		for i := range d.Tails {
			if f := d.Tails[i].Tails[k]; f.Why != "" {
				refused++
				if f.near > nearest.near {
					nearest = f
				}
			}
		}
		if refused < len(d.Tails) {
			d.tailColumns, kept = append(d.tailColumns, c), append(kept, k)
		}
		switch {
		case refused == 0, refused == len(d.Tails) && c.rare:
		case refused == len(d.Tails):
			d.TailsRefused = append(d.TailsRefused, fmt.Sprintf("%s is left out: no row has enough "+
				"operations for its interval. The nearest row: %s.", c.name, nearest.Why))
		default:
			d.TailsRefused = append(d.TailsRefused, fmt.Sprintf("–: %s has no interval in %d of %d rows, "+
				"which have too few operations. The nearest of them: %s.", c.name, refused, len(d.Tails),
				nearest.Why))
		}
	}
	for i := range d.Tails {
		var shown []TailFigure
		for _, k := range kept {
			shown = append(shown, d.Tails[i].Tails[k])
		}
		d.Tails[i].Tails = shown
	}
}

// TailNote explains them.
func (*Data) TailNote() string { return view.TailMeans + "; " + view.Pending }

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
				for _, c := range tailColumns {
					tail := stats.GroupedQuantile(groups, c.p, stats.Confidence).Doubted(g.Doubt(m))
					row.N, row.Trials = view.TailN(&tail), tail.Groups
					row.Tails = append(row.Tails, b.tail(&tail))
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
	b.refuse()
	return nil
}

// tail is a quantile for the page.
func (b *builder) tail(t *stats.Tail) TailFigure {
	f := TailFigure{Effect: console.Number(t.Effect)}
	f.Value, f.Interval = b.legend.TailParts(t)
	if t.N > 0 && f.Interval == "" {
		f.Why, f.near = view.Refusal(t), t.Independent/float64(t.Needed)
	}
	return f
}

package report

import (
	"math"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Ranking says of the algorithms of a run which is the faster.
type Ranking struct {
	Metric    *metric.Metric
	Run       string // label; "" if there is one run alone
	Head      string
	Sentences []string
	More      int // there are besides
}

// A Replaced row is what trials that the machine spoilt may have hidden of a metric.
type Replaced struct {
	Cell              int
	Name, Metric      string
	Trials, Count     int
	Median, Low, High string
}

// A RestrictedRow is the restricted mean of a metric in a cell.
type RestrictedRow struct {
	Cell           int
	Name, Metric   string
	N, Censored    int
	Mean, Interval string
	Horizon        string
}

// What the page tells at most of each of these.
const (
	mostSentences  = 300
	mostReplaced   = 200
	mostRestricted = 200
)

// rankings ranks the algorithms of each run.
func (b *builder) rankings() {
	for i, t := range b.tables {
		r := compare.RankIn(t, func(column string) string { return experiment.Title(column) + " " })
		if r == nil {
			continue
		}
		out := Ranking{Metric: r.Metric, Head: r.HeadIn((*metric.Metric).InWords)}
		out.Sentences, out.More = r.Sentences(mostSentences)
		if len(b.Runs) > 1 {
			out.Run = b.Runs[i].Label
		}
		b.Rankings = append(b.Rankings, out)
	}
}

// cellName is what tells a cell from the others.
func (b *builder) cellName(cell int) string {
	var columns []string
	design := b.design(cell)
	for _, c := range b.Columns {
		if metric.Get(design, c.Name) != "" {
			columns = append(columns, c.Name)
		}
	}
	return view.Worded(design, columns, ", ", func(column string) string {
		return experiment.Title(column) + " "
	})
}

// replaced gathers the cells some of whose trials had to be repeated.
func (b *builder) replaced() {
	for i, g := range b.groups {
		for _, m := range metric.Shown(algo.Problem(g.Get("problem")), metric.Main) {
			r := compare.ReplacedOf(g.Cell, m)
			if r.Replaced == 0 || math.IsNaN(r.Low) && math.IsNaN(r.High) || len(b.Replaced) == mostReplaced {
				continue
			}
			b.Replaced = append(b.Replaced, Replaced{b.Cells[i].Number, b.cellName(i), m.Name, r.Trials,
				r.Replaced, view.OrBeyond(r.Median) + b.legend.Mark(r.Doubt), view.OrBeyond(r.Low),
				view.OrBeyond(r.High)})
		}
	}
}

// restricted gathers the restricted means.
func (b *builder) restricted() {
	for i := range b.Cells {
		for _, s := range b.Cells[i].Spreads {
			r := s.Restricted
			if r == nil || math.IsNaN(r.Mean) || len(b.Restricted) == mostRestricted {
				continue
			}
			doubt := stats.Doubtful(r.Mean, b.groups[i].Doubt(metric.Named(s.Metric)))
			row := RestrictedRow{Cell: b.Cells[i].Number, Name: b.cellName(i), Metric: s.Metric, N: s.N,
				Censored: s.Censored, Interval: "n/a",
				Mean:    console.Number(r.Mean) + b.legend.Mark(doubt),
				Horizon: console.Number(r.To)}
			if !math.IsNaN(r.Low) {
				row.Interval = console.Number(r.Low) + ", " + console.Number(r.High)
			}
			b.Restricted = append(b.Restricted, row)
		}
	}
}

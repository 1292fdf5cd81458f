package report

import (
	"math"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Ranking says of the algorithms of a run which is the faster.
type Ranking struct {
	Metric    *metric.Metric
	Run       string // label; "" if there is one run alone
	Head      string
	Lines     []string // of all places
	More      int      // there are besides
	Standings []Standing
}

// A Standing is the matrix of a place: each algorithm against each.
type Standing struct {
	Where, Order string
	Labels       []string
	Rows         [][]Against // in their order
}

// Against says how much slower the algorithm of a row is than that of a column, where that is shown.
type Against struct{ Text, Class, Says string }

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
	mostLines      = 60
	mostStandings  = 24
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
		out.Lines, out.More = r.Lines(mostLines)
		for _, s := range r.Standings[:min(len(r.Standings), mostStandings)] {
			out.Standings = append(out.Standings, matrix(s))
		}
		if len(b.Runs) > 1 {
			out.Run = b.Runs[i].Label
		}
		b.Rankings = append(b.Rankings, out)
	}
}

// matrix is the standing as a table.
func matrix(s *compare.Standing) Standing {
	out := Standing{Where: s.Where(), Order: s.String(), Labels: s.Labels}
	for _, a := range s.Labels {
		var row []Against
		for _, b := range s.Labels {
			of := Against{Text: "·", Class: "same"}
			if d := s.Duel(a, b); d != nil {
				of = Against{Text: "~", Class: "open", Says: d.Explained()}
				switch {
				case s.Ahead(b, a):
					of.Text, of.Class = d.Times(), "slower"
				case s.Ahead(a, b):
					of.Text, of.Class = "<", "faster"
				}
			}
			row = append(row, of)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
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
		for _, m := range view.Headlines([][]metric.Field{g.Design}) {
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

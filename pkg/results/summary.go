package results

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// DoubtColumn stands in summary.csv behind all others where nodes of a trial may have several
// clocks: what these can be wrong by, if the median is smaller; empty if it is not.
const DoubtColumn = "clock_doubt_ms"

// Doubt is what stands in it.
func Doubt(doubt float64) string {
	if doubt == 0 {
		return ""
	}
	return Number(doubt)
}

// doubts are the columns of summary.csv behind the figures, if there are any.
func (h *Header) doubts() []string {
	if len(h.Hosts) == 0 {
		return nil
	}
	return []string{DoubtColumn}
}

// summarize hands the rows of summary.csv to write: the cells in order, and in each
// the fixed columns that are summarized and the metrics in the header's order. A metric that no
// sound or timed-out trial of the problem named has no rows.
func (t *Table) summarize(write func([]string) error) error {
	metrics := append(metric.Names(slices.DeleteFunc(metric.Fixed(), func(m *metric.Metric) bool {
		return !m.In(metric.Summary)
	})), t.Header.Metrics...)
	cells := t.Cells()
	slices.SortStableFunc(cells, func(a, b *Cell) int { return a.Number - b.Number })
	named := map[[2]string]bool{} // by problem and metric
	for _, c := range cells {
		for _, name := range metrics {
			key := [2]string{c.Design[0].Value, name}
			named[key] = named[key] || c.counts(name)
		}
	}
	for _, c := range cells {
		var design []string
		for _, f := range c.Design {
			design = append(design, f.Value)
		}
		for _, name := range metrics {
			if !named[[2]string{design[0], name}] {
				continue
			}
			d := c.Describe(name)
			row := slices.Concat(design, SummaryRow(c, name, d))
			if t.Header.doubts() != nil {
				row = append(row, Doubt(d.Doubtful()))
			}
			if err := write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// counts says whether a metric has rows because of the cell.
func (c *Cell) counts(name string) bool {
	if c.Fold != nil {
		return c.Fold.Metrics[name] != nil && c.Fold.Metrics[name].Named
	}
	return slices.ContainsFunc(c.Trials, func(t *Trial) bool { return t.counts(name) })
}

// counts says whether a metric has rows because of the trial.
func (t *Trial) counts(name string) bool {
	_, named := t.Figure(name)
	m := metric.Named(name)
	return named && (m.Always || t.tells(m))
}

package results

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A summary gathers the values of each metric in each cell, as Trial.Observe
// has them.
type summary struct {
	method  stats.Method
	clocks  bool // nodes of a trial may have several
	metrics []string
	fixed   int // of them: the first
	cells   map[int]*cell
	named   map[string]map[string]bool // metrics, by problem
}

type cell struct {
	problem string
	design  []string
	samples map[string]Sample
}

// always are the fixed columns that have rows in every cell, if their figures are there.
func always() (names []string) {
	for _, m := range metric.Fixed() {
		if m.In(metric.Summary) {
			names = append(names, m.Name)
		}
	}
	return names
}

func newSummary(h *Header) *summary {
	fixed := always()
	return &summary{
		method: h.Until.Method(), clocks: len(h.Hosts) > 0,
		metrics: append(fixed, h.Metrics...), fixed: len(fixed), cells: map[int]*cell{},
		named: map[string]map[string]bool{},
	}
}

// add takes in the last attempt at a trial.
func (s *summary) add(t *Trial) {
	c := s.cells[t.Cell]
	if c == nil {
		c = &cell{samples: map[string]Sample{}}
		for _, f := range t.Design {
			c.design = append(c.design, f.Value)
		}
		c.problem = t.Design[0].Value
		s.cells[t.Cell] = c
	}
	named := s.named[c.problem]
	if named == nil {
		named = map[string]bool{}
		s.named[c.problem] = named
	}
	for _, name := range s.metrics[:s.fixed] {
		named[name] = named[name] || !t.Unseen || !metric.Named(name).Traffic
	}
	if t.Status == trace.OK || t.Status == trace.TimedOut {
		for _, m := range t.Metrics {
			named[m.Name] = true
		}
	}
	start := t.Start()
	for _, name := range s.metrics {
		v, seen := t.Observe(name)
		if c.samples[name] == nil {
			c.samples[name] = Sample{}
		}
		c.samples[name].Add(start, v, seen)
	}
}

// rows hands the rows of the table to write: the cells in order, and in each
// the fixed columns that are summarized and the metrics in the header's order. A metric that no
// sound or timed-out trial of the problem named has no rows.
func (s *summary) rows(write func([]string) error) error {
	for _, number := range slices.Sorted(maps.Keys(s.cells)) {
		c := s.cells[number]
		for _, name := range s.metrics {
			if !s.named[c.problem][name] {
				continue
			}
			d := c.samples[name].Describe(s.method)
			row := slices.Concat(c.design, SummaryRow(name, d))
			if s.clocks {
				row = append(row, Doubt(stats.Doubtful(d.Median, metric.Named(name).Doubt(c.clockError()))))
			}
			if err := write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// clockError is the largest of the cell, see Cell.ClockError.
func (c *cell) clockError() (most float64) {
	for _, group := range c.samples[metric.ClockError.Name] {
		most = max(most, slices.Max(group))
	}
	return most
}

// doubts are the columns of summary.csv behind the figures, if there are any.
func (h *Header) doubts() []string {
	if len(h.Hosts) == 0 {
		return nil
	}
	return []string{DoubtColumn}
}

// DoubtColumn stands behind all others where nodes of a trial may have several clocks: what these
// can be wrong by, if the median is smaller; empty if it is not.
const DoubtColumn = "clock_doubt_ms"

// Doubt is what stands in it.
func Doubt(doubt float64) string {
	if doubt == 0 {
		return ""
	}
	return Number(doubt)
}

// SummaryColumns are the columns of summary.csv behind the design.
func SummaryColumns() []string { return slices.Clone(figures) }

// SummaryRow is what stands in them.
func SummaryRow(name string, d stats.Summary) []string {
	row := []string{name, strconv.Itoa(d.N), strconv.Itoa(d.Censored)}
	for _, v := range []float64{
		d.Mean, d.SD, d.Min, d.Median, d.P90, d.P95, d.P99, d.Max, d.CILow, d.CIHigh,
	} {
		row = append(row, Number(v))
	}
	if math.IsNaN(d.CILow) && math.IsNaN(d.CIHigh) {
		return append(row, "")
	}
	return append(row, string(d.Method))
}

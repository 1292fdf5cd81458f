package results

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/pkg/stats"
)

// A summary gathers the values of each metric in each cell. A trial that broke a
// promise, or that the harness spoiled, is no observation of a working
// algorithm: those with status ok alone give values. A timed-out trial is a
// censored observation of those of its metrics that are times, except that it may
// well have seen the detection.
type summary struct {
	metrics []string
	cells   map[int]*cell
	named   map[string]map[string]bool // metrics, by problem
}

type cell struct {
	problem  string
	design   []string
	values   map[string][]float64
	censored map[string]int
}

func newSummary(h *Header) *summary {
	return &summary{
		metrics: append([]string{"duration_ms", "messages"}, h.Metrics...),
		cells:   map[int]*cell{},
		named:   map[string]map[string]bool{},
	}
}

// add takes in the last attempt at a trial.
func (s *summary) add(t *Trial) {
	c := s.cells[t.Cell]
	if c == nil {
		c = &cell{values: map[string][]float64{}, censored: map[string]int{}}
		for _, f := range t.Design {
			c.design = append(c.design, f.Value)
		}
		c.problem = t.Design[0].Value
		s.cells[t.Cell] = c
	}
	named := s.named[c.problem]
	if named == nil {
		named = map[string]bool{"duration_ms": true, "messages": true}
		s.named[c.problem] = named
	}
	if t.Status != OK && t.Status != Timeout {
		return
	}
	given := map[string]float64{"duration_ms": t.DurationMS, "messages": float64(t.Messages)}
	for _, m := range t.Metrics {
		given[m.Name], named[m.Name] = m.Value, true
	}
	for _, name := range s.metrics {
		v, ok := given[name]
		known := ok && !math.IsNaN(v) && !math.IsInf(v, 0)
		switch {
		case known && (t.Status == OK || name == "detection_ms" || name == "suspicion_ms"):
			c.values[name] = append(c.values[name], v)
		case t.Status == Timeout && ok && isTime(name):
			c.censored[name]++
		}
	}
}

// isTime says whether a metric is the time until something happens, which a
// time limit censors. Split brain is a state that lasts, not one waited for.
func isTime(metric string) bool {
	return strings.HasSuffix(metric, "_ms") && metric != "split_brain_ms"
}

// rows hands the rows of the table to write: the cells in order, and in each
// duration, messages and the metrics in the header's order. A metric that no
// sound or timed-out trial of the problem named has no rows.
func (s *summary) rows(write func([]string) error) error {
	for _, number := range slices.Sorted(maps.Keys(s.cells)) {
		c := s.cells[number]
		for _, name := range s.metrics {
			if !s.named[c.problem][name] {
				continue
			}
			d := stats.Describe(c.values[name], c.censored[name])
			row := append(slices.Clone(c.design), name, strconv.Itoa(d.N), strconv.Itoa(d.Censored))
			for _, v := range []float64{d.Mean, d.SD, d.Min, d.Median, d.P90, d.P95, d.P99, d.Max,
				d.CILow, d.CIHigh} {
				row = append(row, Number(v))
			}
			if err := write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

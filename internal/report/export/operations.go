package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// tailed are the quantiles over operations, by name.
var tailed = []struct {
	name string
	p    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}}

// A tailRow is a metric of a cell over all its operations.
type tailRow struct {
	cell  *results.Cell
	of    *metric.Metric
	tails []stats.Tail // as tailed
}

// overOperations are the quantiles over operations of the selection.
func (s *selection) overOperations() (out []tailRow, err error) {
	metrics, err := s.ofOperations()
	if err != nil {
		return nil, err
	}
	spans, err := s.run.ReadSpans(metrics)
	if err != nil {
		return nil, err
	}
	for _, c := range s.cells {
		for _, m := range metrics {
			row := tailRow{cell: c, of: m}
			for _, q := range tailed {
				row.tails = append(row.tails, stats.GroupedQuantile(spans.Of(c, m), q.p, stats.Confidence))
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// ofOperations are the selected metrics that single operations have. One that was asked for
// by name must be one.
func (s *selection) ofOperations() ([]*metric.Metric, error) {
	if len(s.Metrics) == 0 {
		return compare.Recorded(s.metrics, s.run.Table), nil
	}
	for _, m := range s.metrics {
		if why := m.NotOfOperations(s.solved()); why != "" {
			return nil, mistake("--metrics %s: %s", m.Name, why)
		}
	}
	return s.metrics, nil
}

// operationsCSV writes a row for each metric of a cell. An interval that the operations are
// too few for is empty, as is a quantile that pending operations hide.
func operationsCSV(s *selection) ([]File, error) {
	rows, err := s.overOperations()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	head := append(slices.Clone(s.run.Design), "metric", "operations", "pending", "trials")
	for _, q := range tailed {
		head = append(head, q.name, q.name+"_low", q.name+"_high", q.name+"_design_effect")
	}
	if err := w.Write(head); err != nil {
		return nil, err
	}
	for _, r := range rows {
		var row []string
		for _, f := range r.cell.Design {
			row = append(row, inert(f.Value))
		}
		first := r.tails[0]
		row = append(row, r.of.Name, strconv.Itoa(first.N), strconv.Itoa(first.Censored),
			strconv.Itoa(first.Groups))
		for _, t := range r.tails {
			row = append(row, results.Number(t.Value), results.Number(t.Low), results.Number(t.High),
				results.Number(t.Effect))
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return []File{{s.base() + "-operations.csv", b.Bytes()}}, w.Error()
}

// operationsJSON writes the same for programs, with how many independent operations each
// quantile needs for an interval.
func operationsJSON(s *selection) ([]File, error) {
	type quantile struct {
		Value       *float64 `json:"value"`
		Low         *float64 `json:"ci_low"`
		High        *float64 `json:"ci_high"`
		Effect      *float64 `json:"design_effect"`
		Independent *float64 `json:"independent_operations"`
		Needed      int      `json:"needed_operations"`
	}
	type entry struct {
		Design     map[string]string   `json:"design"`
		Metric     string              `json:"metric"`
		Operations int                 `json:"operations"`
		Pending    int                 `json:"pending"`
		Trials     int                 `json:"trials"`
		Quantiles  map[string]quantile `json:"quantiles"`
	}
	rows, err := s.overOperations()
	if err != nil {
		return nil, err
	}
	entries, finite := []entry{}, results.Finite
	for _, r := range rows {
		first := r.tails[0]
		e := entry{metric.ByName(r.cell.Design), r.of.Name, first.N, first.Censored, first.Groups,
			map[string]quantile{}}
		for i, t := range r.tails {
			e.Quantiles[tailed[i].name] = quantile{finite(t.Value), finite(t.Low), finite(t.High),
				finite(t.Effect), finite(t.Independent), t.Needed}
		}
		entries = append(entries, e)
	}
	b, err := json.MarshalIndent(map[string]any{"schema_version": 1, "over": "operations",
		"origin": s.origin(), "rows": entries}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return []File{{s.base() + "-operations.json", append(b, '\n')}}, nil
}

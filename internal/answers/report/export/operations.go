package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A tailed is one of the quantiles over operations.
type tailed struct {
	name   string
	p      float64
	people bool // tables for people have it
}

// tailed are the quantiles that were asked for, or the usual ones.
func (s *selection) tailed() []tailed {
	if len(s.Quantiles) == 0 {
		return []tailed{{"p50", 0.5, true}, {"p90", 0.9, false}, {"p95", 0.95, true}, {"p99", 0.99, true}}
	}
	var out []tailed
	for _, percent := range s.Quantiles {
		out = append(out, tailed{"p" + strconv.FormatFloat(percent, 'f', -1, 64), percent / 100, true})
	}
	return out
}

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
			for _, q := range s.tailed() {
				tail := stats.GroupedQuantile(spans.Of(c, m), q.p, stats.Confidence)
				row.tails = append(row.tails, tail.Doubted(c.Doubt(m)))
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
			return nil, report.Mistaken("--metrics %s: %s", m.Name, why)
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
	head := []string{"metric", "operations", "pending", "trials"}
	for _, q := range s.tailed() {
		head = append(head, q.name, q.name+"_low", q.name+"_high", q.name+"_design_effect")
		if s.doubts() {
			head = append(head, q.name+"_"+results.DoubtColumn)
		}
	}
	sheet := s.sheet(head)
	for _, r := range rows {
		first := r.tails[0]
		texts := []string{r.of.Name, strconv.Itoa(first.N), strconv.Itoa(first.Censored),
			strconv.Itoa(first.Groups)}
		for _, t := range r.tails {
			texts = append(texts, results.Number(t.Value), results.Number(t.Low), results.Number(t.High),
				results.Number(t.Effect))
			if s.doubts() {
				texts = append(texts, results.Doubt(t.Doubtful()))
			}
		}
		row(sheet, r.cell, texts)
	}
	name := s.base() + "-operations.csv"
	files, err := written("csv", name, &answer.Document{Blocks: []answer.Block{sheet}})
	return append(files, s.beside(name)...), err
}

// operationsMarkdown writes them as a table for people.
func operationsMarkdown(s *selection) ([]File, error) {
	rows, err := s.overOperations()
	if err != nil {
		return nil, err
	}
	head := slices.Concat([]string{"algorithm"}, s.columns, []string{"metric", "operations", "trials"})
	for _, q := range s.tailed() {
		if q.people {
			head = append(head, q.name, "design effect")
		}
	}
	table := &console.Table{}
	for i, name := range head {
		table.Column(inText(name), i > 1+len(s.columns))
	}
	legend := &view.Legend{}
	for _, r := range rows {
		row := []string{view.Label(r.cell.Design)}
		for _, name := range s.columns {
			row = append(row, r.cell.Get(name))
		}
		first := &r.tails[0]
		row = append(row, r.of.Name, view.TailN(first), strconv.Itoa(first.Groups))
		for i, q := range s.tailed() {
			if q.people {
				row = append(row, legend.Tail(&r.tails[i]), console.Number(r.tails[i].Effect))
			}
		}
		table.Add(row...)
	}
	var b bytes.Buffer
	table.Markdown(&b, inText)
	notes := append([]string{view.TailNote}, legend.Notes()...)
	fmt.Fprintf(&b, "figures: %s.\n%s\n<sub>%s</sub>\n", inText(strings.Join(notes, "; ")), s.listed(),
		inText(s.origin()))
	return []File{{Name: s.base() + "-operations.md", Data: b.Bytes()}}, nil
}

// operationsLatex writes them for a paper: of each quantile the value, the ends of its interval,
// and the design effect.
func operationsLatex(s *selection) ([]File, error) {
	rows, err := s.overOperations()
	if err != nil {
		return nil, err
	}
	place := *s
	place.cells = nil
	for _, r := range rows { // a row for each metric of a cell
		place.cells = append(place.cells, r.cell)
	}
	columns := place.columnsOfPlace()
	of := &texColumn{name: "metric"}
	operations := &texColumn{name: "operations", number: true}
	trials := &texColumn{name: "trials", number: true}
	for _, r := range rows {
		of.cells = append(of.cells, tex(r.of.Title()))
		if first := &r.tails[0]; first.Censored > 0 {
			operations.put(view.TailN(first))
		} else {
			operations.add(strconv.Itoa(first.N))
		}
		trials.add(strconv.Itoa(r.tails[0].Groups))
	}
	columns = append(columns, of, operations, trials)
	var groups []texGroup
	legend := &view.Legend{}
	for i, q := range s.tailed() {
		if !q.people {
			continue
		}
		group := tailGroup(rows, i, q.name, legend)
		groups = append(groups, texGroup{q.name, group})
		columns = append(columns, group...)
	}
	comments := make([]string, len(rows))
	for i := range rows {
		comments[i] = rows[i].comment(s.tailed())
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% %s\n%% Needs \\usepackage{booktabs,siunitx}.\n%s", s.origin(),
		s.comments("%"))
	b.WriteString("% Quantiles of all operations of the trials together, with their 95 % intervals and\n" +
		"% design effects (deff); after a + those still pending, which count as longer than all others.\n" +
		"% n/a: too few operations for an interval; the number needed follows the row.\n")
	if held := s.held(); held != "" {
		b.WriteString("% " + upper(printable(held)) + " everywhere.\n")
	}
	if slices.ContainsFunc(place.cells, func(c *results.Cell) bool { return !c.InModel() }) {
		b.WriteString("% " + beyond + "\n")
	}
	for _, note := range legend.Notes() {
		b.WriteString("% " + note + ".\n")
	}
	tabular(&b, columns, groups, comments)
	return []File{{Name: s.base() + "-operations.tex", Data: b.Bytes()}}, nil
}

// tailGroup is the columns of the i-th quantile.
func tailGroup(rows []tailRow, i int, name string, legend *view.Legend) []*texColumn {
	var figures [][3]float64
	for _, r := range rows {
		figures = append(figures, [3]float64{r.tails[i].Value, r.tails[i].Low, r.tails[i].High})
	}
	decimals := decimalsOf(figures)
	value := &texColumn{name: name, number: true}
	low, high := &texColumn{name: "low", number: true}, &texColumn{name: "high", number: true}
	effect := &texColumn{name: "deff", number: true}
	for _, r := range rows {
		tail := &r.tails[i]
		open := "n/a"
		if !tail.Refused() {
			open = `\ldots`
		}
		value.figure(tail.Value, decimals, "pending")
		value.mark(legend.Mark(tail.Doubtful()))
		low.figure(tail.Low, decimals, open)
		high.figure(tail.High, decimals, open)
		effect.figure(tail.Effect, 2, "n/a")
	}
	return []*texColumn{value, low, high, effect}
}

// comment says how the trials of a row ended, and what its quantiles lack.
func (r *tailRow) comment(quantiles []tailed) string {
	text := view.Statuses(r.cell)
	for i, q := range quantiles {
		if tail := &r.tails[i]; q.people && tail.Refused() && tail.N > 0 {
			text += fmt.Sprintf("; %s: %s", q.name, view.Refusal(tail))
		}
	}
	return text
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
		Doubt       float64  `json:"clock_doubt_ms,omitempty"` // what clocks can be wrong by, if that is more
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
	quantiles := s.tailed()
	for _, r := range rows {
		first := r.tails[0]
		e := entry{metric.ByName(r.cell.Design), r.of.Name, first.N, first.Censored, first.Groups,
			map[string]quantile{}}
		for i, t := range r.tails {
			e.Quantiles[quantiles[i].name] = quantile{finite(t.Value), finite(t.Low), finite(t.High),
				finite(t.Effect), finite(t.Independent), t.Needed, t.Doubtful()}
		}
		entries = append(entries, e)
	}
	b, err := json.MarshalIndent(map[string]any{"schema_version": 1, "over": "operations",
		"origin": s.origin(), "caveats": s.caveats(), "rows": entries}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return []File{{Name: s.base() + "-operations.json", Data: append(b, '\n')}}, nil
}

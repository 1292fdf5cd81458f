package export

import (
	"fmt"
	"math"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An entry of github-action-benchmark, whose tools customSmallerIsBetter and
// customBiggerIsBetter take a list of them.
type githubEntry struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Range string  `json:"range,omitempty"`
	Extra string  `json:"extra,omitempty"`
}

// github writes a file for each direction, because there the direction belongs to
// the file. One without entries is not written: the action takes it for an error.
func github(s *selection) ([]File, error) {
	smaller, larger := []githubEntry{}, []githubEntry{}
	for _, c := range s.cells {
		for _, m := range s.metrics {
			d := c.Describe(m.Name)
			if math.IsNaN(d.Center()) {
				continue
			}
			e := githubEntry{
				Name: s.name(c) + " " + m.Name, Value: d.Center(), Unit: m.Unit.Sign(),
				Extra: fmt.Sprintf("%s of %d trials; %s", m.Kind.Figure(), d.N+d.Censored, view.Statuses(c)),
			}
			if !math.IsNaN(d.CILow) && !math.IsNaN(d.CIHigh) {
				e.Range = fmt.Sprintf("%s to %s", results.Number(d.CILow), results.Number(d.CIHigh))
			}
			if doubt := d.Doubtful(); doubt > 0 {
				e.Extra += "; " + view.DoubtNote(doubt)
			}
			if m.Better == metric.Higher {
				larger = append(larger, e)
			} else {
				smaller = append(smaller, e)
			}
		}
	}
	var files []File
	for _, f := range []struct {
		name    string
		entries []githubEntry
	}{{"smaller-is-better.json", smaller}, {"larger-is-better.json", larger}} {
		if len(f.entries) == 0 {
			continue
		}
		b, err := report.JSON(f.entries)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: f.name, Data: b})
	}
	if files == nil {
		return nil, s.empty()
	}
	return files, nil
}

// empty is the error of formats that have no word for a missing figure.
func (s *selection) empty() error {
	return fmt.Errorf("%s: no cell has a figure of %s: nothing to export; --format csv shows what there is",
		s.run.Path, strings.Join(metric.Names(s.metrics), ", "))
}

// A figure of Bencher's Metric Format.
type bmfFigure struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower_value,omitempty"`
	Upper *float64 `json:"upper_value,omitempty"`
}

// bmf writes Bencher's Metric Format: benchmarks by name, and in each its measures
// by slug. encoding/json sorts both.
func bmf(s *selection) ([]File, error) {
	out := map[string]map[string]bmfFigure{}
	var notes []string
	for _, c := range s.cells {
		notes = append(notes, s.doubtful(c)...)
		measures := map[string]bmfFigure{}
		for _, m := range s.metrics {
			name := m.Name
			if m.Unit == metric.Milliseconds {
				name = m.Stem() + "_ns"
			}
			d := c.Describe(m.Name)
			if math.IsNaN(d.Center()) {
				continue
			}
			measures[slug(name)] = bmfFigure{converted(m, d.Center()), results.Finite(converted(m, d.CILow)),
				results.Finite(converted(m, d.CIHigh))}
		}
		name := s.benchmarkOf(c)
		if out[name] != nil { // only in files that bench run has not written
			return nil, fmt.Errorf("%s: two cells are both called %q here; choose one with --where",
				s.run.Path, name)
		}
		if len(measures) > 0 {
			out[name] = measures
		}
	}
	if len(out) == 0 {
		return nil, s.empty()
	}
	b, err := report.JSON(out)
	return []File{{Name: s.base() + ".json", Data: b, Notes: notes}}, err
}

// benchmarkOf is the name of a cell there, which has a limit, and must not end in
// what mutes alerts.
func (s *selection) benchmarkOf(c *results.Cell) string {
	const most = 1024
	name := strings.TrimSuffix(s.name(c), "-bencher-ignore")
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	return name
}

// slug is a name in lower-case words joined by '-', of 64 characters at most.
func slug(name string) string {
	const most = 64
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	name = strings.Join(words, "-")
	return strings.TrimRight(name[:min(len(name), most)], "-")
}

// jsonSchema is the version of what writeJSON writes.
const jsonSchema = 1

type (
	jsonRun struct {
		Schema      int        `json:"schema_version"`
		Name        string     `json:"name"`
		Run         string     `json:"run"` // empty: not known
		Seed        *uint64    `json:"seed"`
		Confidence  float64    `json:"confidence"` // of the intervals, of the figure
		Percentiles string     `json:"percentiles"`
		Intervals   string     `json:"intervals"` // how they are found
		Caveats     []string   `json:"caveats,omitempty"`
		Cells       []jsonCell `json:"cells"`
	}
	jsonCell struct {
		Cell     int                    `json:"cell"`
		Name     string                 `json:"name"`
		Design   map[string]string      `json:"design"`
		InModel  bool                   `json:"in_model"`
		Trials   int                    `json:"trials"`
		Statuses map[trace.Status]int   `json:"statuses"`
		Metrics  map[string]jsonSummary `json:"metrics"`
	}
	jsonSummary struct {
		N        int      `json:"n"`
		Censored int      `json:"censored"`
		Mean     *float64 `json:"mean"`
		SD       *float64 `json:"sd"`
		Min      *float64 `json:"min"`
		Median   *float64 `json:"median"`
		// Figure is which of them stands in tables, and has the interval.
		Figure    string          `json:"figure"`
		Seen      *int            `json:"seen,omitempty"` // of a mean: in how many trials it happened at all
		CI        jsonInterval    `json:"ci"`
		Quantiles jsonPercentiles `json:"quantiles"`
		Max       *float64        `json:"max"`
		// Doubt is what clocks can be wrong by, if that is more than the figure.
		Doubt float64 `json:"clock_doubt_ms,omitempty"`
		// Restricted is the restricted mean over single operations, where some of the run were
		// cut off.
		Restricted *jsonRestricted `json:"restricted,omitempty"`
	}
	jsonRestricted struct {
		Mean *float64     `json:"mean"`
		CI   jsonInterval `json:"ci"`
		To   *float64     `json:"to"`
	}
	jsonInterval struct {
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}
	jsonPercentiles struct {
		P90 *float64 `json:"p90"`
		P95 *float64 `json:"p95"`
		P99 *float64 `json:"p99"`
	}
)

// writeJSON writes what writeCSV does, and how the trials ended. A missing figure
// is null.
func writeJSON(s *selection) ([]File, error) {
	out := jsonRun{
		Schema: jsonSchema, Name: s.run.Name, Confidence: stats.Confidence,
		Percentiles: stats.QuantileType, Intervals: string(s.run.Until().Method()), Caveats: s.caveats(),
		Cells: []jsonCell{},
	}
	if h := s.run.Header; h != nil {
		out.Run, out.Seed = h.Run, &h.Seed
	}
	restricted, err := s.restricted()
	if err != nil {
		return nil, err
	}
	for i, c := range s.cells {
		cell := jsonCell{
			Cell: c.Number, Name: s.name(c), Design: metric.ByName(c.Design), InModel: c.InModel(),
			Trials: len(c.Trials), Statuses: map[trace.Status]int{}, Metrics: map[string]jsonSummary{},
		}
		for _, status := range trace.Statuses() {
			cell.Statuses[status] = c.Count(status)
		}
		for _, m := range s.metrics {
			d := jsonOf(m, c.Describe(m.Name))
			if r, there := restricted[i][m]; there {
				known := results.Finite
				d.Restricted = &jsonRestricted{known(r.Mean), jsonInterval{known(r.Low), known(r.High)},
					known(r.To)}
			}
			cell.Metrics[m.Name] = d
		}
		out.Cells = append(out.Cells, cell)
	}
	b, err := report.JSON(out)
	return []File{{Name: s.base() + ".json", Data: b}}, err
}

func jsonOf(m *metric.Metric, d stats.Summary) jsonSummary {
	known := results.Finite
	s := jsonSummary{
		N: d.N, Censored: d.Censored, Mean: known(d.Mean), SD: known(d.SD), Min: known(d.Min),
		Median: known(d.Median), Figure: m.Kind.Figure(), CI: jsonInterval{known(d.CILow), known(d.CIHigh)},
		Quantiles: jsonPercentiles{known(d.P90), known(d.P95), known(d.P99)}, Max: known(d.Max),
		Doubt: d.Doubtful(),
	}
	if d.Method == stats.Whole {
		s.Seen = &d.Seen
	}
	return s
}

package compare

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// shownQuantiles are those of the table of distributions.
var shownQuantiles = []struct {
	name string
	p    float64
}{{"p5", 0.05}, {"p50", 0.5}, {"p95", 0.95}, {"p99_9", 0.999}}

// bounded reads the options of distributions.
func (q *Request) bounded() (above float64, err error) {
	switch {
	case !q.Distribution && q.Above != "":
		return 0, answer.Mistaken("--above %s needs --distribution", q.Above)
	case !q.Distribution && q.Figures != "":
		return 0, answer.Mistaken("--figures %s needs --distribution", q.Figures)
	case q.Above == "":
		return math.NaN(), nil
	}
	d, err := time.ParseDuration(q.Above)
	if err != nil || d < 0 {
		return 0, answer.Mistaken("--above %s: expected a duration, as 163s", q.Above)
	}
	return d.Seconds() * 1000, nil
}

// Distributions compares the distributions of a time of two algorithms of one run, in each place of its
// sweep.
func Distributions(path, a, b string, q Request) (*answer.Document, error) {
	t, err := two(path, a, b, &q)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("Conclave: the distributions of %s and %s in %s", a, b, path)
	return distributions(title, []*results.Table{t, t}, []string{a, b}, &q)
}

// distributions compares those of an algorithm of each table with that of the last.
func distributions(title string, tables []*results.Table, labels []string, q *Request) (
	*answer.Document, error) {
	above, err := q.bounded()
	if err != nil {
		return nil, err
	}
	metrics, err := timesOf(tables[len(tables)-1], q.Metrics)
	if err != nil {
		return nil, err
	}
	d := answer.New("compare", title)
	s := newBoth(q, above)
	for _, m := range metrics {
		for _, at := range places(tables, labels) {
			if err := s.add(m, at, q.Figures); err != nil {
				return nil, err
			}
		}
	}
	d.Add(s.samples, s.distances)
	for _, line := range s.said {
		d.Say(line)
	}
	for _, p := range s.pictures {
		d.Add(p)
	}
	for _, text := range explained(tables, labels) {
		d.Note(text)
	}
	if len(s.said) == 0 {
		d.Verdict = nothingCompared
	}
	return d, nil
}

// timesOf are the times of these names, or else the main one.
func timesOf(t *results.Table, names []string) (out []*metric.Metric, err error) {
	if len(names) == 0 {
		m, _ := rankedBy(t)
		if m == nil {
			return nil, fmt.Errorf("%s: no time by which its algorithms are ranked", t.Path)
		}
		return []*metric.Metric{m}, nil
	}
	for _, name := range names {
		if known := t.Known(); !slices.Contains(known, name) {
			return nil, answer.Mistaken("--metrics: %v",
				&metric.NameError{Kind: "metric", Name: name, Known: known})
		}
		m := metric.Named(name)
		if m.Unit != metric.Milliseconds {
			return nil, answer.Mistaken("--metrics %s with --distribution: expected a time in ms", name)
		}
		out = append(out, m)
	}
	return out, nil
}

// A place is cells of algorithms that differ in nothing else.
type place struct {
	name  string // "": there is one
	cells []*results.Cell
	names []string // of the cells
}

// places are where all are: the i-th label in the i-th table. Of tables of several runs, what varies within
// one of them tells its places apart.
func places(tables []*results.Table, labels []string) (out []place) {
	columns := varying(tables)
	at := func(c *results.Cell) string { return view.Name(view.Place(c.Design, columns), columns) }
	for _, first := range tables[0].Cells() {
		found := place{name: at(first), names: named(tables, labels)}
		for i, t := range tables {
			for _, c := range t.Cells() {
				if view.Label(c.Design) == labels[i] && at(c) == found.name && len(found.cells) == i {
					found.cells = append(found.cells, c)
				}
			}
		}
		if view.Label(first.Design) == labels[0] && len(found.cells) == len(tables) {
			out = append(out, found)
		}
	}
	return out
}

// named is what the i-th label is called: by its run as well, where another one is called so, too.
func named(tables []*results.Table, labels []string) []string {
	names := slices.Clone(labels)
	for i, label := range labels {
		others := slices.Concat(labels[:i], labels[i+1:])
		if slices.Contains(others, label) && tables[0] != tables[len(tables)-1] {
			names[i] = fmt.Sprintf("%s (%s)", label, tables[i].Cells()[0].Get("transport"))
		}
	}
	return names
}

// varying are the columns that vary within one of the tables, and that all have.
func varying(tables []*results.Table) (columns []string) {
	for _, t := range tables {
		for _, name := range view.VaryingIn(t) {
			missing := func(t *results.Table) bool { return !slices.Contains(t.Design, name) }
			if !slices.Contains(columns, name) && !slices.ContainsFunc(tables, missing) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

// both is the answer as it grows.
type both struct {
	samples, distances *answer.Table
	above              float64
	said               []string
	pictures           []answer.Picture
}

func newBoth(q *Request, above float64) *both {
	s := &both{above: above,
		samples:   &answer.Table{Name: "distributions", Keys: 3, Main: true, DropEmpty: true},
		distances: &answer.Table{Name: "distances", Keys: 2, Only: answer.Programs}}
	s.samples.Columns = answer.Columns(answer.Everybody, "place metric algorithm n:count")
	for _, q := range shownQuantiles {
		s.samples.Columns = append(s.samples.Columns, answer.Column{Name: q.name, Kind: answer.Number})
	}
	s.samples.Columns = slices.Concat(s.samples.Columns,
		answer.Columns(answer.Everybody, "largest:number"),
		answer.Columns(answer.People, "above:text:above_"+q.Above),
		answer.Columns(answer.Programs, "above_ms:number share_above:number share_low:number "+
			"share_high:number censored:count"))
	s.distances.Columns = answer.Columns(answer.Programs, "place metric base new distance:number "+
		"distance_low:number distance_high:number median_ratio:number ratio_low:number ratio_high:number")
	return s
}

// add compares a metric in a place, and draws it; into a folder, unless that is "".
func (s *both) add(m *metric.Metric, at place, folder string) error {
	samples := make([][]float64, len(at.cells))
	for i, c := range at.cells {
		values, censored := c.Sample(m.Name)
		slices.Sort(values)
		samples[i] = append(values, slices.Repeat([]float64{math.Inf(1)}, censored)...)
		if len(values) == 0 {
			return nil
		}
		s.row(m, at.name, at.names[i], samples[i], censored)
	}
	where := ""
	if at.name != "" {
		where = at.name + ": "
	}
	last := len(samples) - 1
	b := at.names[last]
	for i, sample := range samples[:last] {
		a := at.names[i]
		distance, low, high := stats.Apart(sample, samples[last], stats.Confidence)
		ratio, from, to := stats.RatioInterval(samples[last], sample, stats.Confidence, 0)
		s.distances.Row(at.name, m.Name, a, b, distance, low, high, ratio, from, to)
		of := ""
		if last > 1 {
			of = fmt.Sprintf(" of %s and %s", a, b)
		}
		s.said = append(s.said, fmt.Sprintf("%s%s: the distribution functions%s are up to %.3f apart [%.3f, "+
			"%.3f] (Kolmogorov and Smirnov; 95 %% interval); the median of %s is %s times that of %s",
			where, m.Name, of, distance, low, high, a, within(ratio, from, to), b))
	}
	return s.draw(m, at, samples, folder)
}

// within is a ratio with its interval.
func within(ratio, low, high float64) string {
	if math.IsNaN(low) || math.IsNaN(high) {
		return fmt.Sprintf("%.3f", ratio)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", ratio, low, high)
}

// row is what the table has of a sample, which is sorted.
func (s *both) row(m *metric.Metric, at, label string, sample []float64, censored int) {
	row := []answer.Value{at, m.Name, label, len(sample)}
	for _, q := range shownQuantiles {
		v := stats.Quantile(sample, q.p)
		row = append(row, answer.Shown{Value: v, Text: view.OrBeyond(v)})
	}
	last := sample[len(sample)-1]
	row = append(row, answer.Shown{Value: last, Text: view.OrBeyond(last)})
	text, share, low, high := "", math.NaN(), math.NaN(), math.NaN()
	if !math.IsNaN(s.above) {
		over := 0
		for _, v := range sample {
			if v > s.above {
				over++
			}
		}
		share = float64(over) / float64(len(sample))
		low, high = stats.BinomialInterval(over, len(sample), stats.Confidence)
		text = fmt.Sprintf("%.1f%% [%.1f, %.1f]", 100*share, 100*low, 100*high)
	}
	s.samples.Row(append(row, text, s.above, share, low, high, censored)...)
}

// mostSteps bounds how many steps of a distribution function are drawn: more cannot be seen.
const mostSteps = 500

// draw draws the distribution functions.
func (s *both) draw(m *metric.Metric, at place, samples [][]float64, folder string) error {
	pane := chart.Pane{}
	c := chart.Chart{Name: "distribution-" + m.Name, X: m.Title(), Y: "trials (share)",
		Notes: slices.Clone(s.said[len(s.said)-len(samples)+1:])}
	if at.name != "" {
		c.Name += fmt.Sprintf("-%d", len(s.pictures)+1)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i, sample := range samples {
		var steps plotter.XYs
		before, n := 0.0, len(sample)
		for k := range min(n, mostSteps) {
			last := (k + 1) * n / min(n, mostSteps) // of them no more than the value
			if v := sample[last-1]; !math.IsInf(v, 1) {
				low, high = min(low, v), max(high, v)
				share := float64(last) / float64(n)
				steps = append(steps, plotter.XY{X: v, Y: before}, plotter.XY{X: v, Y: share})
				before = share
			}
		}
		look := chart.LookOf(i)
		pane.Drawn = append(pane.Drawn, &plotter.Line{XYs: steps, LineStyle: look.Line()})
		c.Legend = append(c.Legend, chart.Entry{Text: at.names[i], Look: look,
			Shows: chart.OnlyLine})
	}
	if low == high {
		low, high = low-1, high+1
	}
	ticks := chart.Rounds(low, high, func(string) float64 { return 1. / 6 })
	pane.X = chart.Axis{Min: low, Max: high, Ticks: ticks[1 : len(ticks)-1]} // the ends are not round
	pane.Y = chart.Axis{Min: 0, Max: 1}
	c.Panes = []chart.Pane{pane}
	svg, err := c.Render("svg", 0, 0)
	if err != nil {
		return err
	}
	p := answer.Picture{Name: c.Name, Title: "distribution of " + m.InWords(), SVG: bytes.TrimSpace(svg)}
	if folder != "" {
		names, err := chart.Write(folder, []chart.Chart{c}, 0, 0)
		if err != nil {
			return err
		}
		p.File = filepath.Join(folder, names[0])
	}
	s.pictures = append(s.pictures, p)
	return nil
}

// explained says which of the algorithms is predicted by which other one, and what is left.
func explained(tables []*results.Table, labels []string) (out []string) {
	var list []*algo.Algorithm
	for i, t := range tables {
		for _, c := range t.Cells() {
			alg, err := algo.Lookup(c.Get("algorithm"))
			if err == nil && view.Label(c.Design) == labels[i] && !slices.Contains(list, alg) {
				list = append(list, alg)
			}
		}
	}
	for _, of := range list {
		for _, by := range list {
			if p := of.Spec.Predicted; p != nil && p.By == by.Spec.Name {
				out = append(out, fmt.Sprintf("%s is predicted by %v. %s", of.Spec.Name, p, p.Differs))
			}
		}
	}
	return out
}

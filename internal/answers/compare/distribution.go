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
	above, err := q.bounded()
	if err != nil {
		return nil, err
	}
	t, err := two(path, a, b, &q)
	if err != nil {
		return nil, err
	}
	metrics, err := timesOf(t, q.Metrics)
	if err != nil {
		return nil, err
	}
	d := answer.New("compare", fmt.Sprintf("Conclave: the distributions of %s and %s in %s", a, b, path))
	s := newBoth(&q, above)
	for _, m := range metrics {
		for _, pair := range pairs(t, a, b) {
			if err := s.add(m, pair, q.Figures); err != nil {
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
	for _, text := range explained(t, a, b) {
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

// A place is the cells of two algorithms that differ in nothing else.
type place struct {
	name  string // "": there is one
	cells [2]*results.Cell
}

// pairs are the places of a run in which both are.
func pairs(t *results.Table, a, b string) (out []place) {
	columns := view.VaryingIn(t)
	for _, first := range t.Cells() {
		at := view.Name(view.Place(first.Design, columns), columns)
		for _, second := range t.Cells() {
			if view.Label(first.Design) == a && view.Label(second.Design) == b &&
				view.Name(view.Place(second.Design, columns), columns) == at {
				out = append(out, place{at, [2]*results.Cell{first, second}})
			}
		}
	}
	return out
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
		"distance_low:number distance_high:number")
	return s
}

// add compares a metric in a place, and draws it; into a folder, unless that is "".
func (s *both) add(m *metric.Metric, at place, folder string) error {
	var samples [2][]float64
	for i, c := range at.cells {
		values, censored := c.Sample(m.Name)
		slices.Sort(values)
		samples[i] = append(values, slices.Repeat([]float64{math.Inf(1)}, censored)...)
		if len(values) == 0 {
			return nil
		}
		s.row(m, at.name, view.Label(c.Design), samples[i], censored)
	}
	where := ""
	if at.name != "" {
		where = at.name + ": "
	}
	distance, low, high := stats.Apart(samples[0], samples[1], stats.Confidence)
	a, b := view.Label(at.cells[0].Design), view.Label(at.cells[1].Design)
	s.distances.Row(at.name, m.Name, a, b, distance, low, high)
	s.said = append(s.said, fmt.Sprintf("%s%s: the distribution functions are up to %.3f apart [%.3f, %.3f] "+
		"(Kolmogorov and Smirnov; 95 %% interval)", where, m.Name, distance, low, high))
	return s.draw(m, at, samples, folder)
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
func (s *both) draw(m *metric.Metric, at place, samples [2][]float64, folder string) error {
	pane := chart.Pane{}
	c := chart.Chart{Name: "distribution-" + m.Name, X: m.Title(), Y: "trials (share)",
		Notes: []string{s.said[len(s.said)-1]}}
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
		c.Legend = append(c.Legend, chart.Entry{Text: view.Label(at.cells[i].Design), Look: look,
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

// explained says by which of the two the other is predicted, and what is left.
func explained(t *results.Table, a, b string) (out []string) {
	named := map[string]*algo.Algorithm{}
	for _, c := range t.Cells() {
		if alg, err := algo.Lookup(c.Get("algorithm")); err == nil {
			named[view.Label(c.Design)] = alg
		}
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		of, by := named[pair[0]], named[pair[1]]
		if of == nil || by == nil || of.Spec.Predicted == nil || of.Spec.Predicted.By != by.Spec.Name {
			continue
		}
		out = append(out, fmt.Sprintf("%s is predicted by %v. %s", of.Spec.Name, of.Spec.Predicted,
			of.Spec.Predicted.Differs))
	}
	return out
}

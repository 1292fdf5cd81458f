package report

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/internal/view"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The data as the page reads it: short keys, since there may be thousands of cells.
type (
	wire struct {
		Points     int            `json:"points"` // most of a distribution
		Quantiles  bool           `json:"quantiles"`
		Beyond     string         `json:"beyond"` // for a figure among the time-outs
		Mark       string         `json:"mark"`   // for one that clocks can be wrong by more than
		Statuses   []trace.Status `json:"statuses"`
		Columns    []wireColumn   `json:"columns"`
		Metrics    []wireMetric   `json:"metrics"`
		Question   []int          `json:"question"` // metrics that answer it, the rank's first
		Main       []int          `json:"main"`     // metrics to look at first, most telling first
		Claims     []wireClaim    `json:"claims"`
		Kinds      []string       `json:"kinds"`
		Faults     []string       `json:"faults"`
		Cells      []wireCell     `json:"cells"`
		Configured []string       `json:"same"` // name, value, name, value, ...
	}
	wireColumn struct {
		Name    string   `json:"name"`
		Title   string   `json:"title"` // in words, with its unit
		Numeric bool     `json:"numeric"`
		Values  []string `json:"values"`
	}
	wireMetric struct {
		Name  string      `json:"name"`
		Title string      `json:"title"` // in words, with its unit
		Unit  metric.Unit `json:"unit"`
		Doc   string      `json:"doc"`
		Wait  bool        `json:"wait,omitempty"`  // it is the time until something happens
		Count bool        `json:"count,omitempty"` // it counts what happened
		Bound bool        `json:"bound,omitempty"` // it was looked for up to a bound
		Spans bool        `json:"spans,omitempty"` // it is about spans of time in which things go wrong
		// Clocks may be wrong by more than a figure of it, which is then marked.
		Clocks bool `json:"clocks,omitempty"`
	}
	wireClaim struct {
		Metric string `json:"metric"`
		Load   string `json:"load"`
		Text   string `json:"text"`
		Source string `json:"source"`
	}
	wireCell struct {
		Number   int          `json:"c"`
		Design   []int        `json:"d"`
		InModel  bool         `json:"i"`
		Statuses []int        `json:"s"`
		Figures  []figures    `json:"f"`
		Spreads  []wireSpread `json:"e,omitempty"`
		Kinds    []figures    `json:"k,omitempty"` // kind, sent, delivered, lost, bytes
		Phases   *wirePhases  `json:"p,omitempty"`
		Steps    []figures    `json:"r,omitempty"` // offered, granted per second, mean wait
		Bounds   []figures    `json:"b,omitempty"` // claim, low, high
		Achieved []figures    `json:"a,omitempty"` // fault, asked, mean, least, most
		Notes    []int        `json:"w,omitempty"`
		Doubt    float64      `json:"u,omitempty"` // ms, that a time by several clocks can be wrong by
	}
	wirePhases struct {
		N    int     `json:"n"`
		Bins []int   `json:"b"`
		Test figures `json:"t"` // chi-square, p, and p corrected for all cells
	}
	wireSpread struct {
		Metric   string  `json:"m"`
		N        int     `json:"n"`
		Censored int     `json:"x,omitempty"`
		Values   figures `json:"v"`
		Ranks    []int   `json:"r,omitempty"` // absent: 1, 2, 3, ...
		// Where operations were cut off: shares by Kaplan and Meier.
		Gone  figures `json:"g,omitempty"` // that took no longer than the value
		Still figures `json:"b,omitempty"` // that took at least as long
		Low   figures `json:"l,omitempty"` // interval of Gone
		High  figures `json:"h,omitempty"`
	}
)

// figures are numbers with six significant digits, or more where people would else see another
// number than in the tables of the command; counts keep all of theirs. NaN is null.
type figures []float64

// MarshalJSON implements json.Marshaler.
func (f figures) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range f {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b = append(b, "null"...)
		case v == math.Trunc(v) && math.Abs(v) < 1<<53:
			b = strconv.AppendFloat(b, v, 'f', -1, 64)
		default:
			text := ""
			for digits := 6; digits <= 17; digits++ {
				text = strconv.FormatFloat(v, 'g', digits, 64)
				if near, _ := strconv.ParseFloat(text, 64); console.Number(near) == console.Number(v) {
					break
				}
			}
			b = append(b, text...)
		}
	}
	return append(b, ']'), nil
}

// A detail is how much of the data goes into the page.
type detail struct {
	points    int
	quantiles bool // also p90, p95, p99, the extremes, mean and deviation
}

// details go from all that can be told apart to what no page can do without.
var details = []detail{{200, true}, {100, true}, {50, true}, {24, true}, {24, false}, {12, false}}

// encode makes the data no larger than limit bytes, as far as detail can.
func (d *Data) encode(limit int) ([]byte, error) {
	for i, level := range details {
		b, err := json.Marshal(d.wire(level))
		if err != nil || len(b) <= limit || i == len(details)-1 {
			return b, err
		}
	}
	panic("unreachable: the last level returns")
}

func (d *Data) wire(level detail) *wire {
	w := &wire{
		Points: level.points, Quantiles: level.quantiles, Beyond: view.BeyondLimit, Mark: view.Mark,
		Statuses: trace.Statuses(),
		Columns:  []wireColumn{}, Metrics: []wireMetric{}, Claims: []wireClaim{},
		Question: []int{}, Main: []int{}, Kinds: append([]string{}, d.Kinds...),
		Faults: []string{}, Configured: []string{},
	}
	for _, c := range d.Columns {
		w.Columns = append(w.Columns, wireColumn{c.Name, experiment.Title(c.Name), c.Numeric, c.Values})
	}
	for _, m := range d.Metrics {
		w.Metrics = append(w.Metrics, wireMetric{m.Name, m.Title(), m.Unit, m.Doc, m.Kind.Censored(),
			m.Kind == metric.Count, m.AtLeast, m.OfSpans(), m.Doubt(1) > 0})
	}
	for _, p := range []algo.Problem{algo.Election, algo.MutualExclusion} {
		for _, m := range metric.Shown(p, metric.Main) {
			i := slices.Index(d.Metrics, m)
			if i < 0 || slices.Contains(w.Main, i) {
				continue
			}
			w.Main = append(w.Main, i)
		}
	}
	for _, m := range d.Question() {
		w.Question = append(w.Question, slices.Index(d.Metrics, m))
	}
	for _, c := range d.Claims {
		w.Claims = append(w.Claims, wireClaim{c.Metric, c.Load, c.Text, string(c.Source)})
	}
	for _, f := range d.Faults {
		w.Faults = append(w.Faults, f.Title)
	}
	for _, f := range d.Same {
		w.Configured = append(w.Configured, f.Name, f.Value)
	}
	for i := range d.Cells {
		w.Cells = append(w.Cells, d.Cells[i].wire(level))
	}
	return w
}

func (c *Cell) wire(level detail) wireCell {
	w := wireCell{
		Number: c.Number, Design: c.Design, InModel: c.InModel, Statuses: c.Statuses, Notes: c.Notes,
	}
	for _, s := range c.Figures {
		w.Figures = append(w.Figures, short(s, level))
		w.Doubt = max(w.Doubt, s.Doubt)
	}
	for _, s := range c.Spreads {
		w.Spreads = append(w.Spreads, s.wire(level.points))
	}
	if p := c.Phases; p != nil {
		w.Phases = &wirePhases{p.N, p.Bins, figures{p.ChiSquare, p.P, p.Holm}}
	}
	for _, s := range c.Steps {
		w.Steps = append(w.Steps, figures{s.Offered, s.Granted, s.Waiting})
	}
	for _, k := range c.Kinds {
		w.Kinds = append(w.Kinds, figures{float64(k.Kind), k.Sent, k.Delivered, k.Lost, k.Bytes})
	}
	for _, b := range c.Bounds {
		w.Bounds = append(w.Bounds, figures{float64(b.Claim), b.Lo, b.Hi})
	}
	for _, a := range c.Achieved {
		w.Achieved = append(w.Achieved, figures{float64(a.Fault), a.Asked, a.Mean, a.Least, a.Most})
	}
	return w
}

// short leaves out what the page can tell without: everything where there is no
// value, and what equal values have in common.
func short(s stats.Summary, level detail) figures {
	switch {
	case s.N+s.Censored == 0:
		return figures{}
	case s.Censored == 0 && s.Min == s.Max:
		return figures{float64(s.N), 0, s.Median}
	case !level.quantiles:
		return figures{float64(s.N), float64(s.Censored), s.Median, s.CILow, s.CIHigh}
	}
	return figures{
		float64(s.N), float64(s.Censored), s.Median, s.CILow, s.CIHigh, s.P90, s.P95, s.P99, s.Min, s.Max,
		s.Mean, s.SD,
	}
}

func (s *Spread) wire(points int) wireSpread {
	w := wireSpread{Metric: s.Metric, N: s.N, Censored: s.Censored, Values: figures{}}
	for _, rank := range thinned(len(s.Values), points) {
		i := rank - 1
		w.Values = append(w.Values, s.Values[i])
		w.Ranks = append(w.Ranks, s.Ranks[i])
		if s.Steps != nil {
			w.Gone, w.Still = append(w.Gone, s.At(i)), append(w.Still, s.Still(i))
			w.Low, w.High = append(w.Low, 1-s.Steps[i].High), append(w.High, 1-s.Steps[i].Low)
		}
	}
	// Sorted and distinct, they are 1, 2, 3, ... if the last is as many as they are.
	if n := len(w.Ranks); n > 0 && w.Ranks[n-1] == n {
		w.Ranks = slices.Delete(w.Ranks, 0, n)
	}
	return w
}

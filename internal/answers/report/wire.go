package report

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An object is data as the page reads it: short keys, since there may be thousands of cells.
type object map[string]any

// each is what of makes of each of a list.
func each[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// some sets a key to a list unless that is empty.
func some[L ~[]T, T any](o object, key string, list L) {
	if len(list) > 0 {
		o[key] = list
	}
}

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

// details go from all that can be distinguished to what no page can do without.
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

func (d *Data) wire(level detail) object {
	at := func(m *metric.Metric) int { return slices.Index(d.Metrics, m) }
	most := []int{} // metrics to look at first, most telling first
	for _, m := range d.Headlines() {
		if i := at(m); i >= 0 {
			most = append(most, i)
		}
	}
	same := []string{} // name, value, name, value, ...
	for _, f := range d.Same {
		same = append(same, f.Name, f.Value)
	}
	return object{
		"looks": chart.Looks(), "mostLines": chart.MostLines, "points": level.points,
		"quantiles": level.quantiles,
		"beyond":    view.BeyondLimit, // for a figure among the time-outs
		"mark":      view.Mark,        // for one that clocks can be wrong by more than
		"caveats":   view.CaveatTexts, // by their kinds
		"main":      most, "same": same, "kinds": append([]string{}, d.Kinds...),
		"statuses": trace.Statuses(),
		"question": each(d.Question(), at), // metrics that answer it, the rank's first
		"faults":   each(d.Faults, func(f Fault) string { return f.Title }),
		"columns": each(d.Columns, func(c Column) object {
			return object{"name": c.Name, "title": experiment.Title(c.Name), "numeric": c.Numeric,
				"values": c.Values}
		}),
		"metrics": each(d.Metrics, func(m *metric.Metric) object {
			return object{"name": m.Name, "title": m.Title(), "unit": m.Unit, "doc": m.Doc,
				"wait":   m.Kind.Censored(), // it is the time until something happens
				"count":  m.Kind.Exact(),
				"pooled": m.Kind.Pooled(), // its figures are means over all trials together
				"calm":   m.Calm(),        // where nothing happened
				"bound":  m.AtLeast,       // it was looked for up to a bound
				"spans":  m.OfSpans(),     // it is about spans of time in which things go wrong
				"clocks": m.Doubt(1) > 0,  // clocks may be wrong by more than a figure of it
			}
		}),
		"claims": each(d.Claims, func(c Claim) object {
			return object{"metric": c.Metric, "load": c.Load, "text": c.Text, "source": string(c.Source)}
		}),
		"cells": each(d.Cells, func(c Cell) object { return c.wire(level) }),
	}
}

func (c *Cell) wire(level detail) object {
	w := object{"c": c.Number, "d": c.Design, "i": c.InModel, "s": c.Statuses,
		"f": each(c.Figures, func(s stats.Summary) figures { return short(s, level) })}
	doubt := 0.0 // ms, that a time by several clocks can be wrong by
	for _, s := range c.Figures {
		doubt = max(doubt, s.Doubt)
	}
	if doubt > 0 {
		w["u"] = doubt
	}
	if p := c.Phases; p != nil {
		w["p"] = object{"n": p.N, "b": p.Bins, "t": figures{p.ChiSquare, p.P, p.Holm}}
	}
	some(w, "w", c.Notes)
	some(w, "h", each(c.Caveats, func(v view.Caveat) []int {
		return []int{int(v.Kind), v.Trials, v.AllTrials}
	}))
	some(w, "e", each(c.Spreads, func(s Spread) object { return s.wire(level.points) }))
	some(w, "r", each(c.Steps, func(s Step) figures { return figures{s.Offered, s.Granted, s.Waiting} }))
	some(w, "k", each(c.Kinds, func(k MessageCount) figures {
		return figures{float64(k.Kind), k.Sent, k.Delivered, k.Lost, k.Bytes}
	}))
	some(w, "b", each(c.Bounds, func(b Bound) figures { return figures{float64(b.Claim), b.Lo, b.Hi} }))
	some(w, "a", each(c.Achieved, func(a Achieved) figures {
		return figures{float64(a.Fault), a.Asked, a.Mean, a.Least, a.Most}
	}))
	return w
}

// short leaves out what the page can tell without: everything where there is no
// value, and what equal values have in common.
func short(s stats.Summary, level detail) figures {
	switch {
	case s.N+s.Censored == 0:
		return figures{}
	case s.Censored == 0 && s.Min == s.Max && s.Method != stats.Whole:
		return figures{float64(s.N), 0, s.Center()}
	case !level.quantiles:
		return figures{float64(s.N), float64(s.Censored), s.Center(), s.CILow, s.CIHigh}
	}
	f := figures{
		float64(s.N), float64(s.Censored), s.Center(), s.CILow, s.CIHigh, s.P90, s.P95, s.P99, s.Min, s.Max,
		s.Mean, s.SD,
	}
	if s.Method == stats.Whole {
		lo, hi := s.SeenInterval()
		f = append(f, s.Median, float64(s.Seen), lo, hi)
	}
	return f
}

// wire has the values and their ranks. Where operations were cut off, it has shares by Kaplan and Meier
// besides: of those that took no longer than the value, with the interval, and at least as long.
func (s *Spread) wire(points int) object {
	ranks := []int{}
	var values, gone, still, low, high figures
	for _, rank := range thinned(len(s.Values), points) {
		i := rank - 1
		values, ranks = append(values, s.Values[i]), append(ranks, s.Ranks[i])
		if s.Steps != nil {
			gone, still = append(gone, s.At(i)), append(still, s.Still(i))
			low, high = append(low, 1-s.Steps[i].High), append(high, 1-s.Steps[i].Low)
		}
	}
	w := object{"m": s.Metric, "n": s.N, "x": s.Censored, "v": values}
	// Sorted and distinct, they are 1, 2, 3, ... if the last is as many as they are.
	if n := len(ranks); n > 0 && ranks[n-1] != n {
		w["r"] = ranks
	}
	some(w, "g", gone)
	some(w, "b", still)
	some(w, "l", low)
	some(w, "h", high)
	return w
}

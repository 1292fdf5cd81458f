// Package figure draws the charts of a report for print: as wide as a column of a
// paper, for readers who do not see every colour and for printers that have none.
// The files are the same to the byte for the same data.
package figure

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// mostFigures bounds how many figures a metric gets, one for each combination of
// what has no axis of its own.
const mostFigures = 30

// CaveatsFile stands beside figures: what a reader of them has to know of the runs.
const CaveatsFile = "caveats.txt"

// Options say what is drawn. Without any, it is the few charts that answer what the experiment
// asks.
type Options struct {
	All        bool         // whatever there is, in place of that
	Metrics    []string     // drawn; empty: those that answer the question
	X          string       // column of the horizontal axis; "": the main one of each metric
	Series     string       // column that has a line for each value; "": the algorithm
	Where      metric.Where // only cells of which all hold
	YMin, YMax *float64     // ends of the vertical axis; nil: as the values want them
	// Width and Height are those of a figure; 0: a column of a paper, and what looks well.
	Width, Height vg.Length
}

// Write draws charts of d into dir, each in every format, and returns the names of the files, and
// sentences in place of charts that would show nothing. The error is a *report.Mistake where other
// options would do.
func Write(d *report.Data, dir string, o Options) (names, instead []string, err error) {
	list, err := Pictures(d, &o)
	if err != nil {
		return nil, nil, err
	}
	var drawn []chart.Chart
	for _, c := range list {
		if len(c.Panes) == 0 {
			instead = append(instead, c.Name+": "+strings.Join(c.Notes, "; "))
			continue
		}
		drawn = append(drawn, c)
	}
	names, err = chart.Write(dir, drawn, o.Width, o.Height)
	if errors.As(err, new(*chart.Cramped)) {
		err = report.Mistaken("%v", err)
	}
	if err == nil && len(names) > 0 && len(d.Notes) > 0 {
		caveats := "- " + strings.Join(d.Notes, "\n- ") + "\n"
		err = files.Write(filepath.Join(dir, CaveatsFile), []byte(caveats))
	}
	return names, instead, err
}

// Pictures are the figures of d, in order, each with a name of its own. One that would show nothing has
// notes that say so, and no pane.
func Pictures(d *report.Data, o *Options) (out []chart.Chart, err error) {
	v, err := d.View(o.Where)
	if err != nil {
		return nil, err
	}
	if !v.Any() {
		return nil, nil
	}
	for i, w := range o.Where {
		if w.Name == "algorithm" { // as the axes call it
			o.Where[i] = metric.Field{Name: "label", Value: w.Value[strings.LastIndexByte(w.Value, '/')+1:]}
		}
	}
	if o.All {
		headlines := d.Headlines()
		for i, m := range d.Metrics {
			if slices.Contains(headlines, m) && happens(d, i) {
				v.Along(v.Main(m), v.Label())
				out = append(out, charts(lineFigures(d, v, i, o))...)
			}
		}
		v.Along(report.None, v.Label())
		out = slices.Concat(out, spreadFigures(d, v), kindFigures(d, v), faultFigures(d, v))
	} else if out, err = chosen(d, v, o); err != nil {
		return nil, err
	}
	names := make([]string, len(out))
	for i := range out {
		names[i] = out[i].Name
	}
	for i, name := range report.FileNames(names) {
		out[i].Name = name
	}
	return out, nil
}

// chosen are the figures that the options name, or else the few that answer the question.
func chosen(d *report.Data, v *report.View, o *Options) (out []chart.Chart, err error) {
	asked := len(o.Metrics) > 0 || o.X != "" || o.Series != ""
	metrics := d.Question()
	if len(o.Metrics) > 0 {
		if metrics, err = named(d, o.Metrics); err != nil {
			return nil, err
		}
	}
	for _, m := range metrics {
		if err := v.Lay(m, o.X, o.Series); err != nil {
			return nil, err
		}
		if asked {
			if err := v.Whole(); err != nil {
				return nil, err
			}
		}
		list := lineFigures(d, v, slices.Index(d.Metrics, m), o)
		if len(list) == 0 && asked {
			return nil, report.Mistaken("--metrics %s: no cell that is shown has a figure of it", m.Name)
		}
		if !asked { // one alone, whole
			list = slices.DeleteFunc(list, func(g Group) bool { return !slices.Equal(g.Held, list[0].Held) })
		}
		out = append(out, charts(list)...)
	}
	return out, nil
}

// charts are those of groups.
func charts(list []Group) (out []chart.Chart) {
	for _, g := range list {
		out = append(out, g.Chart)
	}
	return out
}

// named are the metrics of those names.
func named(d *report.Data, names []string) (out []*metric.Metric, err error) {
	known := metric.Names(d.Metrics)
	for _, name := range names {
		i := slices.Index(known, name)
		switch now := metric.Renamed(name); {
		case i >= 0:
			out = append(out, d.Metrics[i])
		case now != "":
			return nil, report.Mistaken("--metrics %s: %s", name, now)
		case d.Mixed && metric.Named(name) != nil && metric.Named(name).Common() != nil:
			return nil, report.Mistaken("--metrics %s", view.MixedText(metric.Named(name)))
		case metric.Named(name) != nil:
			return nil, report.Mistaken("--metrics %s: no cell has a figure of it (has: %s)", name,
				strings.Join(known, ", "))
		default:
			return nil, report.Mistaken("--metrics %s: unknown metric%s (has: %s)", name,
				algo.Hint(name, known), strings.Join(known, ", "))
		}
	}
	return out, nil
}

// happens says whether a metric that counts is more than 0 in some cell.
func happens(d *report.Data, i int) bool {
	return !d.Metrics[i].Kind.Exact() ||
		slices.ContainsFunc(d.Cells, func(c report.Cell) bool { return c.Figures[i].Max > 0 })
}

// A group is cells of different labels that have all else in common.
type group struct {
	name  string // "", or what that is, for the name of the file
	cells []*report.Cell
}

// groups are the cells of a view without an axis.
func groups(d *report.Data, v *report.View) (out []group) {
	for _, c := range v.Charts() {
		for _, p := range c.Panels {
			g := group{name: place(v, p.Cells[0])}
			for _, k := range p.Cells {
				g.cells = append(g.cells, &d.Cells[k])
			}
			out = append(out, g)
		}
	}
	return out[:min(len(out), mostFigures)]
}

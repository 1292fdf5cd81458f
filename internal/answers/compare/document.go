package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// table makes a table of rows, as benchstat has them: what changed and by how much, then how sure that
// is; and the rest for programs. If it is brief, people read medians without their intervals.
func (r *Report) table(name string, rows []*Row, brief bool) *answer.Table {
	t := &answer.Table{Name: name, DropEmpty: true, Keys: len(r.Columns) + 1}
	for i, name := range r.Columns {
		var values []string
		for _, row := range r.Rows {
			values = append(values, row.Cell[i].Value)
		}
		t.Columns = append(t.Columns, answer.Levels(name, values))
	}
	t.Columns = slices.Concat(t.Columns,
		answer.Columns(answer.Everybody,
			"metric statistic over verdict base:figure new:figure change:number"),
		answer.Columns(answer.People, "interval:number:95_%"),
		answer.Columns(answer.Everybody, "p_adjusted:number:p"),
		answer.Columns(answer.People, "operations n:count"), answer.Columns(answer.Everybody, "method::test"),
		answer.Columns(answer.Nested, "design:map"),
		answer.Columns(answer.Programs, "change_low:number change_high:number cliffs_delta:number p:number "+
			"pairs:count differing:count lost:count found:count failed:flag proof needs:count "+
			"p_machines:number base_clock_doubt_ms:number new_clock_doubt_ms:number "+
			"base_design_effect:number new_design_effect:number limit_ms:number why "+
			"shift:figure tendency:number exactly:flag left_out:count says"))
	for _, row := range rows {
		var values []answer.Value
		for k, f := range row.Cell {
			values = append(values, t.Columns[k].Typed(f.Value))
		}
		change, interval := row.changeText()
		p := ""
		if !math.IsNaN(row.Adjusted) {
			p = view.P(row.Adjusted)
		}
		pairs, differing := row.Pairs, row.Differing
		if p := row.Paired; p != nil {
			pairs, differing = p.N, p.N-p.Equal
		}
		base, new, limit := row.Base.value(brief), row.New.value(brief), math.NaN()
		if row.Stat == Typical && len(row.Others) > 0 {
			base, new = nil, nil
		}
		if row.Stat == Mean && !math.IsInf(row.Limit, 1) {
			limit = row.Limit
		}
		values = append(values, row.Metric, string(row.Stat), row.Over,
			cmp.Or(string(row.Verdict), "none"), base, new, answer.Shown{Value: row.Change, Text: change},
			interval,
			answer.Shown{Value: row.Adjusted, Text: p}, row.operations(), row.sizes(),
			answer.Shown{Value: string(cmp.Or(row.Test, "none")), Text: string(row.Test)},
			metric.ByName(row.Design), row.ChangeLow, row.ChangeHigh, row.Delta, row.P, pairs, differing,
			row.Lost, row.Found, row.Failure != "", string(row.Proof.Outcome), row.Proof.Needs, row.Uneven,
			row.Base.Doubt, row.New.Doubt, row.Base.Effect, row.New.Effect, limit, row.Why)
		if p := row.Paired; p != nil && row.Test != TailPairs {
			values = append(values, answer.Estimate{Value: p.Shift, Low: p.ShiftLow, High: p.ShiftHigh,
				N: p.N - p.Censored, Censored: p.Censored}, p.Tendency, p.SameRatio || p.SameShift, p.Left,
				p.String())
		}
		t.Row(append(values, make([]answer.Value, len(t.Columns)-len(values))...)...)
	}
	return t
}

// value is a median with its interval, unless it is brief; of an exact comparison, a mean.
func (f *Figure) value(brief bool) answer.Value {
	text := "none"
	if f.N+f.Censored > 0 {
		text = view.OrBeyond(f.Center) + new(view.Legend).Mark(f.Doubt)
		if !brief && !(math.IsNaN(f.Low) && math.IsNaN(f.High)) {
			text += " " + view.Interval(f.Low, f.High)
		}
	}
	return answer.Shown{Value: answer.Estimate{Value: f.Center, Low: f.Low, High: f.High, N: f.N,
		Censored: f.Censored}, Text: text}
}

// Document is the comparison as an answer.
func (r *Report) Document() *answer.Document {
	d := answer.New("compare", "Conclave: "+r.conclusion())
	d.Began, d.Took = r.New.Started, r.New.Took
	switch {
	case len(r.Failures) > 0:
		d.End(answer.Missed, "fails")
	case len(r.Open) > 0:
		d.End(answer.Incomplete, "inconclusive")
	case len(r.Rows) == 0:
		d.Verdict = nothingCompared
	case r.Gated:
		d.Verdict = "passes"
	}
	margin := math.NaN()
	if r.Prove > 0 {
		margin = r.Prove
	}
	d.Add(answer.Facts{
		{Name: "base", Value: r.Base.Path, Line: "base  " + r.Base.String()},
		{Name: "new", Value: r.New.Path, Line: "new   " + r.New.String()},
		{Name: "base_name", Value: r.Base.Name}, {Name: "new_name", Value: r.New.Name},
		{Name: "alpha", Value: r.Alpha}, {Name: "threshold", Value: r.Threshold},
		{Name: "tests", Value: r.Tests}, {Name: "prove", Value: margin},
		{Name: "passed", Value: d.Exit == answer.Good},
		{Name: "missing", Value: r.Missing}, {Name: "extra", Value: r.Extra},
	})
	notes := func(kind string, list []string) {
		for _, text := range list {
			d.Add(answer.Note{Text: text, Kind: kind, Aside: kind != answer.Careful})
		}
	}
	notes(answer.Careful, r.Warnings)
	notes("fails", r.Failures)
	notes("inconclusive", r.Open)
	r.ended(d)
	rows, same, minor := r.shown()
	if len(rows) > 0 {
		changes := r.table("changes", rows, !r.asked)
		changes.Only = answer.People
		r.means(changes, rows)
		d.Add(answer.Text(""), changes)
	}
	for _, line := range slices.Concat([]string{""}, hidden(same, minor), r.legend(rows), r.Findings()) {
		d.Say(line)
	}
	for i, text := range r.remarks() {
		d.Add(answer.Note{Text: text, Line: fmt.Sprintf("[%d] %s", i+1, text)})
	}
	d.Last = r.conclusion()
	r.details(d)
	r.checks(d)
	return d
}

// ended adds the trials of both sides by status, and the cells whose trials ended otherwise.
func (r *Report) ended(d *answer.Document) {
	t := d.Table("statuses", answer.Columns(answer.Everybody, "run status trials:count")...)
	t.Only = answer.Programs
	for i, side := range []*Side{&r.Base, &r.New} {
		for _, status := range trace.Statuses() {
			if n := side.Statuses[status]; n > 0 {
				t.Row(strings.ToLower(sides[i]), string(status), n)
			}
		}
	}
	t = d.Table("statuses_changed", answer.Columns(answer.Everybody, "cell text worse")...)
	t.Only = answer.Programs
	text := "\nTrials that ended otherwise:"
	for _, change := range r.Statuses {
		t.Row(change.Cell, change.Text, change.Worse)
		text += "\n  " + change.String()
	}
	if len(r.Statuses) > 0 {
		d.Say(text)
	}
}

// means appends the geometric means of the metrics of rows.
func (r *Report) means(t *answer.Table, rows []*Row) {
	for _, g := range r.Geomeans {
		if g.Cells > 1 && g.Change != 0 && slices.ContainsFunc(rows, func(row *Row) bool {
			return row.Metric == g.Metric
		}) {
			values, at := make([]answer.Value, len(t.Columns)), len(r.Columns)
			values[0], values[at], values[at+6] = "geomean", g.Metric, view.Percent(g.Change)
			t.Row(values...)
		}
	}
}

// details adds all figures, which a page folds.
func (r *Report) details(d *answer.Document) {
	var rows []*Row
	r.each(func(row *Row) { rows = append(rows, row) })
	all := r.table("rows", rows, false)
	all.Main, all.Fold, all.Below = true, "all figures", strings.Join(r.legend(rows), "\n")
	d.Add(all)
	t := d.Table("geomeans", answer.Columns(answer.Everybody, "metric cells:count change:number")...)
	t.Fold, t.Only = "geometric means over all cells", answer.Programs
	for _, g := range r.Geomeans {
		if g.Cells > 1 && g.Change != 0 {
			t.Only = answer.Everybody
		}
		t.Row(g.Metric, g.Cells, answer.Shown{Value: g.Change, Text: view.Percent(g.Change)})
	}
	t = d.Table("machines", answer.Columns(answer.Everybody, "design:map metric host n_base:count "+
		"n_new:count change:number change_low:number change_high:number p:number")...)
	t.Only = answer.Programs
	for i := range r.Rows {
		for _, c := range r.Rows[i].Machines {
			t.Row(metric.ByName(r.Rows[i].Design), r.Rows[i].Metric, c.Host, c.Base, c.New, c.Change, c.Low,
				c.High, c.P)
		}
	}
}

// checks adds what was judged: each metric in each cell, and whole cells.
func (r *Report) checks(d *answer.Document) {
	for i := range r.Rows {
		row := &r.Rows[i]
		c := answer.Check{Group: row.Metric, Name: r.Title(row), Kind: "Regression", Failed: true,
			Failure: row.told(func(row *Row) string { return row.Failure })}
		if text := row.told((*Row).open); c.Failure == "" && text != "" {
			c.Failure, c.Kind = text, "Inconclusive"
		}
		if row.Test != NoTest {
			c.By = string(row.Test) + ": " + row.Test.String()
		}
		d.Checks = append(d.Checks, c)
	}
	for _, f := range r.CellFailures {
		d.Checks = append(d.Checks, answer.Check{Group: "cells", Name: f.Cell, Failure: f.Text, Kind: "Cell",
			Failed: true})
	}
}

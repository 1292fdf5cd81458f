package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A column of a table of rows R, and what a row says in it.
type column[R any] struct {
	answer.Column
	of func(*R) answer.Value
}

// word is a column that everybody reads.
func word[R any](kind answer.Kind, name, head string, of func(*R) answer.Value) column[R] {
	return column[R]{answer.Column{Name: name, Head: head, Kind: kind}, of}
}

// datum is a column for programs: people need not know it, or read it in other words.
func datum[R any](kind answer.Kind, name string, of func(*R) answer.Value) column[R] {
	return column[R]{answer.Column{Name: name, Kind: kind, Only: answer.Programs}, of}
}

// saying is a column for people, with numbers in words.
func saying[R any](name, head string, of func(*R) answer.Value) column[R] {
	return column[R]{answer.Column{Name: name, Head: head, Kind: answer.Number, Only: answer.People}, of}
}

// table makes a table of rows.
func table[R any](name string, columns []column[R], rows []R) *answer.Table {
	t := &answer.Table{Name: name}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for i := range rows {
		values := make([]answer.Value, len(columns))
		for k, c := range columns {
			values[k] = c.of(&rows[i])
		}
		t.Row(values...)
	}
	return t
}

// place are the columns that say which cell a row is about.
func (r *Report) place() (all []column[Row]) {
	for i, name := range r.Columns {
		c := word(answer.Words, name, "", func(row *Row) answer.Value { return row.Cell[i].Value })
		if !slices.ContainsFunc(r.Rows, func(row Row) bool { return !console.IsNumber(row.Cell[i].Value) }) {
			c = word(answer.Number, name, "", func(row *Row) answer.Value { return number(row.Cell[i].Value) })
		}
		all = append(all, c)
	}
	design := datum(answer.Map, "design", func(row *Row) answer.Value { return metric.ByName(row.Design) })
	design.Only = answer.Nested
	return append(all, design, word(answer.Words, "metric", "", func(row *Row) answer.Value { return row.Metric }))
}

func number(text string) answer.Value {
	v, _ := strconv.ParseFloat(text, 64)
	return answer.Shown{Value: v, Text: text}
}

// someOf is a count, and nothing of none.
func someOf(n int) answer.Value {
	if n == 0 {
		return nil
	}
	return n
}

// columns are those of a row, as benchstat has them: what changed and by how much, then how sure that
// is; and the rest for programs. If it is brief, people read medians without their intervals.
func (r *Report) columns(brief bool) []column[Row] {
	figure := func(f *Figure) answer.Value {
		text := f.center()
		if !brief && !(math.IsNaN(f.Low) && math.IsNaN(f.High)) {
			text += " " + Interval(f.Low, f.High)
		}
		return answer.Shown{Value: answer.Estimate{Value: f.Center, Low: f.Low, High: f.High, N: f.N,
			Censored: f.Censored}, Text: text}
	}
	ofPairs := func(of func(*Pairing) answer.Value) func(*Row) answer.Value {
		return func(row *Row) answer.Value {
			if row.Paired == nil {
				return nil
			}
			return of(row.Paired)
		}
	}
	return append(r.place(),
		word(answer.Words, "verdict", "", func(row *Row) answer.Value { return cmp.Or(string(row.Verdict), "none") }),
		word(answer.Figure, "base", "", func(row *Row) answer.Value { return figure(&row.Base) }),
		word(answer.Figure, "new", "", func(row *Row) answer.Value { return figure(&row.New) }),
		word(answer.Number, "change", "", func(row *Row) answer.Value {
			text, _ := row.changeText()
			return answer.Shown{Value: row.Change, Text: text}
		}),
		saying("interval", "95 %", func(row *Row) answer.Value {
			_, text := row.changeText()
			return text
		}),
		word(answer.Number, "p_adjusted", "p", func(row *Row) answer.Value {
			text := ""
			if !math.IsNaN(row.Adjusted) {
				text = P(row.Adjusted)
			}
			return answer.Shown{Value: row.Adjusted, Text: text}
		}),
		saying("n", "", func(row *Row) answer.Value { return row.sizes() }),
		word(answer.Words, "method", "test", func(row *Row) answer.Value {
			return answer.Shown{Value: string(cmp.Or(row.Test, "none")), Text: string(row.Test)}
		}),
		datum(answer.Number, "change_low", func(row *Row) answer.Value { return row.ChangeLow }),
		datum(answer.Number, "change_high", func(row *Row) answer.Value { return row.ChangeHigh }),
		datum(answer.Number, "cliffs_delta", func(row *Row) answer.Value { return row.Delta }),
		datum(answer.Number, "p", func(row *Row) answer.Value { return row.P }),
		datum(answer.Count, "pairs", func(row *Row) answer.Value {
			all, _ := row.pairs()
			return someOf(all)
		}),
		datum(answer.Count, "differing", func(row *Row) answer.Value {
			all, differing := row.pairs()
			if all == 0 {
				return nil
			}
			return differing
		}),
		datum(answer.Count, "lost", func(row *Row) answer.Value { return someOf(row.Lost) }),
		datum(answer.Count, "found", func(row *Row) answer.Value { return someOf(row.Found) }),
		datum(answer.Figure, "shift", ofPairs(func(p *Pairing) answer.Value {
			return answer.Estimate{Value: p.Shift, Low: p.ShiftLow, High: p.ShiftHigh, N: p.N - p.Censored,
				Censored: p.Censored}
		})),
		datum(answer.Number, "tendency", ofPairs(func(p *Pairing) answer.Value { return p.Tendency })),
		datum(answer.Flag, "exactly", ofPairs(func(p *Pairing) answer.Value {
			return p.SameRatio || p.SameShift
		})),
		datum(answer.Count, "left_out", ofPairs(func(p *Pairing) answer.Value { return p.Left })),
		datum(answer.Words, "says", ofPairs(func(p *Pairing) answer.Value { return p.String() })),
		datum(answer.Flag, "failed", func(row *Row) answer.Value { return row.Failure != "" }),
		datum(answer.Words, "proof", func(row *Row) answer.Value { return string(row.Proof.Outcome) }),
		datum(answer.Count, "needs", func(row *Row) answer.Value { return someOf(row.Proof.Needs) }),
		datum(answer.Number, "p_machines", func(row *Row) answer.Value { return row.Uneven }),
		datum(answer.Number, "base_clock_doubt_ms", func(row *Row) answer.Value { return doubtMS(row.Base.Doubt) }),
		datum(answer.Number, "new_clock_doubt_ms", func(row *Row) answer.Value { return doubtMS(row.New.Doubt) }),
	)
}

// pairs are how many pairs were compared, and how many of them differ; none if none were.
func (row *Row) pairs() (all, differing int) {
	if p := row.Paired; p != nil {
		return p.N, p.N - p.Equal
	}
	return row.Pairs, row.Differing
}

// doubtMS is what clocks can be wrong by, if a figure is smaller.
func doubtMS(doubt float64) answer.Value {
	if doubt == 0 {
		return nil
	}
	return doubt
}

// center is a median, or a mean, in words.
func (f *Figure) center() string {
	if f.N+f.Censored == 0 {
		return "none"
	}
	return OrBeyond(f.Center) + new(Legend).Mark(f.Doubt)
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
	case r.Gated:
		d.Verdict = "passes"
	}
	var margin answer.Value
	if r.Prove > 0 {
		margin = r.Prove
	}
	d.Add(answer.Facts{
		{Name: "base", Value: r.Base.Path, Line: "base  " + r.Base.String()},
		{Name: "new", Value: r.New.Path, Line: "new   " + r.New.String()},
		{Name: "alpha", Value: r.Alpha}, {Name: "threshold", Value: r.Threshold}, {Name: "tests", Value: r.Tests},
		{Name: "prove", Value: margin}, {Name: "passed", Value: d.Exit == answer.Good},
		{Name: "missing", Value: r.Missing}, {Name: "extra", Value: r.Extra},
	})
	for _, text := range r.Warnings {
		d.Add(answer.Note{Text: text, Kind: answer.Careful})
	}
	for _, text := range r.Failures {
		d.Add(answer.Note{Text: text, Kind: "fails", Aside: true})
	}
	for _, text := range r.Open {
		d.Add(answer.Note{Text: text, Kind: "inconclusive", Aside: true})
	}
	r.ended(d)
	rows, same, minor := r.shown()
	if len(rows) > 0 {
		changes := table("changes", r.columns(!r.asked), rows)
		changes.Only, changes.Keys, changes.DropEmpty = answer.People, len(r.Columns)+1, true
		r.means(changes, rows)
		d.Add(answer.Text(""), changes)
	}
	for _, line := range slices.Concat([]string{""}, hidden(same, minor), r.legend(rows), r.Findings()) {
		d.Say(line)
	}
	remarks := r.remarks()
	for i, text := range remarks {
		d.Add(answer.Note{Text: text, Line: fmt.Sprintf("[%d] %s", i+1, text)})
	}
	d.Say(r.conclusion())
	r.details(d)
	return d
}

// ended adds the cells whose trials ended otherwise.
func (r *Report) ended(d *answer.Document) {
	t := table("statuses_changed", []column[StatusChange]{
		word(answer.Words, "cell", "", func(s *StatusChange) answer.Value { return s.Cell }),
		word(answer.Words, "text", "", func(s *StatusChange) answer.Value { return s.Text }),
		word(answer.Words, "worse", "", func(s *StatusChange) answer.Value { return s.Worse }),
	}, r.Statuses)
	t.Only = answer.Programs
	d.Add(t)
	if len(r.Statuses) > 0 {
		text := "\nTrials that ended otherwise:"
		for _, change := range r.Statuses {
			text += "\n  " + change.String()
		}
		d.Say(text)
	}
}

// means appends the geometric means of the metrics of rows.
func (r *Report) means(t *answer.Table, rows []Row) {
	for _, g := range r.Geomeans {
		if g.Cells > 1 && g.Change != 0 && slices.ContainsFunc(rows, func(row Row) bool {
			return row.Metric == g.Metric
		}) {
			values := make([]answer.Value, len(t.Columns))
			values[0] = "geomean"
			for i, c := range t.Columns {
				switch c.Name {
				case "metric":
					values[i] = g.Metric
				case "change":
					values[i] = Percent(g.Change)
				}
			}
			t.Row(values...)
		}
	}
}

// details adds all figures, which a page folds, and what was judged.
func (r *Report) details(d *answer.Document) {
	all := table("rows", r.columns(false), r.Rows)
	all.Main, all.DropEmpty, all.Keys = true, true, len(r.Columns)+1
	all.Fold, all.Below = "all figures", strings.Join(r.legend(r.Rows), "\n")
	means := table("geomeans", []column[Geomean]{
		word(answer.Words, "metric", "", func(g *Geomean) answer.Value { return g.Metric }),
		word(answer.Count, "cells", "", func(g *Geomean) answer.Value { return g.Cells }),
		word(answer.Number, "change", "", func(g *Geomean) answer.Value {
			return answer.Shown{Value: g.Change, Text: Percent(g.Change)}
		}),
	}, r.Geomeans)
	means.Fold = "geometric means over all cells"
	type part struct {
		*Row
		MachineChange
	}
	var parts []part
	for i := range r.Rows {
		for _, c := range r.Rows[i].Machines {
			parts = append(parts, part{&r.Rows[i], c})
		}
	}
	machines := table("machines", []column[part]{
		datum(answer.Map, "design", func(p *part) answer.Value { return metric.ByName(p.Design) }),
		datum(answer.Words, "metric", func(p *part) answer.Value { return p.Metric }),
		datum(answer.Words, "host", func(p *part) answer.Value { return p.Host }),
		datum(answer.Count, "n_base", func(p *part) answer.Value { return p.MachineChange.Base }),
		datum(answer.Count, "n_new", func(p *part) answer.Value { return p.MachineChange.New }),
		datum(answer.Number, "change", func(p *part) answer.Value { return p.MachineChange.Change }),
		datum(answer.Number, "change_low", func(p *part) answer.Value { return p.Low }),
		datum(answer.Number, "change_high", func(p *part) answer.Value { return p.High }),
		datum(answer.Number, "p", func(p *part) answer.Value { return p.MachineChange.P }),
	}, parts)
	type count struct {
		run    string
		status trace.Status
		n      int
	}
	var counts []count
	for i, side := range []*Side{&r.Base, &r.New} {
		for _, status := range trace.Statuses() {
			if n := side.Statuses[status]; n > 0 {
				counts = append(counts, count{[]string{"base", "new"}[i], status, n})
			}
		}
	}
	statuses := table("statuses", []column[count]{
		datum(answer.Words, "run", func(c *count) answer.Value { return c.run }),
		datum(answer.Words, "status", func(c *count) answer.Value { return string(c.status) }),
		datum(answer.Count, "trials", func(c *count) answer.Value { return c.n }),
	}, counts)
	machines.Only, statuses.Only = answer.Programs, answer.Programs
	d.Add(all, means, machines, statuses)
	for i := range r.Rows {
		row := &r.Rows[i]
		c := answer.Check{Group: row.Metric, Name: r.Title(row), Failure: row.Failure, Kind: "Regression", Failed: true}
		if row.Proof.Outcome == Inconclusive {
			c.Failure, c.Kind = row.Proof.Why, "Inconclusive"
		}
		if row.Test != NoTest {
			c.By = string(row.Test) + ": " + row.Test.String()
		}
		d.Checks = append(d.Checks, c)
	}
	for _, f := range r.CellFailures {
		d.Checks = append(d.Checks, answer.Check{Group: "cells", Name: f.Cell, Failure: f.Text, Kind: "Cell", Failed: true})
	}
}

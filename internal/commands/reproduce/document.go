package reproduce

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/transport"
)

// A Run is a study that was run, and what came of its statements.
type Run struct {
	Study *Study
	Dir   string
	Rows  []Row
}

// addStudies adds what is known of studies before they run.
func addStudies(d *answer.Document, studies []*Study, dirs []string) *answer.Table {
	t := d.Table("studies", append(answer.Columns(answer.Everybody, "study statements:count on:list paper"),
		answer.Columns(answer.Programs, "dir")...)...)
	for i, study := range studies {
		var on []string
		for _, k := range slices.Backward(transport.All) {
			if k.Repeats || !k.Virtual && study.Sockets != nil { // libraries are no part of a study
				on = append(on, k.Name)
			}
		}
		var dir answer.Value
		if dirs != nil {
			dir = dirs[i]
		}
		t.Row(study.Name, len(study.Statements), on, answer.Shown{Value: study.Paper,
			Text: console.Short(study.Paper)},
			dir)
	}
	return t
}

// Listed are studies as a document.
func Listed(studies []*Study) *answer.Document {
	d := answer.New("reproduce", "Studies of published statements")
	addStudies(d, studies, nil)
	return d
}

// Document is what came of studies.
func Document(runs []Run) *answer.Document {
	d := answer.New("reproduce", "Published statements beside theory and measurement")
	t := d.Table("verdicts", answer.Columns(answer.Everybody, "study says section note case metric stat "+
		"paper stated:number theory derived:number measured:figure verdict verdict_on_theory "+
		"expected:flag")...)
	t.Only, t.Main = answer.Programs, true
	var studies []*Study
	var dirs []string
	for i := range runs {
		r := &runs[i]
		studies, dirs = append(studies, r.Study), append(dirs, r.Dir)
		for k := range r.Rows {
			row, st := &r.Rows[k], r.Rows[k].Statement
			m := &row.Measured
			t.Row(r.Study.Name, st.Says, st.Section, st.Note, row.Case, st.Metric, cmp.Or(st.Stat, "every"),
				row.Paper, row.Stated, row.Theory, row.Derived,
				answer.Estimate{Value: m.Value, Low: m.Low, High: m.High, N: m.N},
				string(row.Verdict), string(row.OfTheory), row.Expected)
			d.Checks = append(d.Checks, row.check(r.Study))
		}
		d.Say(r.text())
	}
	addStudies(d, studies, dirs).Only = answer.Programs
	d.Say(conclusion(runs))
	return d
}

// check is a verdict as a test.
func (r *Row) check(study *Study) answer.Check {
	c := answer.Check{Group: study.Name, Name: r.Statement.Says + ", " + r.Case, Kind: "verdict",
		Failed: true}
	if !r.Expected {
		c.Failure = fmt.Sprintf("%s: %s, measured %s", r.Outcome(), r.Paper, r.Measured)
	}
	return c
}

// Unexpected is how many verdicts are not what their studies say.
func Unexpected(runs []Run) (n int) {
	for i := range runs {
		for k := range runs[i].Rows {
			if !runs[i].Rows[k].Expected {
				n++
			}
		}
	}
	return n
}

func conclusion(runs []Run) string {
	rows := 0
	for i := range runs {
		rows += len(runs[i].Rows)
	}
	return fmt.Sprintf("%s, %d not as expected", console.Plural(rows, "verdict", "verdicts"),
		Unexpected(runs))
}

// groups are the rows, those of one statement together.
func (r *Run) groups() (out [][]Row) {
	for i, row := range r.Rows {
		if i == 0 || row.Statement != r.Rows[i-1].Statement {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], row)
	}
	return out
}

// text is a study for people: each statement, and below it a line for each cell that it is about, in
// columns that are those of the whole study.
func (r *Run) text() string {
	t := &console.Table{}
	for _, name := range []string{"case", "paper", "theory", "measured"} {
		t.Column(name, false)
	}
	t.Column("n", true)
	t.Column("verdict", false)
	for i := range r.Rows {
		row := &r.Rows[i]
		t.Add(row.Case, row.Paper, row.Theory, row.Measured.String(), fmt.Sprint(row.Measured.N),
			row.Outcome())
	}
	lines := t.Lines()
	out := fmt.Sprintf("%s\n%s\n\n    %s\n", r.Study.Name, console.Wrap(r.Study.Paper, 2), lines[0])
	next := 1
	for _, group := range r.groups() {
		st := group[0].Statement
		out += console.Wrap(fmt.Sprintf("%q (%s): %s", st.Says, st.Section, subject(st)), 2) + "\n"
		for range group {
			out += "    " + lines[next] + "\n"
			next++
		}
		if st.Note != "" {
			out += console.Wrap(st.Note, 4) + "\n"
		}
	}
	return out + fmt.Sprintf("  results: %s\n", r.Dir)
}

// subject is what a statement is about: a metric, and how its trials are condensed.
func subject(st *Statement) string {
	if st.Stat == "" {
		return st.Metric
	}
	return st.Metric + ", " + st.Stat
}

// pageHead begins the page that docs/evidence/reproduced.md is.
const pageHead = `# Published statements beside theory and measurement

<!-- Written by "make reproduce"; do not edit. -->

What ` + "`bench reproduce --markdown`" + ` prints.
[reproduce.md](../how-to/reproduce.md) says how to read it, and what to think of the differences.
Each study is an experiment in ` + "`configs/papers/`" + `. *n* is how many trials a figure is of; in
square brackets stands its 95 % interval.

`

// Page is docs/evidence/reproduced.md, with a section for each study.
func Page(w io.Writer, runs []Run) {
	fmt.Fprint(w, pageHead)
	for i := range runs {
		runs[i].section(w)
	}
	fmt.Fprintln(w, conclusion(runs))
}

// section writes a study as a section with a table.
func (r *Run) section(w io.Writer) {
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	fmt.Fprintf(w, "## %s\n\n%s\n\n", r.Study.Name, r.Study.Paper)
	fmt.Fprint(w, "| case | paper | theory | measured | n | verdict |\n|---|---|---|---|---|---|\n")
	for _, group := range r.groups() {
		st := group[0].Statement
		title := fmt.Sprintf("*\"%s\"*, %s: `%s`", st.Says, st.Section, subject(st))
		if st.Note != "" {
			title += "<br>" + st.Note
		}
		fmt.Fprintf(w, "| %s | | | | | |\n", cell(title))
		for i := range group {
			row := &group[i]
			fmt.Fprintf(w, "| %s | %s | %s | %s | %d | %s |\n", cell(row.Case), cell(row.Paper),
				cell(row.Theory), row.Measured, row.Measured.N, row.Outcome())
		}
	}
	fmt.Fprintln(w)
}

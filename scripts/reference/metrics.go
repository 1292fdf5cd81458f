package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func writeMetrics(p *page) {
	p.prose("Every column of the tables of a run, from its declaration. The metrics of `trials.csv` come " +
		"first, by what they are about; then the other columns, table by table. " +
		"[The results folder](results.md) says what the files have in common, and how to read them. " +
		"`bench list metrics` prints the metrics in a terminal.")
	p.heading(2, "Metrics")
	p.prose("A metric of a trial is the mean over its operations, and the trial is the unit of " +
		"inference. An " +
		"empty value means that there is none. The *kind* decides what a time limit does to it and which " +
		"figure stands for the trials of a cell: the median, or, of a *pooled* metric, the mean, to " +
		"which a " +
		"trial counts with its *exposure*. [Which figure stands for a cell](../" + cellFigure +
		") gives the reasons.")
	var rows [][]string
	for _, k := range metric.Kinds() {
		limited := "is left out"
		if k.Censored() {
			limited = "counts as longer than all that were seen (censored)"
		}
		exact := ""
		if k.Exact() {
			exact = "yes"
		}
		rows = append(rows, []string{k.String(), k.Doc(), k.Figure(), limited, exact})
	}
	p.table([]string{"kind", "what it is", "figure of a cell", "a trial that the time limit ended",
		"equal seeds repeat it exactly in simulation"}, rows)
	for _, f := range metric.Families() {
		p.heading(3, f.Title)
		writeFamily(p, f.Metrics)
	}
	for _, file := range results.Files() {
		p.heading(2, file)
		for _, s := range results.Documented()[file] {
			if s.Title != "" {
				p.heading(3, s.Title)
			}
			writeColumns(p, s.Columns)
		}
		switch file {
		case results.TrialsFile:
			writeStatuses(p)
		case results.OperationsFile:
			writeOperations(p)
		case results.SummaryFile:
			p.prose("The columns of the design, from `problem` to the last swept key, come before these.")
		}
	}
}

// cellFigure is the page on the figure of a cell, from docs/.
const cellFigure = "explanation/statistics.md#which-figure-stands-for-a-cell"

func writeFamily(p *page, list []*metric.Metric) {
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{code(m.Name), string(m.Unit), m.Kind.String(), m.Better.String(),
			weight(m),
			meaning(plain(m.Doc), m.Details, m.See) + marks(m)})
	}
	p.table([]string{"metric", "unit", "kind", "better", "exposure", "meaning"}, rows)
}

// weight is the exposure of a pooled metric.
func weight(m *metric.Metric) string {
	if !m.Kind.Pooled() {
		return ""
	}
	if len(m.Exposure) == 0 {
		return "1"
	}
	return "`" + strings.Join(m.Exposure, "` · `") + "`"
}

// marks is what a declaration says of a metric besides.
func marks(m *metric.Metric) (out string) {
	if m.Early {
		out += " A timed-out trial that has it counts with it: it came before what the trial waited for."
	}
	if m.Open != "" {
		out += fmt.Sprintf(" A trial whose `%s` is not 0 counts as longer than all that were seen.", m.Open)
	}
	if m.OneProcess {
		out += " Empty for nodes that share an operating-system process."
	}
	return out
}

// meaning is a phrase, sentences and a link, in Markdown.
func meaning(doc, details, to string) string {
	out := sentence(doc)
	if details != "" {
		out += " " + details
	}
	if to != "" {
		out += " See " + see(to) + "."
	}
	return out
}

func writeColumns(p *page, list []results.Column) {
	var rows [][]string
	for _, c := range list {
		rows = append(rows, []string{code(c.Name), string(c.Type), meaning(c.Doc, "", c.See)})
	}
	p.table([]string{"column", "type", "meaning"}, rows)
}

func writeStatuses(p *page) {
	p.prose("Behind them come the [metrics](#metrics): those of [every trial](#every-trial) first.")
	p.heading(3, "Statuses")
	var rows [][]string
	for _, s := range trace.Statuses() {
		counted := s.Counted()
		if counted == "" {
			counted = "no"
		}
		rows = append(rows, []string{code(string(s)), s.Doc(), counted})
	}
	p.table([]string{"status", "means", "counted in " + code(path.Base(results.SummaryFile))}, rows)
}

func writeOperations(p *page) {
	p.heading(3, "What becomes of operations")
	var rows [][]string
	for _, o := range trace.Progresses() {
		rows = append(rows, []string{code(string(o)), o.Doc()})
	}
	p.table([]string{"status", "means"}, rows)
	p.heading(3, "Causes")
	rows = nil
	for _, o := range trace.Origins() {
		rows = append(rows, []string{code(string(o)), o.Doc()})
	}
	p.table([]string{"cause", "what began the election"}, rows)
}

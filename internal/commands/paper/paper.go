// Package paper writes what a paper needs of a run: tables and figures that fit a column, each with a
// caption that says what it shows, and a document that holds them all.
package paper

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Request is what is asked for.
type Request struct {
	Run     string       // folder of a run, or what else results.ReadTable takes
	Out     string       // folder of the files; "": "paper" beside the run's
	Metrics []string     // none: those that answer what the experiment asks
	Where   metric.Where // only cells of which all hold
}

// The folders of figures within that of the paper, by format.
const (
	pdfFolder  = "figures"
	plotFolder = "plots"
	mainFile   = "main.tex"
	readMe     = "README.md"
)

// generator begins the document, so that a later call may write it anew.
const generator = "% Written by bench paper"

// A kit is the files of a paper while they are gathered.
type kit struct {
	files           map[string][]byte // by path within the folder
	names           []string          // in order
	tables, figures []string          // to be input
	plots           []string
	notes           []string
	lines           []string // about what was written
}

func (k *kit) put(name string, data []byte) {
	k.files[name], k.names = data, append(k.names, name)
}

// Write writes the files. An error that other options would avoid has the exit code of a mistake.
func Write(q Request) (*answer.Document, error) {
	run, err := export.Read(q.Run)
	if err != nil {
		return nil, err
	}
	d, err := report.New([]string{q.Run}, report.Options{})
	if err != nil {
		return nil, err
	}
	out := q.Out
	if out == "" {
		out = filepath.Join(folderOf(q.Run), "paper")
	}
	if err := replaceable(out); err != nil {
		return nil, err
	}
	metrics := q.Metrics
	if len(metrics) == 0 {
		metrics = metric.Names(d.Question())
	}
	k := &kit{files: map[string][]byte{}}
	o := export.Options{Metrics: metrics, Where: q.Where}
	if err := k.write(run, d, o); err != nil {
		return nil, err
	}
	if len(k.tables) == 0 {
		return nil, answer.Mistaken("bench paper: %s", view.None(q.Where))
	}
	k.put(mainFile, k.main(run))
	k.put(readMe, k.readMe(out))
	for _, name := range k.names {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
		if err := files.Write(path, k.files[name]); err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
	}
	return k.document(out), nil
}

// folderOf is the folder of a run, which may be named by its table.
func folderOf(run string) string {
	if info, err := os.Stat(run); err == nil && !info.IsDir() {
		return filepath.Dir(run)
	}
	return run
}

// replaceable refuses a folder with a document that is not ours.
func replaceable(out string) error {
	text, err := os.ReadFile(filepath.Join(out, mainFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return answer.Mistaken("--out %s: %v", out, err)
	case !bytes.HasPrefix(text, []byte(generator)):
		return answer.Mistaken("--out %s: it has a %s that bench did not write; name another folder", out,
			mainFile)
	}
	return nil
}

// write gathers tables and figures.
func (k *kit) write(run *export.Run, d *report.Data, o export.Options) error {
	tables, err := run.PaperTables(o)
	if err != nil {
		return mistaken(err)
	}
	for _, t := range tables {
		name := "table-" + t.Metric.Name
		k.tables = append(k.tables, name)
		k.put(name+".tex", table(run, &t))
		k.lines = append(k.lines, fmt.Sprintf("%s.tex: about %.0f pt wide and %.0f pt high, without the "+
			"caption", name, t.Width, t.Height))
		if !t.Fits {
			k.notes = append(k.notes, fmt.Sprintf("%s: a column of the ACM's has %d pt, and %d pt of "+
				"height: choose cells by --where", name, export.ColumnWidth, export.ColumnHeight))
		}
	}
	plots, err := k.plot(run, o)
	if err != nil {
		return mistaken(err)
	}
	charts, err := figure.Pictures(d, &figure.Options{Metrics: o.Metrics, Where: o.Where})
	if err != nil {
		return mistaken(err)
	}
	for i := range charts {
		c := &charts[i]
		if len(c.Panes) == 0 {
			k.notes = append(k.notes, "no figure of "+c.Name+": "+strings.Join(c.Notes, "; "))
			continue
		}
		if err := k.figure(run, c, plots); err != nil {
			return err
		}
	}
	return nil
}

// table is a table that floats, with its caption above it and the meaning of its marks below.
func table(run *export.Run, t *export.PaperTable) []byte {
	notes := ""
	if t.Notes != "" {
		notes = "\n\\begin{minipage}{\\columnwidth}\\footnotesize\\raggedright\\smallskip\n" + t.Notes +
			"\n\\end{minipage}\n"
	}
	const float = "%% %s\n\\begin{table}[tb]\n\\caption{%s}\n\\label{tab:%s}\n\\centering\n%s%s\\end{table}\n"
	return fmt.Appendf(nil, float, run.Origin(), t.Caption, t.Metric.Name, t.Tabular, notes)
}

// mistaken makes mistakes of the packages that draw those of a command line.
func mistaken(err error) error {
	var wrong *report.Mistake
	if errors.As(err, &wrong) {
		text := strings.Replace(wrong.Error(), "--metric ", "--metrics ", 1) // as this command calls it
		return answer.Mistaken("bench paper: %s", text)
	}
	return err
}

// plot gathers the figures for pgfplots, and returns their names by metric.
func (k *kit) plot(run *export.Run, o export.Options) (names map[string][]string, err error) {
	format, err := export.Find("pgfplots")
	if err != nil {
		return nil, err
	}
	names = map[string][]string{}
	for _, name := range o.Metrics {
		one := o
		one.Metrics = []string{name}
		list, err := format.Write(run, one)
		if err != nil {
			if errors.As(err, new(*report.Mistake)) {
				continue // there is nothing to draw, as a note says
			}
			return nil, err
		}
		for _, f := range list {
			k.put(filepath.Join(plotFolder, f.Name), f.Data)
			if plot, is := strings.CutSuffix(f.Name, ".tex"); is {
				names[name] = append(names[name], plot)
				k.plots = append(k.plots, plot)
			}
		}
	}
	return names, nil
}

// figure adds a figure with its caption.
func (k *kit) figure(run *export.Run, c *chart.Chart, plots map[string][]string) error {
	pdf, err := c.Render("pdf", 0, 0)
	if err != nil {
		return fmt.Errorf("figure: %s: %w", c.Name, err)
	}
	k.put(filepath.Join(pdfFolder, c.Name+".pdf"), pdf)
	name := "figure-" + c.Name
	k.figures = append(k.figures, name)
	metricName, _, _ := strings.Cut(c.Name, "-")
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s\n\\begin{figure}[tb]\n\\centering\n\\includegraphics{\\benchfolder/%s/%s.pdf}\n",
		run.Origin(), pdfFolder, c.Name)
	for _, plot := range plots[metricName] {
		fmt.Fprintf(&b, "%% By pgfplots, in the fonts of the paper: \\input{\\benchfolder/%s/%s}\n",
			plotFolder, plot)
	}
	fmt.Fprintf(&b, "\\caption{%s}\n\\label{fig:%s}\n\\end{figure}\n",
		run.FigureCaption(metric.Named(metricName), c), c.Name)
	k.put(name+".tex", []byte(b.String()))
	return nil
}

// main is a document with all of it.
func (k *kit) main(run *export.Run) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `%s from %s
\documentclass[sigconf,nonacm]{acmart}
%s\renewcommand{\topfraction}{.95}\renewcommand{\textfraction}{.05}\renewcommand{\floatpagefraction}{.8}
\begin{document}
\title{%s}
\author{bench paper}
\affiliation{\institution{Conclave}\country{}}
\maketitle
\section{Tables}
`, generator, run.Origin(), preamble("."), export.TeX(run.Name))
	for _, name := range k.tables {
		fmt.Fprintf(&b, "\\input{%s}\n", name)
	}
	b.WriteString("\\clearpage\n\\section{Figures}\n")
	for _, name := range k.figures {
		fmt.Fprintf(&b, "\\input{%s}\n", name)
	}
	b.WriteString("\\clearpage\n\\section{The figures by pgfplots}\n")
	for _, name := range k.plots {
		fmt.Fprintf(&b, "\\begin{figure}[tb]\\centering\\input{%s/%s}\\caption{%s}\\end{figure}\n",
			plotFolder, name, export.TeX(name))
	}
	b.WriteString("\\end{document}\n")
	return b.Bytes()
}

// preamble is what a document needs that has the files in a folder.
func preamble(folder string) string {
	return fmt.Sprintf(`\usepackage{booktabs,graphicx,pgfplots}
\usepgfplotslibrary{groupplots}
\newcommand{\benchfolder}{%s}
\pgfplotsset{compat=1.16, table/search path={%s/%s}}
`, folder, folder, plotFolder)
}

func (k *kit) readMe(out string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Tables and figures for a paper

bench paper wrote these files, and writes them anew when it is called again: copy what you change.
`+"`pdflatex %s`"+` shows all of them in the class of the ACM's conferences. The preamble of a paper,
which has this folder beside it, needs:

`+"```latex\n%s```"+`

| in the text | what it is |
|---|---|
`, mainFile, preamble(filepath.Base(out)))
	for _, name := range k.tables {
		fmt.Fprintf(&b, "| `\\input{%s/%s}` | a table with its caption |\n", filepath.Base(out), name)
	}
	for _, name := range k.figures {
		fmt.Fprintf(&b, "| `\\input{%s/%s}` | a figure with its caption, as PDF |\n", filepath.Base(out),
			name)
	}
	for _, name := range k.plots {
		fmt.Fprintf(&b, "| `\\input{%s/%s/%s}` | the picture alone, by pgfplots, in the paper's fonts |\n",
			filepath.Base(out), plotFolder, name)
	}
	for _, note := range k.notes {
		fmt.Fprintf(&b, "\n%s.\n", console.Markdown(note))
	}
	return b.Bytes()
}

// document says what was written.
func (k *kit) document(out string) *answer.Document {
	a := answer.New("paper", "Tables and figures of a paper")
	all := fmt.Sprintf("%s: %s and %s; pdflatex %s shows all", out,
		console.Plural(len(k.tables), "table", "tables"), console.Plural(len(k.figures), "figure", "figures"),
		mainFile)
	a.Add(answer.Facts{{Name: "folder", Value: out, Line: all}})
	for _, line := range k.lines {
		a.Say(line)
	}
	for _, name := range k.figures {
		a.Say(name + ".tex")
	}
	for _, name := range k.names {
		a.Add(answer.File{Name: "file", Path: filepath.Join(out, name)})
	}
	for _, text := range k.notes {
		a.Add(answer.Note{Text: text, Line: "note: " + text, Aside: true})
	}
	return a
}

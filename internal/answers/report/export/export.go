// Package export writes what a run measured in the formats of other tools:
// benchstat, JUnit, two services that watch benchmarks, LaTeX, HdrHistogram's
// plotter, archives of research data, and plain tables. It only reads the run;
// docs/how-to/export.md says what each format is for.
//
// A figure is always the median over trials with its interval, as stats.Describe
// has them. One that does not exist is left out, or is what the format has for a
// missing value: no interval is invented.
package export

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A Run is what is exported.
type Run struct{ *results.Table }

// Read reads a run from whatever results.ReadTable takes.
func Read(path string) (*Run, error) {
	t, err := results.ReadTable(path)
	if err != nil {
		return nil, err
	}
	return &Run{t}, nil
}

// Options say what to export.
type Options struct {
	Metrics []string       // empty: those that the format has by default
	Where   metric.Where   // columns of the design and their values, all of which must hold
	Draw    figure.Options // pgfplots: axes, their ends, and the size
	Full    bool           // gobench: the whole configuration as keys
	// Operations has quantiles over all operations of a cell take the place of figures over
	// trials: in csv and json.
	Operations bool
	Quantiles  []float64 // of those, in percent, above 0 and below 100; empty: the usual ones
	Citation   *Citation // ro-crate: whose the run is; nil: that is not known
}

// A File is a part of what a format consists of.
type File struct {
	Name  string
	Data  []byte
	Notes []string // what the format has no place for
	// Beside says that it is about the other file, which alone is what was asked for.
	Beside bool
}

// A Format is one of the formats.
type Format struct {
	Name, Doc string
	// Reader is what reads it, One what a record of it is about, and Holds what is in it.
	Reader, One, Holds string

	usual   string // the metrics by default, in words, where neither all nor the main ones are
	Several bool   // it may take more than one file
	empty   bool   // it can be without a cell
	all     bool   // it has all metrics by default, else the main ones
	write   func(*selection) ([]File, error)
	tails   func(*selection) ([]File, error) // over operations; nil: it has none
}

// Formats are the formats, in the order in which they are listed.
func Formats() []Format {
	return []Format{
		{Name: "gobench", Doc: "Go benchmarks, a line for each trial: benchstat reads them",
			Reader: "benchstat, and other readers of Go's benchmarks", One: "trial",
			Holds: "the figures of each trial with status ok, times in nanoseconds; a comment for each " +
				"other trial; no statistics: benchstat makes its own",
			write: gobench},
		{Name: "junit", Doc: "a test report in XML, a test case for each cell",
			Reader: "GitLab, Jenkins and others that show test reports", One: "cell",
			Holds: "a test suite for each label and in it a test case for each cell: a failure where a " +
				"promise " +
				"was broken within the model, an error where the cell could not be judged; no figure",
			usual: "none", empty: true, write: junit},
		{Name: "github", Doc: "github-action-benchmark, a file for each direction", Several: true,
			Reader: "github-action-benchmark", One: "metric of a cell",
			Holds: "name, unit, value and interval of each figure: smaller-is-better.json has those " +
				"where less is better, larger-is-better.json the others; an empty file is left out",
			write: github},
		{Name: "bmf", Doc: "Bencher Metric Format",
			Reader: "Bencher", One: "cell",
			Holds: "for each metric its figure and the ends of its interval, times in nanoseconds",
			write: bmf},
		{Name: "csv", Doc: "a tidy summary, a row for each metric of a cell",
			Reader: "a spreadsheet, pandas, R", One: "metric of a cell",
			Holds: "the columns of summary.csv, and behind them restricted_mean, restricted_low, " +
				"restricted_high and restricted_to",
			empty: true, all: true, write: writeCSV,
			tails: operationsCSV},
		{Name: "json", Doc: "the same for programs, with the statuses",
			Reader: "programs", One: "cell",
			Holds: "design, trials by status, and for each metric what csv has, with the figure that " +
				"stands for " +
				"the cell; null where there is none",
			empty: true, all: true, write: writeJSON,
			tails: operationsJSON},
		{Name: "markdown", Doc: "a table and the ranking, for a forge or a wiki",
			Reader: "a forge, a wiki", One: "cell",
			Holds: "the table of bench run, and the order of the algorithms in each place of the sweep",
			empty: true, write: markdown,
			tails: operationsMarkdown},
		{Name: "latex", Doc: "a table for booktabs and siunitx",
			Reader: "LaTeX with booktabs", One: "cell",
			Holds: "a table for each metric that fits a column, its caption as a comment above it",
			empty: true, write: latex,
			tails: operationsLatex},
		{Name: "pgfplots", Doc: "a figure for each metric and its data", Several: true,
			Reader: "LaTeX with pgfplots", One: "point",
			Holds: "a .tex file for each figure, and .dat files with its points: x, figure, interval, n, " +
				"censored",
			write: pgfplots},
		{Name: "hgrm", Doc: "HdrHistogram's percentiles of operations, a file for each cell",
			Reader: "the plotter of HdrHistogram", One: "percentile of the operations of a cell",
			Holds: "the distribution of all single operations of a cell, not of trials",
			usual: "those metrics of `markdown` that are times of operations", Several: true, write: hgrm},
		{Name: "ro-crate", Doc: "a description of the folder, for archives such as Zenodo",
			Reader: "archives of research data, such as Zenodo", One: "file of the run",
			Holds: "what each file of the folder is, who made the run, and how; no figure",
			usual: "none",
			write: crate},
	}
}

// Usual says which metrics the format has unless some are named.
func (f *Format) Usual() string {
	switch {
	case f.usual != "":
		return f.usual
	case f.all:
		return "all"
	}
	return "those of the table of bench run"
}

// OfOperations says whether it can have quantiles over single operations in place of figures over trials.
func (f *Format) OfOperations() bool { return f.tails != nil }

// Names are those of the formats and the stores.
func Names() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	for _, s := range Stores() {
		names = append(names, s.Name)
	}
	return names
}

// Find returns the format of that name.
func Find(name string) (*Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return &f, nil
		}
	}
	return nil, &metric.NameError{Kind: "format", Name: name, Known: Names()}
}

// Write returns the files of the run in that format. The error is a *report.Mistake
// where another selection would do.
func (f *Format) Write(r *Run, o Options) ([]File, error) {
	s, err := choose(r, f, o)
	if err != nil {
		return nil, err
	}
	if o.Operations && f.tails == nil {
		return nil, report.Mistaken("--over operations: %s has figures over trials alone; expected csv, "+
			"json, "+
			"markdown or latex, or hgrm for the whole distribution", f.Name)
	}
	switch {
	case len(s.cells) == 0 && !f.empty:
		return nil, nil
	case o.Operations:
		return f.tails(s)
	}
	return f.write(s)
}

// A selection is the part of a run that is exported.
type selection struct {
	Options
	run     *Run
	all     []*results.Cell // of the run, with the trials that are selected if any are
	cells   []*results.Cell // those that are selected
	columns []string        // in which cells of one label differ, in the whole run
	places  []string        // the same and the number of nodes
	metrics []*metric.Metric
}

func choose(r *Run, f *Format, o Options) (*selection, error) {
	o.Draw.Where = o.Where
	s := &selection{Options: o, run: r, all: r.Cells(), columns: view.VaryingIn(r.Table)}
	if err := o.Where.Check(view.Columns(r.Table)); err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	if len(r.Trials) == 0 {
		return nil, fmt.Errorf("%s: no trial to export; %s continues it", r.Path,
			program.Command("run", "--resume", r.Path))
	}
	for _, name := range r.Design {
		if name == "nodes" || slices.Contains(s.columns, name) {
			s.places = append(s.places, name)
		}
	}
	s.cells = view.Filter(r.Table, o.Where).Cells()
	for _, c := range s.cells {
		same := func(a *results.Cell) bool { return slices.Equal(a.Design, c.Design) }
		s.all[slices.IndexFunc(s.all, same)] = c
	}
	for _, name := range o.Metrics {
		if known := r.Known(); !slices.Contains(known, name) {
			if why := r.Lacks(name); why != "" {
				return nil, report.Mistaken("%s", why)
			}
			return nil, report.Mistaken("%v", &metric.NameError{Kind: "metric", Name: name, Known: known})
		}
		m := metric.Named(name)
		if m.Common() != nil && view.Mixed(view.Designs(s.cells)) {
			return nil, report.Mistaken("%s", view.MixedText(m))
		}
		s.metrics = append(s.metrics, m)
	}
	switch {
	case len(o.Metrics) > 0:
	case f.all:
		s.metrics = usedMetrics(r.Table)
	default:
		s.metrics = slices.DeleteFunc(view.Brief(view.Designs(s.all)), func(m *metric.Metric) bool {
			return !slices.Contains(r.Known(), m.Name)
		})
	}
	return s, nil
}

// solved is the problem of all cells of a run.
func (s *selection) solved() algo.Problem { return algo.Problem(s.all[0].Get("problem")) }

// usedMetrics are those of summary.csv: the fixed ones that stand there, and every metric
// that some trial observes.
func usedMetrics(t *results.Table) (used []*metric.Metric) {
	for _, m := range metric.Fixed() {
		if m.In(metric.Summary) {
			used = append(used, m)
		}
	}
	for _, name := range t.Metrics {
		if slices.ContainsFunc(t.Trials, func(trial results.Trial) bool {
			_, seen := trial.Observe(name)
			return seen != results.Nothing
		}) {
			used = append(used, metric.Named(name))
		}
	}
	return used
}

// origin is one line that says which run this is.
func (s *selection) origin() string { return s.run.Origin() }

// Origin is one line that says which run it is.
func (r *Run) Origin() string {
	text := "conclave"
	h := r.Header
	if h == nil {
		return text + ", run " + printable(r.Name)
	}
	if h.Version != "" {
		text += " " + printable(h.Version)
	}
	return fmt.Sprintf("%s, run %s/%s, seed %d, config sha256 %.12s", text, printable(h.Name),
		printable(h.Run), h.Seed, printable(h.Config))
}

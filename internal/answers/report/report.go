// Package report makes of one or more runs what people look at: a single HTML
// page that needs no network. It runs nothing and judges nothing: it reads what
// results has written, condenses it cell by cell, and says what to be careful
// with. Its folders draw the same data for print (figure), draw single trials
// (diagram) and write the formats of other tools (export).
package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Data is what a report shows: all of it comes from the folders of the runs, but
// for the claims, which are those of the algorithms linked into this program.
type Data struct {
	Title      string
	Runs       []Run
	Columns    []Column         // of the design, whose values differ; and label
	Same       []metric.Field   // columns of the design with one value everywhere
	Metrics    []*metric.Metric // that some cell has
	Claims     []Claim
	Kinds      []string // of messages
	Faults     []Fault  // that some cell asks for
	Cells      []Cell
	Notes      []string // footnotes: what to be careful with, and its remedy
	Rankings   []Ranking
	Mixed      bool // the algorithms mean different outages by theirs
	Replaced   []Replaced
	Restricted []RestrictedRow
	Tails      []TailRow
	MoreTails  int // rows that there are besides
	// TailsRefused says which quantiles have no interval, and what they would take.
	TailsRefused []string
	Violations   []Violation
	Violated     int          // trials with status violation; Violations tells of most of them, by reason
	Links        []theme.Link // what stands beside the page, by relative addresses

	tailColumns []tailColumn // that the page shows
}

// A Run is a run that the report is about.
type Run struct {
	Label    string // differs from that of every other run
	Path     string
	Manifest *results.Manifest // nil: a table alone, or a run that was killed
	Config   string            // the resolved experiment; "": none
	Trials   int
	Statuses []int // by trace.Statuses

	csv string // the trials.csv that holds the same; "": none does
}

// A Column is a column of the design. Values are sorted by number if all of them
// are numbers, and else in the order in which they appear.
type Column struct {
	Name    string
	Numeric bool
	Values  []string
}

// A Claim is a complexity that somebody states of an algorithm's metric.
type Claim struct {
	Algorithm, Metric, Load, Text string
	Source                        algo.Source
}

// A Cell is one combination of the design's values in one run.
type Cell struct {
	Number int   // as in trials.csv
	Design []int // by Data.Columns: index of the value
	// Label is what the algorithm is called; Algorithm is its ID.
	Label, Algorithm string
	Nodes            int
	InModel          bool            // all its trials are
	Caveats          []view.Caveat   // for which points of it are hollow
	Statuses         []int           // trials, by trace.Statuses
	Figures          []stats.Summary // by Data.Metrics; its N and Censored are 0 where there is none
	Spreads          []Spread
	Phases           *Phases // nil: none is known
	Steps            []Step  // of a ramp; nil: the load does not rise, or nobody knows how
	Kinds            []MessageCount
	Bounds           []Bound
	Achieved         []Achieved
	Notes            []int // indexes of Data.Notes
}

// A MessageCount is how many messages of a kind a trial of the cell sends, on average over
// the trials with status ok.
type MessageCount struct {
	Kind                         int // index of Data.Kinds
	Sent, Delivered, Lost, Bytes float64
}

// A Bound is what a claim says of a cell.
type Bound struct {
	Claim  int // index of Data.Claims
	Lo, Hi float64
}

// A Violation is a trial that broke a promise.
type Violation struct {
	Run, Trial int   // of the example
	Trials     []int // that broke the same
	Label      string
	Reason     string
	InModel    bool
	Reproduce  string // the command
	Diagram    []byte // an SVG; nil: none
	NoDiagram  string // why there is none
	Player     string // a page to step through the trial, compressed, in base 64; "": none
}

// A Diagram draws a trial of the run in a folder as an SVG. Where no trace was kept
// the error is fs.ErrNotExist.
type Diagram func(dir string, trial int) ([]byte, error)

// Options are the settings of New.
type Options struct {
	Diagram Diagram      // nil: violations are shown without one
	Player  Diagram      // a page to step through the trial; nil: none
	Links   []theme.Link // what stands beside the page, by relative addresses
}

// New reads the runs at paths: each what results.ReadTable takes.
func New(paths []string, o Options) (*Data, error) {
	d := &Data{Links: o.Links}
	tables := make([]*results.Table, len(paths))
	for i, path := range paths {
		t, err := results.ReadCells(path)
		if err != nil {
			return nil, err
		}
		if len(t.Trials) == 0 && !t.Folded() {
			return nil, fmt.Errorf("%s: no trial is finished: there is nothing to report", path)
		}
		tables[i] = t
		d.Runs = append(d.Runs, runOf(t))
	}
	d.nameRuns(tables)
	d.Title = d.Runs[0].Label
	if len(d.Runs) > 1 {
		d.Title = fmt.Sprintf("%s and %d more", d.Title, len(d.Runs)-1)
	}
	b := builder{Data: d, tables: tables}
	b.Mixed = view.Mixed(b.designs())
	b.columns()
	b.cells()
	if slices.ContainsFunc(tables, (*results.Table).Folded) {
		b.Notes = append(b.Notes, foldedNote)
	} else if err := b.ofTrials(&o); err != nil {
		return nil, err
	}
	b.claims()
	b.notes()
	for _, text := range b.legend.Notes() {
		if !slices.Contains(b.Notes, text) {
			b.Notes = append(b.Notes, text)
		}
	}
	b.variances()
	return d, nil
}

// foldedNote says what a page lacks where no single trial is kept.
const foldedNote = "keep: summary: quantiles are off by less than 0.1 %. What needs single trials is " +
	"absent: rankings, distributions and quantiles over operations, single violations, and intervals of " +
	"pooled means."

// ofTrials adds what is known of single trials.
func (b *builder) ofTrials(o *Options) error {
	if err := b.spread(); err != nil {
		return err
	}
	b.rankings()
	b.replaced()
	b.restricted()
	if err := b.tails(); err != nil {
		return err
	}
	b.faults()
	b.violations(o)
	return nil
}

// runOf gathers what is known of a run beside its table.
func runOf(t *results.Table) Run {
	r := Run{Path: t.Path, Trials: len(t.Trials), Statuses: make([]int, len(trace.Statuses())),
		Manifest: t.Manifest, Config: string(t.Config), csv: t.CSV}
	for i := range t.Trials {
		r.Statuses[slices.Index(trace.Statuses(), t.Trials[i].Status)]++
	}
	if !t.Folded() {
		return r
	}
	for _, c := range t.Cells() {
		r.Trials += c.Size()
		for i, status := range trace.Statuses() {
			r.Statuses[i] += c.Count(status)
		}
	}
	return r
}

// nameRuns gives each run a label of its own: the experiment's name, and where that
// is not enough the run's id, and where that is not, a number.
func (d *Data) nameRuns(tables []*results.Table) {
	label := func(i, detail int) string {
		text := tables[i].Name
		if m := d.Runs[i].Manifest; m != nil && detail > 0 {
			text += " " + m.Run
		}
		if detail > 1 {
			text += " (" + strconv.Itoa(i+1) + ")"
		}
		return text
	}
	for i := range d.Runs {
		detail := 0
		for j := 0; j < len(d.Runs); j++ {
			if i != j && detail < 2 && label(i, detail) == label(j, detail) {
				detail, j = detail+1, -1
			}
		}
		d.Runs[i].Label = label(i, detail)
	}
}

// A builder makes the data of its tables, of which there is one for each run.
type builder struct {
	*Data
	tables []*results.Table
	groups []group
	legend view.Legend // of what is text already
}

// A group is a cell with its trials.
type group struct {
	run int
	*results.Cell
}

// value is that of a column of the design, to which several runs add their own.
func (g group) value(column string, d *Data) string {
	if column == "run" {
		return d.Runs[g.run].Label
	}
	v := g.Get(column)
	if column == metric.HostingColumn && v == "" && transport.Real(g.Get("transport")) {
		return metric.RunAsProcess // a run without the column
	}
	return v
}

// columns finds the cells of all runs and what differs between them.
func (b *builder) columns() {
	var names []string
	if len(b.tables) > 1 {
		names = append(names, "run")
	}
	for i, t := range b.tables {
		for _, c := range t.Cells() {
			b.groups = append(b.groups, group{i, c})
		}
		for _, name := range t.Design {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	designs := make([][]metric.Field, len(b.groups))
	for i, g := range b.groups {
		for _, name := range names {
			designs[i] = append(designs[i], metric.Field{Name: name, Value: g.value(name, b.Data)})
		}
	}
	for _, of := range metric.ColumnsOf(designs...) {
		c := Column{Name: of.Name, Values: of.Values}
		switch {
		case c.Name == "algorithm": // the label says more
		case len(c.Values) > 1 || c.Name == "label":
			c.Order()
			b.Columns = append(b.Columns, c)
		case c.Values[0] != "":
			b.Same = append(b.Same, metric.Field{Name: c.Name, Value: c.Values[0]})
		}
	}
}

// Order sorts the values by number if all of them are such.
func (c *Column) Order() {
	c.Numeric = !slices.ContainsFunc(c.Values, func(v string) bool {
		f, err := strconv.ParseFloat(v, 64)
		// Beyond these, ends, differences or ratios of an axis would be no numbers.
		return err != nil || !(f == 0 || math.Abs(f) >= 1e-150 && math.Abs(f) <= 1e150)
	})
	if c.Numeric {
		slices.SortStableFunc(c.Values, func(a, b string) int { return cmp.Compare(parse(a), parse(b)) })
	}
}

func parse(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// metricNames are the columns that some run may have figures in, in order.
func (b *builder) metricNames() []string {
	var names []string
	add := func(more ...string) {
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, t := range b.tables {
		add(t.Metrics...)
	}
	add(metric.Duration.Name)
	add(metric.Names(metric.Fixed())...)
	return names
}

// designs are those of all cells of all runs.
func (b *builder) designs() (out [][]metric.Field) {
	for _, t := range b.tables {
		out = append(out, view.Designs(t.Cells())...)
	}
	return out
}

// cells condenses each cell, metric by metric. A metric that no cell has is left
// out.
func (b *builder) cells() {
	index := map[string]int{}
	for _, g := range b.groups {
		c := Cell{
			Number: g.Number, Label: g.Get("label"), Algorithm: g.Get("algorithm"), InModel: g.InModel(),
			Caveats: view.Caveats(g.Cell), Statuses: make([]int, len(trace.Statuses())),
		}
		c.Nodes, _ = strconv.Atoi(g.Get("nodes"))
		for _, column := range b.Columns {
			c.Design = append(c.Design, slices.Index(column.Values, g.value(column.Name, b.Data)))
		}
		for k, status := range trace.Statuses() {
			c.Statuses[k] = g.Count(status)
		}
		c.Kinds = b.kinds(g, index)
		b.Cells = append(b.Cells, c)
	}
	for _, name := range b.metricNames() {
		column, any := make([]stats.Summary, len(b.groups)), false
		for i, g := range b.groups {
			column[i] = g.Describe(name)
			any = any || column[i].N > 0
		}
		if m := metric.Named(name); !any || b.Mixed && m != nil && m.Common() != nil {
			continue // or one column would have several meanings
		}
		b.Metrics = append(b.Metrics, metric.Named(name))
		for i := range b.Cells {
			b.Cells[i].Figures = append(b.Cells[i].Figures, column[i])
		}
	}
}

// kinds averages what the sound trials of a cell sent.
func (b *builder) kinds(g group, index map[string]int) []MessageCount {
	var out []MessageCount
	sound := float64(g.Count(trace.OK))
	var lists [][]trace.MessageCount
	if g.Fold != nil {
		lists = append(lists, g.Fold.Kinds)
	}
	for _, t := range g.Trials {
		if t.Status == trace.OK {
			lists = append(lists, t.Kinds)
		}
	}
	for _, list := range lists {
		for _, k := range list {
			at, known := index[k.Name]
			if !known {
				at = len(b.Kinds)
				index[k.Name] = at
				b.Kinds = append(b.Kinds, k.Name)
			}
			i := slices.IndexFunc(out, func(o MessageCount) bool { return o.Kind == at })
			if i < 0 {
				i = len(out)
				out = append(out, MessageCount{Kind: at})
			}
			out[i].Sent += float64(k.Sent) / sound
			out[i].Delivered += float64(k.Delivered) / sound
			out[i].Lost += float64(k.Lost) / sound
			out[i].Bytes += float64(k.Bytes) / sound
		}
	}
	return out
}

// claims looks up what the algorithms claim about the metrics that there are. An
// algorithm that is not linked into this program has none.
func (b *builder) claims() {
	for i, g := range b.groups {
		a, err := algo.Lookup(g.Get("algorithm"))
		if err != nil {
			continue
		}
		for _, c := range a.Spec.Claims {
			of := slices.IndexFunc(b.Metrics, func(m *metric.Metric) bool { return m.Claim == c.Metric })
			if c.Bound == nil || of < 0 || b.Cells[i].Nodes < 2 || !fits(c.Load, g.Get("scenario")) {
				continue
			}
			claim := Claim{a.ID, b.Metrics[of].Name, c.Load, c.Text, c.Source}
			at := slices.Index(b.Claims, claim)
			if at < 0 {
				at = len(b.Claims)
				b.Claims = append(b.Claims, claim)
			}
			lo, hi := c.Bound(b.Cells[i].Nodes)
			if lo >= 0 && hi >= lo && !math.IsInf(hi, 0) {
				b.Cells[i].Bounds = append(b.Cells[i].Bounds, Bound{at, lo, hi})
			}
		}
	}
}

// fits says whether a claim about a load says something about a scenario: the
// cases of an election may come up in any, and the loads of entries are scenarios.
func fits(load, scenario string) bool {
	k := harness.ScenarioOf(scenario)
	return k == nil || !slices.Contains(k.Never, load)
}

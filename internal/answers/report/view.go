package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Mistake is one in what somebody asked to see, not in the run.
type Mistake struct{ text string }

func (m *Mistake) Error() string { return m.text }

// Mistaken is a *Mistake.
func Mistaken(format string, args ...any) error { return &Mistake{fmt.Sprintf(format, args...)} }

// None is the column of an axis along which nothing varies.
const None = -1

// A View says how the cells of a run are drawn: which column is the horizontal axis, which one
// has a line for each of its values, and which a panel. It knows cells by their values alone,
// so that charts and exports choose alike.
type View struct {
	Columns []Column
	Rows    [][]int // by cell: the index of its value, by column; nil: it is left out

	X, Series int
	// Split are the columns that tell cells apart which have the same place on the axis and the
	// same line: no line can be drawn through all of them.
	Split []int
}

// MostPanels bounds how many panels a figure has.
const MostPanels = 12

// Any says whether a cell is shown.
func (v *View) Any() bool {
	return slices.ContainsFunc(v.Rows, func(row []int) bool { return row != nil })
}

// Varies lists the columns that have more than one value among the cells that are shown.
func (v *View) Varies() (out []int) {
	for i := range v.Columns {
		if len(v.levels(i)) > 1 {
			out = append(out, i)
		}
	}
	return out
}

// levels are the values of a column that some shown cell has, in order.
func (v *View) levels(column int) (out []int) {
	for _, row := range v.Rows {
		if row != nil && !slices.Contains(out, row[column]) {
			out = append(out, row[column])
		}
	}
	slices.Sort(out)
	return out
}

// Label is the column of the algorithms.
func (v *View) Label() int {
	return slices.IndexFunc(v.Columns, func(c Column) bool { return c.Name == "label" })
}

// Find is the column that a user names: by itself, or by the key of the experiment file, as
// faults.crash_rate. Only what varies can be an axis.
func (v *View) Find(flag, name string) (int, error) {
	var names []string
	for _, i := range v.Varies() {
		names = append(names, v.Columns[i].Name)
	}
	key := strings.ReplaceAll(name, ".", "_")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if name == "algorithm" {
		key = "label"
	}
	for _, want := range []string{key, key + "_ms", last, last + "_ms"} {
		if slices.Contains(names, want) {
			return slices.IndexFunc(v.Columns, func(c Column) bool { return c.Name == want }), nil
		}
	}
	why := "no column of that name varies here"
	if len(names) == 0 {
		return None, Mistaken("--%s %s: %s; every cell has the same values", flag, name, why)
	}
	return None, Mistaken("--%s %s: %s%s (has: %s)", flag, name, why, algo.Hint(key, names),
		strings.Join(names, ", "))
}

// Main is the column along which a metric is drawn unless somebody says otherwise: the number
// of nodes, or else the column of numbers with most values; for what fails, the rate of the
// failures.
func (v *View) Main(m *metric.Metric) int {
	best, rate := None, None
	for _, i := range v.Varies() {
		c := v.Columns[i]
		if !c.Numeric || c.Name == "label" {
			continue
		}
		more := best == None || len(v.levels(i)) > len(v.levels(best))
		if best == None || c.Name == "nodes" || v.Columns[best].Name != "nodes" && more {
			best = i
		}
		isRate := slices.Contains([]string{"crash_rate", "loss", "duplication"}, c.Name)
		if isRate && (rate == None || len(v.levels(i)) > len(v.levels(rate))) {
			rate = i
		}
	}
	if rate != None && m.OfSpans() {
		return rate
	}
	return best
}

// Along lays the cells out along the columns x and series, either of which may be None: a
// single algorithm over two keys has a line for each value of the second.
func (v *View) Along(x, series int) {
	v.X, v.Series = x, series
	v.Split = v.needed()
	if series != None && v.Columns[series].Name == "label" && len(v.levels(series)) == 1 && len(v.Split) > 0 {
		v.Series, v.Split = v.Split[0], v.Split[1:]
	}
}

// Lay lays the cells out for a metric along the columns that a user names; "" is what suits it.
func (v *View) Lay(m *metric.Metric, x, series string) (err error) {
	along, by := v.Main(m), v.Label()
	if series != "" {
		if by, err = v.Find("series", series); err != nil {
			return err
		}
	}
	if x != "" {
		if along, err = v.Find("x", x); err != nil {
			return err
		}
	} else if along == by {
		along = None
	}
	if series == "" && along == by {
		by = None
	}
	if along == by {
		return Mistaken("--x and --series are both %s: choose another for one of them", v.Columns[along].Name)
	}
	v.Along(along, by)
	return nil
}

// Place is where a cell stands on the horizontal axis: its value, or the number of its name.
func (v *View) Place(cell int) float64 {
	if v.X == None {
		return 0
	}
	level, column := v.Rows[cell][v.X], v.Columns[v.X]
	if !column.Numeric {
		return float64(level)
	}
	return parse(column.Values[level])
}

// needed are the columns, from first to last, that it takes to tell all cells apart.
func (v *View) needed() (out []int) {
	place := func(row []int) string {
		text := ""
		for _, i := range append([]int{v.X, v.Series}, out...) {
			if i != None {
				text += strconv.Itoa(row[i]) + " "
			}
		}
		return text
	}
	for i := range v.Columns {
		if i == v.X || i == v.Series {
			continue
		}
		seen := map[string]int{}
		for _, row := range v.Rows {
			if row == nil {
				continue
			}
			at := place(row)
			if first, known := seen[at]; known && first != row[i] {
				out = append(out, i)
				break
			}
			seen[at] = row[i]
		}
	}
	return out
}

// Whole refuses a view that takes more than one column of panels, and says how to choose.
func (v *View) Whole() error {
	if len(v.Split) < 2 {
		return nil
	}
	var names, has []string
	for _, i := range v.Split {
		names = append(names, v.Columns[i].Name)
		has = append(has, v.Columns[i].Name+" is "+strings.Join(v.values(i), ", "))
	}
	fix := v.Split[1]
	return Mistaken("%s vary besides the axes, and only one of them can be drawn as panels: fix another, "+
		"as --where %s=%s (%s)", strings.Join(names, " and "), v.Columns[fix].Name, v.values(fix)[0],
		strings.Join(has, "; "))
}

func (v *View) values(column int) (out []string) {
	for _, i := range v.levels(column) {
		out = append(out, v.Columns[column].Values[i])
	}
	return out
}

// A Chart is cells that are drawn into one figure: all that have the same values in Held.
type Chart struct {
	Held   []metric.Field
	Panels []Panel
}

// A Panel is the cells that one pair of axes shows.
type Panel struct {
	Title string // what they have in common; "" if there is one panel alone
	Cells []int
}

// Charts parts the cells: by the first column that tells them apart into panels, by the others
// into charts.
func (v *View) Charts() (out []Chart) {
	var keys []string
	for k, row := range v.Rows {
		if row == nil {
			continue
		}
		var held []metric.Field
		title := ""
		for n, i := range v.Split {
			c := v.Columns[i]
			if n == 0 {
				title = Level(c.Name, c.Values[row[i]])
				continue
			}
			held = append(held, metric.Field{Name: c.Name, Value: c.Values[row[i]]})
		}
		key := fmt.Sprint(held)
		at := slices.Index(keys, key)
		if at < 0 {
			at, keys, out = len(out), append(keys, key), append(out, Chart{Held: held})
		}
		panels := &out[at].Panels
		p := slices.IndexFunc(*panels, func(p Panel) bool { return p.Title == title })
		if p < 0 {
			p, *panels = len(*panels), append(*panels, Panel{Title: title})
		}
		(*panels)[p].Cells = append((*panels)[p].Cells, k)
	}
	if len(v.Split) > 0 {
		by := v.Split[0]
		for _, c := range out {
			slices.SortStableFunc(c.Panels, func(a, b Panel) int {
				return cmp.Compare(v.Rows[a.Cells[0]][by], v.Rows[b.Cells[0]][by])
			})
		}
	}
	return out
}

// Level is a value of a column in words, with its unit: "message loss 0.05", "latency 5 ms".
func Level(column, value string) string {
	title := experiment.Title(column)
	if column == "label" {
		return value
	}
	name, unit, has := strings.Cut(strings.TrimSuffix(title, ")"), " (")
	switch {
	case strings.HasPrefix(unit, "1/s"): // so many per second
		return name + " " + value + "/s"
	case has:
		return name + " " + value + " " + unit
	}
	return title + " " + value
}

// View is how the cells are drawn that the filter takes; along nothing as yet. The error is that of
// metric.Where.Check.
func (d *Data) View(where metric.Where) (*View, error) {
	designs := d.Designs()
	if err := where.Check(view.Declared(metric.ColumnsOf(designs...))); err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	v := &View{Columns: d.Columns, Rows: make([][]int, len(d.Cells)), X: None, Series: None}
	for k := range d.Cells {
		if where.Covers(designs[k]) {
			v.Rows[k] = d.Cells[k].Design
		}
	}
	return v, nil
}

// design is what a cell was run with: what varies, and what does not.
func (d *Data) design(k int) []metric.Field {
	out := append(slices.Clone(d.Same), metric.Field{Name: "algorithm", Value: d.Cells[k].Algorithm})
	for i, c := range d.Columns {
		out = append(out, metric.Field{Name: c.Name, Value: c.Values[d.Cells[k].Design[i]]})
	}
	return out
}

// Headlines are the main metrics of all cells.
func (d *Data) Headlines() []*metric.Metric { return view.Headlines(d.Designs()) }

// Designs are what the cells were run with.
func (d *Data) Designs() [][]metric.Field {
	out := make([][]metric.Field, len(d.Cells))
	for k := range d.Cells {
		out[k] = d.design(k)
	}
	return out
}

// Question lists the metrics that answer what the experiment asks, as far as some cell has
// them: the time by which its algorithms are ranked; and, where things go wrong or the load
// rises for a span of time, how much of its work is done meanwhile, else what an operation
// costs.
func (d *Data) Question() (out []*metric.Metric) {
	add := func(m *metric.Metric) {
		i := slices.Index(d.Metrics, m)
		if i >= 0 && !slices.Contains(out, m) && slices.ContainsFunc(d.Cells, func(c Cell) bool {
			return c.Figures[i].N > 0
		}) {
			out = append(out, m)
		}
	}
	if len(d.Rankings) > 0 {
		add(d.Rankings[0].Metric)
	}
	design := d.design(0)
	table := check.Brief(harness.ScenarioOf(metric.Get(design, "scenario")))
	problem := algo.Problem(metric.Get(design, "problem"))
	for _, m := range append([]*metric.Metric{metric.Ranked(problem)}, metric.Shown(problem, table)...) {
		if len(out) == 0 {
			add(m)
		}
	}
	for _, m := range metric.Headlines(problem, table) {
		done := table != metric.Brief && m.In(table) && !m.In(metric.Brief) && m.Better == metric.Higher
		if one := m.Common(); d.Mixed && one != nil {
			m = one
		}
		if done || table == metric.Brief && m.Claim != "" {
			add(m)
			break
		}
	}
	for _, m := range d.Metrics { // a run of another kind: what there is
		if len(out) == 0 && m.In(metric.Main) {
			add(m)
		}
	}
	return out
}

// Unjudged says how many trials have no verdict, of which the figures of the page say nothing; "" if all
// have one.
func (d *Data) Unjudged() string {
	var words []string
	missing, all := 0, 0
	for i, status := range trace.Statuses() {
		count := 0
		for k := range d.Cells {
			count += d.Cells[k].Statuses[i]
		}
		all += count
		if count > 0 && !status.Judged() {
			missing += count
			words = append(words, fmt.Sprintf("%s %d", status, count))
		}
	}
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%v (%s): all figures are of the others, which may differ from them. Bounds in "+
		"summary.csv limit the difference within the observed range.", view.Caveat{Kind: view.Unjudged,
		Trials: missing, AllTrials: all}, strings.Join(words, ", "))
}

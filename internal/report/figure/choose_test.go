package figure

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/report"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// swept are cells of two algorithms for all values of the columns, with figures of one metric.
func swept(of *metric.Metric, columns ...report.Column) *report.Data {
	labels := report.Column{Name: "label", Values: []string{"bully", "raft"}}
	d := &report.Data{Columns: append([]report.Column{labels}, columns...), Metrics: []*metric.Metric{of}}
	design := make([]int, len(d.Columns))
	for {
		d.Cells = append(d.Cells, report.Cell{Label: labels.Values[design[0]], Design: slices.Clone(design),
			Algorithm: "election/" + labels.Values[design[0]],
			Figures:   []stats.Summary{stats.Describe([]float64{5, 6, 7}, 0)}})
		i := len(design) - 1
		for ; i >= 0 && design[i] == len(d.Columns[i].Values)-1; i-- {
			design[i] = 0
		}
		if i < 0 {
			return d
		}
		design[i]++
	}
}

func numbers(name string, values ...string) report.Column {
	return report.Column{Name: name, Numeric: true, Values: values}
}

var (
	nodes   = numbers("nodes", "3", "5")
	loss    = numbers("loss", "0", "0.01", "0.05", "0.1")
	crashes = numbers("crash_rate", "0", "0.1", "0.5")
	shape   = report.Column{Name: "topology", Values: []string{"ring", "grid"}}
)

// TestChosen: what is drawn against what, in how many panels and lines.
func TestChosen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		of      *metric.Metric
		columns []report.Column
		o       Options
		file    string
		panes   int
		legend  string
		x       string
		notes   string
	}{
		{"the nodes", metric.Downtime, []report.Column{loss, nodes}, Options{}, "downtime_ms-nodes", 4,
			"bully raft", "nodes", ""},
		{"what fails", metric.Availability, []report.Column{nodes, loss}, Options{}, "availability-loss", 2,
			"bully raft", "message loss", ""},
		{"the other rate", metric.Availability, []report.Column{loss, crashes}, Options{X: "faults.crash_rate"},
			"availability-crash_rate", 4, "bully raft", "crash rate (1/s per process)", ""},
		{"a level", metric.Availability, []report.Column{loss, crashes}, Options{X: "crash_rate",
			Where: []metric.Field{{Name: "loss", Value: "0.050"}}}, "availability-crash_rate-loss-0.050", 1,
			"bully raft", "crash rate (1/s per process)", "message loss 0.050"},
		{"two keys besides", metric.Downtime, []report.Column{nodes, loss, crashes}, Options{},
			"downtime_ms-nodes-crash_rate-0", 4, "bully raft", "nodes", "crash rate 0/s"},
		{"one algorithm", metric.Downtime, []report.Column{nodes, loss},
			Options{Where: []metric.Field{{Name: "algorithm", Value: "election/raft"}}},
			"downtime_ms-nodes-by-loss-label-raft", 1, "message loss: 0 0.01 0.05 0.1", "nodes", "raft"},
		{"another series", metric.Downtime, []report.Column{nodes, loss}, Options{Series: "network.loss"},
			"downtime_ms-nodes-by-loss", 2, "message loss: 0 0.01 0.05 0.1", "nodes", ""},
		{"names", metric.Downtime, []report.Column{shape}, Options{X: "topology"}, "downtime_ms-topology", 1,
			"bully raft", "topology", ""},
		{"nothing", metric.Downtime, nil, Options{}, "downtime_ms", 1, "", "downtime (ms)", ""},
		{"algorithms along the axis", metric.Downtime, []report.Column{nodes}, Options{X: "label",
			Series: "nodes"}, "downtime_ms-label-by-nodes", 1, "nodes: 3 5", "algorithm", ""},
	} {
		list, err := pictures(swept(tt.of, tt.columns...), &tt.o)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %d figures, %v", tt.name, len(list), err)
			continue
		}
		p := list[0]
		var legend []string
		for _, e := range p.legend {
			legend = append(legend, e.text)
		}
		notes := strings.TrimSuffix(strings.Join(p.notes, "; "), "the vertical axis starts at 5")
		if p.name != tt.file || len(p.panes) != tt.panes || strings.Join(legend, " ") != tt.legend || p.x != tt.x ||
			strings.TrimSuffix(notes, "; ") != tt.notes {
			t.Errorf("%s: %s of %d panes along %q, legend %q, notes %q", tt.name, p.name, len(p.panes), p.x, legend,
				notes)
		}
		saved(t, list)
	}
}

// TestChosen_OwnOutages: where algorithms mean different outages, a figure of what each means says
// so, and the one that nobody chose has what means one thing for all.
func TestChosen_OwnOutages(t *testing.T) {
	t.Parallel()
	for of, own := range map[*metric.Metric]bool{metric.Availability: true, metric.Agreed.Availability: false} {
		for _, mixed := range []bool{true, false} {
			d := swept(of, nodes)
			d.Mixed = mixed
			list, err := pictures(d, &Options{Metrics: []string{of.Name}})
			if err != nil || len(list) != 1 || slices.Contains(list[0].notes, ownOutages) != (own && mixed) {
				t.Errorf("%s, mixed %v: %+v, %v", of.Name, mixed, list, err)
			}
		}
	}
}

// TestChosen_Mistakes: what cannot be drawn is refused, with what can be chosen.
func TestChosen_Mistakes(t *testing.T) {
	t.Parallel()
	d := swept(metric.Downtime, nodes, loss, crashes)
	for want, o := range map[string]Options{
		`--x los: nothing of that name varies here; did you mean "loss"? (has: label, nodes, loss, crash_rate)`: {X: "los"},
		`--series topology: nothing of that name varies here (has: label, nodes, loss, crash_rate)`:             {Series: "topology"},
		"--metric downtime: unknown metric; did you mean \"downtime_ms\"? (has: downtime_ms)":                   {Metrics: []string{"downtime"}},
		"--metric waiting_ms: no cell has a figure of it (has: downtime_ms)":                                    {Metrics: []string{"waiting_ms"}},
		"--metric rounds: rounds is called message_delays now":                                                  {Metrics: []string{"rounds"}},
		"nodes and crash_rate vary besides the axes, and one of them alone can be drawn as panels: fix another, " +
			"as --where crash_rate=0 (nodes is 3, 5; crash_rate is 0, 0.1, 0.5)": {X: "loss"},
		"--x and --series are both loss: choose another for one of them": {X: "loss", Series: "network.loss"},
		"--where: unknown column \"los\"; did you mean \"loss\"? (has: algorithm, label, nodes, loss, crash_rate)": {
			Where: []metric.Field{{Name: "los", Value: "1"}}},
		"--where: unknown value of nodes \"7\" (has: 3, 5)": {Where: []metric.Field{{Name: "nodes", Value: "7"}}},
	} {
		_, err := pictures(d, &o)
		if !errors.As(err, new(*report.Mistake)) && !errors.As(err, new(*metric.NameError)) || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// TestLookOf: lines whose values are the same can be told apart: each is drawn beside the other,
// and has a mark and dashes of its own.
func TestLookOf(t *testing.T) {
	t.Parallel()
	for i := range 35 {
		for k := range i {
			a, b, differ := lookOf(i), lookOf(k), 0
			for _, d := range []bool{a.color != b.color, a.mark != b.mark, !slices.Equal(a.dash, b.dash)} {
				if d {
					differ++
				}
			}
			if differ < 2 || i < 5 && differ < 3 {
				t.Errorf("lines %d and %d differ in %d of colour, mark and dashes", k, i, differ)
			}
		}
	}
	list, err := pictures(swept(metric.Downtime, nodes), usual())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	var courses []*course
	for _, d := range list[0].panes[0].drawn {
		if c, is := d.(*course); is {
			courses = append(courses, c)
		}
	}
	if len(courses) != 2 || !slices.Equal(courses[0].xys, courses[1].xys) ||
		courses[1].shift-courses[0].shift < courses[0].look.glyph().Radius {
		t.Errorf("want two lines of the same values, drawn half a mark apart: %+v", courses)
	}
}

// TestWrite_Small: each figure that nobody asked for by name is a PDF of at most 30 KB, whatever
// varies.
func TestWrite_Small(t *testing.T) {
	t.Parallel()
	for _, columns := range [][]report.Column{{nodes}, {loss, crashes}, {nodes, loss, crashes}} {
		dir := t.TempDir()
		names, err := Write(swept(metric.Availability, columns...), dir, *usual())
		if err != nil || len(names) != len(formats) {
			t.Fatal(names, err)
		}
		if size := len(read(t, dir, names[slices.Index(formats, "pdf")])); size > 30_000 {
			t.Errorf("%s: %d bytes, want at most 30 KB", names[0], size)
		}
	}
}

// TestLay: a figure is as high as it is asked to be, or says what it takes; a legend of many
// leaves the axes their room.
func TestLay(t *testing.T) {
	t.Parallel()
	p := picture{name: "x", x: "nodes", y: "downtime (ms)", panes: []pane{{x: axis{max: 10}, y: axis{max: 10}}}}
	for range 14 {
		p.legend = append(p.legend, entry{"bully-next-in-line", look{}, lineAndMark})
	}
	l, err := p.lay(0, 0)
	if err != nil || l.tall < 100 || l.legend > l.height*0.4 || l.width != usualWidth {
		t.Errorf("%v: %+v", err, l)
	}
	if l, err := p.lay(0, 90*vg.Millimeter); err != nil || l.height != 90*vg.Millimeter || l.tall < 100 {
		t.Errorf("%v: %+v", err, l)
	}
	p.y = "context switches of the busiest node per operation"
	if l, err := p.lay(0, 0); err != nil || len(l.y) != 2 || titleText.Width(l.y[0]) > l.tall ||
		l.yTitle < 2*titleText.Font.Size {
		t.Errorf("%v: %+v, want a title of two lines beside the axis", err, l)
	}
	if _, err := p.lay(0, 30*vg.Millimeter); err == nil || !strings.Contains(err.Error(), "want 4") {
		t.Errorf("%v, want how many millimetres it takes", err)
	}
	if err := p.save(filepath.Join(t.TempDir(), "x.svg"), "svg", 0, 30*vg.Millimeter); err == nil {
		t.Error("a figure without room was drawn")
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]vg.Length{"85mm": 85 * vg.Millimeter, "3.33in": 3.33 * vg.Inch, "": 0,
		"85": -1, "5mm": -1, "85m": -1, "mm": -1, "NaNmm": -1} {
		got, err := Length(text)
		if (err != nil) != (want < 0) || want >= 0 && got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

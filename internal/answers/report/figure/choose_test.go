package figure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
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
		list, err := Pictures(swept(tt.of, tt.columns...), &tt.o)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %d figures, %v", tt.name, len(list), err)
			continue
		}
		p := list[0]
		var legend []string
		for _, e := range p.Legend {
			legend = append(legend, e.Text)
		}
		notes := strings.TrimSuffix(strings.Join(p.Notes, "; "), "the vertical axis starts at 5")
		if p.Name != tt.file || len(p.Panes) != tt.panes || strings.Join(legend, " ") != tt.legend || p.X != tt.x ||
			strings.TrimSuffix(notes, "; ") != tt.notes {
			t.Errorf("%s: %s of %d panes along %q, legend %q, notes %q", tt.name, p.Name, len(p.Panes), p.X, legend,
				notes)
		}
		saved(t, list)
	}
}

// TestChosen_OwnOutages: where algorithms mean different outages, no figure has what each means.
func TestChosen_OwnOutages(t *testing.T) {
	t.Parallel()
	d := swept(metric.Served.Availability, nodes)
	d.Mixed = true
	if list, err := Pictures(d, &Options{Metrics: []string{"availability_served"}}); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err := Pictures(d, &Options{Metrics: []string{"availability"}})
	if fmt.Sprint(err) != "--metrics "+view.MixedText(metric.Availability) {
		t.Errorf("error %v", err)
	}
}

// TestChosen_Mistakes: what cannot be drawn is refused, with what can be chosen.
func TestChosen_Mistakes(t *testing.T) {
	t.Parallel()
	d := swept(metric.Downtime, nodes, loss, crashes)
	for want, o := range map[string]Options{
		`--x los: no column of that name varies here; did you mean "loss"? (has: label, nodes, loss, crash_rate)`: {X: "los"},
		`--series topology: no column of that name varies here (has: label, nodes, loss, crash_rate)`:             {Series: "topology"},
		"--metrics downtime: unknown metric; did you mean \"downtime_ms\"? (has: downtime_ms)":                    {Metrics: []string{"downtime"}},
		"--metrics waiting_ms: no cell has a figure of it (has: downtime_ms)":                                     {Metrics: []string{"waiting_ms"}},
		"--metrics rounds: rounds is called message_delays now":                                                   {Metrics: []string{"rounds"}},
		"nodes and crash_rate vary besides the axes, and only one of them can be drawn as panels: fix another, " +
			"as --where crash_rate=0 (nodes is 3, 5; crash_rate is 0, 0.1, 0.5)": {X: "loss"},
		"--x and --series are both loss: choose another for one of them": {X: "loss", Series: "network.loss"},
		"--where: unknown column \"los\"; did you mean \"loss\"? (has: algorithm, label, nodes, loss, crash_rate)": {
			Where: []metric.Field{{Name: "los", Value: "1"}}},
		"--where: unknown value of nodes \"7\" (has: 3, 5)": {Where: []metric.Field{{Name: "nodes", Value: "7"}}},
	} {
		_, err := Pictures(d, &o)
		if !errors.As(err, new(*report.Mistake)) && !errors.As(err, new(*metric.NameError)) || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// TestWrite_Small: each figure that nobody asked for by name is a PDF of at most 30 KB, whatever
// varies.
func TestWrite_Small(t *testing.T) {
	t.Parallel()
	for _, columns := range [][]report.Column{{nodes}, {loss, crashes}, {nodes, loss, crashes}} {
		dir := t.TempDir()
		names, _, err := Write(swept(metric.Availability, columns...), dir, *usual())
		if err != nil || len(names) != 3 {
			t.Fatal(names, err)
		}
		if size := len(read(t, dir, names[1])); size > 30_000 {
			t.Errorf("%s: %d bytes, want at most 30 KB", names[0], size)
		}
	}
}

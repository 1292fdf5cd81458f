package figure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestLines: another program gets the axes, titles and notes that a figure of the same cells has,
// and draws them with the same room.
func TestLines(t *testing.T) {
	t.Parallel()
	d := swept(metric.Availability, loss, crashes)
	start := 5.0
	o := &Options{Metrics: []string{"availability"}, X: "loss", YMin: &start}
	list, err := Pictures(d, o)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	v, err := d.View(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Lay(metric.Availability, "loss", ""); err != nil {
		t.Fatal(err)
	}
	groups := Lines(d, v, 0, 100, o)
	if len(groups) != 1 || len(groups[0].Panes) != len(list[0].Panes) || len(groups[0].Shown()) != 2 {
		t.Fatalf("%+v", groups)
	}
	g := groups[0]
	if got := strings.Join(g.Notes, "; "); !slices.Equal(g.Notes, list[0].Notes) ||
		!strings.Contains(got, "the vertical axis starts at 5") {
		t.Errorf("notes %q, want %q", g.Notes, list[0].Notes)
	}
	tex, err := g.TeX(241, 0, "a run", func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"% a run\n", `xticklabels={{0},{\vphantom{0}\\0.01},{0.05},{0.1}}`, "ymin=5, ",
		`\nextgroupplot[title={` + list[0].Panes[0].Title + "}]"} {
		if !strings.Contains(string(tex), want) {
			t.Errorf("no %q in\n%s", want, tex)
		}
	}
}

// TestLines_Many: a pane has six lines at most, each line stands in one pane of each value, and the
// legend says in which.
func TestLines_Many(t *testing.T) {
	t.Parallel()
	d := swept(metric.Downtime, nodes, loss)
	first := d.Cells
	d.Columns[0].Values, d.Cells = nil, nil
	for i := range 14 {
		d.Columns[0].Values = append(d.Columns[0].Values, fmt.Sprintf("raft-%d", i))
		for _, c := range first {
			if c.Design[0] == 0 {
				c.Design = append([]int{i}, c.Design[1:]...)
				d.Cells = append(d.Cells, c)
			}
		}
	}
	list, err := Pictures(d, &Options{})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	if len(list[0].Panes) != 3*len(loss.Values) || list[0].Panes[1].Title != "message loss 0, 2 of 3" {
		t.Fatalf("%d panes, the second %q", len(list[0].Panes), list[0].Panes[1].Title)
	}
	lines := 0
	for _, p := range list[0].Panes {
		if lines += len(p.Lines); len(p.Lines) > chart.MostLines {
			t.Errorf("%s: %d lines", p.Title, len(p.Lines))
		}
	}
	if lines != 14*len(loss.Values) || len(list[0].Shown()) != 14 {
		t.Errorf("%d lines of %d algorithms", lines, len(list[0].Shown()))
	}
	var legend []string
	for _, e := range list[0].Legend {
		legend = append(legend, e.Text)
	}
	if got := strings.Join(legend, " "); !strings.HasPrefix(got, "1 of 3: raft-0 raft-1 raft-2 raft-3  2 of 3: raft-4 ") {
		t.Errorf("legend %s", got)
	}
	saved(t, list)
}

// TestLines_Same: a pane that would show nothing is a sentence, and so is a figure of such panes.
func TestLines_Same(t *testing.T) {
	t.Parallel()
	d := swept(metric.Downtime, nodes, loss)
	calm := stats.Describe([]float64{38, 38, 38}, 0)
	for k := range d.Cells {
		if d.Cells[k].Design[2] == 0 {
			d.Cells[k].Figures[0] = calm
		}
		if d.Cells[k].Design[2] == 1 {
			d.Cells[k].Figures[0] = stats.Describe(nil, 0)
		}
	}
	list, err := Pictures(d, &Options{})
	if err != nil || len(list) != 1 || len(list[0].Panes) != 2 {
		t.Fatal(list, err)
	}
	notes := strings.Join(list[0].Notes, "; ")
	if !strings.HasPrefix(notes, "message loss 0: downtime (ms) is 38 in every trial; message loss 0.01: no trial has a value of downtime") {
		t.Errorf("notes %q", notes)
	}
	for k := range d.Cells {
		d.Cells[k].Figures[0] = calm
	}
	dir := t.TempDir()
	names, instead, err := Write(d, dir, Options{})
	if err != nil || len(names) != 0 || len(instead) != 1 ||
		!strings.HasPrefix(instead[0], "downtime_ms-nodes: downtime (ms) is 38 in every trial") {
		t.Errorf("%v, %q, %v", names, instead, err)
	}
	d.Cells[0].Figures[0] = stats.Describe([]float64{38, 38, 39}, 0) // same median, and not the same
	if names, _, err := Write(d, dir, Options{}); err != nil || len(names) != 3 {
		t.Error(names, err)
	}
}

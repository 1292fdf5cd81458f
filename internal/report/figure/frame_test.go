package figure

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestNewFrame: another program gets the axes, titles, notes and places that a figure of the same
// cells has.
func TestNewFrame(t *testing.T) {
	t.Parallel()
	d := swept(metric.Availability, loss, crashes)
	d.Mixed = true
	start := 5.0
	o := &Options{Metrics: []string{"availability"}, X: "loss", YMin: &start, Width: 85 * vg.Millimeter}
	list, err := pictures(d, o)
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
	var points []Point
	for k, c := range d.Cells {
		points = append(points, Point{X: v.Place(k), Y: c.Figures[0].Median, Low: c.Figures[0].CILow,
			High: c.Figures[0].CIHigh})
	}
	var titles []string
	for _, p := range list[0].panes {
		titles = append(titles, p.title)
	}
	f, err := NewFrame(v, metric.Availability, nil, titles, []int{0, 1}, points, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := list[0].lay(o.Width, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := list[0].panes[0]
	if f.Width != l.width || f.Wide != l.wide || f.Tall != l.tall || f.Columns != l.columns || f.Rows != l.rows ||
		f.X.Min != first.x.min || f.X.Max != first.x.max || f.Y.Min != first.y.min || f.Y.Max != first.y.max {
		t.Errorf("%+v\nis not as %+v", f, l)
	}
	if !slices.Equal(f.X.Texts, []string{"0", "0.01", "0.05", "0.1"}) ||
		!slices.Equal(f.X.Low, []bool{false, true, false, false}) {
		t.Errorf("ticks %q, low %v", f.X.Texts, f.X.Low)
	}
	if got, want := strings.Join(f.Notes, " "), strings.Join(list[0].notes, "; "); got != want ||
		!strings.Contains(got, ownOutages) || !strings.Contains(got, "the vertical axis starts at 5") {
		t.Errorf("notes %q, want %q", got, want)
	}
}

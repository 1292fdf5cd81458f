package figure

import (
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestLines: another program gets the axes, titles and notes that a figure of the same cells has,
// and draws them with the same room.
func TestLines(t *testing.T) {
	t.Parallel()
	d := swept(metric.Availability, loss, crashes)
	d.Mixed = true
	start := 5.0
	o := &Options{Metrics: []string{"availability"}, X: "loss", YMin: &start}
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
	groups := Lines(d, v, 0, 100, o)
	if len(groups) != 1 || len(groups[0].Panes) != len(list[0].Panes) || len(groups[0].Shown()) != 2 {
		t.Fatalf("%+v", groups)
	}
	g := groups[0]
	if got := strings.Join(g.Notes, "; "); !slices.Equal(g.Notes, list[0].Notes) ||
		!strings.Contains(got, ownOutages) || !strings.Contains(got, "the vertical axis starts at 5") {
		t.Errorf("notes %q, want %q", g.Notes, list[0].Notes)
	}
	tex, err := g.TeX(241, 0, "a run", func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"% a run\n", `xticklabels={{0},{\vphantom{0}\\0.01},{0.05},{0.1}}`, "ymin=5, ",
		"by its own definition", `\nextgroupplot[title={` + list[0].Panes[0].Title + "}]"} {
		if !strings.Contains(string(tex), want) {
			t.Errorf("no %q in\n%s", want, tex)
		}
	}
}

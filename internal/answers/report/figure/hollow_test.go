package figure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
)

// doubted is the sample, in which the cells have caveats that when says.
func doubted(when func(c *report.Cell) []view.Caveat) *report.Data {
	d := sample()
	for i := range d.Cells {
		d.Cells[i].Caveats = when(&d.Cells[i])
	}
	return d
}

// note is that on hollow points; "" if there is none.
func note(c *chart.Chart) (text string) {
	for _, n := range c.Notes {
		if strings.HasPrefix(n, "hollow: ") {
			text += n
		}
	}
	return text
}

// TestHollow: a note names the points that are hollow by their lines and places, with the worst number; and
// these points and no others are hollow.
func TestHollow(t *testing.T) {
	t.Parallel()
	outside := []view.Caveat{{Kind: view.OutsideModel, Trials: 7, AllTrials: 7}}
	unjudged := func(n int) []view.Caveat {
		return []view.Caveat{{Kind: view.Unjudged, Trials: n, AllTrials: 50}}
	}
	const label, nodes, loss = 0, 1, 2
	for name, test := range map[string]struct {
		when func(c *report.Cell) []view.Caveat
		want string
	}{
		"none": {func(*report.Cell) []view.Caveat { return nil }, ""},
		"all":  {func(*report.Cell) []view.Caveat { return outside }, "outside the algorithm's model (all points)"},
		"a panel of a line": {func(c *report.Cell) []view.Caveat {
			if c.Design[label] == 0 && c.Design[loss] == 1 {
				return outside
			}
			return nil
		}, "outside the algorithm's model (bully at message loss 0.1)"},
		"a span of both": {func(c *report.Cell) []view.Caveat {
			if c.Design[nodes] < 2 {
				return unjudged(16 - c.Design[nodes])
			}
			return nil
		}, "up to 16 of 50 trials have no verdict (bully at 3 to 5 nodes; ring, <b>)"},
		"a point, and a line": {func(c *report.Cell) []view.Caveat {
			switch {
			case c.Design[label] == 0 && c.Design[nodes] == 2 && c.Design[loss] == 0:
				return unjudged(16)
			case c.Design[label] == 1:
				return []view.Caveat{{Kind: view.Broken, Trials: 1, AllTrials: 50}}
			}
			return nil
		}, "16 of 50 trials have no verdict (bully at 9 nodes, message loss 0), " +
			"1 of 50 trials broke a promise (ring, <b>)"},
		"no pattern": {func(c *report.Cell) []view.Caveat {
			if c.Design[label] == 0 && (c.Design[nodes]+c.Design[loss])%2 == 1 {
				return outside
			}
			return nil
		}, "outside the algorithm's model (bully, 3 of 6 points)"},
	} {
		d := doubted(test.when)
		list, err := Pictures(d, &Options{Metrics: []string{"election_ms"}})
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		if got := strings.TrimPrefix(note(&list[0]), "hollow: "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		for _, p := range list[0].Panes {
			for _, l := range p.Lines {
				for _, q := range l.Points {
					if q.Hollow != (len(d.Cells[q.Cell].Caveats) > 0) {
						t.Errorf("%s: the point of cell %d: hollow %v", name, q.Cell, q.Hollow)
					}
				}
			}
		}
	}
}

// crowd is the sample with so many algorithms, of which each second one is beyond its model.
func crowd(n int) *report.Data {
	d := sample()
	first := slices.DeleteFunc(d.Cells, func(c report.Cell) bool { return c.Design[0] != 0 })
	d.Columns[0].Values, d.Cells = nil, nil
	for i := range n {
		name := fmt.Sprintf("raft-%d", i)
		d.Columns[0].Values = append(d.Columns[0].Values, name)
		for _, c := range first {
			c.Label, c.Design = name, append([]int{i}, c.Design[1:]...)
			if i%2 == 1 {
				c.Caveats = []view.Caveat{{Kind: view.OutsideModel, Trials: 7, AllTrials: 7}}
			}
			d.Cells = append(d.Cells, c)
		}
	}
	return d
}

// TestCrowd: distributions, faults and fronts of many algorithms stand in panes of six at most, which the
// legend explains, and their hollow marks are counted.
func TestCrowd(t *testing.T) {
	t.Parallel()
	list := everything(t, crowd(9))
	seen := 0
	check := func(c *chart.Chart, each, more int) {
		t.Helper()
		if len(c.Panes) != 2 || c.Panes[0].Title != "1 of 2" || c.Panes[1].Title != "2 of 2" {
			t.Fatalf("%s: %d panes, the first %q", c.Name, len(c.Panes), c.Panes[0].Title)
		}
		for i, p := range c.Panes {
			if want := []int{4, 5}[i]*each + more; len(p.Drawn) != want {
				t.Errorf("%s: pane %d has %d parts, want %d", c.Name, i, len(p.Drawn), want)
			}
		}
		var texts []string
		for _, e := range c.Legend {
			texts = append(texts, e.Text)
		}
		want := "1 of 2: raft-0 raft-1 raft-2 raft-3  2 of 2: raft-4 raft-5 raft-6 raft-7 raft-8"
		if got := strings.Join(texts, " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: legend %q", c.Name, got)
		}
		if _, err := c.Render("svg", 0, 0); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	for i := range list {
		switch c := &list[i]; {
		case strings.HasPrefix(c.Name, "ecdf-") || strings.HasPrefix(c.Name, "tail-"):
			seen++
			check(c, 2, 0) // a line and a mark
			if want := "hollow: outside the algorithm's model (4 of 9 points)"; note(c) != want {
				t.Errorf("%s: %q", c.Name, note(c))
			}
		case strings.HasPrefix(c.Name, "faults-"):
			seen++
			check(c, 6, 1) // a point of each cell, and the line on which they should be
			if want := "hollow: outside the algorithm's model (24 of 54 points)"; note(c) != want {
				t.Errorf("%s: %q", c.Name, note(c))
			}
		}
	}
	if seen != 14 {
		t.Errorf("%d figures of distributions and faults", seen)
	}
	var fronts []Front
	for i := range 9 {
		fronts = append(fronts, Front{fmt.Sprintf("raft-%d", i), []Tradeoff{{1, 1, 1, 2, 2, 2}}})
	}
	p, _ := frontPicture("front", "x", "y", 1, fronts)
	check(&p, 4, 1) // a line, a mark and two intervals; and the budget
	if last := p.Legend[len(p.Legend)-1]; !slices.ContainsFunc(p.Legend, func(e chart.Entry) bool {
		return e.Text == "budget"
	}) || last.Shows != chart.OnlyText {
		t.Errorf("legend %+v", p.Legend)
	}
}

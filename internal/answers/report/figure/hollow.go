package figure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
)

// hollows are the points of a figure, of which a note says why some are hollow.
type hollows struct {
	view   *report.View
	points []hollowPoint
}

type hollowPoint struct {
	line    string
	at      []int // levels of the columns that have an axis or panels
	caveats []view.Caveat
}

// columns are those by which the points of a line are told apart.
func (h *hollows) columns() (out []report.Column) {
	if h.view.X != report.None {
		out = append(out, h.view.Columns[h.view.X])
	}
	if len(h.view.Split) > 0 {
		out = append(out, h.view.Columns[h.view.Split[0]])
	}
	return out
}

// lines adds those of a panel.
func (h *hollows) lines(d *report.Data, p *panel) {
	v := h.view
	for _, l := range p.lines {
		name := ""
		if v.Series != report.None {
			name = report.Level(v.Columns[v.Series].Name, l.Name)
		}
		for _, q := range l.Points {
			point := hollowPoint{line: name, caveats: d.Cells[q.Cell].Caveats}
			if v.X != report.None {
				point.at = append(point.at, v.Rows[q.Cell][v.X])
			}
			if len(v.Split) > 0 {
				point.at = append(point.at, v.Rows[q.Cell][v.Split[0]])
			}
			h.points = append(h.points, point)
		}
	}
}

// add adds a point of a cell that stands alone.
func (h *hollows) add(c *report.Cell) {
	h.points = append(h.points, hollowPoint{line: c.Label, caveats: c.Caveats})
}

// mostSubjects is how many lines a note names; of more it says how many points they have.
const mostSubjects = 3

// notes say which points are hollow, and why; nothing if none is.
func (h *hollows) notes() []string {
	var clauses []string
	for kind := range view.CaveatTexts {
		var hollow []hollowPoint
		var worst view.Caveat
		alike := true
		for _, p := range h.points {
			for _, c := range p.caveats {
				if c.Kind != view.CaveatKind(kind) {
					continue
				}
				if len(hollow) > 0 && c != worst {
					alike = false
				}
				hollow = append(hollow, p)
				if len(hollow) == 1 || c.Trials*worst.AllTrials > worst.Trials*c.AllTrials {
					worst = c
				}
			}
		}
		if len(hollow) == 0 {
			continue
		}
		text := worst.String()
		if worst.Kind != view.OutsideModel && !alike {
			text = "up to " + text
		}
		clauses = append(clauses, text+" ("+h.which(hollow)+")")
	}
	if clauses == nil {
		return nil
	}
	return []string{"hollow: " + strings.Join(clauses, ", ")}
}

// which names hollow points: by their lines and their places, or, if that takes long, by their number.
func (h *hollows) which(hollow []hollowPoint) string {
	if len(hollow) == len(h.points) {
		return "all points"
	}
	lines := distinct(hollow, func(p hollowPoint) string { return p.line })
	if len(lines) > mostSubjects {
		return fmt.Sprintf("%d of %d points", len(hollow), len(h.points))
	}
	var places []string
	names := map[string][]string{} // by place
	for _, name := range lines {
		of := func(p hollowPoint) bool { return p.line == name }
		place := h.place(kept(hollow, of), kept(h.points, of))
		if names[place] == nil {
			places = append(places, place)
		}
		names[place] = append(names[place], name)
	}
	for i, place := range places {
		places[i] = strings.TrimSpace(listed(names[place]) + place)
		if len(names[place]) > 1 && strings.HasSuffix(place, "points") {
			places[i] += " each"
		}
	}
	return strings.Join(places, "; ")
}

// place is where the hollow ones of a line stand; "" if all are hollow.
func (h *hollows) place(hollow, all []hollowPoint) string {
	if len(hollow) == len(all) {
		return ""
	}
	there := all // in places that have the levels of hollow ones
	var words []string
	for i, column := range h.columns() {
		if len(all[0].at) <= i {
			break // they have no place of their own
		}
		level := func(p hollowPoint) int { return p.at[i] }
		levels := distinct(hollow, level)
		there = kept(there, func(p hollowPoint) bool { return slices.Contains(levels, p.at[i]) })
		if len(levels) < len(distinct(all, level)) {
			words = append(words, spanned(&column, levels, distinct(h.points, level)))
		}
	}
	if len(there) > len(hollow) {
		return fmt.Sprintf(", %d of %d points", len(hollow), len(all))
	}
	return " at " + strings.Join(words, ", ")
}

// spanned are levels of a column in words, as "5 to 9 nodes": of numbers, those that follow each other among
// all that are shown are one span.
func spanned(column *report.Column, levels, all []int) string {
	slices.Sort(levels)
	slices.Sort(all)
	var spans []string
	for i := 0; i < len(levels); i++ {
		first := i
		for next := slices.Index(all, levels[i]) + 1; column.Numeric && i+1 < len(levels) &&
			levels[i+1] == all[next]; next++ {
			i++
		}
		text := column.Values[levels[first]]
		if i > first {
			text += " to " + column.Values[levels[i]]
		}
		spans = append(spans, text)
	}
	if column.Name == "nodes" {
		return listed(spans) + " nodes"
	}
	return report.Level(column.Name, listed(spans))
}

// listed are words as "a, b and c".
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func kept(points []hollowPoint, keep func(hollowPoint) bool) (out []hollowPoint) {
	for _, p := range points {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}

// distinct are what points have of something, each once.
func distinct[T comparable](points []hollowPoint, of func(hollowPoint) T) (out []T) {
	for _, p := range points {
		if v := of(p); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

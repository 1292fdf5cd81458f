package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// row is a line of a name through values at 0, 1, 2, ...
func row(level int, name string, ys ...float64) Line {
	l := Line{Level: level, Name: name}
	for i, y := range ys {
		l.Points = append(l.Points, Point{X: float64(i), Y: y, Low: math.NaN(), High: math.NaN()})
	}
	return l
}

// TestLabels: lines that lie on each other are named beside them, where no line is, or else in a note.
func TestLabels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		lines []Line
		want  string // names in the pane; in brackets: in a note
	}{
		{"apart", []Line{row(0, "a", 10, 20, 30), row(1, "b", 80, 70, 60)}, ""},
		{"they cross", []Line{row(0, "a", 10, 50, 90), row(1, "b", 90, 50, 10)}, ""},
		{"on each other", []Line{row(0, "a", 10, 20, 30), row(1, "b", 80, 70, 60), row(2, "c", 10, 20, 31)}, "a, c"},
		{"two pairs", []Line{row(0, "a", 10, 10), row(1, "b", 60, 60), row(2, "c", 10, 10), row(3, "d", 60, 60)},
			"a, c; b, d"},
		{"no room", []Line{row(0, "a", 50, 50), row(1, "b", 50, 50), row(2, "c", 40, 40), row(3, "d", 60, 60),
			row(4, "e", 25, 25), row(5, "f", 75, 75)}, "(a, b)"},
	} {
		s := Scale{X: Axis{Min: -0.1, Max: 2.1}, Y: Axis{Min: 0, Max: 100}}
		c := Chart{Name: "x", X: "x", Y: "y"}
		c.Add(&s, "", "", tt.lines)
		l, err := c.lay(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, label := range c.Panes[0].labels(l.wide, l.tall) {
			name := label.names
			if !label.free {
				name = "(" + name + ")"
			} else if label.box.Min.X < 0 || label.box.Max.X > l.wide || label.box.Min.Y < 0 || label.box.Max.Y > l.tall {
				t.Errorf("%s: a label beyond the pane: %+v", tt.name, label.box)
			}
			got = append(got, name)
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s: labels %q, want %q", tt.name, text, tt.want)
		}
		notes := strings.Join(l.notes, " ")
		if noted := strings.Contains(notes, "on each other: a, b"); noted != strings.HasPrefix(tt.want, "(") {
			t.Errorf("%s: notes %q", tt.name, notes)
		}
		tex, err := c.TeX(0, 0, "", strings.Clone)
		if written := strings.Count(string(tex), "(rel axis cs:"); err != nil ||
			written != len(got)-strings.Count(tt.want, "(") {
			t.Errorf("%s: %d labels for TeX, %v", tt.name, written, err)
		}
	}
}

// TestMarks: on an axis of numbers the marks of all lines stand at their values, whoever else is there.
func TestMarks(t *testing.T) {
	t.Parallel()
	s := Scale{X: Axis{Min: -0.5, Max: 2.5}, Y: Axis{Min: 0, Max: 100}}
	alone, all := Chart{X: "x", Y: "y"}, Chart{X: "x", Y: "y"}
	alone.Add(&s, "", "", []Line{row(0, "a", 1, 2, 3)})
	all.Add(&s, "", "", []Line{row(0, "a", 1, 2, 3), row(1, "b", 31, 32, 33), row(2, "c", 71, 72, 73)})
	glyphs := func(c *Chart) (out []string) {
		file, err := c.Render("svg", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(file)) {
			if strings.Contains(line, "fill:#0072B2") {
				out = append(out, line)
			}
		}
		return out
	}
	if a, b := glyphs(&alone), glyphs(&all); len(a) != 3 || !slices.Equal(a, b) {
		t.Errorf("marks alone\n%s\nbeside others\n%s", a, b)
	}
	tex, err := all.TeX(0, 0, "", strings.Clone)
	if err != nil || strings.Contains(string(tex), "forget plot, xshift") {
		t.Errorf("%v: shifted in\n%s", err, tex)
	}
}

// TestArrange: the parts of a legend begin its columns, where they fit.
func TestArrange(t *testing.T) {
	t.Parallel()
	entries := make([]Entry, 9)
	for i := range entries {
		entries[i].Text = "raft"
	}
	at, tall := arrange(entries, 300, 3)
	if at[3].Y != 0 || at[6].Y != 0 || at[3].X == 0 || tall != 3*legendRow {
		t.Errorf("%v, %v", at, tall)
	}
	if at, _ := arrange(entries, 50, 3); at[3].X != 0 {
		t.Errorf("%v, want one column", at)
	}
}

package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestScale: values that are far apart get an axis in decades, unless one is 0; claims
// far beyond what was measured do not widen it.
func TestScale(t *testing.T) {
	t.Parallel()
	of := func(ys ...float64) Line {
		var l Line
		for i, y := range ys {
			l.Points = append(l.Points, Point{X: float64(i), Y: y, Low: math.NaN(), High: math.NaN()})
		}
		return l
	}
	for _, tt := range []struct {
		name        string
		l           Line
		log         bool
		bottom, top float64
	}{
		{"near", of(2, 37), false, 0, 40},
		{"far", of(2, 3700), true, 2, 4000},
		{"far with a zero", of(0, 2, 3700), false, 0, 4000},
		{"nothing happened", of(0, 0), false, 0, 1},
		{"an interval", Line{Points: []Point{{X: 3, Y: 10, Low: 9, High: 55}}}, false, 0, 60},
		{"together", of(0.943, 0.99, 1), false, 0.94, 1},
		{"below 0", of(-0.3, 0.5), false, -0.3, 0.5},
	} {
		s := ScaleOf([]Line{tt.l}, nil, nil)
		if s.Y.Log != tt.log || math.Abs(s.Y.Min-tt.bottom) > 1e-9 || math.Abs(s.Y.Max-tt.top) > 1e-9 {
			t.Errorf("%s: %+v", tt.name, s.Y)
		}
		if told := len(s.Notes()) > 0; told != (tt.bottom > 0 && !tt.log) {
			t.Errorf("%s: an axis that does not start at 0 has to say so: %v", tt.name, s.Notes())
		}
	}
	bottom, top := 0.5, 2.0
	if s := ScaleOf([]Line{of(1, 3)}, &bottom, &top); s.Y.Min != 0.5 || s.Y.Max != 2 {
		t.Errorf("%+v, want the axis that was asked for", s.Y)
	}
}

func ticksAt(values ...float64) (out []Tick) {
	for _, v := range values {
		out = append(out, Tick{At: v, Text: Number(v)})
	}
	return out
}

// TestXTicks: a swept value that has no room beside the others stands below them, if there is
// room; the axis has room for both rows.
func TestXTicks(t *testing.T) {
	t.Parallel()
	p := Pane{X: Axis{Min: -0.007, Max: 0.107, Ticks: ticksAt(0, 0.01, 0.05, 0.1)}}
	var rows [2]string
	for _, tick := range p.xTicks(95) {
		row := 0
		if tick.Low {
			row = 1
		}
		rows[row] += tick.Text + " "
	}
	if rows != [2]string{"0 0.05 0.1 ", "0.01 "} {
		t.Errorf("rows %q", rows)
	}
	if one, two := p.xRoom(400), p.xRoom(95); two-one != ticksText.Font.Size {
		t.Errorf("%v points of room for one row, %v for two", one, two)
	}
}

// TestMarked: a tick keeps its place, and its text if that does not overlap another; the ends
// always have theirs.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		of   Axis
		want string
	}{
		{"values", Axis{Min: 0, Max: 10, Ticks: ticksAt(0, 0.5, 1, 5, 9.9, 10)}, "0 1 5 10"},
		{"round", Axis{Min: 0, Max: 40}, "0 10 20 30 40"},
		{"zoomed", Axis{Min: 0.94, Max: 1}, "0.94 0.96 0.98 1"},
		{"ends as asked for", Axis{Min: 0.93, Max: 0.995}, "0.93 0.96 0.98 0.995"},
		{"decades", Axis{Min: 2, Max: 5000, Log: true}, "2 10 100 1000 5000"},
		{"within a decade", Axis{Min: 2, Max: 7, Log: true}, "2 5 7"},
	} {
		var got []string
		for _, tick := range tt.of.marked(100, func(text string) vg.Length { return vg.Length(4 * len(text)) }) {
			if tick.Text != "" {
				got = append(got, tick.Text)
			}
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: ticks %s, want %s", tt.name, text, tt.want)
		}
	}
}

// TestLookOf: lines can be told apart without their colours, by their marks and dashes.
func TestLookOf(t *testing.T) {
	t.Parallel()
	for i := range 35 {
		for k := range i {
			a, b, differ := LookOf(i), LookOf(k), 0
			for _, d := range []bool{a.Color != b.Color, a.Mark != b.Mark, !slices.Equal(a.Dash, b.Dash)} {
				if d {
					differ++
				}
			}
			if differ < 2 || i < 5 && differ < 3 {
				t.Errorf("lines %d and %d differ in %d of colour, mark and dashes", k, i, differ)
			}
		}
	}
}

// TestLay: a figure is as high as it is asked to be, or says what it takes; a legend of many
// leaves the axes their room.
func TestLay(t *testing.T) {
	t.Parallel()
	p := Chart{Name: "x", X: "nodes", Y: "downtime (ms)", Panes: []Pane{{X: Axis{Max: 10}, Y: Axis{Max: 10}}}}
	for range 14 {
		p.Legend = append(p.Legend, Entry{Text: "bully-next-in-line"})
	}
	l, err := p.lay(0, 0)
	if err != nil || l.tall < 100 || l.legend > l.height*0.4 || l.width != usualWidth {
		t.Errorf("%v: %+v", err, l)
	}
	if l, err := p.lay(0, 90*vg.Millimeter); err != nil || l.height != 90*vg.Millimeter || l.tall < 100 {
		t.Errorf("%v: %+v", err, l)
	}
	p.Y = "context switches of the busiest node per operation"
	if l, err := p.lay(0, 0); err != nil || len(l.y) != 2 || titleText.Width(l.y[0]) > l.tall ||
		l.yTitle < 2*titleText.Font.Size {
		t.Errorf("%v: %+v, want a title of two lines beside the axis", err, l)
	}
	if _, err := p.lay(0, 30*vg.Millimeter); err == nil || !strings.Contains(err.Error(), "expected 4") {
		t.Errorf("%v, want how many millimetres it takes", err)
	}
	if _, err := p.Render("svg", 0, 30*vg.Millimeter); err == nil {
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

package chart

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestGlyphs: each mark is another shape in every format, and an area that can be hollow: then its middle is
// white, and its outline has its colour.
func TestGlyphs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range marks {
		m, look := &marks[i], LookOf(i)
		for _, name := range []string{m.path(), m.tex + m.turned()} {
			if seen[name] {
				t.Errorf("mark %d is %s, as another one is", i, name)
			}
			seen[name] = true
		}
		if !strings.HasSuffix(m.tex, "*") || !strings.HasSuffix(m.path(), "z") {
			t.Errorf("mark %d is no area: %s, %s", i, m.tex, m.path())
		}
		picture := map[bool]string{}
		for _, hollow := range []bool{false, true} {
			c := vgimg.NewWith(vgimg.UseWH(20, 20), vgimg.UseDPI(288))
			d := draw.New(c)
			glyph := look.Glyph(hollow)
			glyph.Radius = 6
			d.DrawGlyph(glyph, vg.Point{X: 10, Y: 10})
			middle := c.Image().At(40, 40)
			r, g, b, _ := middle.RGBA()
			if white := r&g&b == 0xffff; white != hollow {
				t.Errorf("mark %d, hollow %v: the middle is %v", i, hollow, middle)
			}
			ink := 0
			for x := range 80 {
				for y := range 80 {
					if color.RGBAModel.Convert(c.Image().At(x, y)) == look.Color {
						ink++
					}
				}
			}
			if ink < 50 {
				t.Errorf("mark %d, hollow %v: %d dots have its colour", i, hollow, ink)
			}
			picture[hollow] = fmt.Sprint(ink)
		}
		if picture[true] == picture[false] {
			t.Errorf("mark %d is the same hollow and filled", i)
		}
	}
	pages := Looks().(map[string]any)["marks"].([]map[string]string)
	for i, m := range pages {
		if m["path"] != marks[i].path() || !strings.Contains(TeX(i), "mark="+marks[i].tex+",") {
			t.Errorf("mark %d: a page has %s, TikZ %s", i, m["path"], TeX(i))
		}
	}
}

// TestParted: no part has more lines than a pane takes, and each line is in one.
func TestParted(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		lines := make([]int, n)
		for i := range lines {
			lines[i] = i
		}
		parts, names := Parted(lines)
		next := 0
		for i, part := range parts {
			if len(part) > MostLines || len(part) == 0 && n > 0 {
				t.Errorf("%d lines: part %d has %d", n, i, len(part))
			}
			for _, line := range part {
				if line != next {
					t.Errorf("%d lines: %d stands where %d should", n, line, next)
				}
				next++
			}
			if want := fmt.Sprintf("%d of %d", i+1, len(parts)); n > MostLines && names[i] != want ||
				n <= MostLines && names[i] != "" {
				t.Errorf("%d lines: part %d is called %q", n, i, names[i])
			}
		}
		if next != n || len(parts) != max(1, (n+MostLines-1)/MostLines) {
			t.Errorf("%d lines: %d in %d parts", n, next, len(parts))
		}
	}
}

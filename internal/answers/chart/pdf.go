package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A pdf is a page that the library draws on. The library's own embeds whole fonts, 200 KB of
// them, knows no signs but those of Windows, and writes the time into the file. This one has
// the glyphs that it uses, and text that can be searched and copied.
type pdf struct {
	*fpdf.Fpdf
	width, height vg.Length
	fonts         []string
	line          []vg.Length // widths of lines: the current one, behind those to come back to
}

func newPDF(w, h vg.Length) *pdf {
	size := fpdf.SizeType{Wd: w.Points(), Ht: h.Points()}
	p := &pdf{fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: size}), w, h, nil, make([]vg.Length, 1)}
	p.SetCatalogSort(true) // the same file for the same chart
	p.SetCreationDate(time.Unix(0, 0).UTC())
	p.SetModificationDate(time.Unix(0, 0).UTC())
	p.SetAutoPageBreak(false, 0)
	p.AddPage()
	vg.Initialize(p)
	return p
}

// op writes an operator behind its operands.
func (p *pdf) op(operator string, operands ...float64) {
	text := ""
	for _, v := range operands {
		text += decimal(v) + " "
	}
	p.RawWriteStr(text + operator)
}

// decimal is v as PDF has numbers: without an exponent.
func decimal(v float64) string {
	text := fmt.Sprintf("%.3f", v)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

func (p *pdf) Size() (w, h vg.Length) { return p.width, p.height }

func (p *pdf) SetLineWidth(w vg.Length) {
	p.line[len(p.line)-1] = w
	p.op("w", w.Points())
}

func (p *pdf) SetLineDash(dashes []vg.Length, offset vg.Length) {
	text := "[ "
	for _, d := range dashes {
		text += decimal(d.Points()) + " "
	}
	p.RawWriteStr(text + "] " + decimal(offset.Points()) + " d")
}

func (p *pdf) SetColor(c color.Color) {
	if c == nil {
		c = color.Black
	}
	r, g, b, _ := c.RGBA()
	for _, operator := range []string{"rg", "RG"} { // of areas, of lines
		p.op(operator, float64(r)/math.MaxUint16, float64(g)/math.MaxUint16, float64(b)/math.MaxUint16)
	}
}

func (p *pdf) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	p.RawWriteStr(fmt.Sprintf("%.6f %.6f %.6f %.6f 0 0 cm", cos, sin, -sin, cos))
}

func (p *pdf) Translate(to vg.Point) { p.op("cm", 1, 0, 0, 1, to.X.Points(), to.Y.Points()) }

func (p *pdf) Scale(x, y float64) { p.op("cm", x, 0, 0, y, 0, 0) }

func (p *pdf) Push() {
	p.line = append(p.line, p.line[len(p.line)-1])
	p.op("q")
}

func (p *pdf) Pop() {
	p.line = p.line[:len(p.line)-1]
	p.op("Q")
}

func (p *pdf) Stroke(path vg.Path) {
	if p.line[len(p.line)-1] > 0 {
		p.path(path)
		p.op("S")
	}
}

func (p *pdf) Fill(path vg.Path) {
	p.path(path)
	p.op("f")
}

// DrawImage is not needed: no figure has an image.
func (p *pdf) DrawImage(vg.Rectangle, image.Image) { panic("figure: an image in a PDF") }

func (p *pdf) path(path vg.Path) {
	at := vg.Point{}
	to := func(operator string, points ...vg.Point) {
		var v []float64
		for _, q := range points {
			v = append(v, q.X.Points(), q.Y.Points())
		}
		p.op(operator, v...)
		at = points[len(points)-1]
	}
	for _, c := range path {
		switch c.Type {
		case vg.MoveComp:
			to("m", c.Pos)
		case vg.LineComp:
			to("l", c.Pos)
		case vg.CurveComp:
			first, second := c.Control[0], c.Control[len(c.Control)-1]
			if len(c.Control) == 1 { // a parabola, as a cubic
				first, second = toward(at, c.Control[0]), toward(c.Pos, c.Control[0])
			}
			to("c", first, second, c.Pos)
		case vg.ArcComp:
			on := func(angle float64, tangent float64) vg.Point {
				sin, cos := math.Sincos(angle)
				return vg.Point{X: c.Pos.X + c.Radius*vg.Length(cos-float64(tangent*sin)),
					Y: c.Pos.Y + c.Radius*vg.Length(sin+float64(tangent*cos))}
			}
			to("l", on(c.Start, 0))
			parts := math.Ceil(math.Abs(c.Angle) / (math.Pi / 2))
			part := c.Angle / max(parts, 1)
			k := 4. / 3 * math.Tan(part/4) // how far the controls of a cubic are along the tangents
			for i := range int(parts) {
				from := c.Start + float64(float64(i)*part)
				to("c", on(from, k), on(from+part, -k), on(from+part, 0))
			}
		case vg.CloseComp:
			p.op("h")
		}
	}
}

// toward is two thirds of the way from a to b.
func toward(a, b vg.Point) vg.Point { return a.Add(b.Sub(a).Scale(2. / 3)) }

func (p *pdf) FillString(f font.Face, at vg.Point, text string) {
	name := string(f.Font.Typeface) + string(f.Font.Variant)
	if !slices.Contains(p.fonts, name) {
		var source bytes.Buffer
		if _, err := f.Face.WriteSourceTo(nil, &source); err != nil {
			panic(err)
		}
		p.AddUTF8FontFromBytes(name, "", source.Bytes())
		p.fonts = append(p.fonts, name)
	}
	p.SetFont(name, "", f.Font.Size.Points())
	p.Text(at.X.Points(), (p.height - at.Y).Points(), strings.Map(func(r rune) rune {
		if i, err := f.Face.GlyphIndex(nil, r); err != nil || i == 0 {
			return '?' // the font has no such sign
		}
		return r
	}, text))
}

// WriteTo writes the file.
func (p *pdf) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if err := p.Output(&b); err != nil {
		return 0, err
	}
	return b.WriteTo(w)
}

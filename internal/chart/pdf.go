package chart

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A pdf is a page that the library draws on. The library's own embeds whole fonts, 200 KB of
// them, knows no signs but those of Windows, and writes the time into the file. This one has
// the glyphs that it uses, and text that can be searched and copied.
type pdf struct {
	width, height vg.Length
	content       bytes.Buffer
	fonts         []*subset
	line          []vg.Length // widths of lines: the current one, behind those to come back to
}

func newPDF(w, h vg.Length) *pdf {
	p := &pdf{width: w, height: h, line: make([]vg.Length, 1)}
	vg.Initialize(p)
	return p
}

// op writes an operator behind its operands.
func (p *pdf) op(operator string, operands ...float64) {
	for _, v := range operands {
		p.content.WriteString(decimal(v) + " ")
	}
	p.content.WriteString(operator + "\n")
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
	p.content.WriteString("[ ")
	for _, d := range dashes {
		p.content.WriteString(decimal(d.Points()) + " ")
	}
	p.content.WriteString("] ")
	p.op("d", offset.Points())
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
	p.content.WriteString(fmt.Sprintf("%.6f %.6f %.6f %.6f 0 0 cm\n", cos, sin, -sin, cos))
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
		for _, q := range points {
			p.content.WriteString(decimal(q.X.Points()) + " " + decimal(q.Y.Points()) + " ")
		}
		p.content.WriteString(operator + "\n")
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
	i := slices.IndexFunc(p.fonts, func(s *subset) bool { return s.face.Face == f.Face })
	if i < 0 {
		i, p.fonts = len(p.fonts), append(p.fonts, newSubset(f))
	}
	fmt.Fprintf(&p.content, "BT /F%d %s Tf %s %s Td <%s> Tj ET\n", i, decimal(f.Font.Size.Points()),
		decimal(at.X.Points()), decimal(at.Y.Points()), p.fonts[i].encode(text))
}

// WriteTo writes the file.
func (p *pdf) WriteTo(w io.Writer) (int64, error) {
	const catalog, pages, page, content, rest = 1, 2, 3, 4, 5
	objects := []string{catalog: "<</Type/Catalog/Pages 2 0 R>>",
		pages: "<</Type/Pages/Kids[3 0 R]/Count 1>>", content: stream("", p.content.Bytes())}
	fonts := ""
	for i, s := range p.fonts {
		first := rest + i*partsOfFont
		fonts += fmt.Sprintf("/F%d %d 0 R", i, first)
		objects = append(objects, s.objects(first)...)
	}
	objects[page] = fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %s %s]/Contents 4 0 R"+
		"/Resources<</Font<<%s>>>>>>",
		decimal(p.width.Points()), decimal(p.height.Points()), fonts)
	var b, xref bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	fmt.Fprintf(&xref, "xref\n0 %d\n0000000000 65535 f \n", len(objects))
	for i, o := range objects[1:] {
		fmt.Fprintf(&xref, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	b.Write(xref.Bytes())
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects), start)
	return b.WriteTo(w)
}

// stream is an object with compressed data; entries are what its dictionary has besides.
func stream(entries string, data []byte) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(data) // into memory: it cannot fail
	_ = z.Close()
	return fmt.Sprintf("<<%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", entries, b.Len(),
		b.Bytes())
}

package history

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
)

//go:embed page.html
var pageText string

// Page is a page of trends, which needs no network: a line for each series, with its level, and
// with the commits that changed it.
func Page(store string, a *Analysis) ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"where": where, "figures": figures}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	p := page{Store: store, Runs: a.Runs, Bad: len(a.Bad()), Findings: slices.Clone(a.Findings)}
	slices.Reverse(p.Findings) // the newest first
	for i, s := range a.Series {
		if len(s.Points) > 0 {
			p.Rows = append(p.Rows, newRow(i, s, a))
		}
	}
	var out bytes.Buffer
	err = t.Execute(&out, p)
	return out.Bytes(), err
}

type page struct {
	Store     string
	Runs, Bad int
	Findings  []*Finding
	Rows      []row
}

// A row is a series on the page.
type row struct {
	*Series
	ID, Last, Noise string
	Spark, Chart    template.HTML // made here, of numbers and escaped text
	Marks           []*Finding
}

func newRow(i int, s *Series, a *Analysis) row {
	last := s.Points[len(s.Points)-1].Raw
	r := row{Series: s, ID: "s" + strconv.Itoa(i), Last: number(&last), Noise: "exact", Marks: s.Findings}
	if s.Exact {
		r.Marks = nil
		for _, f := range a.Findings {
			changed := func(c Change) bool { return c.Metric == s.Metric.Name && !c.Equal }
			if f.Experiment == s.Experiment && slices.Equal(f.Design, s.Design) && f.Machine == "" &&
				slices.ContainsFunc(f.Changes, changed) {
				r.Marks = append(r.Marks, f)
			}
		}
	} else if r.Noise = "noisy"; s.Noise() > 0 { // NaN: it is not known; 0: all values are equal
		r.Noise = fmt.Sprintf("± %.2g %%", 100*s.Noise())
	}
	r.Spark = picture(s, r.Marks, 160, 28, false)
	r.Chart = picture(s, r.Marks, 860, 220, true)
	return r
}

// A canvas maps places and values to a drawing.
type canvas struct {
	svg.Writer
	left, top, wide, high, low, span float64
	n                                int
}

func (c *canvas) x(i float64) float64 { return c.left + float64(c.wide*(i+0.5)/float64(c.n)) }
func (c *canvas) y(v float64) float64 { return c.top + float64(c.high*(1-(v-c.low)/c.span)) }

// picture draws a series: as a line in a table, or large with axes.
func picture(s *Series, marks []*Finding, wide, high float64, large bool) template.HTML {
	c := &canvas{left: 2, top: 3, wide: wide - 4, high: high - 6, n: len(s.Points)}
	if large {
		c.left, c.wide, c.top, c.high = 76, wide-84, 8, high-36
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		least, most = min(least, p.Raw), max(most, p.Raw)
	}
	c.low, c.span = least, most-least
	if c.span == 0 {
		c.low, c.span = least-1, 2
	}
	role := `aria-hidden="true"`
	if large {
		role = `role="img" aria-label="` + svg.Escape(s.Name()) + `"`
	}
	c.Put(`<svg viewBox="0 0 %v %v" width="%v" height="%v" %s>`, wide, high, wide, high, role)
	if large {
		c.axes(s, least, most, high)
	}
	for _, f := range marks {
		c.mark(s, f, large)
	}
	c.line("value", s, func(i int) float64 { return s.Points[i].Raw })
	if large {
		c.points(s)
	}
	if !s.Exact && len(s.Points) >= Fewest { // what the course says of each value
		c.line("level", s, func(i int) float64 { return s.Course.Level[i] })
	}
	c.Put(`</svg>`)
	return template.HTML(c.String())
}

func (c *canvas) axes(s *Series, least, most, high float64) {
	c.Put(`<path class="axis" d="M%v %vV%vH%v"/>`, c.left, c.top, c.top+c.high, c.left+c.wide)
	c.Put(`<text x="%v" y="%v" text-anchor="end">%s</text>`, c.left-6, c.y(most)+4, number(&most))
	if least != most {
		c.Put(`<text x="%v" y="%v" text-anchor="end">%s</text>`, c.left-6, c.y(least)+4, number(&least))
	}
	first, last := s.Points[0].Entry.Commit, s.Points[len(s.Points)-1].Entry.Commit
	c.Put(`<text x="%v" y="%v">%s</text>`, c.left, high-10, svg.Escape(first.Short()))
	c.Put(`<text x="%v" y="%v" text-anchor="end">%s</text>`, c.left+c.wide, high-10,
		svg.Escape(last.Short()))
	before := s.Points[0].Entry
	for i, p := range s.Points { // what is not told apart by fingerprint
		for _, x := range []struct{ what, was, is string }{
			{"kernel", before.Machine.Kernel, p.Entry.Machine.Kernel}, {"Go", before.Go, p.Entry.Go},
		} {
			if x.was != x.is && (x.what == "Go" || !s.Exact) {
				c.Put(`<path class="machine" d="M%v %vv8">%s</path>`, c.x(float64(i)-0.5),
					c.top+c.high,
					svg.Title(x.what+" "+x.was+" → "+x.is))
			}
		}
		before = p.Entry
	}
}

// mark draws where a finding is, and between which values it may be.
func (c *canvas) mark(s *Series, f *Finding, large bool) {
	at := func(hash string) int {
		return slices.IndexFunc(s.Points, func(p Point) bool { return p.Entry.Commit.Hash == hash })
	}
	i := at(f.Commit.Hash)
	if i < 0 {
		return
	}
	class := string(f.Verdict)
	if f.Blessing != nil {
		class += " blessed"
	}
	from, to := at(f.From.Hash), at(f.To.Hash)
	if f.End != nil {
		from, to = i, at(f.End.Hash)
	}
	if large && from >= 0 && to > from {
		c.Put(`<rect class="%s" x="%v" y="%v" width="%v" height="%v"/>`, class,
			c.x(float64(from)-0.5), c.top,
			c.x(float64(to)+0.5)-c.x(float64(from)-0.5), c.high)
	}
	c.Put(`<path class="%s" d="M%v %vv%v">%s</path>`, class, c.x(float64(i)-0.5), c.top,
		c.high, svg.Title(where(f)+": "+figures(f)))
}

// line draws a value of each point.
func (c *canvas) line(class string, s *Series, value func(i int) float64) {
	var at []string
	for i := range s.Points {
		at = append(at, svg.Paint("%v,%v", c.x(float64(i)), c.y(max(c.low, min(c.low+c.span, value(i))))))
	}
	c.Put(`<polyline class="%s" points="%s"/>`, class, strings.Join(at, " "))
}

func (c *canvas) points(s *Series) {
	radius := 2.5
	if c.n > 150 { // they would hide each other
		radius = 1.5
	}
	for i, p := range s.Points {
		class := "point"
		if slices.Contains(s.Course.Outliers, i) {
			class = "outlier"
		} else if i >= len(s.Points)-s.Course.Late {
			class = "late"
		}
		e := p.Entry
		about := fmt.Sprintf("%s %s\n%s, %s", e.Commit.Short(), e.Commit.Subject, number(&p.Raw), e.Started)
		c.Put(`<circle class="%s" cx="%v" cy="%v" r="%v">%s</circle>`, class, c.x(float64(i)), c.y(p.Raw),
			radius, svg.Title(about))
	}
}

package serve

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
)

// A point of a curve has an interval, or NaN for each end of one that is not known.
type point struct{ x, y, low, high float64 }

// A curve is what something was as a run went on.
type curve struct {
	Name   string
	Look   int // its place among the looks of chart
	points []point
}

// A picture is curves over the same axes.
type picture struct {
	Title  string
	Drawn  template.HTML // made here, of numbers and escaped text
	Curves []curve
	Says   string // below it
}

// most are the points of a curve: of a long run, those of before lie less densely.
const most = 120

// thin drops every other point but the ends where there are too many.
func thin[T any](points []T) []T {
	if len(points) <= most {
		return points
	}
	kept := points[:0]
	for i, p := range points {
		if i%2 == 0 || i == len(points)-1 {
			kept = append(kept, p)
		}
	}
	return kept
}

// A course is what the figure of a cell was as its trials came.
type course struct {
	points []point
	next   int // trials, from which on there is another point
}

// add takes in a figure of so many trials: from the number on at which it has an interval, and then whenever
// they are a twentieth more. Before, it is the figure of the few trials that happened to be first.
func (c *course) add(trials int, figure func() stats.Summary) {
	if trials < max(c.next, report.Enough) {
		return
	}
	d := figure()
	if d.N+d.Censored < report.Enough || !chart.Finite(d.Center()) {
		return
	}
	c.points = thin(append(c.points, point{float64(trials), d.Center(), d.CILow, d.CIHigh}))
	c.next = trials + max(1, trials/20)
}

// A look is how far a run was when somebody looked.
type look struct {
	after    time.Duration // since it began
	finished int
}

// progress are the trials that had ended, over time, and how many ended in a second. What was before the
// first look is known as a whole only.
func progress(looks []look) (ended, rate curve) {
	none := math.NaN()
	ended.points = []point{{0, 0, none, none}}
	for i, l := range looks {
		x := l.after.Seconds()
		ended.points = append(ended.points, point{x, float64(l.finished), none, none})
		// Over a fifteenth of the time at least: single trials are no rate.
		from := look{}
		for k := i - 1; k >= 0; k-- {
			if l.after-looks[k].after >= l.after/15 {
				from = looks[k]
				break
			}
		}
		if span := (l.after - from.after).Seconds(); span > 0 {
			rate.points = append(rate.points, point{x, float64(l.finished-from.finished) / span, none, none})
		}
	}
	return ended, rate
}

// span is the least and the largest of what is drawn; ok: there is something.
func span(curves []curve, of func(point) []float64) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for _, p := range c.points {
			for _, v := range of(p) {
				if chart.Finite(v) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	return low, high, low <= high
}

// The size of a picture, and where its axes are, in pixels.
const (
	pictureWide, pictureHigh = 380.0, 190.0
	axisLeft, axisTop        = 58.0, 10.0
	axisRight, axisBottom    = 372.0, 152.0
)

// draw draws curves: from the number 0 on if they are counts, else over what they take.
func draw(title, along string, counts bool, curves []curve) *picture {
	x0, x1, some := span(curves, func(p point) []float64 { return []float64{p.x} })
	y0, y1, _ := span(curves, func(p point) []float64 { return []float64{p.y, p.low, p.high} })
	if !some {
		return nil
	}
	if counts {
		x0, y0 = 0, 0
	}
	scale := func(v, from, to, begin, end float64) float64 {
		if to <= from {
			return (begin + end) / 2
		}
		return begin + (end-begin)*(min(max(v, from), to)-from)/(to-from)
	}
	x := func(v float64) float64 { return scale(v, x0, x1, axisLeft, axisRight) }
	y := func(v float64) float64 { return scale(v, y0, y1, axisBottom, axisTop) }
	var w svg.Writer
	says := title
	for i, c := range curves {
		last := c.points[len(c.points)-1]
		says += [2]string{": ", "; "}[min(i, 1)] + strings.TrimSpace(c.Name+" "+console.Number(last.y))
	}
	w.Put(`<svg class="curves" viewBox="0 0 %v %v" role="img" aria-label="%s">`, pictureWide, pictureHigh,
		svg.Escape(says))
	w.Put(`<path class="axis" d="M%v %vV%vH%v"/>`, axisLeft, axisTop, axisBottom, axisRight)
	text := func(x, y float64, anchor, text string) {
		w.Put(`<text x="%v" y="%v" text-anchor="%s">%s</text>`, x, y, anchor, svg.Escape(text))
	}
	text(axisLeft-6, y(y1)+4, "end", console.Number(y1))
	if y1 > y0 {
		text(axisLeft-6, y(y0)+4, "end", console.Number(y0))
	}
	text(x(x1), axisBottom+16, "end", console.Number(x1))
	if x1 > x0 {
		text(axisLeft, axisBottom+16, "start", console.Number(x0))
	}
	text((axisLeft+axisRight)/2, axisBottom+32, "middle", along)
	for _, c := range curves {
		c.put(&w, x, y)
	}
	w.Put(`</svg>`)
	return &picture{Title: title, Drawn: template.HTML(w.String()), Curves: curves}
}

// put draws the curve with its interval.
func (c *curve) put(w *svg.Writer, x, y func(float64) float64) {
	var line, upper, lower []string
	for i, p := range c.points {
		line = append(line, svg.Paint("%v %v", x(p.x), y(p.y)))
		if !math.IsNaN(p.low) && !math.IsNaN(p.high) {
			upper = append(upper, svg.Paint("%v %v", x(p.x), y(p.high)))
			lower = append([]string{svg.Paint("%v %v", x(p.x), y(p.low))}, lower...)
		}
		if i == len(c.points)-1 {
			w.Put(`<circle class="s%d" cx="%v" cy="%v" r="2.5"/>`, c.Look, x(p.x), y(p.y))
		}
	}
	if len(upper) > 1 {
		w.Put(`<path class="band s%d" d="M%sL%sz"/>`, c.Look, strings.Join(upper, "L"),
			strings.Join(lower, "L"))
	}
	if len(line) > 1 {
		w.Put(`<path class="line s%d" d="M%s"/>`, c.Look, strings.Join(line, "L"))
	}
}

// spark is a curve in a table, without axes.
func spark(points []point) template.HTML {
	low, high, some := span([]curve{{points: points}}, func(p point) []float64 { return []float64{p.y} })
	if !some || len(points) < 2 {
		return ""
	}
	at := make([]string, len(points))
	from, to := points[0].x, points[len(points)-1].x
	for i, p := range points {
		v := 9.0
		if high > low {
			v = 16 - 14*(p.y-low)/(high-low)
		}
		at[i] = svg.Paint("%v %v", 1+98*(p.x-from)/(to-from), v)
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 100 18" aria-hidden="true">`+
		`<path class="line s0" d="M%s"/></svg>`, strings.Join(at, "L")))
}

// looks are the colours of curves as rules of a page.
func looks() string {
	var b strings.Builder
	for i, c := range chart.Colors() {
		fmt.Fprintf(&b, ".s%d { color: light-dark(%s, %s); }\n", i, c[0], c[1])
	}
	return b.String()
}

package history

import (
	"bytes"
	_ "embed" // the assets
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/chart/svg"
	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// Page is a page of trends, which needs no network: what changed first, then a chart for each series that
// did, and the others folded. Links are what stands beside it.
func Page(store string, a *Analysis, links ...theme.Link) ([]byte, error) {
	script := theme.Script + pageScript
	p := page{Script: template.JS(script), Page: theme.Page{
		Generator: "bench history report", Policy: theme.Policy("form-action 'none'", theme.Sum(script)),
		Kind: "trends", Title: "Trends of " + store, Style: theme.CSS(pageStyle),
		Links: links,
		Start: "main", StartName: "what changed",
	}}
	p.judge(a)
	p.Lead = p.span(a)
	ids := map[*Series]string{}
	var rows []*row
	for i, s := range a.Series {
		if len(s.Points) > 0 {
			r := newRow(i, s, a)
			rows, ids[s] = append(rows, r), r.ID
		}
	}
	for _, f := range slices.Backward(a.Findings) { // the newest first
		p.Findings = append(p.Findings, told(f, a, ids))
	}
	p.divide(rows, a)
	var out bytes.Buffer
	err := theme.New("page", pageText, nil).Execute(&out, p)
	return out.Bytes(), err
}

type page struct {
	Page        theme.Page
	Script      template.JS
	Lead        string
	Metrics     []theme.Link // by name
	Experiments []string
	Findings    []toldFinding
	Changed     []*row
	Flat        []*cellRows // exact series of which no value changed
	Noisy       []*row      // other series without a change
	Same        int         // of both
}

// judge is what the header says of all: whether something is worse.
func (p *page) judge(a *Analysis) {
	state := theme.State{Name: "nothing became worse", Style: "good"}
	if bad := len(a.Bad()); bad > 0 {
		state = theme.State{Name: fmt.Sprintf("%d worse, not blessed", bad), Style: "bad"}
	}
	p.Page.States = []theme.State{state}
}

// span is how much history there is, in words.
func (p *page) span(a *Analysis) string {
	text := console.Plural(a.Runs, "run", "runs")
	if n := len(a.Line); n > 0 {
		first, last := a.Line[0], a.Line[n-1]
		text += fmt.Sprintf(" of %s, %s to %s", console.Plural(n, "commit", "commits"), first.Short(),
			last.Short())
		if from, to := day(first.Date), day(last.Date); from != "" && to != "" {
			text += fmt.Sprintf(" (%s to %s)", from, to)
		}
	}
	return text + "."
}

// day is the day of an instant of RFC 3339; "" if there is none.
func day(stamp string) string {
	date, _, _ := strings.Cut(stamp, "T")
	return date
}

// divide sorts the series: those that changed, the newest change first, and the others.
func (p *page) divide(rows []*row, a *Analysis) {
	for _, r := range rows {
		if !slices.ContainsFunc(p.Metrics, func(l theme.Link) bool { return l.Name == r.Metric.Name }) {
			p.Metrics = append(p.Metrics, theme.Link{Name: r.Metric.Name, Value: r.Metric.Title()})
		}
		if !slices.Contains(p.Experiments, r.Experiment) {
			p.Experiments = append(p.Experiments, r.Experiment)
		}
		switch {
		case len(r.Marks) > 0:
			p.Changed = append(p.Changed, r)
			continue
		case r.Exact:
			last := len(p.Flat) - 1
			if last < 0 || p.Flat[last].Experiment != r.Experiment || p.Flat[last].Cell != r.Cell {
				p.Flat = append(p.Flat, &cellRows{Experiment: r.Experiment, Cell: r.Cell})
				last++
			}
			p.Flat[last].Rows = append(p.Flat[last].Rows, r)
		default:
			p.Noisy = append(p.Noisy, r)
		}
		p.Same++
	}
	newest := func(r *row) int { return r.Marks[len(r.Marks)-1].at } // they are in the order of their commits
	slices.SortStableFunc(p.Changed, func(x, y *row) int { return newest(y) - newest(x) })
}

// cellRows are the series of a cell of which no value changed.
type cellRows struct {
	Experiment, Cell string
	Rows             []*row
}

// toldFinding is a finding on the page.
type toldFinding struct {
	*Finding
	Look, Commit, Date, What, Up string
	Figures                      []figure
}

// A figure is what a finding changed.
type figure struct{ Metric, Title, ID, Values, Ratio string }

func told(f *Finding, a *Analysis, ids map[*Series]string) toldFinding {
	out := toldFinding{Finding: f, Commit: where(f), Date: day(f.Commit.Date), What: string(f.Kind)}
	switch f.Verdict {
	case Worse:
		out.Look = "bad"
		out.What += ", worse"
	case Better:
		out.Look = "fine"
		out.What += ", better"
	}
	if f.Blessing != nil {
		out.Look = ""
	}
	if f.End != nil {
		out.Up = f.End.Short()
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		one := figure{Metric: c.Metric, Title: c.Metric, Values: number(c.Before) + " → " + number(c.After),
			Ratio: ratio(c)}
		if c.Equal {
			one.Values = number(c.After) + " in the mean, but not in each trial"
		}
		for s, id := range ids {
			if s.Metric.Name == c.Metric && s.shows(f) {
				one.ID, one.Title = id, s.Metric.Title()
			}
		}
		out.Figures = append(out.Figures, one)
	}
	return out
}

// ratio is by which part a figure changed, in words; "" if that has no meaning.
func ratio(c *Change) string {
	if r := c.Ratio(); !math.IsNaN(r) && r != 0 {
		return view.Percent(r)
	}
	return ""
}

// A row is a series on the page.
type row struct {
	*Series
	ID, Last, Noise string
	Chart           template.HTML // made here, of numbers and escaped text
	Marks           []*Finding
	Badges          []theme.Link // changes, with their verdict
}

// shows says whether the chart of the series has a mark of a finding.
func (s *Series) shows(f *Finding) bool {
	if !s.Exact {
		return slices.Contains(s.Findings, f)
	}
	return f.Experiment == s.Experiment && slices.Equal(f.Design, s.Design) && f.Machine == "" &&
		s.change(f) != nil
}

// change is what a finding changed of the series; nil: nothing.
func (s *Series) change(f *Finding) *Change {
	i := slices.IndexFunc(f.Changes, func(c Change) bool { return c.Metric == s.Metric.Name && !c.Equal })
	if i < 0 {
		return nil
	}
	return &f.Changes[i]
}

func newRow(i int, s *Series, a *Analysis) *row {
	last := s.Points[len(s.Points)-1].Value
	r := &row{Series: s, ID: "s" + strconv.Itoa(i), Last: number(&last), Noise: "exact"}
	for _, f := range a.Findings {
		if s.shows(f) {
			r.Marks = append(r.Marks, f)
		}
	}
	for _, f := range slices.Backward(r.Marks) {
		text := string(f.Verdict)
		if c := s.change(f); c != nil {
			text = strings.TrimSpace(text + " " + ratio(c))
		}
		if f.Blessing != nil {
			text += ", blessed"
		}
		look := string(f.Verdict)
		if f.Verdict == Worse && f.Blessing == nil {
			look = "bad"
		} else if f.Blessing != nil {
			look = ""
		}
		r.Badges = append(r.Badges, theme.Link{Name: text, Value: look})
	}
	if !s.Exact {
		r.Noise = "noisy"
		if s.Noise() > 0 { // NaN: it is not known; 0: all values are equal
			r.Noise = fmt.Sprintf("± %.2g %%", 100*s.Noise())
		}
	}
	if !s.Exact || len(r.Marks) > 0 {
		r.Chart = picture(s, r.Marks)
	}
	return r
}

// The size of a chart, and of what is around its plot, in its own units.
const (
	chartWide, chartHigh = 360, 168
	leftOf, rightOf      = 52, 8
	above, below         = 18, 34
)

// A canvas maps places and values to a drawing.
type canvas struct {
	svg.Writer
	low, high float64 // ends of the axis
	n         int
}

func (c *canvas) x(i float64) float64 {
	return leftOf + float64((chartWide-leftOf-rightOf)*i/float64(c.n))
}
func (c *canvas) y(v float64) float64 {
	return above + float64((chartHigh-above-below)*(1-(v-c.low)/(c.high-c.low)))
}

// fromZero is the part of the largest value that the values spread over at least, if their axis begins at 0.
const fromZero = 0.3

// scale chooses the ends of the axis. A change that would hardly be seen on an axis from 0 takes half of one
// that begins elsewhere, which is said.
func (c *canvas) scale(s *Series) (cut bool) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		least, most = min(least, p.Value), max(most, p.Value)
	}
	spread := most - least
	c.low, c.high = min(0, least), max(0, most)
	if spread > 0 && spread < fromZero*max(math.Abs(most), math.Abs(least)) {
		c.low, c.high, cut = least-spread/2, most+spread/2, true
	}
	if c.low == c.high {
		c.high++
	}
	return cut
}

// rounds are three or four round values from low to high.
func rounds(low, high float64) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/2)))
	for _, k := range []float64{5, 2} {
		if (high-low)/(k*step) >= 2 {
			step *= k
			break
		}
	}
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		out = append(out, float64(i*step))
	}
	return out
}

// picture draws a series.
func picture(s *Series, marks []*Finding) template.HTML {
	c := &canvas{n: len(s.Points)}
	cut := c.scale(s)
	at := len(s.Points) - 1 // where the keys begin
	if len(marks) > 0 {
		at = max(0, s.index(marks[len(marks)-1].Commit.Hash))
	}
	about := s.Metric.Title() + " of " + s.Cell
	for _, f := range marks {
		about += "; " + where(f) + ": " + figures(f)
	}
	c.Put(`<svg class="trend" viewBox="0 0 %d %d" tabindex="0" role="img" data-at="%d" aria-label="%s">`,
		chartWide, chartHigh, at, svg.Escape(about))
	c.axes(s, cut)
	written := math.Inf(-1)
	for _, f := range marks {
		written = c.mark(s, f, written)
	}
	if s.Exact {
		c.steps("value", s, func(i int) float64 { return s.Points[i].Value })
	} else if len(s.Points) >= Fewest { // what the course says of each value
		c.steps("level", s, func(i int) float64 { return s.Course.Level[i] })
	}
	c.points(s)
	c.Put(`</svg>`)
	return template.HTML(c.String())
}

func (c *canvas) axes(s *Series, cut bool) {
	const left, right, bottom = leftOf, chartWide - rightOf, chartHigh - below
	for _, v := range rounds(c.low, c.high) {
		c.Put(`<path class="grid" d="M%d %vH%d"/>`, left, c.y(v), right)
		c.Put(`<text x="%d" y="%v" text-anchor="end">%s</text>`, left-5, c.y(v)+4, number(&v))
	}
	c.Put(`<path class="axis" d="M%d %dV%dH%d"/>`, left, above, bottom, right)
	if cut {
		c.Put(`<path class="axis" d="M%d %dl6 -4l-12 -4l6 -4"/>`, left, bottom)
		c.Put(`<text x="%d" y="%d" text-anchor="end">the axis does not begin at 0</text>`, right, chartHigh-4)
	}
	first, last := s.Points[0].Entry.Commit, s.Points[len(s.Points)-1].Entry.Commit
	c.Put(`<text x="%d" y="%d">%s</text>`, left, bottom+14,
		svg.Escape(first.Short()[:min(7, len(first.Hash))]))
	c.Put(`<text x="%d" y="%d" text-anchor="end">%s</text>`, right, bottom+14,
		svg.Escape(last.Short()[:min(7, len(last.Hash))]))
	before := s.Points[0].Entry
	for i, p := range s.Points { // what is not told apart by fingerprint
		for _, x := range []struct{ what, was, is string }{
			{"kernel", before.Machine.Kernel, p.Entry.Machine.Kernel}, {"Go", before.Go, p.Entry.Go},
		} {
			if x.was != x.is && (x.what == "Go" || !s.Exact) {
				c.Put(`<path class="machine" d="M%v %dv6">%s</path>`, c.x(float64(i)), bottom,
					svg.Title(x.what+" "+x.was+" → "+x.is))
			}
		}
		before = p.Entry
	}
}

// index is the first point of a commit; -1: it was not measured.
func (s *Series) index(hash string) int {
	return slices.IndexFunc(s.Points, func(p Point) bool { return p.Entry.Commit.Hash == hash })
}

// mark draws where a finding is, between which values it may be, and by how much it changed the figure,
// unless the text would cover that which ends at written. It returns where its own ends.
func (c *canvas) mark(s *Series, f *Finding, written float64) float64 {
	i := s.index(f.Commit.Hash)
	if i < 0 {
		return written
	}
	class := string(f.Verdict)
	if f.Blessing != nil {
		class += " blessed"
	}
	from, to := s.index(f.From.Hash), s.index(f.To.Hash)
	if f.End != nil {
		from, to = i, s.index(f.End.Hash)
	}
	const bottom = chartHigh - below
	if from >= 0 && to > from {
		c.Put(`<rect class="%s" x="%v" y="%d" width="%v" height="%d"/>`, class, c.x(float64(from)), above,
			c.x(float64(to)+1)-c.x(float64(from)), bottom-above)
	}
	x := c.x(float64(i))
	c.Put(`<path class="mark %s" d="M%v %dV%d">%s</path>`, class, x, above, bottom,
		svg.Title(where(f)+": "+figures(f)))
	change := s.change(f)
	if change == nil {
		return written
	}
	text := ratio(change)
	if text == "" {
		text = number(change.Before) + " → " + number(change.After)
	}
	const letter = 6.5 // how wide one is, about
	wide := letter * float64(console.Width(text))
	at := min(x, chartWide-rightOf-wide)
	if at < written {
		return written
	}
	c.Put(`<text class="by %s" x="%v" y="%d">%s</text>`, string(f.Verdict), at, above-5, svg.Escape(text))
	return at + wide + letter
}

// steps draws a value of each point, which holds until the next one.
func (c *canvas) steps(class string, s *Series, value func(i int) float64) {
	y := func(i int) float64 { return c.y(max(c.low, min(c.high, value(i)))) }
	var path strings.Builder
	path.WriteString(svg.Paint("M%v %v", c.x(0), y(0)))
	for i := range s.Points {
		if i > 0 && y(i) != y(i-1) {
			path.WriteString(svg.Paint("H%vV%v", c.x(float64(i)), y(i)))
		}
	}
	path.WriteString(svg.Paint("H%v", c.x(float64(c.n))))
	c.Put(`<path class="%s" d="%s"/>`, class, path.String())
}

func (c *canvas) points(s *Series) {
	radius := 2.5
	if c.n > 60 { // they would hide each other
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
		about := fmt.Sprintf("%s %s\n%s: %s", e.Commit.Short(), e.Commit.Subject,
			e.committed().UTC().Format(time.DateOnly), number(&p.Value))
		if i > 0 && s.Points[i-1].Value != 0 && s.Points[i-1].Value != p.Value {
			about += ", " + view.Percent(p.Value/s.Points[i-1].Value-1) + " on the one before"
		}
		c.Put(`<circle class="%s" cx="%v" cy="%v" r="%v">%s</circle>`, class, c.x(float64(i)), c.y(p.Value),
			radius, svg.Title(about))
	}
}

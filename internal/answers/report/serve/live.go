package serve

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A live is what is known of a run that goes on.
type live struct {
	mu       sync.Mutex // of all of it: each line is read once, whichever page looks
	follower *results.Follower
	cells    map[int]*view.Cell
	under    view.Underway
	broken   []row // the first of them
	html     []byte
	made     time.Time
	then     time.Time // of the first look
	before   int       // trials that were finished then
	looks    []look
	courses  map[int]*course // of the main metric, by cell
	main     string          // which that is; "": none is known
}

// pause is how long a live page is as good as a new one, however many ask for it.
const pause = time.Second

// mostBroken are the violations that a live page tells.
const mostBroken = 50

// live is the page of a run that goes on.
func (s *Server) live(e *entry) ([]byte, error) {
	s.mu.Lock()
	l := s.lives[e.ID]
	if l == nil {
		l = &live{follower: results.Follow(e.dir), cells: map[int]*view.Cell{},
			courses: map[int]*course{}, then: time.Now()}
		s.lives[e.ID] = l
	}
	s.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.made) < pause {
		return l.html, nil
	}
	first := l.html == nil
	if err := l.follower.Next(l.add); err != nil {
		s.mu.Lock()
		delete(s.lives, e.ID) // a page that asks again begins anew
		s.mu.Unlock()
		return nil, &later{err.Error()}
	}
	if first {
		l.before = l.under.Finished
	}
	if started := l.follower.Header().Started; !started.IsZero() {
		l.looks = thin(append(l.looks, look{time.Since(started), l.under.Finished}))
	}
	top := e.top("live", e.Name)
	top.Share = view.Counting(l.under.Counts)
	v := l.view(e)
	var prices map[string]float64
	if s.options.Prices != nil {
		prices = s.options.Prices()
	}
	v.Machines, v.Cost = machines(&l.under, prices, time.Since(l.follower.Header().Started), l.left())
	html, err := s.write("live", top, v)
	l.html, l.made = html, time.Now()
	return html, err
}

func (l *live) add(t *results.Trial, final bool) {
	l.under.Add(t, final)
	if !final {
		return
	}
	h := l.follower.Header()
	c := l.cells[t.Cell]
	if c == nil {
		c = view.NewCell(t.Design, h.Until.Method(), slices.Concat(h.Metrics, metric.Names(metric.Fixed())))
		l.cells[t.Cell] = c
		l.begin(t.Cell)
	}
	c.Add(t)
	if l.main != "" {
		trials := 0
		for _, n := range c.Statuses {
			trials += n
		}
		l.courses[t.Cell].add(trials, func() stats.Summary { return c.Describe(l.main) })
	}
	if t.Status == trace.Violated && len(l.broken) < mostBroken {
		l.broken = append(l.broken, rowOf(t))
	}
}

// begin prepares for a cell that is new. With it, another metric may be the main one: then the courses begin
// anew, since they would compare what differs.
func (l *live) begin(cell int) {
	var designs [][]metric.Field
	for _, n := range slices.Sorted(maps.Keys(l.cells)) {
		designs = append(designs, l.cells[n].Design)
	}
	main := ""
	if metrics := view.Brief(designs); len(metrics) > 0 {
		main = metrics[0].Name
	}
	if main != l.main {
		l.main = main
		clear(l.courses)
		for n := range l.cells {
			l.courses[n] = &course{}
		}
	}
	l.courses[cell] = &course{}
}

// pictures are the run over time and over its trials.
func (l *live) pictures(names map[int]string, title string) (list []*picture) {
	add := func(p *picture) *picture {
		if p != nil {
			list = append(list, p)
			return p
		}
		return &picture{}
	}
	ended, rate := progress(l.looks)
	add(draw("Trials that have ended", "seconds", true, []curve{ended})).Says =
		"Since the run began; a straight line until the page was first opened."
	if len(rate.points) > 1 {
		add(draw("Trials a second", "seconds", true, []curve{rate})).Says =
			"Each point covers a fifteenth of the time, or more."
	}
	var curves []curve
	drawn := 0
	for _, n := range slices.Sorted(maps.Keys(l.courses)) {
		if c := l.courses[n]; len(c.points) > 0 {
			if drawn++; len(curves) < chart.MostLines {
				curves = append(curves, curve{names[n], len(curves), c.points})
			}
		}
	}
	if len(curves) > 0 {
		p := add(draw(title+" so far", "trials of the cell", false, curves))
		p.Says = fmt.Sprintf("With 95 %% intervals, from %d values on.", report.Enough)
		if drawn > len(curves) {
			p.Says += fmt.Sprintf(" %d of %d cells: the table has all of them.", len(curves), drawn)
		}
	}
	return list
}

// A liveView is what the page shows.
type liveView struct {
	Run               *entry
	Finished, Planned int
	AtMost            bool
	Left              string
	Counts            []count
	Columns           []string
	Metrics           []string
	Main              string // metric of the pictures
	Low, High         string // ends of their axis
	Cells             []liveRow
	Broken            []row
	More              int // violations besides
	Repeated          []view.Reason
	Machines          []liveMachine
	Cost              string // of all, in words; "": no price is known
	Notes             []string
	Share             int // of 100
	Pictures          []*picture
}

type liveRow struct {
	Label   string
	Design  []string
	Counts  []count
	Course  template.HTML // of the main figure, made here
	Figures []liveFigure
	// Of the picture, from 0 to 100.
	Drawn            bool
	From, Width, Mid float64
}

// A liveFigure is one that has enough trials behind it, or says how many it has.
type liveFigure struct {
	Text string
	Few  bool
}

func (l *live) view(e *entry) *liveView {
	h := l.follower.Header()
	v := &liveView{Run: e, Finished: l.under.Finished, Planned: h.Planned, AtMost: h.Until != nil,
		Counts: counted(l.under.Counts), Broken: l.broken, Repeated: l.under.Reasons(),
		More: l.under.Counts[trace.Violated] - len(l.broken)}
	if v.Planned > 0 {
		v.Share = 100 * v.Finished / v.Planned
	}
	if left := l.left(); left > 0 {
		v.Left = left.String()
	}
	if len(l.cells) == 0 {
		v.Pictures = l.pictures(nil, "")
		return v
	}
	numbers := slices.Sorted(maps.Keys(l.cells))
	var designs [][]metric.Field
	for _, n := range numbers {
		designs = append(designs, l.cells[n].Design)
	}
	v.Columns = view.Varying(designs)
	legend, names := &view.Legend{}, map[int]string{}
	var main []stats.Summary
	metrics := view.Brief(designs)
	for i, m := range metrics {
		v.Metrics = append(v.Metrics, m.Title())
		if i == 0 {
			v.Main = m.Title()
		}
	}
	for _, n := range numbers {
		c := l.cells[n]
		r := liveRow{Label: view.Label(c.Design), Counts: counted(c.Statuses)}
		for _, f := range view.Place(c.Design, v.Columns) {
			r.Design = append(r.Design, f.Value)
		}
		for i, m := range metrics {
			d := c.Describe(m.Name)
			f := liveFigure{Few: d.N+d.Censored < report.Enough}
			if f.Few { // a figure of the trials that happened to be first
				f.Text = fmt.Sprintf("%d of %d values", d.N+d.Censored, report.Enough)
			} else {
				f.Text = legend.Estimate(m, d, c.Statuses[trace.OK])
			}
			r.Figures = append(r.Figures, f)
			if i == 0 {
				main = append(main, d)
				r.Course = spark(l.courses[n].points)
			}
		}
		v.Cells = append(v.Cells, r)
		names[n] = view.Name(c.Design, append([]string{"label"}, v.Columns...))
	}
	v.Pictures = l.pictures(names, v.Main)
	v.Notes = legend.Notes()
	v.draw(main)
	return v
}

// left is how long the run goes on, about; 0: that is not known.
func (l *live) left() time.Duration {
	h, since, before := l.follower.Header(), l.then, l.before
	if l.under.Finished == before {
		since, before = h.Started, 0
	}
	return l.under.Left(h.Planned, before, since, time.Now())
}

// draw draws the median and the interval of one metric, cell by cell, on one axis.
func (v *liveView) draw(main []stats.Summary) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, d := range main {
		if d.N+d.Censored < report.Enough {
			continue
		}
		for _, x := range []float64{d.CILow, d.Center(), d.CIHigh} {
			if chart.Finite(x) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	if low > high {
		return
	}
	v.Low, v.High = console.Number(low), console.Number(high)
	at := func(x float64) float64 {
		if high == low {
			return 50
		}
		return 100 * (min(max(x, low), high) - low) / (high - low)
	}
	for i, d := range main {
		r := &v.Cells[i]
		if d.N+d.Censored < report.Enough || !chart.Finite(d.Center()) {
			continue
		}
		r.Drawn, r.Mid, r.From = true, at(d.Center()), at(d.Center())
		if !math.IsNaN(d.CILow) && !math.IsNaN(d.CIHigh) {
			r.From = at(d.CILow)
			r.Width = at(d.CIHigh) - r.From
		}
	}
}

// counted lists the counts that there are.
func counted(counts map[trace.Status]int) (list []count) {
	for _, status := range trace.Statuses() {
		if n := counts[status]; n > 0 {
			list = append(list, count{Status: status, Count: n})
		}
	}
	return list
}

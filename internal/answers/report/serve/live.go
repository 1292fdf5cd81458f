package serve

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"sync"
	"time"

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
	counts   map[trace.Status]int
	finished int
	broken   []row              // the first of them
	repeated map[string]*reason // by text without figures
	html     []byte
	made     time.Time
	then     time.Time // of the first look
	before   int       // trials that were finished then
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
			counts:   map[trace.Status]int{},
			repeated: map[string]*reason{}, then: time.Now()}
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
		l.before = l.finished
	}
	html, err := s.write("live", e.Name+", running", l.view(e))
	l.html, l.made = html, time.Now()
	return html, err
}

func (l *live) add(t *results.Trial, final bool) {
	if t.Status == trace.Invalid {
		kind := figures.ReplaceAllString(t.Reason, "0")
		if l.repeated[kind] == nil {
			l.repeated[kind] = &reason{}
		}
		r := l.repeated[kind]
		r.Text, r.Count = t.Reason, r.Count+1
	}
	if !final {
		return
	}
	h := l.follower.Header()
	c := l.cells[t.Cell]
	if c == nil {
		c = view.NewCell(t.Design, h.Until.Method(), slices.Concat(h.Metrics, metric.Names(metric.Fixed())))
		l.cells[t.Cell] = c
	}
	l.finished++
	l.counts[t.Status]++
	c.Add(t)
	if t.Status == trace.Violated && len(l.broken) < mostBroken {
		l.broken = append(l.broken, rowOf(t))
	}
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
	Repeated          []reason
	Notes             []string
	Share             int // of 100
}

type liveRow struct {
	Label   string
	Design  []string
	Counts  []count
	Figures []string
	// Of the picture, from 0 to 100.
	Drawn            bool
	From, Width, Mid float64
}

// A reason is why attempts were invalid, as the last of them has it.
type reason struct {
	Text  string
	Count int
}

// figures in which reasons of one kind differ.
var figures = regexp.MustCompile(`[0-9][0-9.]*`)

func (l *live) view(e *entry) *liveView {
	h := l.follower.Header()
	v := &liveView{Run: e, Finished: l.finished, Planned: h.Planned, AtMost: h.Until != nil,
		Counts: counted(l.counts), Broken: l.broken, More: l.counts[trace.Violated] - len(l.broken)}
	if v.Planned > 0 {
		v.Share = 100 * v.Finished / v.Planned
	}
	since, done := l.then, l.finished-l.before
	if done == 0 {
		since, done = h.Started, l.finished
	}
	if done > 0 && v.Planned > v.Finished {
		left := time.Duration(float64(time.Since(since)) / float64(done) * float64(v.Planned-v.Finished))
		v.Left = max(left, time.Second).Round(time.Second).String()
	}
	for _, kind := range slices.Sorted(maps.Keys(l.repeated)) {
		v.Repeated = append(v.Repeated, *l.repeated[kind])
	}
	if len(l.cells) == 0 {
		return v
	}
	numbers := slices.Sorted(maps.Keys(l.cells))
	var designs [][]metric.Field
	for _, n := range numbers {
		designs = append(designs, l.cells[n].Design)
	}
	v.Columns = view.Varying(designs)
	legend := &view.Legend{}
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
			r.Figures = append(r.Figures, legend.Estimate(m, d, c.Statuses[trace.OK]))
			if i == 0 {
				main = append(main, d)
			}
		}
		v.Cells = append(v.Cells, r)
	}
	v.Notes = legend.Notes()
	v.draw(main)
	return v
}

// draw draws the median and the interval of one metric, cell by cell, on one axis.
func (v *liveView) draw(main []stats.Summary) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, d := range main {
		for _, x := range []float64{d.CILow, d.Median, d.CIHigh} {
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
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
		if math.IsNaN(d.Median) || math.IsInf(d.Median, 0) {
			continue
		}
		r.Drawn, r.Mid, r.From = true, at(d.Median), at(d.Median)
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

// Package progress tells people, or a program, how far a run or a search is, while it goes on: in lines, as a
// bar at the bottom of a terminal, or as objects of JSON.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Modes are the values of --progress.
var Modes = []string{"auto", "plain", "none", "json"}

// A Teller tells where a run is. Its Tell is never called twice at a time.
type Teller interface {
	Tell(now *Stand)
	Close()
}

// A Place is where progress is shown.
type Place struct {
	W        io.Writer // standard error
	Terminal *os.File  // the same, if frames can be shown there; else nil
	Log      bool      // it is the log of CI
	// Above has what else is written to standard error written to w from now on.
	Above func(w io.Writer)
}

// A Stand is where a run is, and what its trials have shown so far.
type Stand struct {
	runner.Progress
	Cell  string
	Known *outcome.Outcome
}

// ended says whether the cell needs no further trial.
func (s *Stand) ended() bool {
	return s.Final && s.Known.Ended(s.Trial.Cell)
}

// figure is that of the cell so far, of the n-th metric of the table.
func (s *Stand) figure(n int) (name, value string, of stats.Summary) {
	name = s.Known.Metrics[n]
	of = s.Known.Describe(s.Trial.Cell, name)
	value = "n/a"
	if of.N+of.Censored > 0 {
		value = view.OrBeyond(of.Center()) + new(view.Legend).Mark(of.Doubtful())
	}
	return name, value, of
}

// found is what a cell came to.
func (s *Stand) found() string {
	var figures []string
	for n := range s.Known.Metrics {
		name, value, _ := s.figure(n)
		figures = append(figures, name+" "+value)
	}
	return s.Cell + ": " + strings.Join(figures, ", ") + "; " + s.Known.Count(s.Trial.Cell)
}

// soon is how near the end of a run may be for its table to say what a cell came to.
const soon = 2 * time.Second

// reasons are the trials that did not end well and have been explained.
type reasons map[string]bool

// explain says why the trial did not end well, if it is the first such one of its status
// within a scope; "": there is nothing to say. An invalid trial is run again, so that one example is enough.
func (r reasons) explain(now *Stand, scope string) string {
	t := now.Result
	if t.Status == trace.Invalid {
		scope = ""
	}
	key := scope + string(t.Status)
	if t.Status == trace.OK || t.Reason == "" || r[key] {
		return ""
	}
	r[key] = true
	why, _, _ := strings.Cut(t.Reason, "; ") // what follows is the remedy
	return fmt.Sprintf("%s: %s: %s", now.Cell, t.Status, console.Short(why))
}

// Of is a teller of that mode. Frames of a bar go to a terminal that can show them, and never into a file or
// a CI log.
func (p *Place) Of(mode string) Teller {
	switch {
	case mode == "none":
		return Silent
	case mode == "json":
		return objects{json.NewEncoder(p.W)}
	case mode == "auto" && p.Terminal != nil:
		return newBar(p)
	}
	return &lines{w: p.W, begun: time.Now(), last: time.Now(), told: reasons{},
		quiet: mode == "auto" && p.Log}
}

// Silent tells nothing.
var Silent Teller = silent{}

type silent struct{}

func (silent) Tell(*Stand) {}
func (silent) Close()      {}

// objects write an object for each attempt.
type objects struct{ *json.Encoder }

func (p objects) Tell(now *Stand) {
	figures := map[string]answer.Value{}
	for n := range now.Known.Metrics {
		name, _, of := now.figure(n)
		figures[name] = answer.Encode(outcome.Estimate(of))
	}
	// A reader that went away is no reason to end a run.
	_ = p.Encode(map[string]any{
		"finished": now.Finished, "planned": now.Planned, "trial": now.Trial.Number, "cell": now.Cell,
		"status": now.Result.Status, "attempt": now.Result.Attempts, "reason": now.Result.Reason,
		"elapsed_s": now.Elapsed.Seconds(), "left_s": now.Left.Seconds(),
		"cell_ended": now.ended(), "metrics": figures, // of the cell so far
	})
}

func (objects) Close() {}

// pauseAfter is how long plain progress says nothing: often enough to see that the
// run lives, seldom enough for a log.
func pauseAfter(elapsed time.Duration) time.Duration {
	if elapsed > time.Minute {
		return 30 * time.Second
	}
	return 5 * time.Second
}

// lines are written now and then. Quiet ones are none but the last, and why
// trials did not end well.
type lines struct {
	w           io.Writer
	begun, last time.Time
	told        reasons
	quiet       bool
}

func (p *lines) Tell(now *Stand) {
	if text := p.told.explain(now, ""); text != "" {
		fmt.Fprintln(p.w, console.Fold(text))
	}
	if !p.quiet && now.ended() && now.Left >= soon {
		fmt.Fprintln(p.w, console.Fold(now.found()))
	}
	late := !p.quiet && time.Since(p.last) >= pauseAfter(time.Since(p.begun))
	if !late && now.Finished < now.Planned {
		return
	}
	p.last = time.Now()
	line := fmt.Sprintf("trial %d/%d cell=%s", now.Finished, now.Planned, now.Cell)
	if now.Result.Status != trace.OK {
		line += fmt.Sprintf(" status=%s", now.Result.Status)
	}
	if now.Left > 0 {
		line += " eta=" + span(now.Left)
	}
	name, value, of := now.figure(0)
	fmt.Fprintln(p.w, console.Fold(fmt.Sprintf("%s %s=%s n=%d", line, name, value, of.N)))
}

func (*lines) Close() {}

// A bar is one line at the bottom of a terminal, painted over and over. It is
// standard error while it is there, so that what else is said stands above it.
type bar struct {
	file *os.File
	done chan struct{}
	over func() // has standard error written to as before

	mu      sync.Mutex
	now     runner.Progress
	cell    string // and its figure so far
	begun   time.Time
	painted time.Time
	trouble map[trace.Status]int
	told    reasons
}

func newBar(p *Place) *bar {
	b := &bar{file: p.Terminal, done: make(chan struct{}), begun: time.Now(),
		trouble: map[trace.Status]int{}, told: reasons{}}
	b.over = func() { p.Above(p.Terminal) }
	p.Above(b)
	go b.tick()
	return b
}

// tick repaints, so that a long trial does not look dead.
func (b *bar) tick() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-b.done:
			return
		case <-t.C:
			b.mu.Lock()
			b.paint()
			b.mu.Unlock()
		}
	}
}

// Write puts what else is said above the bar.
func (b *bar) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	n, err := b.file.Write(text)
	b.paint()
	return n, err
}

func (b *bar) Tell(now *Stand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now.Progress
	if now.Result.Status != trace.OK {
		b.trouble[now.Result.Status]++
	}
	b.above(b.told.explain(now, now.Cell))
	if now.ended() && now.Left >= soon {
		b.above(now.found())
	}
	if time.Since(b.painted) >= 100*time.Millisecond {
		name, value, of := now.figure(0)
		b.cell = fmt.Sprintf("%s %s %s n=%d", now.Cell, name, value, of.N)
		b.paint()
	}
}

// above puts a line above the bar.
func (b *bar) above(text string) {
	if text != "" {
		b.clear()
		fmt.Fprintln(b.file, console.Fold(text))
		b.paint()
	}
}

func (b *bar) Close() {
	close(b.done)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	b.over()
}

func (b *bar) clear() { fmt.Fprint(b.file, "\r\x1b[K") }

func (b *bar) paint() {
	select {
	case <-b.done:
		return
	default:
	}
	b.painted = time.Now()
	wide, _, err := term.GetSize(int(b.file.Fd()))
	if err != nil || wide <= 0 {
		wide = console.Columns
	}
	fmt.Fprint(b.file, "\r\x1b[K"+b.line(time.Since(b.begun), wide-1))
}

// line is the bar within so many columns. It gives way to what is said.
func (b *bar) line(elapsed time.Duration, most int) string {
	text := "starting"
	if b.now.Planned > 0 {
		text = fmt.Sprintf("%d/%d", b.now.Finished, b.now.Planned)
	}
	text += " " + span(elapsed)
	if b.now.Left > 0 {
		text += " eta " + span(b.now.Left)
	}
	for _, status := range trace.Statuses() {
		if n := b.trouble[status]; n > 0 {
			text += fmt.Sprintf(" %s %d", status, n)
		}
	}
	text += " " + b.cell
	if length := min(20, most-console.Width(text)-len("[] ")); length > 0 {
		full := length * b.now.Finished / max(b.now.Planned, 1)
		text = "[" + strings.Repeat("#", full) + strings.Repeat("-", length-full) + "] " + text
	}
	if console.Width(text) > most {
		text = string([]rune(text)[:max(most, 0)])
	}
	return text
}

// span is a time that people wait, to the second.
func span(d time.Duration) string {
	if d < time.Second {
		return "0s"
	}
	return d.Round(time.Second).String()
}

// A Searching tells how far a search is.
type Searching struct {
	w        io.Writer
	mode     string // plain, bar, json or none
	of       uint64 // schedules; 0: until time is over
	limit    time.Duration
	reported time.Duration
}

// Search tells of a search for so many schedules, or for a time.
func (p *Place) Search(mode string, schedules uint64, limit time.Duration) *Searching {
	if mode == "auto" {
		mode = "plain"
		if p.Terminal != nil {
			mode = "bar"
		}
	}
	return &Searching{w: p.W, mode: mode, of: schedules, limit: limit}
}

// Tell says that so many were tried.
func (p *Searching) Tell(tried uint64, elapsed time.Duration) {
	of := ""
	switch {
	case p.of > 0:
		of = fmt.Sprintf(" of %d", p.of)
	case p.limit > 0:
		of = fmt.Sprintf(" in %s of %v", span(elapsed), p.limit)
	}
	rate := float64(tried) / max(elapsed.Seconds(), 1e-3)
	line := fmt.Sprintf("%d schedules%s, %.0f per second", tried, of, rate)
	switch {
	case p.mode == "json":
		// A reader that went away is no reason to end a search.
		_ = json.NewEncoder(p.w).Encode(map[string]any{"tried": tried, "planned": p.of,
			"elapsed_s": elapsed.Seconds(), "schedules_per_second": rate})
	case p.mode == "bar":
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	case p.mode == "plain" && elapsed-p.reported >= pauseAfter(elapsed):
		p.reported = elapsed
		fmt.Fprintln(p.w, line)
	}
}

// Close ends it.
func (p *Searching) Close() {
	if p.mode == "bar" {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// Parts tell people who wait how far the parts of a search have come, in units of that name.
func Parts(w io.Writer, unit string) func(part string, done, all int) {
	var part string
	var begun time.Time
	var told time.Duration
	return func(name string, done, all int) {
		if name != part {
			part, begun, told = name, time.Now(), 0
		}
		if elapsed := time.Since(begun); elapsed-told >= pauseAfter(elapsed) {
			told = elapsed
			fmt.Fprintln(w, console.Fold(fmt.Sprintf("%s: %s %d of %d", name, unit, done, all)))
		}
	}
}

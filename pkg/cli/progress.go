package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/conclave-bench/conclave/internal/answer"
	"github.com/conclave-bench/conclave/internal/console"
	"github.com/conclave-bench/conclave/internal/outcome"
	"github.com/conclave-bench/conclave/internal/stats"
	"github.com/conclave-bench/conclave/internal/view"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// progressModes are the values of --progress.
var progressModes = []string{"auto", "plain", "none", "json"}

// A progress tells where a run stands. Its tell is never called twice at a time.
type progress interface {
	tell(now *stand)
	close()
}

// A stand is where a run is, and what its trials have shown so far.
type stand struct {
	runner.Progress
	cell  string
	known *outcome.Outcome
}

// ended says whether the cell needs no further trial.
func (s *stand) ended() bool {
	return s.Final && s.known.Ended(s.Trial.Cell)
}

// median is that of the cell so far, of the n-th metric of the table.
func (s *stand) median(n int) (name, value string, of stats.Summary) {
	name = s.known.Metrics[n]
	of = s.known.Describe(s.Trial.Cell, name)
	value = "n/a"
	if of.N+of.Censored > 0 {
		value = view.OrBeyond(of.Median) + new(view.Legend).Mark(of.Doubtful())
	}
	return name, value, of
}

// found is what a cell came to.
func (s *stand) found() string {
	var medians []string
	for n := range s.known.Metrics {
		name, value, _ := s.median(n)
		medians = append(medians, name+" "+value)
	}
	return s.cell + ": " + strings.Join(medians, ", ") + "; " + s.known.Count(s.Trial.Cell)
}

// soon is how near the end of a run may be for its table to say what a cell came to.
const soon = 2 * time.Second

// reasons are the trials that did not end well and have been explained.
type reasons map[string]bool

// explain says why the trial did not end well, if it is the first such one of its status
// within a scope; "": there is nothing to say.
func (r reasons) explain(now *stand, scope string) string {
	t := now.Result
	key := scope + string(t.Status)
	if t.Status == trace.OK || t.Reason == "" || r[key] {
		return ""
	}
	r[key] = true
	return fmt.Sprintf("%s: %s: %s", now.cell, t.Status, console.Short(t.Reason))
}

// newProgress chooses by the mode and by what standard error is. Frames of a bar
// go to a terminal that can show them and never into a file or a CI log.
func (s *streams) newProgress(mode string) progress {
	switch mode {
	case "none":
		return noProgress{}
	case "json":
		return jsonProgress{json.NewEncoder(s.err)}
	case "auto":
		if f := s.terminal(); f != nil {
			return s.newBar(f)
		}
	}
	p := &plainProgress{w: s.err, begun: time.Now(), last: time.Now(), told: reasons{}}
	p.quiet = mode == "auto" && s.getenv("CI") != ""
	return p
}

// terminal is standard error if frames can be shown there, else nil.
func (s *streams) terminal() *os.File {
	f, ok := s.err.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) && s.getenv("TERM") != "dumb" && s.getenv("CI") == "" {
		return f
	}
	return nil
}

type noProgress struct{}

func (noProgress) tell(*stand) {}
func (noProgress) close()      {}

// jsonProgress writes an object for each attempt.
type jsonProgress struct{ *json.Encoder }

func (p jsonProgress) tell(now *stand) {
	figures := map[string]answer.Value{}
	for n := range now.known.Metrics {
		name, _, of := now.median(n)
		figures[name] = answer.Encode(outcome.Estimate(of))
	}
	// A reader that went away is no reason to end a run.
	_ = p.Encode(map[string]any{
		"finished": now.Finished, "planned": now.Planned, "trial": now.Trial.Number, "cell": now.cell,
		"status": now.Result.Status, "attempt": now.Result.Attempts, "reason": now.Result.Reason,
		"elapsed_s": now.Elapsed.Seconds(), "left_s": now.Left.Seconds(),
		"cell_ended": now.ended(), "metrics": figures, // of the cell so far
	})
}

func (jsonProgress) close() {}

// pauseAfter is how long plain progress says nothing: often enough to see that the
// run lives, seldom enough for a log.
func pauseAfter(elapsed time.Duration) time.Duration {
	if elapsed > time.Minute {
		return 30 * time.Second
	}
	return 5 * time.Second
}

// plainProgress writes a line now and then. A quiet one writes none but the last, and why
// trials did not end well.
type plainProgress struct {
	w           io.Writer
	begun, last time.Time
	told        reasons
	quiet       bool
}

func (p *plainProgress) tell(now *stand) {
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
	line := fmt.Sprintf("trial %d/%d cell=%s", now.Finished, now.Planned, now.cell)
	if now.Result.Status != trace.OK {
		line += fmt.Sprintf(" status=%s", now.Result.Status)
	}
	if now.Left > 0 {
		line += " eta=" + span(now.Left)
	}
	name, value, of := now.median(0)
	fmt.Fprintln(p.w, console.Fold(fmt.Sprintf("%s %s=%s n=%d", line, name, value, of.N)))
}

func (*plainProgress) close() {}

// A bar is one line at the bottom of a terminal, painted over and over. It is
// standard error while it is there, so that what else is said stands above it.
type bar struct {
	file    *os.File
	streams *streams
	done    chan struct{}

	mu      sync.Mutex
	now     runner.Progress
	cell    string // and its median so far
	begun   time.Time
	painted time.Time
	trouble map[trace.Status]int
	told    reasons
}

func (s *streams) newBar(f *os.File) *bar {
	b := &bar{file: f, streams: s, done: make(chan struct{}), begun: time.Now(),
		trouble: map[trace.Status]int{}, told: reasons{}}
	s.err = b
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

func (b *bar) tell(now *stand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now.Progress
	if now.Result.Status != trace.OK {
		b.trouble[now.Result.Status]++
	}
	b.above(b.told.explain(now, now.cell))
	if now.ended() && now.Left >= soon {
		b.above(now.found())
	}
	if time.Since(b.painted) >= 100*time.Millisecond {
		name, value, of := now.median(0)
		b.cell = fmt.Sprintf("%s %s %s n=%d", now.cell, name, value, of.N)
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

func (b *bar) close() {
	close(b.done)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	b.streams.err = b.file
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

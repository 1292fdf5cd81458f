package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// progressModes are the values of --progress.
var progressModes = []string{"auto", "plain", "none", "json"}

// A progress tells where a run stands. Its tell is never called twice at a time.
type progress interface {
	tell(p runner.Progress, cell string)
	close()
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
	return &plainProgress{w: s.err, begun: time.Now(), last: time.Now()}
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

func (noProgress) tell(runner.Progress, string) {}
func (noProgress) close()                       {}

// jsonProgress writes an object for each attempt.
type jsonProgress struct{ *json.Encoder }

func (p jsonProgress) tell(now runner.Progress, cell string) {
	// A reader that went away is no reason to end a run.
	_ = p.Encode(map[string]any{
		"finished": now.Finished, "planned": now.Planned, "trial": now.Trial.Number, "cell": cell,
		"status": now.Result.Status, "attempt": now.Result.Attempts,
		"elapsed_s": now.Elapsed.Seconds(), "left_s": now.Left.Seconds(),
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

// plainProgress writes a line now and then.
type plainProgress struct {
	w           io.Writer
	begun, last time.Time
}

func (p *plainProgress) tell(now runner.Progress, cell string) {
	if time.Since(p.last) < pauseAfter(time.Since(p.begun)) && now.Finished < now.Planned {
		return
	}
	p.last = time.Now()
	line := fmt.Sprintf("trial %d/%d cell=%s status=%s", now.Finished, now.Planned, cell,
		now.Result.Status)
	if now.Left > 0 {
		line += " eta=" + span(now.Left)
	}
	if now.Result.Reason != "" {
		line += " reason=" + strconv.Quote(short(now.Result.Reason))
	}
	fmt.Fprintln(p.w, line)
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
	cell    string
	begun   time.Time
	painted time.Time
	trouble map[trace.Status]int
	told    map[string]bool // cells and statuses that have been explained
}

func (s *streams) newBar(f *os.File) *bar {
	b := &bar{file: f, streams: s, done: make(chan struct{}), begun: time.Now(),
		trouble: map[trace.Status]int{}, told: map[string]bool{}}
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

func (b *bar) tell(now runner.Progress, cell string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now, b.cell = now, cell
	if now.Result.Status != trace.OK {
		b.trouble[now.Result.Status]++
		b.explain(now.Result, cell)
	}
	if time.Since(b.painted) >= 100*time.Millisecond {
		b.paint()
	}
}

// explain tells above the bar why a trial did not end well: the first of its status in its cell.
func (b *bar) explain(t *results.Trial, cell string) {
	key := cell + string(t.Status)
	if t.Reason == "" || b.told[key] {
		return
	}
	b.told[key] = true
	b.clear()
	fmt.Fprintln(b.file, fold(fmt.Sprintf("%s: %s: %s", cell, t.Status, short(t.Reason))))
	b.paint()
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
		wide = columns
	}
	fmt.Fprint(b.file, "\r\x1b[K"+b.line(time.Since(b.begun), wide-1))
}

// line is the bar within so many columns.
func (b *bar) line(elapsed time.Duration, most int) string {
	const length = 20
	full := 0
	if b.now.Planned > 0 {
		full = length * b.now.Finished / b.now.Planned
	}
	text := fmt.Sprintf("[%s%s] %d/%d", strings.Repeat("#", full), strings.Repeat("-", length-full),
		b.now.Finished, b.now.Planned)
	if b.now.Planned == 0 {
		text = "[" + strings.Repeat("-", length) + "] starting"
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
	if width(text) > most {
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

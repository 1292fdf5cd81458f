package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/text"
)

// A Layer is a source of values; each prevails over those before it.
type Layer int8

// The layers, from the weakest to the strongest.
const (
	Defaults Layer = iota - 1
	File
	Environment
	Command
)

// A Place is where a value comes from.
type Place struct {
	Layer  Layer
	Source string // the file as it was named, "--set network.loss=2" or "environment CONCLAVE_SEED"
	Line   int    // in the file; 0: none
}

// ByDefault is the place of what nobody set.
var ByDefault = Place{Layer: Defaults, Source: "default"}

func (p Place) String() string {
	if p.Line > 0 {
		return p.Source + ":" + strconv.Itoa(p.Line)
	}
	return p.Source
}

// Short is the place as seen from the same file.
func (p Place) Short() string {
	if p.Line > 0 {
		return "line " + strconv.Itoa(p.Line)
	}
	return p.Source
}

// offset is line n of a source that begins at p; what is not a file has no lines.
func (p Place) offset(n int) Place {
	if p.Line > 0 {
		p.Line += n - 1
	}
	return p
}

// An Error is everything that is wrong with a configuration.
type Error struct{ Mistakes []*Mistake }

// Error has a line for each mistake.
// Exit is the exit code of a command whose configuration is wrong.
func (e *Error) Exit() int { return 2 }

func (e *Error) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = m.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap is the mistakes one by one.
func (e *Error) Unwrap() []error {
	out := make([]error, len(e.Mistakes))
	for i, m := range e.Mistakes {
		out[i] = m
	}
	return out
}

// A Mistake is one thing that is wrong with a configuration.
type Mistake struct {
	Source string // as of a Place
	Line   int    // in the file; 0: none
	Key    string // "network.loss"; empty if it is about the whole
	Text   string // what is wrong, what was expected, how to mend it
}

func (m *Mistake) Error() string {
	text := Place{Source: m.Source, Line: m.Line}.String() + ": "
	if m.Key != "" {
		text += m.Key + ": "
	}
	return text + m.Text
}

// mostMistakes is how many are listed; a user who has more mends these first.
const mostMistakes = 100

// Diagnostics collects mistakes. The same one is listed once: a sweep meets it in
// every cell.
type Diagnostics struct {
	mistakes []*Mistake
	seen     map[Mistake]bool
	count    int
	more     int // beyond the most that are listed
}

// Add adds a mistake. The text says what is wrong, what was expected and how to
// mend it.
func (d *Diagnostics) Add(at Place, key, format string, args ...any) {
	d.count++
	m := Mistake{text.Printable(at.Source), at.Line, Clip(key), text.Printable(fmt.Sprintf(format, args...))}
	if d.seen == nil {
		d.seen = map[Mistake]bool{}
	}
	switch {
	case d.seen[m]:
	case len(d.mistakes) == mostMistakes:
		d.more++
	default:
		d.seen[m] = true
		d.mistakes = append(d.mistakes, &m)
	}
}

// Count is how often something wrong was found so far, repetitions included: who
// finds it unchanged has added nothing in between.
func (d *Diagnostics) Count() int { return d.count }

// Err is nil if nothing was wrong, else an *Error. Mistakes of one source stand in
// the order of its lines; sources stand in the order in which they were read.
func (d *Diagnostics) Err() error {
	if len(d.mistakes) == 0 {
		return nil
	}
	rank := map[string]int{}
	for i, m := range d.mistakes {
		if _, ok := rank[m.Source]; !ok {
			rank[m.Source] = i
		}
	}
	slices.SortStableFunc(d.mistakes, func(a, b *Mistake) int {
		if a.Source != b.Source {
			return rank[a.Source] - rank[b.Source]
		}
		return a.Line - b.Line
	})
	if d.more > 0 {
		last := d.mistakes[len(d.mistakes)-1]
		d.mistakes = append(d.mistakes, &Mistake{Source: last.Source,
			Text: fmt.Sprintf("%d more errors; correct these first", d.more)})
		d.more = 0
	}
	return &Error{d.mistakes}
}

// Clip is s for a message: not long, and printable.
func Clip(s string) string {
	s = text.Printable(s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

package experiment

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// An Error is everything that is wrong with a configuration.
type Error struct{ Mistakes []*Mistake }

// Error has a line for each mistake.
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
	Source string // the file as it was named, "--set network.loss=2" or "environment CONCLAVE_SEED"
	Line   int    // in the file; 0: none
	Key    string // "network.loss"; empty if it is about the whole
	Text   string // what is wrong, what was expected, how to mend it
}

func (m *Mistake) Error() string {
	text := origin{m.Source, m.Line}.String() + ": "
	if m.Key != "" {
		text += m.Key + ": "
	}
	return text + m.Text
}

// An origin is where a value comes from.
type origin struct {
	source string
	line   int
}

// byDefault is the origin of what nobody set.
var byDefault = origin{source: "default"}

func (o origin) String() string {
	if o.line > 0 {
		return fmt.Sprintf("%s:%d", o.source, o.line)
	}
	return o.source
}

// mostMistakes is how many are listed; who has more mends these first.
const mostMistakes = 100

// A report collects mistakes. The same one is noted once: a sweep meets it in
// every cell.
type report struct {
	mistakes []*Mistake
	more     int // beyond the most that are listed
	seen     map[Mistake]bool
}

func (r *report) add(at origin, key, format string, args ...any) {
	m := Mistake{printable(at.source), at.line, clip(key), printable(fmt.Sprintf(format, args...))}
	if r.seen == nil {
		r.seen = map[Mistake]bool{}
	}
	switch {
	case r.seen[m]:
	case len(r.mistakes) == mostMistakes:
		r.more++
	default:
		r.seen[m] = true
		r.mistakes = append(r.mistakes, &m)
	}
}

// clip is s for a message: not long, and printable.
func clip(s string) string {
	s = printable(s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// printable is s without anything that a terminal would act on.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// err is nil if nothing was wrong. Mistakes of one source stand in the order of
// its lines; sources stand in the order in which they were read.
func (r *report) err() error {
	if len(r.mistakes) == 0 {
		return nil
	}
	rank := map[string]int{}
	for i, m := range r.mistakes {
		if _, ok := rank[m.Source]; !ok {
			rank[m.Source] = i
		}
	}
	slices.SortStableFunc(r.mistakes, func(a, b *Mistake) int {
		if a.Source != b.Source {
			return rank[a.Source] - rank[b.Source]
		}
		return a.Line - b.Line
	})
	if r.more > 0 {
		last := r.mistakes[len(r.mistakes)-1]
		r.mistakes = append(r.mistakes, &Mistake{Source: last.Source,
			Text: fmt.Sprintf("%d more mistakes; mend these first", r.more)})
		r.more = 0
	}
	return &Error{r.mistakes}
}

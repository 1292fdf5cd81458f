package console

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Columns is how wide a terminal is at least, and how wide text is for what is none.
const Columns = 80

// mostColumns is the widest that text is: eyes lose longer lines on the way back.
const mostColumns = 200

// Within is how wide text is on a terminal of so many columns.
func Within(columns int) int { return min(max(columns, Columns), mostColumns) }

// Width is how many columns text takes.
func Width(text string) int { return utf8.RuneCountInString(text) }

// Short is a text that may be long, for a line that should not be.
func Short(text string) string {
	const most = 160
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "..."
}

// A Folding breaks the lines that are written to it where a terminal ends. It is for text that
// people read, into a file, too: what programs read is never written to one.
type Folding struct {
	W       io.Writer
	Columns int    // 0: the fewest
	part    []byte // of a line that has not ended
}

func (f *Folding) Write(text []byte) (int, error) {
	f.part = append(f.part, text...)
	for {
		line, rest, ended := bytes.Cut(f.part, []byte("\n"))
		if !ended {
			return len(text), nil
		}
		if _, err := io.WriteString(f.W, fold(string(line), cmp.Or(f.Columns, Columns))+"\n"); err != nil {
			return 0, err
		}
		f.part = rest
	}
}

// fewest columns are not worth a line: what follows them, such as a long path, is rather too wide.
const fewest = 8

// Folded is text with its lines broken where a terminal ends.
func Folded(text string) string {
	var out strings.Builder
	f := &Folding{W: &out}
	_, _ = io.WriteString(f, strings.TrimSuffix(text, "\n")+"\n")
	return out.String()
}

var (
	// marks are what the further lines of a text stand under the end of: the number of a
	// footnote, or a word that is a column of its own.
	marks = regexp.MustCompile(`^ *(\[\d+\] |\S.{0,30}?  +)+`)
	// units are the words of a line, each with the space before it. A command is one up to the end
	// of its clause, so that it can be copied.
	units = regexp.MustCompile(` *(\bbench( [^ ]*[^ ,;:)])*( [^ ]+)?|[^ ]+)`)
)

// Fold breaks a line where a terminal ends, at spaces. What goes on stands two columns further in,
// or under the text behind a mark.
func Fold(line string) string { return fold(line, Columns) }

func fold(line string, columns int) string {
	if Width(line) <= columns {
		return line
	}
	mark := marks.FindString(line)
	if Width(mark) > columns/2 {
		mark = ""
	}
	indent := Width(mark)
	if mark == "" {
		indent = Width(line) - Width(strings.TrimLeft(line, " ")) + 2
	}
	var lines []string
	last := mark
	for _, word := range units.FindAllString(line[len(mark):], -1) {
		if Width(last)+Width(word) > columns && Width(last) > indent+fewest {
			lines, last = append(lines, last), strings.Repeat(" ", indent)
			word = strings.TrimLeft(word, " ")
		}
		last += word
	}
	return strings.Join(append(lines, last), "\n")
}

// Wrap breaks text into lines that fit a terminal, each indented.
func Wrap(text string, indent int) string { return WrapTo(text, indent, 0) }

// WrapTo breaks text into lines of so many columns at most, or of the fewest of a terminal.
func WrapTo(text string, indent, columns int) string {
	columns = cmp.Or(columns, Columns)
	margin := strings.Repeat(" ", indent)
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && indent+Width(line)+1+Width(word) > columns {
			lines, line = append(lines, margin+line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, margin+line), "\n")
}

// Plural is a number of things in words.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

package cli

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// columns is how wide a terminal is at least.
const columns = 80

// width is how many columns text takes.
func width(text string) int { return utf8.RuneCountInString(text) }

// A folding breaks the lines that are written to it where a terminal ends. It is for text that
// people read, into a file, too: what programs read is never written to one.
type folding struct {
	w    io.Writer
	part []byte // of a line that has not ended
}

// text is standard output for people.
func (s *streams) text() *folding { return &folding{w: s.out} }

// aside is standard error for people, without the command's name in front.
func (s *streams) aside() *folding { return &folding{w: s.err} }

func (f *folding) Write(text []byte) (int, error) {
	f.part = append(f.part, text...)
	for {
		line, rest, ended := bytes.Cut(f.part, []byte("\n"))
		if !ended {
			return len(text), nil
		}
		if _, err := io.WriteString(f.w, fold(string(line))+"\n"); err != nil {
			return 0, err
		}
		f.part = rest
	}
}

// fewest columns are not worth a line: what follows them, such as a long path, is rather too wide.
const fewest = 8

// folded is text with its lines broken where a terminal ends.
func folded(text string) string {
	var out strings.Builder
	f := &folding{w: &out}
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

// fold breaks a line where a terminal ends, at spaces. What goes on stands two columns further in,
// or under the text behind a mark.
func fold(line string) string {
	if width(line) <= columns {
		return line
	}
	mark := marks.FindString(line)
	if width(mark) > columns/2 {
		mark = ""
	}
	indent := width(mark)
	if mark == "" {
		indent = width(line) - width(strings.TrimLeft(line, " ")) + 2
	}
	var lines []string
	last := mark
	for _, word := range units.FindAllString(line[len(mark):], -1) {
		if width(last)+width(word) > columns && width(last) > indent+fewest {
			lines, last = append(lines, last), strings.Repeat(" ", indent)
			word = strings.TrimLeft(word, " ")
		}
		last += word
	}
	return strings.Join(append(lines, last), "\n")
}

// wrap breaks text into lines of at most so many columns, each indented.
func wrap(text string, indent int) string {
	margin := strings.Repeat(" ", indent)
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && indent+width(line)+1+width(word) > columns {
			lines, line = append(lines, margin+line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, margin+line), "\n")
}

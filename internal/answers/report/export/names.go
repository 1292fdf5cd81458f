package export

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// isHead are the columns that the head stands for.
func isHead(column string) bool {
	return column == "label" || column == "algorithm" || column == "problem"
}

// place is where a cell lies among those of its label: the number of nodes, and
// what else the run varies. It does not depend on the selection, so that the same
// experiment gives the same names every time, which is what others match by.
func (s *selection) place(c *results.Cell) []metric.Field { return view.Place(c.Design, s.places) }

// name is a cell in one word, as bully/nodes=9/loss=0.05.
func (s *selection) name(c *results.Cell) string { return printable(view.Path(c.Design, s.places)) }

// printable makes text one line of valid characters: XML has no place for control
// characters even when they are escaped, and in the other formats a line break
// would begin something else.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || r == '\uFFFE' || r == '\uFFFF':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// word makes text one word without a slash, in such a way that different texts
// stay different: what would end it is percent-encoded.
func word(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '/' && r != '%' {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// short is a text that may be long, for a line that should not be.
func short(text string) string {
	const most = 200
	text = printable(text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "..."
}

// nanoseconds turns milliseconds into them, as if the point of the decimal
// fraction were moved: 105.984995 is 105984995, and not a little more.
func nanoseconds(ms float64) float64 {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(ms, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil { // not finite
		return ms
	}
	v, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+6), 64) // out of range: infinite
	return v
}

// converted is a figure as others want it: times in nanoseconds.
func converted(m *metric.Metric, v float64) float64 {
	if m.Unit == metric.Milliseconds {
		return nanoseconds(v)
	}
	return v
}

// isNumber says whether text is a plain decimal fraction.
func isNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	all := func(s string) bool {
		return s != "" && strings.Trim(s, "0123456789") == ""
	}
	return all(whole) && (!point || all(fraction))
}

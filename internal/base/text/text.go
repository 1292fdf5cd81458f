// Package text is what many packages need for texts: patterns that are compiled late, and what a
// terminal can show of a text that somebody else wrote.
package text

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Lazy compiles a pattern when it is first used: packages that have some are linked into every node
// process, and a node's start is measured time.
func Lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Printable is s without anything that a terminal would act on.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// Foreign says what is wrong with a table whose columns a spreadsheet in another language has separated, by
// its first line, and what to do; "": commas separate them, or there is one column.
func Foreign(table []byte) string {
	first, _, _ := strings.Cut(string(table), "\n")
	if strings.Contains(first, ",") || !strings.ContainsAny(first, ";\t") {
		return ""
	}
	return "its columns are not separated by commas: write commas between columns, and points in numbers"
}

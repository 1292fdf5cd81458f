package proc

import (
	"fmt"
	"strings"
	"unicode"
)

// Harmless is text for a terminal: lines as they are, and whatever a terminal would
// obey written out.
func Harmless(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// Package svg writes pictures that no chart is: piece by piece, in pixels, with texts escaped.
package svg

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Writer gathers the pieces of a picture.
type Writer struct{ strings.Builder }

// Put appends what Paint makes.
func (w *Writer) Put(format string, args ...any) { w.WriteString(Paint(format, args...)) }

// Paint is fmt.Sprintf with %v for coordinates, of which a tenth of a pixel is kept.
func Paint(format string, args ...any) string {
	for i, a := range args {
		if x, ok := a.(float64); ok {
			args[i] = strconv.FormatFloat(math.Round(x*10)/10+0, 'f', -1, 64)
		}
	}
	return fmt.Sprintf(format, args...)
}

// Escape is text as it may stand in XML.
func Escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

// Title is the text that appears when the mouse stands on a piece.
func Title(text string) string { return "<title>" + Escape(text) + "</title>" }

// Head begins a picture that stands alone, whose styles are those of a class.
func Head(class, title string, width, height float64) string {
	return Paint(`<svg xmlns="http://www.w3.org/2000/svg" class="%s" role="img" width="%v" height="%v" `+
		`viewBox="0 0 %v %v">`+"\n%s", class, width, height, width, height, Title(title))
}

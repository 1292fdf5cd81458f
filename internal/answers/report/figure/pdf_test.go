package figure

import (
	"compress/zlib"
	"encoding/binary"
	"io"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// streams are those of a PDF that are compressed, as they were before.
func streams(t *testing.T, file string) (out []string) {
	t.Helper()
	for _, part := range strings.Split(file, "\nstream\n")[1:] {
		data, _, _ := strings.Cut(part, "\nendstream")
		r, err := zlib.NewReader(strings.NewReader(data))
		if err != nil {
			continue // it is not compressed
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// textOf is what a reader can search for and copy: the texts of a PDF, each in a line. Its codes
// are those of Unicode.
func textOf(t *testing.T, file string) string {
	t.Helper()
	var text strings.Builder
	unescape := strings.NewReplacer(`\\`, `\`, `\(`, "(", `\)`, ")", `\r`, "\r")
	for _, m := range regexp.MustCompile(`(?s)\((.*?)\) Tj ET`).FindAllStringSubmatch(streams(t, file)[0], -1) {
		codes := unescape.Replace(m[1])
		for ; len(codes) > 1; codes = codes[2:] {
			text.WriteRune(rune(binary.BigEndian.Uint16([]byte(codes))))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// TestPDF: a PDF is small, as large as it was asked for, and its text can be read: titles in
// words, whatever signs they have. Its font has only what is used.
func TestPDF(t *testing.T) {
	t.Parallel()
	d, o, dir := sample(), usual(), t.TempDir()
	d.Columns[0].Values[1] = "größer 2·N²"
	o.Width, o.Height = 85*vg.Millimeter, 70*vg.Millimeter
	o.Metrics = []string{"availability"}
	o.X, o.Where = "loss", []metric.Field{{Name: "nodes", Value: "5"}}
	names, _, err := Write(d, dir, *o)
	if err != nil || len(names) != 3 || names[1] != "availability-loss-nodes-5.pdf" {
		t.Fatal(names, err)
	}
	file := read(t, dir, names[1])
	if len(file) > 30_000 {
		t.Errorf("%d bytes, want at most 30 KB", len(file))
	}
	for _, want := range []string{"%PDF-1.3\n", "/MediaBox [0 0 240.94 198.43]", "/FontName /utf8liberationsans", "/ToUnicode",
		"%%EOF\n"} {
		if !strings.Contains(file, want) {
			t.Errorf("no %q in the file", want)
		}
	}
	text := textOf(t, file)
	for _, want := range []string{"availability", "message loss", "bully", "größer 2·N²", "nodes 5", "0.1"} {
		if !strings.Contains("\n"+text, "\n"+want+"\n") {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
}

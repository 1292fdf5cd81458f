package figure

import (
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"io"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// streams are those of a PDF, decompressed.
func streams(t *testing.T, file string) (out []string) {
	t.Helper()
	for _, part := range strings.Split(file, "\nstream\n")[1:] {
		data, _, _ := strings.Cut(part, "\nendstream")
		r, err := zlib.NewReader(strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// textOf is what a reader can search for and copy: the texts of a PDF, each in a line.
func textOf(t *testing.T, file string) string {
	t.Helper()
	meaning := map[string]rune{}
	var text strings.Builder
	all := streams(t, file)
	for _, m := range regexp.MustCompile(`(?m)^<(....)> <(....)>$`).FindAllStringSubmatch(all[len(all)-1], -1) {
		b, err := hex.DecodeString(m[2])
		if err != nil {
			t.Fatal(err)
		}
		meaning[m[1]] = rune(binary.BigEndian.Uint16(b))
	}
	for _, m := range regexp.MustCompile(`<([0-9A-F]+)> Tj`).FindAllStringSubmatch(all[0], -1) {
		for code := m[1]; code != ""; code = code[4:] {
			text.WriteRune(meaning[code[:4]])
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
	names, err := Write(d, dir, *o)
	if err != nil || len(names) != 3 || names[1] != "availability-loss-nodes-5.pdf" {
		t.Fatal(names, err)
	}
	file := read(t, dir, names[1])
	if len(file) > 30_000 {
		t.Errorf("%d bytes, want at most 30 KB", len(file))
	}
	for _, want := range []string{"%PDF-1.4\n", "/MediaBox[0 0 240.945 198.425]", "+LiberationSans/", "%%EOF\n"} {
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

// TestPDF_References: each object stands where the table of the file says, so that readers
// need not repair it.
func TestPDF_References(t *testing.T) {
	t.Parallel()
	p := everything(t, sample())[0]
	rendered, err := p.Render("pdf", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := string(rendered)
	rows := regexp.MustCompile(`(?m)^(\d{10}) 00000 n $`).FindAllStringSubmatch(file, -1)
	if len(rows) != 9 {
		t.Fatalf("%d objects, want 4 and 5 of a font", len(rows))
	}
	for i, row := range rows {
		at := strings.TrimLeft(row[1], "0")
		if object := file[number64(t, at):]; !strings.HasPrefix(object, string(rune('1'+i))+" 0 obj\n") {
			t.Errorf("object %d at %s begins with %.9q", i+1, at, object)
		}
	}
}

func number64(t *testing.T, text string) (n int) {
	t.Helper()
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}

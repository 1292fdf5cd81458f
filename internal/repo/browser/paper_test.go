package browser

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// strings evaluates an expression of the page that is a list of texts.
func (b *tab) strings(expression string) (out []string) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.text(`(async () => JSON.stringify(await `+expression+`))()`)), &out); err != nil {
		b.t.Fatal(err)
	}
	return out
}

// A word stands on a page of a PDF.
type word struct {
	Text string  `xml:",chardata"`
	Left float64 `xml:"xMin,attr"`
	End  float64 `xml:"xMax,attr"`
}

type sheet struct {
	Width float64 `xml:"width,attr"`
	Words []word  `xml:"word"`
}

// printed prints the page and reads, sheet by sheet, its text without spaces and in the order of the
// page, and where the words stand.
func (b *tab) printed() ([]string, []sheet) {
	b.t.Helper()
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		b.t.Skip("no pdftotext is installed to read what was printed")
	}
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
	if err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(b.t.TempDir(), "report.pdf")
	if err := os.WriteFile(file, pdf, 0o644); err != nil {
		b.t.Fatal(err)
	}
	read := func(how string) string {
		out, err := exec.CommandContext(ctx, reader, how, file, "-").Output()
		if err != nil {
			b.t.Fatal(err)
		}
		return string(out)
	}
	var doc struct {
		Sheets []sheet `xml:"body>doc>page"`
	}
	d := xml.NewDecoder(strings.NewReader(read("-bbox")))
	d.Strict, d.Entity = false, xml.HTMLEntity
	if err := d.Decode(&doc); err != nil {
		b.t.Fatal(err)
	}
	texts := strings.Split(read("-raw"), "\f")
	for i, text := range texts {
		texts[i] = joined(text)
	}
	return texts, doc.Sheets
}

func joined(text string) string { return strings.Join(strings.Fields(text), "") }

// cut are the texts of charts that run over an edge of theirs.
const cut = `[...document.querySelectorAll(".plot svg")].flatMap(s => [...s.querySelectorAll("text")].filter(text => {
		const inner = text.getBoundingClientRect(), outer = s.getBoundingClientRect();
		return inner.left < outer.left - 1 || inner.right > outer.right + 1 ||
			inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
	})).filter(text => parseFloat(getComputedStyle(text).fontSize) > 1).map(text => text.textContent).join()`

// TestReport_Paper: on paper every column and every axis has its title, nothing runs over an
// edge, and there is nothing to press.
func TestReport_Paper(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"elections": elections}))
	// More columns than a sheet is wide.
	b.text(`document.querySelectorAll("#table-tools input:not(:checked)").forEach(box => box.click())`)
	b.text(`dispatchEvent(new Event("beforeprint"))`)
	headings := b.strings(`[...new Set([...document.querySelectorAll("th[scope=col]")].map(h => h.textContent))]`)
	axes := b.strings(`[...instances.values()].flatMap(c => c.titles)`)
	firsts := b.strings(`[...document.querySelectorAll("section:has(> .charts)")].map(s =>
		s.querySelector("h2").textContent + "\n" + s.querySelector(".chart h3").textContent)`)
	b.want(cut, "")
	b.want(`[...document.querySelectorAll("table, .chart, .plot svg")].filter(e => e.getBoundingClientRect().width > 0 &&
		e.getBoundingClientRect().right > document.querySelector("main").getBoundingClientRect().right + 1)
		.map(e => e.outerHTML.slice(0, 100)).join()`, "")
	b.want(`document.querySelectorAll("#table table").length > 1`, "true")
	b.text(`dispatchEvent(new Event("afterprint"))`)
	b.want(`document.querySelectorAll("#table table").length`, "1")
	if len(headings) < 40 || len(axes) < 10 || len(firsts) < 4 {
		t.Fatalf("the page has %d headings, %d titles of axes, %d sections", len(headings), len(axes), len(firsts))
	}

	texts, sheets := b.printed()
	text := strings.Join(texts, "")
	for i, s := range sheets {
		for _, w := range s.Words {
			if w.Left < 0 || w.End > s.Width {
				t.Errorf("page %d: %q runs over the edge: %v to %v of %v", i+1, w.Text, w.Left, w.End, s.Width)
			}
		}
	}
	count := map[string]int{}
	for _, title := range append(headings, axes...) {
		count[joined(title)]++
	}
	for title, n := range count {
		if got := strings.Count(text, title); got < n {
			t.Errorf("%q is printed %d times, want %d", title, got, n)
		}
	}
	for _, both := range firsts {
		heading, chart, _ := strings.Cut(both, "\n")
		if !slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains(text, joined(heading)) && strings.Contains(text, joined(chart))
		}) {
			t.Errorf("%q is not on the sheet of its first chart, %q", heading, chart)
		}
	}
	for _, control := range []string{"Theme:", "logx", "Save", "Choosemetrics", "Thesameasatable"} {
		if strings.Contains(text, control) {
			t.Errorf("%q is printed", control)
		}
	}
}

// TestReport_Titles: the longest title of an axis is folded rather than cut, on screen and on paper.
func TestReport_Titles(t *testing.T) {
	find(t)
	longest := slices.MaxFunc(metric.All(), func(a, b *metric.Metric) int { return len(a.Title()) - len(b.Title()) }).Title()
	b := open(t, page(t, map[string]string{"elections": elections}))
	b.text(`D.metrics.forEach(m => { m.title = ` + strconv.Quote(longest) + `; }); redraw()`)
	b.settled()
	b.want(`[...instances.values()].some(c => c.titles.length > 2)`, "true")
	b.want(cut, "")
	b.text(`dispatchEvent(new Event("beforeprint"))`)
	b.want(cut, "")
}

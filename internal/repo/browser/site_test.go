package browser

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// The search of the documentation's site finds a heading before a text, from any page, and leads
// there. On a telephone the list of pages is folded, and no page is wider than that.
func TestSite(t *testing.T) {
	find(t)
	out := t.TempDir()
	c := exec.CommandContext(t.Context(), "go", "run", ".", "../..", out)
	c.Dir = filepath.Join("..", "..", "..", "scripts", "site")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("scripts/site: %v\n%s", err, text)
	}
	b := open(t, filepath.Join(out, "docs", "explanation", "design", "README.html"))
	b.want(`document.getElementById("found").hidden`, "true")
	ask := func(question string) {
		b.text(`{const box = document.getElementById("search"); box.value = "` + question + `";
			box.dispatchEvent(new Event("input"))}`)
	}
	ask("no such word anywhere")
	b.want(`document.getElementById("none").textContent`, "Nothing found.")
	ask("EXIT cod")
	b.want(`document.querySelector("#found a").textContent`, "Commands: Exit codes")
	b.want(`document.querySelector("#found a").getAttribute("href")`, "../../../docs/reference/commands.html#exit-codes")
	b.want(`{let to = "";
		document.querySelector("#found a").addEventListener("click", (e) => { e.preventDefault(); to = e.target.hash; });
		document.getElementById("search").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
		to}`, "#exit-codes")
	b.want(`document.querySelector("[aria-current]").getAttribute("href")`, "../../../docs/explanation/design/README.html")
	b.want(`document.querySelector("details").open`, "true")
	b.do(chromedp.EmulateViewport(390, 844))
	for _, page := range []string{"index", "docs/reference/algorithms", "docs/reference/results", "CHANGELOG"} {
		b.do(chromedp.Navigate("file://"+filepath.ToSlash(out)+"/"+page+".html"),
			chromedp.WaitReady("html[data-opened]"))
		b.want(`document.querySelector("details").open`, "false")
		b.fits("site-" + filepath.Base(page))
		b.do(chromedp.EmulateViewport(390, 844))
	}
	lessons, err := filepath.Glob(filepath.Join(out, "docs", "tutorials", "lessons", "*.html"))
	if err != nil || len(lessons) < 10 {
		t.Fatalf("%d lessons, %v", len(lessons), err)
	}
	for _, lesson := range lessons { // a handout is one sheet
		b.do(chromedp.Navigate("file://"+filepath.ToSlash(lesson)), chromedp.WaitReady("html[data-opened]"))
		if _, sheets := b.printed(); len(sheets) < 1 || len(sheets) > 2 {
			t.Errorf("%s prints on %d pages", filepath.Base(lesson), len(sheets))
		}
	}
}

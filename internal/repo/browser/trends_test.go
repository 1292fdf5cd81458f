package browser

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// trends makes the page of a history of two commits, the second of which has more messages.
func trends(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	store, out := filepath.Join(dir, "history"), filepath.Join(dir, "trends.html")
	for i, algorithm := range []string{"bully", "bully, params: {suppress_duplicates: false}"} {
		text := `{name: small, problem: election, transport: sim, repetitions: 6, algorithms: [{label: it, name: ` +
			algorithm + `}], scenario: {kind: cold-start}, sweep: [{vary: nodes, over: [3, 7]}]}`
		bench(t, "history", "add", run(t, filepath.Join(dir), "small", text), "--store", store,
			"--commit", strings.Repeat(string("ab"[i]), 40))
	}
	bench(t, "history", "report", "--store", store, "--all", "--out", out)
	return out
}

// TestTrends: the page of trends is as wide as the screen, says which commit is pointed at or focused, and
// leaves what the filter takes.
func TestTrends(t *testing.T) {
	find(t)
	b := open(t, trends(t))
	for _, width := range []int64{390, 1280} {
		b.do(chromedp.EmulateViewport(width, 844), chromedp.Reload(), chromedp.WaitReady("html[data-drawn]"))
		b.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
	}
	b.want(`document.querySelectorAll("svg.trend").length > 0`, "true")
	const said = `document.querySelector("svg.trend").parentNode.querySelector(".at").textContent`
	b.do(chromedp.Focus("svg.trend"))
	b.text(`document.querySelector("svg.trend").dispatchEvent(new FocusEvent("focus"))`) // the window may have none
	b.want(said+`.startsWith("bbbbbbbbbbbb")`, "true")
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	b.want(said+`.startsWith("aaaaaaaaaaaa")`, "true")
	b.text(`document.querySelector("svg.trend").dispatchEvent(new FocusEvent("blur"))`)
	b.want(said+`.trim()`, "")
	b.text(`(() => { const svg = document.querySelector("svg.trend"), box = svg.getBoundingClientRect();
		svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.right, clientY: box.top + 9 })); })()`)
	b.want(said+`.startsWith("bbbbbbbbbbbb")`, "true")
	b.text(`(() => { const s = document.getElementById("metric"); s.value = "messages_per_election";
		s.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	b.want(`[...document.querySelectorAll(".series:not([hidden])")].every(e => e.dataset.metrics === "messages_per_election")`,
		"true")
	b.want(`/^[0-9]+ of [0-9]+ series$/.test(document.getElementById("shown").textContent)`, "true")
}

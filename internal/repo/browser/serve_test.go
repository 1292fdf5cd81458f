package browser

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	missed = `{name: missed, problem: election, algorithms: [bully], transport: sim, nodes: 3, repetitions: 6,
  thresholds: [{metric: election_ms, stat: median, max: 0.001}]}`
	// Endless goes on for longer than anybody looks; one of its algorithms lets two in at once.
	endless = `{name: endless, problem: mutex, algorithms: [lamport, ricart-agrawala], transport: sim, nodes: 12,
  network: {latency: {distribution: uniform, min: 7ms, max: 9ms}, order: unordered}, repetitions: 50000,
  scenario: {kind: closed, requests: 20, think: 1ms, hold: 1ms}}`
	// Real has nodes that crash; a busy machine does no harm.
	real = `{name: real, problem: election, algorithms: [raft], transport: nats, nodes: 3, repetitions: 1, trace: all,
  scenario: {kind: leader-crash, elections: 2}, allow: {invalid: 1, timeout: 1}}`
)

// serve serves dir with bench serve, and returns the address.
func serve(t *testing.T, dir string) string {
	t.Helper()
	cmd := command(t, "serve", dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// until waits until an expression of the page is true, whichever page that is: one that is left
// meanwhile answers nothing.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[any](`document.readyState === "complete" && !!(`+expression+`)`))
		if err == nil && v == true {
			return
		}
	}
	b.t.Fatalf("it stays false: %s", expression)
}

// arrives waits for a page that has an element.
func (b *tab) arrives(selector string) {
	b.t.Helper()
	b.until("document.querySelector(`" + selector + "`)")
}

// focus focuses the first element that fits.
func (b *tab) focus(selector string) {
	b.t.Helper()
	b.text("document.querySelector(`" + selector + "`).focus()")
}

// picture keeps what the page looks like in the folder that CONCLAVE_PICTURES names, if it does.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("CONCLAVE_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// fits: everything to press or fill in has a name, and the page is no wider than a telephone.
func (b *tab) fits(name string) {
	b.t.Helper()
	b.want(`[...document.querySelectorAll("a, button, input, select, progress, canvas[role], [role=region], [role=log], [tabindex='0']")]
		.filter(e => !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim() ||
			e.getAttribute("aria-labelledby"))).map(e => e.outerHTML.slice(0, 80)).join("; ")`, "")
	b.picture(name + "-1280")
	b.do(chromedp.EmulateViewport(390, 844))
	b.want(`document.documentElement.scrollWidth`, "390")
	b.picture(name + "-390")
	b.do(chromedp.EmulateViewport(1280, 1000))
}

// TestServe: from the index by keyboard to a report and a trial, and to a run that goes on, which
// comes up to date by itself until it ends. The console stays silent.
func TestServe(t *testing.T) {
	find(t)
	dir := t.TempDir()
	run(t, dir, "elections", elections)
	run(t, dir, "unsafe", unsafe)
	run(t, dir, "missed", missed)
	home := serve(t, dir)
	b := start(t)
	b.do(chromedp.Navigate(home))
	b.fits("index")
	const verdicts = `[...document.querySelectorAll("tbody tr")].map(r => r.cells[1].textContent + ": " +
		r.cells[2].textContent + ", " + r.cells[4].textContent.trim().replace(/\s+/g, " ")).sort().join("; ")`
	b.want(verdicts, "elections: ok, 72 ok; missed: threshold missed, 6 ok; unsafe: ok, 6 violation beyond the model")
	const colours = `new Set([...document.querySelectorAll(".state")].map(e => getComputedStyle(e).color)).size`
	b.want(colours, "2")

	t.Run("dark", func(t *testing.T) {
		b := start(t, chromedp.Flag("blink-settings", "preferredColorScheme=0"))
		b.do(chromedp.Navigate(home))
		b.want(`document.documentElement.dataset.theme`, "dark")
		b.want(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 22, 27)")
		b.want(colours, "2")
		b.fits("index-dark")
	})
	t.Run("keyboard", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.focus("input[name=q]")
		b.do(chromedp.KeyEvent("violation missed\r"))
		b.arrives(".empty")
		b.focus("input[name=q]")
		b.text(`document.activeElement.select()`)
		b.do(chromedp.KeyEvent("beyond UNSAFE\r"))
		b.arrives("tbody tr:only-child")
		// Past the button, the region that scrolls, the button and the box of those that are compared.
		b.focus("form button")
		b.do(chromedp.KeyEvent(strings.Repeat(kb.Tab, 4) + "\r"))
		b.arrives("html[data-drawn]")
		b.text(`[...document.querySelectorAll("a")].find(a => a.textContent === "all trials").focus()`)
		b.do(chromedp.KeyEvent("\r"))
		b.arrives("html[data-kind=trials]")
		b.fits("trials")
		b.focus("tbody a")
		b.do(chromedp.KeyEvent("\r"))
		b.arrives("html[data-opened]")
		b.want(`document.querySelectorAll("#now .breach").length`, "1")
		b.fits("trial")
		b.press("next")
		b.want(`location.hash.includes("event=")`, "true")
		b.focus("header a")
		b.do(chromedp.KeyEvent("\r"))
		b.arrives("html[data-kind=trials]")
		b.do(chromedp.Navigate(home))
	})
	t.Run("compare", func(t *testing.T) { // two runs are ticked, and what changed is a page of the same look
		b := &tab{t, b.ctx}
		run(t, dir, "elections", strings.Replace(elections, "loss, over: [0, 0.05]", "loss, over: [0, 0.1]", 1))
		b.do(chromedp.Navigate(home))
		b.text(`[...document.querySelectorAll("tbody tr")].filter(r => r.cells[1].textContent === "elections")
			.forEach(r => r.querySelector("input").click())`)
		b.focus("thead button")
		b.do(chromedp.KeyEvent("\r"))
		b.arrives("header .state")
		b.want(`document.querySelector(".brand").textContent.startsWith("Conclave compare")`, "true")
		b.want(`document.querySelectorAll("main table").length > 0`, "true")
		b.fits("compare")
		b.text(`document.getElementById("theme").click()`)
		b.want(`document.documentElement.dataset.theme`, "dark")
		b.do(chromedp.Navigate(home)) // which remembers it
		b.want(`document.documentElement.dataset.theme + document.getElementById("theme").textContent`, "darkTheme: dark")
		b.text(`document.getElementById("theme").click()`)
		b.text(`document.getElementById("theme").click()`)
	})
	t.Run("live", func(t *testing.T) {
		b := &tab{t, b.ctx}
		file := filepath.Join(dir, "endless.yaml")
		if err := os.WriteFile(file, []byte(endless), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, "run", file, "--out", dir, "--quiet")
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		for found := ""; found != "running"; found = b.text(`document.querySelector(".state.going")?.textContent`) {
			select {
			case err := <-ended:
				t.Fatalf("the run ended before anybody looked: %v\n%s", err, &said)
			case <-time.After(50 * time.Millisecond):
			}
			b.do(chromedp.Navigate(home))
		}
		// What is ticked stays so while the index comes up to date.
		b.text(`document.querySelector("tr:has(.going) input").click()`)
		b.text(`(() => {
			const fresh = document.querySelector("[data-part=runs]").cloneNode(true);
			fresh.append(" ");
			take(fresh);
		})()`)
		b.want(`[...document.querySelectorAll("tbody :checked")].map(e => e.closest("tr").querySelector("th").textContent).join()`,
			"endless")
		b.text(`document.querySelector("tr:has(.going) a").click()`)
		b.arrives("html[data-kind=live] svg.interval")
		const width = `(() => { const [low, high] = /\[([^\],]+), ([^\]]+)\]/.exec([...document.querySelectorAll("tbody tr")]
			.find(r => r.textContent.includes("ricart")).textContent).slice(1).map(Number); return high - low; })()`
		b.until(`/\[.+\]/.test(document.querySelector("[data-part=cells] tbody").textContent.split("ricart")[1] || "")`)
		b.text(`window.first = ` + width)
		b.until(width + ` < first * 0.8`)
		b.want(`/^[\d]+ of 100000 trials, [\dhms]+ to go\. .* violation$/.test(document.querySelector("[data-part=progress] p").textContent.trim())`, "true")
		b.want(`document.querySelectorAll("[data-part=violations] li a").length > 1`, "true")
		// Curves of trials, of their rate, and of the main figure, which grow.
		b.want(`document.querySelector("header .state.going").textContent`, "running")
		b.until(`document.querySelectorAll("svg.curves").length === 3`)
		b.text(`window.long = document.querySelector("svg.curves .line").getAttribute("d")`)
		b.until(`document.querySelector("svg.curves .line").getAttribute("d").length > long.length`)
		b.want(`document.querySelectorAll("svg.spark").length`, "2")
		b.fits("live")
		// An answer that does not come is reported, and asked for again.
		b.text(`{window.asks = fetch; window.fetch = () => Promise.reject(new Error("away"));}`)
		b.until(`document.getElementById("stale").textContent.includes("does not answer")`)
		b.text(`{window.fetch = asks;}`)
		b.until(`document.getElementById("stale").textContent === ""`)
		// The focus stays where it is while figures change, and the list where somebody reads.
		b.text(`window.list = document.querySelector("[data-part=violations] ul")`)
		b.focus("[data-part=violations] a")
		b.until(`document.querySelector("[data-part=violations] p")`)
		b.text(`window.then = document.querySelector("[data-part=violations] p").textContent`)
		b.until(`document.querySelector("[data-part=violations] p").textContent !== then`)
		b.want(`list.isConnected + " " + list.children.length + " " + document.querySelectorAll("[data-part=violations] p").length`,
			"true 50 1")
		b.want(`document.activeElement.closest("[data-part]")?.dataset.part`, "violations")
		// A trial opens while the run goes on; then the run ends, and its page is the report.
		b.do(chromedp.KeyEvent("\r"))
		b.arrives("html[data-opened]")
		b.want(`document.querySelectorAll("#now .breach").length`, "1")
		b.text(`history.back()`)
		b.arrives("html[data-kind=live]")
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		b.arrives("html[data-drawn]")
		b.do(chromedp.Navigate(home))
		b.want(`document.querySelector("tr:has(.warn)").textContent.includes("interrupted")`, "true")
	})
}

// TestServe_RealNodes: a trial on real nodes opens from the trace that it kept; the states come
// from the replay, and the address brings back where the page stood.
func TestServe_RealNodes(t *testing.T) {
	find(t)
	dir := t.TempDir()
	run(t, dir, "real", real)
	b := start(t)
	b.do(chromedp.Navigate(serve(t, dir)))
	b.text(`document.querySelector("tbody a").click()`)
	b.arrives("html[data-drawn]")
	b.text(`[...document.querySelectorAll("a")].find(a => a.textContent === "all trials").click()`)
	b.arrives("html[data-kind=trials]")
	b.text(`document.querySelector("tbody a").click()`)
	b.arrives("html[data-opened]")
	b.want(`[...document.querySelectorAll("#states thead th")].map(h => h.textContent).slice(1, 4).join()`,
		"process,names leader,term")
	b.press("next-c")
	b.want(now+`.includes("crashes")`, "true")
	b.press("next-l")
	b.want(`/names|stands for election/.test(`+now+`)`, "true")
	b.want(`[...document.querySelectorAll("#states tbody tr")].filter(r => /[1-9]/.test(r.cells[3].textContent)).length > 1`, "true")
	at, states := b.text(event), b.text(`document.querySelector("#states").textContent`)
	b.text(`new Promise(done => { const look = () => location.hash.includes("event=") ? done() : setTimeout(look, 20); look(); })`)
	b.text(`window.old = true`)
	b.do(chromedp.Reload())
	b.until(`!window.old && document.querySelector("html[data-opened]")`)
	b.want(event, at)
	b.want(`document.querySelector("#states").textContent`, states)
	b.fits("trial-real")
}

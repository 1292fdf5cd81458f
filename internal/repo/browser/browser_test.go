// Package browser opens the report, the page of a trial and what bench serve shows in a real
// browser, where one is installed. It is nothing but a test, with the network cut.
package browser

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/cli"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// TestMain makes the test binary the command bench where it is called so, and what that
// starts of itself.
func TestMain(m *testing.M) {
	role := len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__")
	if role || os.Getenv("CONCLAVE_TEST_AS_BENCH") != "" {
		os.Unsetenv("CONCLAVE_TEST_AS_BENCH") // or it would be taken for an override
		os.Exit(cli.Bench())
	}
	os.Exit(m.Run())
}

// Unsafe lets two processes in at once beyond its model; the others sweep two columns.
const (
	elections = `{name: elections, problem: election, algorithms: [bully, raft], transport: sim,
  scenario: {kind: partition}, sweep: [{vary: nodes, over: [5, 7, 9]}, {vary: network.loss, over: [0, 0.05]}],
  repetitions: 6}`
	unsafe = `{name: unsafe, problem: mutex, algorithms: [lamport], transport: sim, nodes: 4, repetitions: 6,
  network: {latency: {distribution: uniform, min: 1ms, max: 9ms}, order: unordered}, trace: all,
  scenario: {kind: closed, requests: 40, think: 1ms, hold: 1ms}}`
	// Tails has leaders that repeat something, several crashes a trial, and some that nobody recovers
	// from before the limit.
	tails = `{name: tails, problem: election, algorithms: [raft, bully-quorum], transport: sim, nodes: 5, repetitions: 12,
  network: {loss: 0.3}, scenario: {kind: leader-crash, elections: 10}, time_limit: 4s, allow: {timeout: 1000}}`
)

func bench(t *testing.T, args ...string) {
	t.Helper()
	cmd := command(t, args...)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != cli.Violated && code != cli.Missed {
		t.Fatalf("bench %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// command is bench, which ends with the test.
func command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CONCLAVE_") { // they would override experiments
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "CONCLAVE_TEST_AS_BENCH=1")
	return cmd
}

// run runs the experiment of that name and text, and returns the folder with its runs.
func run(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	bench(t, "run", file, "--out", dir, "--quiet")
	return filepath.Join(dir, name)
}

// page makes a report about runs.
func page(t *testing.T, runs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"report"}
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		args = append(args, run(t, dir, name, runs[name]))
	}
	out := filepath.Join(dir, "report.html")
	bench(t, append(args, "--out", out)...)
	return out
}

// find is the browser, if there is one and it was asked for: to start one takes seconds.
func find(t *testing.T) string {
	t.Helper()
	if os.Getenv("CONCLAVE_BROWSER") == "" && !slowtest.Night() {
		t.Skip("starts a browser: set CONCLAVE_BROWSER=1")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium or Chrome is installed")
	return ""
}

// A tab is the page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func open(t *testing.T, path string) *tab {
	t.Helper()
	b := start(t)
	b.do(chromedp.Navigate("file://" + filepath.ToSlash(path)))
	b.do(chromedp.WaitReady("html[data-drawn], html[data-opened]"))
	return b
}

// start starts a browser. One that hangs while it starts is killed, and the next one tried: on a
// busy machine that happens to Chromium, and says nothing about a page.
func start(t *testing.T, flags ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	path := find(t)
	for try := 1; ; try++ {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.UserDataDir(t.TempDir()),
			chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 1000),
			// The network is cut: no name resolves, and no address but this machine's is reached.
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
			chromedp.ProxyServer("127.0.0.1:9"))
		ctx, stop := chromedp.NewExecAllocator(t.Context(), append(options, flags...)...)
		t.Cleanup(stop)
		ctx, close := chromedp.NewContext(ctx)
		t.Cleanup(close)
		late := time.AfterFunc(30*time.Second, stop)
		err := chromedp.Do(ctx) // which starts it, for as long as ctx lives
		if late.Stop() && err == nil {
			return listen(t, ctx)
		}
		stop()
		if try == 3 {
			t.Skipf("not judged: %s was started three times, and did not answer: %v", path, err)
		}
		t.Logf("%s was started, and did not answer: %v", path, err)
	}
}

// listen reports what the page writes to the console.
func listen(t *testing.T, ctx context.Context) *tab {
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			t.Errorf("the console says: %s", m)
		}
	}()
	return &tab{t, ctx}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// drawn waits until every chart is.
func (b *tab) drawn() {
	b.t.Helper()
	b.do(chromedp.WaitReady("html[data-drawn]"))
}

// text evaluates an expression of the page.
func (b *tab) text(expression string) string {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[any](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return fmt.Sprint(v)
}

func (b *tab) want(expression, want string) {
	b.t.Helper()
	if got := b.text(expression); got != want {
		b.t.Errorf("%s is %s, want %s", expression, got, want)
	}
}

const firstColumn = `[...document.querySelectorAll("#table tbody tr")].map(r => r.cells[%d].textContent).join(" ")`

// TestReport: the page draws every chart from what is in it; filters and sorting work,
// with keys as well; nothing is asked of a network, and the console stays silent.
func TestReport(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"elections": elections, "unsafe": unsafe}))
	b.want(`performance.getEntriesByType("resource").filter(e => !e.name.startsWith("data:")).length`, "0")
	b.want(`document.querySelectorAll("figure.chart").length`, "9")
	// Each has lines, bars or points, beside its axes.
	b.want(`[...document.querySelectorAll("figure.chart")].filter(f => f.querySelectorAll(".plot svg path").length < 6 &&
		!/ is 0 in every trial\.$/.test(f.querySelector(".empty")?.textContent))
		.map(f => f.querySelector("h3").textContent).join("; ")`, "")
	b.want(`document.querySelectorAll("#table tbody tr").length`, "13")
	b.want(`[...document.querySelectorAll(".violation img")].filter(i => i.complete && i.naturalWidth > 100).length > 0`, "true")

	// What broke stands first.
	b.want(`/^6 trials broke a promise: lamport, .+ p\d.*, and others\.$/.test(document.querySelector("header .broken").textContent)`, "true")

	t.Run("filter", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.text(`document.querySelector('[data-column="nodes"][data-value="7"]').click()`)
		b.text(`document.querySelector('[data-column="run"][data-value="unsafe"]').click()`)
		b.do(chromedp.WaitReady("html[data-drawn]"), chromedp.Sleep(100*time.Millisecond))
		b.drawn()
		b.want(`document.getElementById("shown").textContent`, "8 of 13 cells")
		b.want(`document.querySelectorAll("#table tbody tr").length`, "8")
		// The charts are drawn of the same cells.
		b.text(`document.querySelector("figure.chart details").open = true`)
		b.do(chromedp.WaitReady("figure.chart details table"))
		b.want(`[...new Set([...document.querySelectorAll("figure.chart details tbody tr")].map(r => r.cells[2].textContent))].join(" ")`, "5 9")
	})
	t.Run("sort", func(t *testing.T) {
		b := &tab{t, b.ctx}
		i := b.text(`[...document.querySelectorAll("#table thead th")].findIndex(h => h.textContent === "nodes")`)
		nodes := strings.Replace(firstColumn, "%d", i, 1)
		// A heading is a button: Enter presses it, and it keeps the focus for the next press.
		b.do(chromedp.Focus(`[data-sort="nodes"]`), chromedp.KeyEvent("\r"))
		b.want(nodes, "5 5 5 5 9 9 9 9")
		b.do(chromedp.KeyEvent("\r"))
		b.want(nodes, "9 9 9 9 5 5 5 5")
		b.want(`document.querySelector('[aria-sort="descending"]').textContent`, "nodes")
	})
	t.Run("axes", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.text(`document.querySelectorAll("figure.chart")[1].querySelectorAll("input[type=checkbox]")[1].click()`)
		b.want(`document.querySelectorAll("figure.chart figcaption")[1].textContent.includes("vertical axis is logarithmic")`, "true")
	})
	t.Run("theme", func(t *testing.T) {
		b := &tab{t, b.ctx}
		before := b.text(`getComputedStyle(document.body).backgroundColor`)
		b.text(`document.getElementById("theme").click()`)
		if after := b.text(`getComputedStyle(document.body).backgroundColor`); after == before {
			t.Errorf("the page stays %s", after)
		}
	})
	t.Run("point", func(t *testing.T) { // the mouse is told what a point is, and the other lines are faint
		b := &tab{t, b.ctx}
		b.want(`(() => {
			const chart = document.querySelectorAll("#figures .chart")[1].querySelector(".plot"), tip = document.getElementById("tip");
			const hit = instances.get(chart).hits.find(h => h.group), r = chart.firstChild.getBoundingClientRect();
			const point = (type, x) => chart.dispatchEvent(new PointerEvent(type, { clientX: r.left + x, clientY: r.top + hit.y }));
			const seen = [tip.hidden];
			point("pointermove", hit.x + 3);
			seen.push(tip.hidden, /\n(median|mean) /.test(tip.textContent) && tip.textContent.includes("n 6"),
				chart.querySelectorAll("[data-series][opacity]").length === chart.querySelectorAll("[data-series]").length - 1);
			point("pointerleave", 0);
			return seen.concat(tip.hidden, chart.querySelectorAll("[data-series][opacity]").length).join();
		})()`, "true,false,true,true,true,0")
	})
	t.Run("faults", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.want(`[...document.querySelectorAll("[data-chart=faults] h3")].map(h => h.textContent.split(":")[0]).join()`,
			"loss,latency (ms)")
		b.text(`document.querySelectorAll("[data-chart=faults] details").forEach(d => { d.open = true; })`)
		b.do(chromedp.WaitReady("[data-chart=faults] details table"))
		// Requested, of raft on 5 and 9 nodes; bully sends nothing, so nothing is known of its network.
		b.want(`[...document.querySelectorAll("[data-chart=faults]")[0].querySelectorAll("tbody tr")].map(r =>
			r.cells[r.cells.length - 4].textContent).join(" ")`, "0 0.05 0 0.05")
	})
	t.Run("few figures", func(t *testing.T) { // what a page has room for where there are very many cells
		b := &tab{t, b.ctx}
		b.text(`D.quantiles = false; D.cells.forEach(c => c.f.forEach(f => { if (f.length > 5) f.length = 5; })); redraw()`)
		b.drawn()
		b.want(`document.querySelectorAll("[data-chart=faults] .empty").length`, "0")
		b.want(`explorer(make("div"), { metric: 0, x: null }).tools.querySelectorAll("option").length ===
			D.metrics.length + NUMERIC.length + 1 + (SPLITS.length > 1 ? SPLITS.length + 2 : 0) + 1`, "true")
	})
	t.Run("save", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.want(`unpack(document.querySelector(".packed").dataset.packed).then(text => text.split("\n").length)`, "74")
		b.want(`toCSV(cellRows(visible())).split("\n")[0].startsWith("run,problem,label,")`, "true")
	})
}

// TestReport_ManyLines: a panel has six lines at most, and names those that lie on each other; what is the
// same in every trial is a sentence.
func TestReport_ManyLines(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"many": `{name: many, problem: election, algorithms: [bully, bully-ok,
  bully-modified, bully-quality, bully-quorum, bully-next-in-line, ring-list, ring-max], transport: sim,
  network: {latency: 2ms}, scenario: {kind: leader-crash}, sweep: [{vary: nodes, over: [3, 5, 9]}], repetitions: 6}`}))
	b.drawn()
	lines := `[...document.querySelectorAll("#figures .chart")[%d].querySelectorAll(".plot")].map(p =>
		p.querySelectorAll("[data-series]").length).join(" ")`
	b.want(fmt.Sprintf(lines, 0), "4 4")
	b.want(`[...document.querySelectorAll("#figures .chart")[0].querySelectorAll(".panel-title")].map(p => p.textContent).join("; ")`,
		"1 of 2; 2 of 2")
	b.want(`[...document.querySelectorAll("#figures .chart")[0].querySelectorAll(".plot text")].map(t => t.textContent)
		.filter(t => /^[a-z]/.test(t) && t.includes("-")).join("; ")`,
		"bully, bully-ok, bully-modified,; bully-quality; ring-list, ring-max")
	// Without two of them one panel has room for all.
	b.text(`document.querySelectorAll("#figures .chart")[0].querySelectorAll("[data-line]").forEach((e, i) => { if (i < 2) e.click(); })`)
	b.drawn()
	b.want(fmt.Sprintf(lines, 0), "6")
	b.want(`Math.max(...[...document.querySelectorAll(".plot")].map(p => p.querySelectorAll("[data-series]").length))`, "6")
	b.want(`document.querySelectorAll("#spread .chart .plot").length`, "4")
	// What has nothing to say is one line, and its empty panels take no room.
	b.want(`[...document.querySelectorAll("section.still")].map(s => s.innerText.trim().replace(/\s+/g, " ")).join("; ")`,
		"Split brain and availability against failures No failure was varied.; Violations No trial broke a promise.")
	b.want(`[...document.querySelectorAll("section.still")].every(s => s.offsetHeight < 40)`, "true")
	b.want(`document.querySelectorAll(".state").length + " " + document.querySelector("header .state.good").textContent`, "1 ok")
	b.want(`document.querySelector("header #share").textContent`, "144 of 144 trials count")
}

// TestReport_Failures: where a failure was varied, its section has charts, below the filter that governs them.
func TestReport_Failures(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"elections": elections}))
	b.drawn()
	b.want(`document.querySelectorAll("#failures .chart").length > 0 && !document.querySelector("#failures.still")`, "true")
	b.want(`[...document.querySelectorAll(".charts, #table")].filter(e => e.getBoundingClientRect().top <
		document.getElementById("filters").getBoundingClientRect().bottom && e.offsetHeight > 0).length`, "0")
}

// TestReport_Hollow: points of cells beyond the model, and no others, are hollow in charts of figures, distributions
// and faults, each of which says why, also in a picture that is saved; and no panel of them has more than six lines.
func TestReport_Hollow(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"lossy": `{name: lossy, problem: election, algorithms: [bully, bully-ok,
  bully-modified, bully-quality, raft, bully-next-in-line, ring-list, ring-max], transport: sim, nodes: 5,
  network: {latency: 2ms}, scenario: {kind: leader-crash}, sweep: [{vary: network.loss, over: [0, 0.05]}],
  repetitions: 6, allow: {timeout: 1000}}`}))
	b.drawn()
	b.want(`D.cells.filter(c => c.h).length`, "7") // raft survives loss
	for section, want := range map[string]string{"#figures": "7", "#faults": "7", "#spread": "0"} {
		chart := fmt.Sprintf(`document.querySelector("%s .chart")`, section)
		b.want(chart+`.querySelectorAll("[data-hollow]").length`, want)
		b.want(`[...`+chart+`.querySelectorAll(".plot")].map(p => p.querySelectorAll("[data-series]").length).join(" ")`, "4 4")
		b.want(chart+`.querySelector("figcaption").textContent.includes("Hollow: outside the algorithm's model (7 of 16 points).")`,
			fmt.Sprint(want != "0"))
	}
	b.want(`picture(figures[0]).text.includes("Hollow: outside the algorithm's model (7 of 16 points).")`, "true")
	b.text(`{ const s = document.querySelector("#spread .chart select:has(option[value='0.05'])"); s.value = "0.05"; s.dispatchEvent(new Event("change")); }`)
	b.want(`document.querySelector("#spread .chart figcaption").textContent.includes("Hollow: outside the algorithm's model (7 of 8 points).")`,
		"true")
	b.want(`new Set([...document.querySelectorAll("#spread .chart [data-hollow]")].map(p => p.getAttribute("stroke"))).size > 3`, "true")
	b.want(`D.looks.marks.every(m => /z$/.test(m.path))`, "true")
}

// TestReport_Tails: a page about leaders that repeat something, and about elections that were cut off,
// has a histogram of phases with its test, curves by Kaplan and Meier with restricted means, and
// quantiles over operations with their intervals.
func TestReport_Tails(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"tails": tails}))
	b.want(`document.querySelectorAll("[data-chart=phase] .plot svg").length > 0`, "true")
	b.want(`document.querySelectorAll(".broken").length`, "0")
	b.want(`document.querySelector("[data-chart=phase] .panel-title").textContent.includes("degrees of freedom, p")`, "true")
	// As many bars as bins, in every panel.
	b.text(`document.querySelector("[data-chart=phase] details").open = true`)
	b.do(chromedp.WaitReady("[data-chart=phase] details table"))
	b.want(`document.querySelectorAll("[data-chart=phase] tbody tr").length ===
		D.cells.filter(c => c.p).reduce((sum, c) => sum + c.p.b.length, 0)`, "true")

	b.want(`D.cells.some(c => (c.e || []).some(s => s.g && s.l.some(v => v !== null)))`, "true")
	b.want(`document.querySelector("[data-chart=ecdf] figcaption").textContent.includes("Kaplan and Meier")`, "true")
	b.want(`[...document.querySelectorAll("#restricted tbody tr")].filter(r => /^[\d.]+, [\d.]+$/.test(r.cells[5].textContent)).length > 0`, "true")

	b.want(`document.querySelector('nav a[href="#tails"]').textContent`, "Tails")
	// The two quantiles without an interval in any row are told of once.
	b.want(`[...document.querySelectorAll("#tails thead th")].map(h => h.textContent).join()`,
		"cell,metric,operations,trials,p50,design effect")
	b.want(`[...new Set([...document.querySelectorAll("#tails tbody tr")].map(r => r.cells[1].textContent))].sort().join()`,
		"downtime (ms),election time (ms)")
	b.want(`[...document.querySelectorAll("#tails tbody tr")].every(r => r.cells.length === 6 &&
		/^(pending|[\d.]+) \[.+\]$/.test(r.cells[4].textContent))`, "true")
	b.want(`[...document.querySelectorAll("#tails p.small")].map(p => p.textContent.replace(/:.*/, ":")).join(" ")`,
		"p95 is left out: p99 is left out:")
}

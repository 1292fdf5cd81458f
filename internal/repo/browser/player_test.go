package browser

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Stormy has crashes and returns; large has some 20 000 events.
const (
	stormy = `{name: stormy, problem: election, algorithms: [raft], transport: sim, nodes: 5, repetitions: 1,
  network: {latency: 2ms, loss: 0.1}, detector: {kind: heartbeat, interval: 20ms, timeout: 60ms},
  scenario: {kind: churn, duration: 1s}, faults: {crash_rate: 2, downtime: 60ms}}`
	large = `{name: large, problem: mutex, algorithms: [ricart-agrawala], transport: sim, nodes: 12, repetitions: 1,
  scenario: {kind: closed, requests: 430}}`
)

// trial makes the page of the first trial of an experiment.
func trial(t *testing.T, name, text string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "trial.html")
	bench(t, append([]string{"trace", run(t, dir, name, text), "--trial", "1", "--html", "--out", out}, args...)...)
	return out
}

const (
	event = `document.querySelector("#now .number").textContent.split(" ")[0]`
	now   = `document.querySelector("#now .what").textContent`
)

func (b *tab) press(id string) {
	b.t.Helper()
	b.text(`document.getElementById("` + id + `").click()`)
}

// TestPlayer: the page of a trial opens at the broken promise, steps, jumps, lights causes and
// shows states; its address brings back where it stood. The console stays silent.
func TestPlayer(t *testing.T) {
	find(t)
	file := trial(t, "unsafe", unsafe, "--violation")
	b := open(t, file)
	b.want(`performance.getEntriesByType("resource").length`, "0")
	b.want(`document.querySelectorAll("#now .breach").length`, "1")
	first, _ := strconv.Atoi(b.text(event))

	t.Run("step", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.press("next")
		b.want(event, strconv.Itoa(first+1))
		b.do(chromedp.Focus("#scroller"), chromedp.KeyEvent(kb.ArrowLeft))
		b.want(event, strconv.Itoa(first))
		b.press("first")
		b.want(event, "1")
		b.want(`document.getElementById("back").disabled`, "true")
		b.want(now+`.includes("p1 is up")`, "true")
	})
	t.Run("states", func(t *testing.T) {
		b := &tab{t, b.ctx}
		// The table says of each process what the changes so far add up to.
		b.want(`(() => {
			let wrong = 0, compared = 0;
			for (const i of [0, 10, 100, 101, 500, N - 1, 250]) {
				select(i);
				const now = {};
				for (let n = 0; n < D.initial.length; n += 3) now[D.initial[n] + "." + D.initial[n + 1]] = D.words[D.initial[n + 2]];
				for (let n = 0; n < D.changes.length && D.changes[n] <= i; n += 3)
					now[process(D.changes[n]) + "." + D.changes[n + 1]] = D.words[D.changes[n + 2]];
				for (let p = 1; p <= D.nodes; p++) cells[p].forEach((cell, c) => {
					const shown = (cell.td.querySelector("ins") || cell.td).textContent;
					compared++;
					if (shown !== (now[p + "." + used[c]] || "")) wrong++;
				});
			}
			return wrong + " of " + (compared > 100);
		})()`, "0 of true")
		b.want(`[...document.querySelectorAll("td.new")].length > 0 || !D.changedAt.has(k)`, "true")
	})
	t.Run("jump", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.press("first")
		b.press("next-v")
		b.want(event, strconv.Itoa(first))
		b.press("next-e")
		b.want(now+`.includes("enters the critical section")`, "true")
	})
	t.Run("causes", func(t *testing.T) {
		b := &tab{t, b.ctx}
		// Past and future by reachability, the slow way.
		b.want(`(() => {
			for (const at_ of [40, 300, N - 60]) {
				select(at_);
				const past = new Set([k]), future = new Set([k]), m = D.messages;
				const origin = i => { const g = D.events.message[i]; return g >= 0 && m.end[g] === i ? m.origin[g] : -1; };
				for (let i = k; i >= 0; i--) {
					if (!past.has(i)) continue;
					for (let n = 0; n < i; n++) if (own(n) && process(n) === process(i)) past.add(n);
					if (origin(i) >= 0) past.add(origin(i));
				}
				for (let i = k + 1; i < N; i++) {
					if (!own(i)) continue;
					if (origin(i) >= 0 && future.has(origin(i))) future.add(i);
					for (const n of future) if (n < i && process(n) === process(i)) { future.add(i); break; }
				}
				for (let i = 0; i < N; i++) {
					if (!own(i)) continue;
					if (inPast(i) !== past.has(i)) return "past of " + k + ": " + i;
					if (inFuture(i) !== future.has(i)) return "future of " + k + ": " + i;
				}
				if (past.size < 10 || future.size < 10) return "too few";
			}
			return "same";
		})()`, "same")
	})
	t.Run("play", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.press("first")
		b.text(`document.getElementById("speed").value = "60"`)
		b.press("play")
		b.text(`new Promise(done => { const look = () => k > 3 ? done() : setTimeout(look, 20); look(); })`)
		b.press("play")
		stood := b.text(event)
		b.do(chromedp.Sleep(100 * time.Millisecond))
		b.want(event, stood)
	})
	t.Run("address", func(t *testing.T) {
		b := &tab{t, b.ctx}
		b.text(`location.hash = "#event=77&filter=p2+receives&zoom=2&cones=0"`)
		b.do(chromedp.WaitReady(`#list`), chromedp.Sleep(200*time.Millisecond))
		hash := b.text(`location.hash`)
		again := open(t, file+hash)
		again.want(event, "77")
		again.want(`zoom + " " + document.getElementById("cones").checked`, "2 false")
		again.want(`shown.length > 10 && shown.every(i => /\bp2\b/.test(text(i)) && text(i).includes("receives"))`, "true")
		again.press("next")
		again.want(now+`.includes("receives")`, "true")
		again.want(`location.hash.startsWith("#event=77")`, "false")
	})
	t.Run("names", func(t *testing.T) { // everything to press or fill in has a name
		b := &tab{t, b.ctx}
		b.want(`[...document.querySelectorAll("button, input, select, canvas[role], [tabindex='0']")].filter(e =>
			!(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label"))).map(e => e.outerHTML).join("; ")`, "")
		b.want(`document.getElementById("slider").getAttribute("aria-valuetext").startsWith("event ")`, "true")
	})
	t.Run("theme", func(t *testing.T) {
		b := &tab{t, b.ctx}
		before := b.text(`getComputedStyle(document.body).backgroundColor`)
		b.press("theme")
		if after := b.text(`getComputedStyle(document.body).backgroundColor`); after == before {
			t.Errorf("the page stays %s", after)
		}
	})
}

// TestPlayer_Faults: crashes and changes of leader are found, and heartbeats are hidden.
func TestPlayer_Faults(t *testing.T) {
	find(t)
	b := open(t, trial(t, "stormy", stormy))
	b.press("next-c")
	b.want(now+`.includes("crashes")`, "true")
	b.press("next-l")
	b.want(`/names|stands for election/.test(`+now+`)`, "true")
	b.want(`shown.length < N && !shown.some(i => text(i).includes("HEARTBEAT"))`, "true")
	b.press("detector")
	b.want(`shown.length === N && shown.some(i => text(i).includes("HEARTBEAT"))`, "true")
	b.want(`[...document.querySelectorAll("#states thead th")].map(h => h.textContent).slice(1, 4).join()`,
		"process,names leader,term")
}

// TestPlayer_Partition: the sides of a partition are shaded while it lasts, the jump finds the second leader, times
// on the axis are round, and parameters stand apart from the state.
func TestPlayer_Partition(t *testing.T) {
	find(t)
	text, err := os.ReadFile("../../../configs/teaching/03-split-brain.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, trial(t, "teaching-split-brain", string(text)))
	b.want(`jumps.find(j => j.key === "t").events.length > 0`, "true")
	b.press("next-t")
	b.want(`[...Array(D.nodes).keys()].map(p => p + 1).filter(p => D.words[value(p, 1, k)].startsWith("p" + p)).length`, "2")
	b.want(`[...Array(D.nodes).keys()].map(p => p + 1).filter(p => (D.words[value(p, 1, k - 1)] || "").startsWith("p" + p)).length`, "1")
	b.want(`D.bands.length === 1 && D.bands[0].sides.length === D.nodes && new Set(D.bands[0].sides).size === 2`, "true")
	// What is painted behind the lines of the processes: two colours, of which each side has one.
	b.want(`(() => {
		const paint = [], c = { fillRect: () => paint.push(c.fillStyle) };
		const all = new Proxy(c, { get: (o, name) => o[name] || (() => {}), set: (o, name, v) => { o[name] = v; return true; } });
		drawBands(all, [...Array(D.nodes).keys()].map(p => p + 1), 900, 9e9);
		const sides = D.bands[0].sides;
		return paint.length === sides.length && sides.every((s, p) => sides.every((o, q) => (s === o) === (paint[p] === paint[q])));
	})()`, "true")
	b.want(`instants(0, 900).length > 2`, "true")
	b.want(`instants(0, 900).map(({ t }) => String(t).replace(/0+$/, "").length).every(n => n <= 4)`, "true")
	b.want(`["t", "tPrime", "suppress"].every(name => document.getElementById("same").textContent.includes(name + " "))`, "true")
	b.want(`[...document.querySelectorAll("#states thead th")].some(h => ["tPrime", "suppress"].includes(h.textContent))`, "false")
}

// TestPlayer_Same: what a crash leaves as it was, such as that no leader is named, is no change.
func TestPlayer_Same(t *testing.T) {
	find(t)
	text, err := os.ReadFile("../../../configs/figures/18-1-bully.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, trial(t, "figure-18-1-bully", string(text)))
	b.press("next-c")
	b.want(now+`.includes("p3 crashes")`, "true")
	b.want(`[...document.querySelectorAll("#now li")].map(li => li.textContent).filter(s => /^(process|names)/.test(s)).join()`,
		"process up → down")
}

// TestPlayer_Large: how long the page of 20 000 events takes to open, and to step.
func TestPlayer_Large(t *testing.T) {
	find(t)
	b := open(t, trial(t, "large", large))
	b.want(`N > 20000`, "true")
	step := b.text(`(() => {
		select(N >> 1);
		const begun = performance.now();
		for (let i = 0; i < 50; i++) step(1);
		draw();
		return ((performance.now() - begun) / 50).toFixed(1);
	})()`)
	t.Logf("%s events open in %s ms, of which the script takes %s; a step takes %s ms", b.text("String(N)"),
		b.text(`document.documentElement.dataset.opened`), b.text(`document.documentElement.dataset.took`), step)
}

// TestReport_Player: the report opens the trial of a broken promise, out of itself.
func TestReport_Player(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"unsafe": unsafe}))
	url := b.text(`new Promise(done => {
		window.open = done;
		document.querySelector("button.player").click();
	})`)
	if !strings.HasPrefix(url, "blob:") {
		t.Fatalf("it opens %s", url)
	}
	b.text(`(() => { const a = document.createElement("a"); a.href = "` + url + `"; document.body.append(a); a.click(); })()`)
	b.do(chromedp.WaitReady("html[data-opened]"))
	b.want(`document.querySelector("#now .breach").textContent.startsWith("Broken promise: ")`, "true")
	b.press("next")
	b.want(`location.hash.includes("event=")`, "true")
}

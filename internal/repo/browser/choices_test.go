package browser

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What the page shows of the reader's choices.
const shows = `JSON.stringify([
	document.getElementById("shown").textContent,
	[...document.querySelectorAll("select")].map(s => s.value),
	[...document.querySelectorAll("main input")].map(i => i.type === "checkbox" ? i.checked : i.value),
	[...document.querySelectorAll("#table thead th")].map(h => h.textContent + h.getAttribute("aria-sort")),
	[...document.querySelectorAll(".legend button")].map(b => b.textContent + b.getAttribute("aria-pressed")),
	[...document.querySelectorAll(".chart h3, .chart figcaption")].map(h => h.textContent),
])`

// settled waits until what was chosen is drawn: filters wait for a frame.
func (b *tab) settled() {
	b.t.Helper()
	b.text(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	b.drawn()
}

// TestReport_Address: what a reader chose is in the address. It comes back with it, and each
// step back takes one choice back.
func TestReport_Address(t *testing.T) {
	find(t)
	file := page(t, map[string]string{"elections": elections})
	b := open(t, file)
	b.want(`location.hash`, "")
	first := b.text(shows)

	pick := func(select_, value string) string {
		return `(() => { const s = ` + select_ + `; s.value = "` + value + `"; s.dispatchEvent(new Event("change")); })()`
	}
	const chart = `document.querySelectorAll("#figures .chart")[0]`
	steps := []string{
		`document.querySelector('[data-column="nodes"][data-value="7"]').click()`,
		pick(chart+`.querySelectorAll("select")[0]`, "messages"),
		pick(chart+`.querySelectorAll("select")[1]`, "loss"),
		pick(chart+`.querySelectorAll("select")[2]`, "none"),
		chart + `.querySelector("input").click()`,
		pick(`[...`+chart+`.querySelectorAll("select")].at(-1)`, "2"),
		`document.querySelectorAll("#figures .chart")[1].querySelector("[data-line=raft]").click()`,
		`document.querySelector("[data-sort=nodes]").click()`,
		`document.querySelector("[data-sort=nodes]").click()`,
		`document.querySelector("#table-tools input").click()`,
		pick(`document.querySelector("#kinds select")`, "bytes"),
		`(() => { const i = document.getElementById("filter-text");
			for (const text of ["r", "ra", "raft 0"]) { i.value = text; i.dispatchEvent(new Event("input")); } })()`,
	}
	seen := []string{first}
	for _, step := range steps {
		b.text(step)
		b.settled()
		now := b.text(shows)
		if now == seen[len(seen)-1] {
			t.Fatalf("%s changes nothing", step)
		}
		seen = append(seen, now)
	}
	hash := b.text(`location.hash`)
	for _, part := range []string{"words=raft+0", "not.nodes=7", "figures-1.metric=messages", "figures-1.x=loss",
		"figures-1.nodes=9", "figures-2.hidden=raft", "sort=-nodes", "kinds-1.count=bytes"} {
		if !strings.Contains(hash, part) {
			t.Errorf("%s does not hold %s", hash, part)
		}
	}

	again := open(t, file+hash)
	again.want(shows, seen[len(seen)-1])
	again.text(`new Promise(done => { addEventListener("popstate", done, { once: true });
		location.hash = "#figures-1.metric=nonsense&figures-1.x=&not.nodes=8&sort=nonsense&nonsense=1"; })`)
	again.settled()
	again.want(shows, first) // an address of another report

	for i := len(seen) - 2; i >= 0; i-- {
		b.text(`new Promise(done => { addEventListener("popstate", done, { once: true }); history.back(); })`)
		b.settled()
		b.want(shows, seen[i])
	}

	// A link within the page keeps the choices.
	b.text(`document.querySelector('[data-column="nodes"][data-value="7"]').click()`)
	b.text(`document.querySelector('nav a[href="#notes"]').click()`)
	b.want(`location.hash`, "#not.nodes=7&at=notes")
	b.want(`document.activeElement.id`, "notes")
	plain := open(t, file+"#kinds")
	plain.want(`document.activeElement.id + " " + (Math.abs(document.getElementById("kinds").getBoundingClientRect().top) < 100)`,
		"kinds true")
}

// TestReport_Legend: a key on an entry hides its line in this chart, and shows it again.
func TestReport_Legend(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"elections": elections}))
	const drawn = `JSON.stringify([...document.querySelectorAll("#figures .chart:nth-child(2) .plot svg")].map(s =>
		["#0072b2", "#d55e00"].map(colour => s.querySelectorAll('path[stroke="' + colour + '"]').length > 0)))`
	const bully = `#figures .chart:nth-child(2) [data-line=bully]`
	both := b.text(drawn)
	if strings.Contains(both, "false") {
		t.Fatalf("not all lines are drawn: %s", both)
	}
	for _, key := range []string{kb.Enter, " "} {
		b.do(chromedp.Focus(bully), chromedp.KeyEvent(key))
		b.want(`document.activeElement.dataset.line + document.activeElement.getAttribute("aria-pressed")`, "bullyfalse")
		one := b.text(drawn)
		if want := strings.ReplaceAll(both, "true,true", "false,true"); one != want {
			t.Errorf("without bully: %s, want %s", one, want)
		}
		b.do(chromedp.KeyEvent(key))
		b.want(drawn, both)
	}
	b.text(`document.querySelectorAll("#figures .chart:nth-child(2) [data-line]").forEach(() =>
		document.querySelector("#figures .chart:nth-child(2) [aria-pressed=true]")?.click())`)
	b.want(`document.querySelector("#figures .chart:nth-child(2) .empty").textContent.startsWith("Every line is hidden")`, "true")
	b.do(chromedp.Focus(bully), chromedp.KeyEvent(kb.Enter))
	b.want(`document.querySelectorAll("#figures .chart:nth-child(2) .plot").length > 0`, "true")
}

// TestReport_Save: each chart is saved as an SVG that stands alone, and as a PNG of twice its size.
func TestReport_Save(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"elections": elections}))
	b.text(`document.getElementById("theme").click()`) // dark: what is saved is light
	b.settled()
	const kept = `(async format => {
		const out = [];
		const until = save;
		for (const button of document.querySelectorAll(".saves:not([hidden]) [data-save=" + format + "]"))
			await new Promise(done => { save = (name, type, parts) => { out.push([name, type, parts[0]]); done(); }; button.click(); });
		save = until;
		return out;
	})`
	before := b.text(`document.querySelector(".plot svg").outerHTML`)
	pictures := b.strings(kept + `("SVG").then(all => all.map(p => p.join("\n")))`)
	if after := b.text(`document.querySelector(".plot svg").outerHTML`); len(after) != len(before) {
		t.Error("the chart on the page is another than before")
	}
	titles := b.strings(`figures.filter(f => f.body.querySelector(".plot")).map(f => [f.head.textContent,
		...[...f.body.querySelectorAll(".legend button")].map(e => e.textContent),
		...[...f.body.querySelectorAll(".plot")].flatMap(e => instances.get(e).titles)].join("\n"))`)
	if len(pictures) < 6 || len(pictures) != len(titles) {
		t.Fatalf("%d pictures of %d charts", len(pictures), len(titles))
	}
	for i, p := range pictures {
		part := strings.SplitN(p, "\n", 3)
		if !strings.HasPrefix(part[0], "elections-") || !strings.HasSuffix(part[0], ".svg") || part[1] != "image/svg+xml" {
			t.Errorf("saved as %s, %s", part[0], part[1])
		}
		texts, marks := "", 0
		for d := xml.NewDecoder(strings.NewReader(part[2])); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", part[0], err, part[2])
			}
			switch token := token.(type) {
			case xml.CharData:
				texts += string(token) + "\n"
			case xml.StartElement:
				if token.Name.Local == "path" {
					marks++
				}
				for _, a := range token.Attr {
					if a.Name.Local == "class" || strings.Contains(a.Value, "var(") || strings.Contains(a.Value, "#12161b") {
						t.Errorf("%s: %s=%q is of the page", part[0], a.Name.Local, a.Value)
					}
				}
			}
		}
		for _, title := range strings.Split(titles[i], "\n") {
			if !strings.Contains(texts, title) {
				t.Errorf("%s does not hold %q", part[0], title)
			}
		}
		if marks < 6 {
			t.Errorf("%s holds %d paths", part[0], marks)
		}
	}
	b.want(kept+`("PNG").then(async all => {
		const wrong = [];
		for (const [i, [name, type, blob]] of all.entries()) {
			const image = await createImageBitmap(blob), p = picture(figures.filter(f => f.body.querySelector(".plot"))[i]);
			const canvas = document.createElement("canvas"), c = canvas.getContext("2d");
			canvas.width = image.width; canvas.height = image.height;
			c.drawImage(image, 0, 0);
			const dots = c.getImageData(0, 0, image.width, image.height).data;
			const dark = dots.filter((v, i) => i % 4 === 0 && v < 120).length;
			if (!name.endsWith(".png") || type !== "image/png" || image.width !== 2 * p.width || dots[0] !== 255 || dark < 500)
				wrong.push(name + " " + image.width + " " + dots[0] + " " + dark);
		}
		return all.length + wrong.join("; ");
	})`, b.text(`String(figures.filter(f => f.body.querySelector(".plot")).length)`))
}

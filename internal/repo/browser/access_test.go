package browser

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// TestReport_Digits: the page shows a median digit by digit as the command does.
func TestReport_Digits(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"elections": elections}))
	for _, v := range []float64{0, 1, 0.5, 2024.5, 2025.5, 7650.5, 0.0625, 0.1875, 12.345, 12.125, 12.375, 999.95, 9.9996,
		0.0004, 0.0005, 0.00049, 1e-9, 99999.5, 12345678, 3e8 + 0.5, -2024.5, -0.0001, 1.5e15, 1.23456e18} {
		b.want(`digits(`+strconv.FormatFloat(v, 'g', -1, 64)+`)`, console.Number(v))
	}
}

// names are those of what a reader with a screen reader meets, by role.
func (b *tab) names() map[string][]string {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	nodes, err := chromedp.Run(ctx, chromedp.Action[[]*accessibility.Node](
		func(ctx context.Context, t *chromedp.Target) ([]*accessibility.Node, error) {
			r, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
			return r.Nodes, err
		}))
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[string][]string{}
	for _, n := range nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		text := func(v *accessibility.Value) string {
			if v == nil {
				return ""
			}
			return strings.Trim(string(v.Value), `"`)
		}
		out[text(n.Role)] = append(out[text(n.Role)], text(n.Name))
	}
	return out
}

// reachable presses Tab until the page is gone through, and compares what it came to with all
// that can be pressed, filled in or scrolled.
func (b *tab) reachable() {
	b.t.Helper()
	const all = `[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
		.filter(e => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.tabIndex >= 0)`
	b.text(`(() => {
		window.reached = new Set();
		document.addEventListener("focusin", e => reached.add(e.target));
		document.activeElement.blur();
		scrollTo(0, 0);
	})()`)
	n, err := strconv.Atoi(b.text(`String(` + all + `.length)`))
	if err != nil || n < 15 {
		b.t.Fatalf("%d controls: %v", n, err)
	}
	for range n + 20 {
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	b.want(all+`.filter(e => !reached.has(e)).map(e => e.outerHTML.slice(0, 200)).join("; ")`, "")
}

// named checks that everything with one of the roles has a name, and that there is some.
func named(t *testing.T, names map[string][]string, roles ...string) {
	t.Helper()
	for _, role := range roles {
		if len(names[role]) == 0 {
			t.Errorf("nothing is a %s: there are %v", role, fmt.Sprint(names))
		}
		if slices.Contains(names[role], "") {
			t.Errorf("a %s has no name: %q", role, names[role])
		}
	}
}

// TestReport_Access: every control and every chart of the report has a name, Tab comes to each
// control, and the keys for pressing press it.
func TestReport_Access(t *testing.T) {
	find(t)
	b := open(t, page(t, map[string]string{"elections": elections, "unsafe": unsafe}))
	b.text(`document.querySelectorAll("main details").forEach(d => { d.open = true; })`)
	b.settled()
	names := b.names()
	named(t, names, "button", "link", "checkbox", "combobox", "searchbox", "image", "figure", "region",
		"navigation", "columnheader", "DisclosureTriangle")
	charts := b.text(`String(document.querySelectorAll(".plot").length + document.querySelectorAll(".violation img").length)`)
	if got := strconv.Itoa(len(names["image"])); got != charts {
		t.Errorf("%s images for %s charts and diagrams: %q", got, charts, names["image"])
	}
	for _, role := range []string{"image", "figure", "region"} {
		for i, name := range names[role] {
			if j := slices.Index(names[role], name); j != i {
				t.Errorf("two of role %s have the name %q", role, name)
			}
		}
	}
	b.text(`document.querySelectorAll("main details").forEach(d => { d.open = false; })`)
	b.reachable()

	const theme = `document.getElementById("theme").textContent`
	b.do(chromedp.Focus("#theme"), chromedp.KeyEvent(kb.Enter))
	b.want(theme, "Theme: dark")
	b.do(chromedp.KeyEvent(" "))
	b.want(theme, "Theme: light")
	b.do(chromedp.Focus("#table-tools summary"), chromedp.KeyEvent(kb.Enter))
	b.want(`document.querySelector("#table-tools details").open`, "true")
	b.do(chromedp.Focus("#filter-bar input[type=checkbox]"), chromedp.KeyEvent(" "))
	b.want(`document.activeElement.checked`, "false")
	b.settled()
	b.do(chromedp.Focus("#figures .chart select"), chromedp.KeyEvent(kb.ArrowDown))
	b.want(`document.querySelector("#figures .chart select").selectedIndex > 0`, "true")
	b.do(chromedp.Focus(".skip"), chromedp.KeyEvent(kb.Enter))
	b.want(`document.activeElement.id`, "cells")
	b.do(chromedp.KeyEvent(kb.Tab))
	b.want(`document.activeElement.closest("#cells") !== null`, "true")
}

// TestPlayer_Access: the same of the page of a trial.
func TestPlayer_Access(t *testing.T) {
	find(t)
	b := open(t, trial(t, "stormy", stormy))
	named(t, b.names(), "button", "checkbox", "combobox", "searchbox", "slider", "image", "columnheader")
	b.reachable()

	b.do(chromedp.Focus("#next"))
	for i, key := range []string{kb.Enter, " "} {
		b.do(chromedp.KeyEvent(key))
		b.want(event, strconv.Itoa(i+2))
	}
	b.do(chromedp.Focus("#play"), chromedp.KeyEvent(" "))
	b.want(`document.getElementById("play").textContent`, "Stop")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.want(`document.getElementById("play").textContent`, "Play")
	b.do(chromedp.Focus("#cones"), chromedp.KeyEvent(" "))
	b.want(`document.getElementById("cones").checked`, "false")
	b.do(chromedp.Focus("summary"), chromedp.KeyEvent(kb.Enter))
	b.want(`document.querySelector("details").open`, "true")
	b.do(chromedp.Focus("#slider"), chromedp.KeyEvent(kb.End))
	b.want(`document.getElementById("slider").getAttribute("aria-valuetext").startsWith("event ")`, "true")
}

// TestPages_Narrow: on a telephone the report and the page of a trial are as wide as the screen.
func TestPages_Narrow(t *testing.T) {
	find(t)
	for _, file := range []string{page(t, map[string]string{"elections": elections, "unsafe": unsafe}), trial(t, "stormy", stormy)} {
		b := open(t, file)
		for _, width := range []int64{390, 1440} {
			b.do(chromedp.EmulateViewport(width, 844), chromedp.Reload(), chromedp.WaitReady("html[data-drawn], html[data-opened]"))
			b.want(`[innerWidth, document.documentElement.scrollWidth].join()`, fmt.Sprintf("%d,%[1]d", width))
			b.want(`[...document.querySelectorAll("h1, h2, h3, p, label, button, select, .plot, canvas")].filter(e => {
				const r = e.getBoundingClientRect();
				return e.checkVisibility() && (r.right > innerWidth + 1 || r.left < -1) && !e.closest(".scroll, nav, .skip, #states, #table, .choices, #scroller");
			}).map(e => e.outerHTML.slice(0, 120)).join("; ")`, "")
		}
	}
}

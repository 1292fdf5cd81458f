package theme

import (
	"regexp"
	"strings"
	"testing"
)

// TestNew: a page has the head and the header, with what it adds, and nothing of it is taken for markup.
func TestNew(t *testing.T) {
	t.Parallel()
	page := New("page", `<head>{{template "head" .Page}}</head>{{template "header" .}}`+
		`{{define "lead"}}<p>{{.More}}</p>{{end}}`, nil)
	var out strings.Builder
	err := page.Execute(&out, map[string]any{"More": "a < b", "Page": Page{
		Generator: "a test", Policy: Policy("form-action 'none'", Sum(Script)), Kind: "report", Title: "<b>elections",
		Links: []Link{{Name: "all runs", Value: "../"}}, Share: "50 of 60 trials count",
		States: []State{{"", "ok", "good"}, {"other", "violation", "bad"}}, Style: CSS("own { }"), Start: "cells",
		StartName: "the table",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<title>&lt;b&gt;elections - Conclave</title>`, `<h1>&lt;b&gt;elections</h1>`, `content="a test"`,
		`<a href="../">all runs</a>`, `id="share" data-part="share">50 of 60 trials count</p>`, `<p>a &lt; b</p>`, "own { }",
		`<li><span class="state good">ok</span></li><li>other: <span class="state bad">violation</span></li>`,
		`<a class="skip" href="#cells">Skip to the table</a>`, `<button type="button" id="theme"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, &out)
		}
	}
}

// TestStyle_Colours: every colour that a rule names is declared, for light and for dark.
func TestStyle_Colours(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(--[a-z]+): (light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\))?`)
	for _, m := range declaration.FindAllStringSubmatch(style, -1) {
		declared[m[1]] = m[2] != ""
	}
	use := regexp.MustCompile(`(?:color|background|border|outline)[a-z-]*: ?[^;]*?var\((--[a-z]+)\)`)
	for _, m := range use.FindAllStringSubmatch(style, -1) {
		if !declared[m[1]] {
			t.Errorf("%s has no two colours", m[1])
		}
	}
	if len(declared) < 10 {
		t.Errorf("%d colours: %v", len(declared), declared)
	}
}

// Package theme is what all HTML pages have in common: their look, the button for light and dark, and the
// header. A page is a template of its own, made by New, with rules of its own behind the common ones.
package theme

import (
	"crypto/sha256"
	_ "embed" // the assets
	"encoding/base64"
	"html/template"
	"strings"
)

var (
	//go:embed theme.css
	style string
	//go:embed theme.html
	parts string
	// Script is the theme's: a page runs it before its own scripts, or at the end of its body.
	//go:embed theme.js
	Script string
)

// A Page is what the shared parts of a page show. The data of a page's template has one, as .Page.
type Page struct {
	Generator string // what the page says that it was made by
	Policy    string // of the contents, which see Policy; "": a header of HTTP has it
	Kind      string // of page, as "report"
	Title     string
	Links     []Link  // what stands beside the page
	States    []State // what came of it
	Share     string  // how many trials count, as Share says it; "": nothing
	Style     template.CSS
	// Start is the id of the element that a reader with a keyboard skips to, StartName what it is called.
	Start, StartName string
}

// A Link is a text and where it leads.
type Link struct{ Name, Value string }

// A State is what came of a run, in a word.
type State struct {
	Of          string // the run; "": the only one
	Name, Style string // Style: good, bad, warn or going
}

// CSS is the look of a page that adds rules of its own.
func CSS(own string) template.CSS { return template.CSS(style + own) }

// New is the template of a page. Besides its own text it has the parts "head", which goes into the head and
// takes a Page, and "header", which takes data with a field Page and shows in it what the page defines as
// "lead".
func New(name, text string, functions template.FuncMap) *template.Template {
	t := template.Must(template.New(name).Funcs(functions).Parse(parts))
	return template.Must(t.Parse(text))
}

// Policy lets a page run the scripts with these sums alone, and load nothing: nothing else runs, whatever a
// text holds. More is directives beside those.
func Policy(more string, sums ...string) string {
	return "default-src 'none'; script-src " + strings.Join(sums, " ") +
		"; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; " + more
}

// Sum is what a policy names a script by.
func Sum(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

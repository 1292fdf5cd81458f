package answer

import (
	"cmp"
	_ "embed" // the page
	"encoding/base64"
	"html/template"
	"io"
	"sync"

	"github.com/conclave-bench/conclave/internal/answers/theme"
)

//go:embed answer.html
var pageText string

// page is read when it is first used: this package is linked into every node process, and a node's start is
// measured time.
var page = sync.OnceValue(func() *template.Template { return theme.New("answer", pageText, nil) })

// own is what only these pages look like.
const own = `
td.num { white-space: normal; }
pre { max-height: none; }
figure { margin: 1rem 0; overflow-x: auto; background: #fff; color: #000; }
.below { white-space: pre-line; }
`

type part struct {
	Head  string
	Table *Table
	Heads []cell
	Rows  [][]cell
	Image template.URL
	Title string // of the image
	Note  string
	Warns bool // the note is more than a remark
	Lines []string
	Pre   string
}

type cell struct {
	Text  string
	Right bool
}

// writeHTML renders a page.
func writeHTML(w io.Writer, d *Document) error { return d.Page(w) }

// Page writes the document as a page that stands alone. Links are what stands beside it.
func (d *Document) Page(w io.Writer, links ...theme.Link) error {
	var parts []part
	careful, rest := d.paged()
	for _, n := range careful {
		parts = append(parts, part{Note: n.line(), Warns: true})
	}
	for _, b := range rest {
		switch b := b.(type) {
		case Section:
			parts = append(parts, part{Head: b.Name, Lines: []string{b.Title}})
		case Text:
			parts = append(parts, part{Lines: []string{string(b)}})
		case Lines:
			parts = append(parts, part{Pre: string(b)})
		case File:
			parts = append(parts, part{Lines: []string{b.line()}})
			if b.Text != "" {
				parts = append(parts, part{Pre: b.Text})
			}
		case Note:
			parts = append(parts, part{Note: b.line(), Warns: b.Kind != ""})
		case Facts:
			parts = append(parts, part{Lines: b.lines()})
		case Picture:
			encoded := base64.StdEncoding.EncodeToString(b.SVG)
			url := template.URL("data:image/svg+xml;base64," + encoded)
			parts = append(parts, part{Image: url, Title: b.Title})
		case *Table:
			p := part{Table: b, Heads: b.row(b.heads())}
			for _, row := range b.Rows {
				p.Rows = append(p.Rows, b.row(b.cells(row)))
			}
			parts = append(parts, p)
		}
	}
	state := theme.State{Name: d.Verdict}
	_, state.Style = VerdictOf(d.Exit)
	return page().Execute(w, map[string]any{"Parts": parts, "Exit": d.Exit,
		"Script": template.JS(theme.Script),
		"Page": theme.Page{Generator: "Conclave bench", Kind: d.Verb, Title: cmp.Or(d.Title, d.Verb),
			Policy: theme.Policy("form-action 'none'", theme.Sum(theme.Script)), Style: theme.CSS(own),
			States: []theme.State{state}, Links: links, Start: "main", StartName: "the answer"}})
}

// row gives texts the edges of their columns.
func (t *Table) row(texts []string) []cell {
	cells := make([]cell, len(texts))
	for k, i := range t.places(People) {
		cells[k] = cell{texts[k], t.Columns[i].Kind.right()}
	}
	return cells
}

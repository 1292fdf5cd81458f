package answer

import (
	"encoding/base64"
	"html/template"
	"io"
)

// page is a page that stands alone: it loads nothing.
var page = template.Must(template.New("answer").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{or .Title .Verb}}</title>
<style>
body { font: 16px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark }
table { border-collapse: collapse; margin: 1rem 0 }
caption { text-align: left; font-weight: 600 }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; border-bottom: 1px solid #8885 }
.right { text-align: right; font-variant-numeric: tabular-nums }
figure { margin: 1rem 0; overflow-x: auto; background: #fff; color: #000 }
aside { border-left: 3px solid #c80; padding-left: .8rem; margin: .6rem 0 }
</style>
<h1>{{or .Title .Verb}}</h1>
{{range .Parts}}{{with .Head}}<h2>{{.}}</h2>
{{end}}{{if .Table}}{{with .Table.Fold}}<details><summary>{{.}}</summary>
{{end}}<table>{{with .Table.Title}}<caption>{{.}}</caption>{{end}}
<thead><tr>{{range .Heads}}<th scope="col"{{if .Right}} class="right"{{end}}>{{.Text}}</th>
{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr>{{range .}}<td{{if .Right}} class="right"{{end}}>{{.Text}}</td>{{end}}</tr>
{{end}}</tbody></table>{{if not .Rows}}<p>{{.Table.Empty}}</p>{{end}}
{{if .Table.Fold}}<p style="white-space:pre-line">{{.Table.Below}}</p></details>
{{end}}{{else if .Pre}}<pre>{{.Pre}}</pre>
{{else if .Image}}<figure><img src="{{.Image}}" alt="{{.Title}}">
<figcaption>{{.Title}}</figcaption></figure>
{{else if .Note}}<aside>{{.Note}}</aside>
{{else}}{{range .Lines}}<p>{{.}}</p>
{{end}}{{end}}{{end}}<p>Verdict: {{.Verdict}} (exit code {{.Exit}})</p>
</html>
`))

type part struct {
	Head  string
	Table *Table
	Heads []cell
	Rows  [][]cell
	Image template.URL
	Title string // of the image
	Note  string
	Lines []string
	Pre   string
}

type cell struct {
	Text  string
	Right bool
}

// writeHTML renders a page.
func writeHTML(w io.Writer, d *Document) error {
	var parts []part
	careful, rest := d.paged()
	for _, n := range careful {
		parts = append(parts, part{Note: n.line()})
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
			parts = append(parts, part{Note: b.line()})
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
	return page.Execute(w, struct {
		*Document
		Parts []part
	}{d, parts})
}

// row gives texts the edges of their columns.
func (t *Table) row(texts []string) []cell {
	cells := make([]cell, len(texts))
	for k, i := range t.places(People) {
		cells[k] = cell{texts[k], t.Columns[i].Kind.right()}
	}
	return cells
}

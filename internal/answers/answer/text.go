package answer

import (
	"fmt"
	"io"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// writeText renders for a terminal: no title, since the command stands above.
func writeText(out io.Writer, d *Document) error {
	w := &console.Folding{W: out, Columns: d.Columns}
	for _, b := range d.For(People) {
		switch b := b.(type) {
		case Text:
			fmt.Fprintln(w, string(b))
		case Lines:
			fmt.Fprintln(w, string(b))
		case File:
			if _, err := io.WriteString(out, b.Text); err != nil { // its lines are not ours to fold
				return err
			}
		case Section:
			fmt.Fprintf(w, "\n%s\n", b.Name)
		case Note:
			if !b.Aside && !b.Long {
				fmt.Fprintln(w, b.line())
			}
		case Picture:
			if line := b.line(); line != "" {
				fmt.Fprintln(w, line)
			}
		case Facts:
			for _, line := range b.lines() {
				fmt.Fprintln(w, line)
			}
		case *Table:
			if b.Fold != "" {
				continue
			}
			if len(b.Rows) == 0 && b.Empty != "" {
				fmt.Fprintln(w, b.Empty)
				continue
			}
			if b.Title != "" && !b.Terms {
				fmt.Fprintln(w, b.Title)
			}
			if b.Newest > 0 {
				b.listText(w)
				continue
			}
			b.grid(d.Columns).Write(w)
			if b.Terms {
				fmt.Fprintln(w)
			}
		}
	}
	if d.Last != "" {
		fmt.Fprintln(w, d.Last)
	}
	return nil
}

// grid is the table in columns, for a terminal with so many.
func (t *Table) grid(columns int) *console.Table {
	if t.Terms {
		return t.terms(columns)
	}
	g := &console.Table{Most: columns}
	for _, i := range t.places(People) {
		g.Column(t.Columns[i].head(), t.Columns[i].Kind.right())
	}
	g.Keyed(t.Keys)
	for _, row := range t.Rows {
		g.Add(t.cells(row)...)
	}
	return g
}

// terms is a list of words beside what they mean, below the title.
func (t *Table) terms(columns int) *console.Table {
	g := &console.Table{Most: columns}
	g.Column(t.Title, false)
	g.Column("", false)
	wide := console.Width(t.Title)
	at := t.places(People)
	for _, row := range t.Rows {
		wide = max(wide, len("  ")+console.Width(text(row[at[0]])))
	}
	for _, row := range t.Rows {
		name := "  " + text(row[at[0]])
		for k, i := range at[1:] {
			indent, said := 0, text(row[i])
			if k > 0 { // what follows the meaning is named, if there is any
				if said == "" {
					continue
				}
				indent, said = 2, t.Columns[i].head()+": "+said
			}
			for _, line := range strings.Split(console.WrapTo(said, wide+2+indent, columns), "\n") {
				g.Add(name, strings.Repeat(" ", indent)+strings.TrimLeft(line, " "))
				name = ""
			}
		}
	}
	return g
}

package gate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// document is what the gate found: first what is wrong, and then the comparisons.
func (g *gate) document() *answer.Document {
	meaning := g.Meaning(g.code)
	d := answer.New("gate", "Conclave: "+meaning)
	d.Began = g.began
	d.End(g.code, meaning)
	markdown, junit := filepath.Join(g.Out, Markdown), filepath.Join(g.Out, JUnit)
	d.Add(answer.Facts{{Name: "base", Value: g.base.title, Line: "base  " + g.base.title},
		{Name: "head", Value: g.head.title, Line: "head  " + g.head.title},
		{Name: "comparison", Value: []string{markdown, junit}}})
	slices.SortStableFunc(g.parts, func(a, b *part) int {
		if a.passes() == b.passes() {
			return 0
		} else if a.passes() {
			return 1
		}
		return -1
	})
	var below []answer.Block
	for _, p := range g.parts {
		runs := answer.Check{Part: p.name, Group: "gate", Name: "runs, and keeps its promises"}
		for _, n := range p.faults {
			c := answer.Check{Part: p.name, Group: "gate", Name: n.Text, Failure: n.Text, Kind: n.Kind,
				Failed: n.Kind == kinds[answer.Violated] || n.Kind == kinds[answer.Missed]}
			if n.Hint != "" {
				c.Text = n.Text + "\n  reproduce: " + n.Hint
			}
			d.Checks = append(d.Checks, c)
			n.Text = p.headed(n.Text)
			d.Add(n)
		}
		if len(p.faults) == 0 {
			d.Checks = append(d.Checks, runs)
		}
		for _, text := range p.notes {
			d.Note(p.headed(text))
		}
		if p.compared == nil {
			continue
		}
		below = append(below, answer.Section{Name: p.name, Title: p.compared.Title})
		for _, b := range p.compared.Blocks {
			if n, ok := b.(answer.Note); ok && n.Aside {
				n.Aside, n.Text = false, p.headed(n.Text)
				d.Add(n)
				continue
			}
			below = append(below, b)
		}
		below = append(below, answer.Text(p.compared.Last))
	}
	for _, p := range g.parts {
		if p.compared != nil {
			for _, c := range p.compared.Checks {
				c.Part = p.name
				d.Checks = append(d.Checks, c)
			}
		}
	}
	d.Add(below...)
	d.Last = "\n" + meaning + "\ncomparison: " + markdown + ", " + junit
	return d
}

// headed is what is said of the part, with its name in front.
func (p *part) headed(text string) string {
	if strings.HasPrefix(text, p.name) {
		return text
	}
	return p.name + ": " + text
}

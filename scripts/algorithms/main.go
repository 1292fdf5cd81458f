// Command algorithms writes docs/reference/algorithms.md from the registry, from the package
// comments of the plugins, and from findings.yaml; and draws the worked examples of
// configs/figures into docs/figures. Run it from the repository's root:
//
//	go run ./scripts/algorithms
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/repo/generated"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

const (
	target   = "docs/reference/algorithms.md"
	drawings = "docs/figures"
)

func main() {
	files, err := generate(".")
	if err == nil {
		err = generated.Write(".", files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "algorithms:", err)
		os.Exit(1)
	}
}

// generate is the document and its figures, from the sources below root.
func generate(root string) ([]generated.File, error) {
	var out bytes.Buffer
	found, err := readFindings()
	if err != nil {
		return nil, err
	}
	examples, err := drawExamples(root)
	if err != nil {
		return nil, err
	}
	out.WriteString("# Algorithms\n\n" +
		"<!-- Written by go run ./scripts/algorithms: do not edit. -->\n\n" +
		"Every built-in algorithm, from its own declaration: its idea, what it costs, what\n" +
		"it survives and how it breaks beyond that, with a scenario that shows it. At the end are the\n" +
		"[errata of the lecture notes](#errata-of-the-lecture-notes) that many of them come from.\n" +
		"`bench describe ID` prints the same for one algorithm, with the defaults of its parameters.\n\n" +
		"The tables of claims name the source of each formula:\n\n")
	for _, s := range algo.Sources {
		fmt.Fprintf(&out, "- `%s`: %s.\n", s, s.Meaning())
	}
	for _, p := range []struct {
		problem algo.Problem
		title   string
	}{{algo.Election, "Leader election"}, {algo.MutualExclusion, "Mutual exclusion"}} {
		fmt.Fprintf(&out, "\n## %s\n\n", p.title)
		index(&out, p.problem)
		for _, a := range algo.All() {
			if a.Problem != p.problem {
				continue
			}
			if err := describe(&out, root, a, found); err != nil {
				return nil, err
			}
			if err := worked(&out, a, examples); err != nil {
				return nil, err
			}
		}
	}
	errata(&out, found)
	files := []generated.File{{Name: target, Text: out.Bytes()}}
	for _, x := range examples {
		files = append(files, generated.File{Name: filepath.Join(drawings, x.name+".svg"), Text: x.svg})
	}
	return files, nil
}

func index(out *bytes.Buffer, p algo.Problem) {
	out.WriteString("| algorithm | in a line | topology | order | synchrony | crashes of 5 |\n" +
		"|---|---|---|---|---|---|\n")
	for _, a := range algo.All() {
		if a.Problem != p {
			continue
		}
		s := &a.Spec
		fmt.Fprintf(out, "| [`%s`](#%s) | %s | %s | %s | %s | %d |\n", s.Name, anchor(a.ID), s.Summary,
			s.Needs.Topology, order(s), s.Needs.Synchrony,
			s.Survives.CrashesOf(shown.Nodes, s.Defaults(shown)))
	}
}

func order(s *algo.Spec) string {
	if s.Needs.FIFO {
		return "FIFO"
	}
	return "any"
}

func anchor(id string) string { return strings.ReplaceAll(id, "/", "") }

// describe is one algorithm's section.
func describe(out *bytes.Buffer, root string, a *algo.Algorithm, f Findings) error {
	s := &a.Spec
	text, err := packageComment(root, a)
	if err != nil {
		return err
	}
	about, idea, more := split(text)
	fmt.Fprintf(out, "\n### %s\n\n%s\n\n*Idea.* %s\n\n", a.ID, about, idea)
	if more != "" {
		fmt.Fprintf(out, "%s\n\n", more)
	}
	fmt.Fprintf(out, "*Source.* %s. %s. %s, %d.",
		s.Paper.Authors, s.Paper.Title, s.Paper.Venue, s.Paper.Year)
	if s.Paper.DOI != "" {
		fmt.Fprintf(out, " [doi:%s](https://doi.org/%s)", s.Paper.DOI, s.Paper.DOI)
	}
	out.WriteString("\n")
	if s.Paper.Deviations != "" {
		fmt.Fprintf(out, "\n*Departures.* %s\n", s.Paper.Deviations)
	}
	var kinds []string
	for _, m := range s.Messages {
		kinds = append(kinds, m.Kind())
	}
	fmt.Fprintf(out, "\n*Messages.* %s.", strings.Join(kinds, ", "))
	if s.Perpetual {
		out.WriteString(" Never falls quiet.")
	}
	for _, period := range s.Periods {
		fmt.Fprintf(out, " A leader repeats something every `%s`.", period.Param)
	}
	told := catalog.Describe(a)
	fmt.Fprintf(out, "\n\n*Needs.* %s.\n", properties(told, "needs"))
	fmt.Fprintf(out, "\n*Survives.* %s.\n", cmp.Or(properties(told, "survives"), "no fault"))
	fmt.Fprintf(out, "\n*How it breaks.* %s", s.Breaks)
	for _, b := range f.Breaks {
		if b.Algorithm == a.ID {
			fmt.Fprintf(out, " %s shows it (%s).", scenario(b.Scenario), prints(b.Shows))
		}
	}
	out.WriteString("\n")
	fmt.Fprintf(out, "\n*Promises.* %s.\n", strings.Join(catalog.Promises(a), "; "))
	if len(s.Claims) > 0 {
		out.WriteString("\n| claim | load | formula | source | n = 3 | n = 5 | n = 9 |\n" +
			"|---|---|---|---|---|---|---|\n")
		for _, c := range s.Claims {
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", c.Metric, c.Load, c.Text, c.Source,
				bound(c, 3), bound(c, 5), bound(c, 9))
		}
	}
	if len(s.Params) > 0 {
		at := "5 nodes, 2 ms"
		if a.Problem == algo.MutualExclusion {
			at += ", 1 ms inside"
		}
		fmt.Fprintf(out, "\n| parameter | type | default at %s | meaning |\n|---|---|---|---|\n", at)
		defaults := s.Defaults(shown)
		for _, p := range s.Params {
			fmt.Fprintf(out, "| `%s` | %s | %v | %s |\n", p.Name, p.Type, defaults[p.Name], p.Doc)
		}
	}
	tabulate(out, s.Sets)
	return nil
}

// tabulate writes a table of sets of parameters.
func tabulate(out *bytes.Buffer, sets []algo.Set) {
	if len(sets) == 0 {
		return
	}
	out.WriteString("\n| set | of | parameters |\n|---|---|---|\n")
	for _, set := range sets {
		var values []string
		for _, name := range slices.Sorted(maps.Keys(set.Params)) {
			values = append(values, fmt.Sprintf("`%s` %v", name, set.Params[name]))
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", set.Name, set.Doc, strings.Join(values, ", "))
	}
	for _, set := range sets {
		fmt.Fprintf(out, "\n*Set `%s`.*", set.Name)
		for _, more := range []struct{ title, text string }{
			{"Of", set.Source}, {"Differs", set.Differs}, {"Demands", set.Demands},
		} {
			if more.text != "" {
				fmt.Fprintf(out, " %s: %s", more.title, more.text)
			}
		}
		out.WriteString("\n")
	}
}

func bound(c algo.Claim, n int) string {
	lo, hi := c.Bound(n)
	if lo == hi {
		return fmt.Sprintf("%.4g", lo)
	}
	return fmt.Sprintf("%.4g to %.4g", lo, hi)
}

// shown is the system for which defaults, and what follows from them, are shown.
// Elections have no hold.
var shown = algo.Network{
	Nodes: 5, Latency: 2 * time.Millisecond, Bounded: true, Hold: time.Millisecond,
}

// properties is what bench describe has in a table, without what an algorithm has not.
func properties(d *answer.Document, table string) string {
	var out []string
	for _, b := range d.Blocks {
		if t, is := b.(*answer.Table); is && t.Name == table {
			for _, row := range t.Rows {
				if row[1] != "no" {
					out = append(out, fmt.Sprintf("%v: %v", row[0], row[1]))
				}
			}
		}
	}
	return strings.Join(out, "; ")
}

// split is a package comment without what only readers of the code need: the first
// sentence, the paragraph with the idea, and what follows.
func split(text string) (about, idea, more string) {
	paragraphs := strings.SplitN(text, "\n\n", 3)
	about = strings.ReplaceAll(paragraphs[0], "\n", " ")
	about, _, _ = strings.Cut(about, ". Comments cite")
	about, _, _ = strings.Cut(about, ". Its rules")
	if len(paragraphs) > 1 {
		idea = paragraphs[1]
	}
	if len(paragraphs) > 2 {
		more = paragraphs[2]
	}
	return strings.TrimSuffix(about, ".") + ".", idea, more
}

// packageComment is how the plugin describes itself: the comment that begins its file,
// which stands in the folder of its name or in that of a relative.
func packageComment(root string, a *algo.Algorithm) (string, error) {
	file := strings.ReplaceAll(a.Spec.Name, "-", "") + ".go"
	found, err := filepath.Glob(filepath.Join(root, "plugins", string(a.Problem), "*", file))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%s: %d files %s in the folders of plugins/%s, want one",
			a.ID, len(found), file, a.Problem)
	}
	f, err := parser.ParseFile(token.NewFileSet(), found[0], nil,
		parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	if len(f.Comments) == 0 {
		return "", fmt.Errorf("%s: begin it with a comment that says what %s is", found[0], a.ID)
	}
	return strings.TrimPrefix(strings.TrimSpace(f.Comments[0].Text()), "Package "), nil
}

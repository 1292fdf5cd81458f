package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/internal/repo/generated"
	"github.com/conclave-bench/conclave/pkg/cli"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func TestCurrent(t *testing.T) {
	t.Parallel()
	if err := generated.Stale("../..", self, generate()); err != nil {
		t.Error(err)
	}
}

// written is a page as it would be written now.
func written(t *testing.T, name string) string {
	t.Helper()
	for _, f := range generate() {
		if strings.HasSuffix(f.Name, "/"+name) {
			return string(f.Text)
		}
	}
	t.Fatalf("no page %s", name)
	return ""
}

var nextHeading = regexp.MustCompile(`\n#{2,4} [a-z]`)

// part is what a page has below a heading, up to the next one.
func part(t *testing.T, page, heading string) string {
	t.Helper()
	for _, level := range []string{"## ", "### ", "#### "} {
		_, below, found := strings.Cut(page, "\n"+level+heading+"\n")
		if found {
			return nextHeading.Split(below, 2)[0]
		}
	}
	t.Errorf("no heading %q", heading)
	return ""
}

// TestCommands: every command that help lists has a section, and in it each of its flags.
func TestCommands(t *testing.T) {
	t.Parallel()
	text := written(t, "commands.md")
	count := 0
	for todo := cli.Commands().Commands(); len(todo) > 0; todo = todo[1:] {
		c := todo[0]
		todo = append(todo, c.Commands()...)
		if !c.IsAvailableCommand() && !c.HasAvailableSubCommands() {
			continue
		}
		count++
		section := part(t, text, c.CommandPath())
		if c.Runnable() && !strings.Contains(section, c.UseLine()) {
			t.Errorf("%s: no usage", c.CommandPath())
		}
		if c.Example != "" && !strings.Contains(section, strings.TrimSpace(strings.Split(c.Example, "\n")[0])) {
			t.Errorf("%s: no example", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if !strings.Contains(section, "--"+f.Name) {
				t.Errorf("%s: no flag --%s", c.CommandPath(), f.Name)
			}
			if f.Usage == "" {
				t.Errorf("%s: --%s has no meaning", c.CommandPath(), f.Name)
			}
		})
	}
	if count < 30 {
		t.Errorf("%d commands", count)
	}
}

// TestHelp: indented lines are code, the rest is Markdown without characters that mean something there.
func TestHelp(t *testing.T) {
	t.Parallel()
	p := &page{}
	writeCommands := func(long string) string {
		p = &page{}
		root := &cobra.Command{Use: "bench"}
		c := &cobra.Command{Use: "do", Short: "Do it", Long: long, Run: func(*cobra.Command, []string) {}}
		root.AddCommand(c)
		writeCommand(p, c)
		return p.out.String()
	}
	got := writeCommands("See <x> with --all, as \"bench do\":\n\n  bench do *\n\nExit codes: 0 good; " +
		"130, 143 stopped.")
	for _, want := range []string{"See \\<x> with `--all`, as `bench do`:", "```text\nbench do *\n```",
		"| 130, 143 | stopped |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestMetrics: every metric that bench list has, and every column of the tables of a run, has a row with a
// meaning.
func TestMetrics(t *testing.T) {
	t.Parallel()
	text := written(t, "metrics.md")
	list, err := catalog.List("metrics")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, b := range list.Blocks {
		table, is := b.(*answer.Table)
		if !is || table.Only != answer.Programs {
			continue
		}
		for _, row := range table.Rows {
			rows++
			if !strings.Contains(text, fmt.Sprintf("\n| `%v` | ", row[0])) {
				t.Errorf("no metric %v", row[0])
			}
		}
	}
	if rows != len(metric.All()) {
		t.Errorf("bench list has %d metrics, want %d", rows, len(metric.All()))
	}
	for _, m := range metric.All() {
		if m.Doc == "" {
			t.Errorf("%s: say what it is", m.Name)
		}
	}
	for _, file := range results.Files() {
		section := part(t, text, file)
		if file == results.TrialsFile {
			_, section, _ = strings.Cut(text, "\n## "+file)
		}
		for _, s := range results.Documented()[file] {
			for _, c := range s.Columns {
				if c.Doc == "" {
					t.Errorf("%s: say what %s means", file, c.Name)
				}
				if !strings.Contains(section, "\n| `"+c.Name+"` | ") {
					t.Errorf("%s: no column %s", file, c.Name)
				}
			}
		}
	}
	for _, s := range trace.Statuses() {
		if s.Doc() == "" || !strings.Contains(text, "| `"+string(s)+"` | ") {
			t.Errorf("no status %s, or no meaning", s)
		}
	}
	for _, o := range trace.Origins() {
		if o.Doc() == "" {
			t.Errorf("%s has no meaning", o)
		}
	}
	for _, o := range trace.Progresses() {
		if o.Doc() == "" {
			t.Errorf("%s has no meaning", o)
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	text := written(t, "formats.md")
	for _, name := range export.Names() {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("no format %s", name)
		}
	}
	for _, f := range export.Formats() {
		if f.Reader == "" || f.One == "" || f.Holds == "" {
			t.Errorf("%s: say what reads it, what a record is about and what it holds", f.Name)
		}
	}
}

func TestTable_LeavesOutEmptyColumns(t *testing.T) {
	t.Parallel()
	p := &page{}
	p.table([]string{"a", "b", "c"}, [][]string{{"1", "", "x|y"}, {"2", "", ""}})
	if want := "| a | c |\n|---|---|\n| 1 | x\\|y |\n| 2 |  |\n"; !bytes.Equal(p.text(), []byte(want)) {
		t.Errorf("%s", p.text())
	}
}

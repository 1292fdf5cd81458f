package export

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// tableOf is the table of the election time of a run.
func tableOf(t testing.TB, r *Run, where ...string) PaperTable {
	t.Helper()
	var o Options
	for _, text := range where {
		f, _ := metric.ReadField(text)
		o.Where = append(o.Where, f)
	}
	o.Metrics = []string{"election_ms"}
	tables, err := r.PaperTables(o)
	must(t, err)
	if len(tables) != 1 {
		t.Fatalf("%d tables, want 1", len(tables))
	}
	return tables[0]
}

var gap = regexp.MustCompile(`\\\\(\*?\[[^\]]*\])?$|\\addlinespace`)

// linesOf are the lines between two rules of each of the tables, with their fields apart by one space.
func linesOf(text, from, to string) (out []string) {
	for {
		_, rest, found := strings.Cut(text, from+"\n")
		if !found {
			return out
		}
		var body string
		body, text, _ = strings.Cut(rest, to)
		for line := range strings.Lines(body) {
			if line = strings.TrimSpace(gap.ReplaceAllString(strings.TrimSpace(line), "")); line != "" {
				out = append(out, strings.Join(strings.Fields(line), " "))
			}
		}
	}
}

// TestPaperTables: algorithms stand beside each other, what varies below. Where there is no interval
// there is none, and bold is what is better beyond doubt.
func TestPaperTables(t *testing.T) {
	t.Parallel()
	var trials []spec
	trials = append(trials, sample("clear", 1, 2, 3, 4, 5, 6)...)
	trials = append(trials, sample("behind", 11, 12, 13, 14, 15, 16.5)...)
	for _, s := range append(sample("clear", 1, 2), sample("behind", 7, 7, 7, 7, 7, 7)...) {
		s.nodes = 5
		trials = append(trials, s)
	}
	for i := range 6 {
		s := spec{label: "clear", nodes: 7, status: trace.OK, ms: float64(i)}
		if i > 3 {
			s.status, s.ms = trace.TimedOut, math.NaN()
		}
		trials = append(trials, s)
	}
	table := tableOf(t, runOf(trials...))
	if got := linesOf(table.Tabular, `\toprule`, `\midrule`); len(got) != 1 || got[0] != "nodes & clear & behind" {
		t.Errorf("heading %q", got)
	}
	want := []string{`3 & \textbf{3.5} & 13.5`, `& \ci{1.0--6.0} & \ci{11.0--16.5}`, `5 & 1.5 & 7.0`, `7 & 2.5 &`,
		`& \ci{0.0--...} &`}
	if got := linesOf(table.Tabular, `\midrule`, `\bottomrule`); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, part := range []string{"Election time (ms): from the first process that begins", "Median over trials", "n = 2 to 6."} {
		if !strings.Contains(table.Caption, part) {
			t.Errorf("no %q in %s", part, table.Caption)
		}
	}
	if !strings.Contains(table.Notes, "Bold: ") || !strings.Contains(table.Notes, "Timed out counts as larger") ||
		strings.Contains(table.Notes, "dag") || strings.Contains(table.Notes, "percentage") {
		t.Errorf("notes %s", table.Notes)
	}
	if !balanced(table.Tabular) || !balanced(table.Caption) || !balanced(table.Notes) {
		t.Errorf("braces of %+v", table)
	}
}

// TestPaperTables_Marks: what is beyond the model, broke a promise, or is a figure of some of the trials
// alone is marked and never bold; and the interval of a rival beyond the model is one of those to beat.
func TestPaperTables_Marks(t *testing.T) {
	t.Parallel()
	six := func(label string, from float64, change func(i int, s *spec)) (out []spec) {
		for i := range 6 {
			s := spec{label: label, nodes: 3, status: trace.OK, ms: from + float64(i)}
			change(i, &s)
			out = append(out, s)
		}
		return out
	}
	plain := func(int, *spec) {}
	for name, c := range map[string]struct {
		fast, slow []spec
		bold, note string
	}{
		"within the model": {six("fast", 1, plain), six("slow", 11, plain), "3.5", "Bold: "},
		"beyond it": {six("fast", 1, func(_ int, s *spec) { s.outside = true }), six("slow", 11, plain), "",
			"claims to survive"},
		"one trial beyond it": {six("fast", 1, func(i int, s *spec) { s.outside = i == 0 }), six("slow", 11, plain), "",
			"claims to survive"},
		"a rival beyond it": {six("fast", 1, plain), six("slow", 11, func(_ int, s *spec) { s.outside = true }), "3.5",
			"claims to survive"},
		"a broken promise": {append(six("fast", 1, plain), spec{label: "fast", nodes: 3, status: trace.Violated, ms: math.NaN()}),
			six("slow", 11, plain), "", "A percentage: "},
		"some trials": {append(six("fast", 1, plain), spec{label: "fast", nodes: 3, status: trace.Unknown, ms: math.NaN()}),
			six("slow", 11, plain), "", "A percentage: "},
	} {
		table := tableOf(t, runOf(append(c.fast, c.slow...)...))
		bold := ""
		if m := regexp.MustCompile(`\\textbf\{([^}]*)\}`).FindStringSubmatch(table.Tabular); m != nil {
			bold = m[1]
		}
		if bold != c.bold || !strings.Contains(table.Notes, c.note) {
			t.Errorf("%s: bold %q, want %q; notes %s", name, bold, c.bold, table.Notes)
		}
		if dagger := strings.Contains(table.Tabular, `\dag`); dagger != (c.note == "claims to survive") {
			t.Errorf("%s: a dagger: %v\n%s", name, dagger, table.Tabular)
		}
		if share := strings.Contains(table.Tabular, `\ci{86\,\%}`); share != strings.HasPrefix(c.note, "A percentage") {
			t.Errorf("%s: a share: %v\n%s", name, share, table.Tabular)
		}
	}
}

// TestPaperTables_Held: what all cells of a table have is in its caption, and in no column.
func TestPaperTables_Held(t *testing.T) {
	t.Parallel()
	table := tableOf(t, small(t), "loss=0.1")
	if !strings.Contains(table.Caption, "Message loss 0.1 everywhere.") || strings.Contains(table.Tabular, "loss") ||
		!strings.Contains(table.Tabular, "nodes") {
		t.Errorf("%s\n%s", table.Caption, table.Tabular)
	}
}

// many is a run of so many algorithms with such names, of so many sizes each.
func many(algorithms, sizes int, name string, ms float64) *Run {
	var all []spec
	for i := range algorithms {
		for nodes := range sizes {
			for k := range 6 {
				all = append(all, spec{label: fmt.Sprintf("%s-%d", name, i), nodes: 3 + 2*nodes, status: trace.OK,
					ms: ms + float64(7*i+k)})
			}
		}
	}
	return runOf(all...)
}

// shapes are tables of all shapes.
var shapes = []struct {
	algorithms, sizes int
	name              string
	ms                float64
	heading           string // of the first table
	tables            int
}{
	{4, 6, "raft", 1000, "nodes & raft-0 & raft-1 & raft-2 & raft-3", 1},
	{14, 2, "bully", 10, `algorithm & 3 & 5`, 1},
	{14, 12, "a-long-name", 1000, "", 3},
	{3, 3, "viewstamped-replication-with-all-its-optimizations", 1000, "", 1},
	{1, 5, "raft", 10, "& 3 & 5 & 7 & 9 & 11", 1},
	{5, 1, "raft", 10, "& raft-0 & raft-1 & raft-2 & raft-3 & raft-4", 1},
	{1, 1, "raft", 10, "algorithm & median", 1},
}

// TestPaperTables_Shape: a table is as wide as a column of a paper, and no wider, whatever it takes.
func TestPaperTables_Shape(t *testing.T) {
	t.Parallel()
	for _, s := range shapes {
		table := tableOf(t, many(s.algorithms, s.sizes, s.name, s.ms))
		heads := linesOf(table.Tabular, `\toprule`, `\midrule`)
		last := strings.TrimPrefix(heads[len(heads)-1], "& & ")
		if s.heading != "" && strings.TrimPrefix(last, "& ") != strings.TrimPrefix(s.heading, "& ") {
			t.Errorf("%d %s of %d sizes: heading %q, want %q", s.algorithms, s.name, s.sizes, last, s.heading)
		}
		if table.Width > ColumnWidth || strings.Count(table.Tabular, `\begin{tabular}`) != s.tables {
			t.Errorf("%d %s of %d sizes: %v pt, %d tables, want %d\n%s", s.algorithms, s.name, s.sizes, table.Width,
				strings.Count(table.Tabular, `\begin{tabular}`), s.tables, table.Tabular)
		}
		figures := 0
		for _, line := range linesOf(table.Tabular, `\midrule`, `\bottomrule`) {
			if strings.Contains(line, `\ci`) {
				continue
			}
			for _, field := range strings.Split(line, "&") {
				field = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(field), `\textbf{`), "}")
				if v, err := strconv.ParseFloat(field, 64); err == nil && v >= s.ms {
					figures++
				}
			}
		}
		if figures < s.algorithms*s.sizes {
			t.Errorf("%d %s of %d sizes: %d figures\n%s", s.algorithms, s.name, s.sizes, figures, table.Tabular)
		}
	}
}

// TestPaperTables_RealWidth: LaTeX sets a table in the class of the ACM's conferences no wider than it is
// thought to be, and not much narrower; and what else the class has does not matter to it.
func TestPaperTables_RealWidth(t *testing.T) {
	t.Parallel()
	latex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not installed")
	}
	document := "\\documentclass[sigconf,nonacm]{acmart}\n\\usepackage{booktabs}\n\\begin{document}\n\\typeout{column \\the\\columnwidth}\n"
	var tables []PaperTable
	for _, s := range shapes {
		tables = append(tables, tableOf(t, many(s.algorithms, s.sizes, s.name, s.ms)))
	}
	tables = append(tables, tableOf(t, hostileRun()))
	for _, table := range tables {
		for part := range strings.SplitSeq(table.Tabular, "\\medskip") {
			part = strings.TrimSuffix(strings.TrimSpace(part), "\\par}")
			if !strings.HasPrefix(part, "{") {
				head, _, _ := strings.Cut(table.Tabular, "\\begin{tabular}")
				part = head + part
			}
			document += "\\setbox0=\\hbox{" + part + "}}\\typeout{wide \\the\\wd0}\n"
		}
		document += "\\typeout{end}\n"
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "all.tex"), []byte(document+"x\\end{document}\n"), 0o644))
	cmd := exec.CommandContext(t.Context(), latex, "-interaction=nonstopmode", "-halt-on-error", "all.tex")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "acmart.cls' not found"), strings.Contains(text, ".sty' not found"):
		t.Skip("LaTeX has no acmart")
	case err != nil:
		t.Fatalf("pdflatex: %v\n%s", err, out[max(0, len(out)-3000):])
	}
	widest, at := 0.0, 0
	for line := range strings.Lines(string(out)) {
		if text, is := strings.CutPrefix(line, "wide "); is {
			wide, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "pt"), 64)
			must(t, err)
			widest = max(widest, wide)
		}
		if strings.TrimSpace(line) == "end" {
			if guess := tables[at].Width; widest > min(guess+1, ColumnWidth) || widest < 0.85*guess {
				t.Errorf("table %d is %v pt wide, and thought to be %v:\n%s", at, widest, guess, tables[at].Tabular)
			}
			widest, at = 0, at+1
		}
	}
	if at != len(tables) {
		t.Errorf("%d tables were set, want %d", at, len(tables))
	}
}

package export

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/report/figure"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// balanced says whether the braces of LaTeX source that are not escaped match.
func balanced(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// The smallest median has four digits, none has more than three behind the point, and none
// has a zero that all others have as well.
func TestDecimals(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, test := range []struct {
		medians []float64
		want    int
	}{
		{[]float64{1.234567}, 3}, {[]float64{12.34567}, 2}, {[]float64{123.4567}, 1}, {[]float64{1234.567}, 0},
		{[]float64{1234.567, 12.34567}, 2}, {[]float64{0.001234567}, 3}, {[]float64{12.5, 100}, 1}, {[]float64{100, 28}, 0},
		{[]float64{0, nan}, 0}, {[]float64{-12.34567, 1000}, 2},
	} {
		var figures [][3]float64
		for _, v := range test.medians {
			figures = append(figures, [3]float64{v, nan, nan})
		}
		if got := decimalsOf(figures); got != test.want {
			t.Errorf("%v: %d decimals, want %d", test.medians, got, test.want)
		}
	}
}

func TestTex(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`%\input{/etc/passwd}`: `\%\textbackslash{}input\{/etc/passwd\}`,
		`a_b&c#d$e^f~g`:        `a\_b\&c\#d\$e\textasciicircum{}f\textasciitilde{}g`,
		`[x]*`:                 `{[}x{]}{*}`, "é": "U+00E9", "a\nb": "a b", "\x00": "",
	} {
		if got := tex(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// The tables of a figure are rectangular, and the ends of the intervals relative.
func TestPgfplots_Data(t *testing.T) {
	t.Parallel()
	files := write(t, small(t), "pgfplots", Options{Metrics: []string{"election_ms"}})
	open := 0
	for _, f := range files {
		if filepath.Ext(f.Name) != ".dat" {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		if lines[2] != "x figure minus plus low high n censored hollow" || len(lines) != 5 {
			t.Fatalf("%s:\n%s", f.Name, f.Data)
		}
		for _, line := range lines[3:] {
			fields := strings.Fields(line)
			v := make([]float64, len(fields))
			for i, field := range fields {
				var err error
				v[i], err = strconv.ParseFloat(field, 64)
				must(t, err)
			}
			if len(v) != 9 || v[1]-v[2] != v[4] || !math.IsNaN(v[3]) && v[1]+v[3] != v[5] {
				t.Errorf("%s: %s", f.Name, line)
			}
			// Both algorithms are beyond their model where messages are lost.
			if hollow := v[8] == v[1]; hollow != strings.HasSuffix(f.Name, "loss-0.1.dat") {
				t.Errorf("%s: %s: hollow %v", f.Name, line, hollow)
			}
			if math.IsNaN(v[3]) {
				open++
			}
		}
	}
	if open != 3 {
		t.Errorf("%d open intervals, want 3", open)
	}
}

func TestPgfplots_Axis(t *testing.T) {
	t.Parallel()
	r := small(t)
	for _, test := range []struct {
		where  []metric.Field
		label  string
		points int
	}{
		{nil, "{nodes};", 8},
		{where("nodes=5"), "{message loss};", 4},
		{where("nodes=5", "loss=0"), "{algorithm};", 2},
	} {
		files := write(t, r, "pgfplots", Options{Metrics: []string{"election_ms"}, Where: test.where})
		picture, points := string(files[len(files)-1].Data), 0
		for _, f := range files[:len(files)-1] {
			points += strings.Count(string(f.Data), "\n") - strings.Count(string(f.Data), "# ") - 1
			if !strings.Contains(picture, "{"+f.Name+"}") {
				t.Errorf("%v: the picture does not draw %s", test.where, f.Name)
			}
		}
		if !strings.Contains(picture, test.label) || points != test.points {
			t.Errorf("%v: %d points, want %d, and %s in\n%s", test.where, points, test.points, test.label, picture)
		}
	}
}

// The number of nodes is the axis if it varies, whatever stands before it.
func TestPgfplots_AxisOfNodes(t *testing.T) {
	t.Parallel()
	r := small(t)
	cells := r.Cells()
	s := &selection{run: r, all: cells, cells: cells, columns: []string{"loss", "nodes"}}
	v := s.view()
	if err := v.Lay(metric.Election, "", ""); err != nil || v.Columns[v.X].Name != "nodes" {
		t.Errorf("axis %v, want nodes: %v", v, err)
	}
}

func number(v float64) *float64 { return &v }

// Each level of what else varies has an axis of its own, with the same ends; another column can
// be the axis or the series.
func TestPgfplots_Groups(t *testing.T) {
	t.Parallel()
	r := small(t)
	for _, tt := range []struct {
		o    figure.Options
		want []string
	}{
		{figure.Options{}, []string{"group size=2 by 1", "\\nextgroupplot[title={message loss 0}]",
			"\\nextgroupplot[title={message loss 0.1}]", "{nodes};", "{election time (ms)};", "ymin=0, ymax="}},
		{figure.Options{X: "loss"}, []string{"title={nodes 3}", "{message loss};"}},
		{figure.Options{X: "loss", Series: "nodes"}, []string{"title={bully}", "title={ring}",
			"\\addlegendentry{nodes:}", "\\addlegendentry{5}"}},
		{figure.Options{X: "label", Where: where("loss=0", "nodes=3")}, []string{"xticklabels={{bully},{ring}}",
			"only marks", "{algorithm};", "{message loss 0; nodes 3; "}},
		{figure.Options{YMin: number(1.5), YMax: number(60), Width: 85 * vg.Millimeter, Height: 70 * vg.Millimeter},
			[]string{"ymin=1.5, ymax=60", "ytick={1.5,", "{the vertical axis starts at 1.5; hollow: ",
				"rectangle ++(240.94bp,-198.43bp)"}},
	} {
		files := write(t, r, "pgfplots", Options{Metrics: []string{"election_ms"}, Where: tt.o.Where, Draw: tt.o})
		picture := string(files[len(files)-1].Data)
		for _, part := range tt.want {
			if !strings.Contains(picture, part) {
				t.Errorf("%+v: no %s in\n%s", tt.o, part, picture)
			}
		}
	}
	f, err := Find("pgfplots")
	must(t, err)
	for _, o := range []figure.Options{{X: "los"}, {X: "nodes", Series: "nodes"},
		{Height: 30 * vg.Millimeter}} {
		var wrong *report.Mistake
		if _, err := f.Write(r, Options{Draw: o}); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v, want a mistake", o, err)
		}
	}
}

// A line looks as it does in the figures of a report, whatever else is selected: its colour, mark
// and dashes are those of its place among all labels of the run.
func TestPgfplots_Looks(t *testing.T) {
	t.Parallel()
	both := write(t, small(t), "pgfplots", Options{Metrics: []string{"election_ms"}})
	one := write(t, small(t), "pgfplots", Options{Metrics: []string{"election_ms"}, Where: where("label=ring", "loss=0")})
	for _, files := range [][]File{both, one} {
		picture := string(files[len(files)-1].Data)
		for _, want := range []string{"look 1/.style={" + chart.TeX(1) + "}", "\\addlegendimage{look 1}" +
			"\\addlegendentry{ring}"} {
			if !strings.Contains(picture, want) {
				t.Errorf("no %s in\n%s", want, picture)
			}
		}
	}
	if a, b := chart.TeX(0), chart.TeX(1); !strings.Contains(a, "mark=*") || !strings.Contains(b, "mark=square*,") ||
		!strings.Contains(b, "dash pattern=on 5bp off 2bp") || !strings.Contains(b, "red,213;green,94;blue,0") {
		t.Errorf("%s and %s", a, b)
	}
}

// A real LaTeX compiles all of it, whatever things are called, and a figure is as large as it was
// asked to be.
func TestLaTeX_Compiles(t *testing.T) {
	t.Parallel()
	latex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("pdflatex is not installed")
	}
	for format, packages := range map[string]string{"latex": "booktabs,siunitx", "pgfplots": "pgfplots"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			document := "\\documentclass{article}\n\\usepackage{" + packages + "}\n\\begin{document}\n"
			if format == "pgfplots" {
				document = strings.Replace(document, "\\begin", "\\usepgfplotslibrary{groupplots}\n\\pgfplotsset{compat=1.16}\n"+
					"\\hbadness=10000\\hfuzz=0pt\\parindent=0pt\n\\begin", 1)
			}
			for i, r := range []*Run{small(t), hostileRun()} {
				folder := fmt.Sprintf("run%d", i)
				must(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
				if format == "pgfplots" {
					document += "\\pgfplotsset{table/search path={" + folder + "}}\n"
				}
				o := Options{Metrics: []string{"election_ms"}, Draw: figure.Options{Width: 85 * vg.Millimeter}}
				for _, f := range write(t, r, format, o) {
					must(t, os.WriteFile(filepath.Join(dir, folder, f.Name), f.Data, 0o644))
					if name, ok := strings.CutSuffix(f.Name, ".tex"); ok {
						document += "\n\\setbox0=\\hbox{\\input{" + folder + "/" + name + "}\\unskip}\\typeout{wide \\the\\wd0}\\box0\n"
					}
				}
			}
			must(t, os.WriteFile(filepath.Join(dir, "all.tex"), []byte(document+"\\end{document}\n"), 0o644))
			cmd := exec.CommandContext(t.Context(), latex, "-interaction=nonstopmode", "-halt-on-error",
				"-no-shell-escape", "all.tex")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			missing := regexp.MustCompile("File `([^']*)' not found").FindSubmatch(out)
			switch {
			case missing != nil && strings.HasSuffix(string(missing[1]), ".sty"):
				t.Skipf("LaTeX has no %s", missing[1])
			case err != nil:
				t.Fatalf("pdflatex: %v\n%s", err, out[max(0, len(out)-3000):])
			}
			// 85 mm are 241.85 points of TeX.
			if wide := strings.Count(string(out), "wide 241.8"); format == "pgfplots" && wide != 2 {
				t.Errorf("%d figures are 85 mm wide, want 2:\n%s", wide, out[max(0, len(out)-3000):])
			}
			if info, err := os.Stat(filepath.Join(dir, "all.pdf")); err != nil || info.Size() == 0 {
				t.Errorf("no PDF: %v", err)
			}
		})
	}
}

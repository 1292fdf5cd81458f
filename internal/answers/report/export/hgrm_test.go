package export

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A percentile is a line of the text, as HdrHistogram's plotter reads it.
type percentile struct {
	value, level float64
	count        int
	inverse      string
}

func parseHistogram(t rapid.TB, text string) (lines []percentile, footer []string) {
	t.Helper()
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if strings.Join(strings.Fields(rows[0]), " ") != "Value Percentile TotalCount 1/(1-Percentile)" || rows[1] != "" {
		t.Fatalf("it begins\n%s\n%s", rows[0], rows[1])
	}
	for _, row := range rows[2:] {
		if strings.HasPrefix(row, "#") {
			footer = append(footer, row)
			continue
		}
		f := strings.Fields(row)
		if len(f) < 3 || len(footer) > 0 {
			t.Fatalf("row %q", row)
		}
		p := percentile{inverse: strings.Join(f[3:], " ")}
		var errs [3]error
		p.value, errs[0] = strconv.ParseFloat(f[0], 64)
		p.level, errs[1] = strconv.ParseFloat(f[1], 64)
		p.count, errs[2] = strconv.Atoi(f[2])
		if errs != [3]error{} {
			t.Fatalf("row %q: %v", row, errs)
		}
		lines = append(lines, p)
	}
	return lines, footer
}

// What a histogram says is true of the values, whatever they are.
func TestHistogram_Properties(t *testing.T) {
	t.Parallel()
	s := &selection{run: small(t)}
	cell := s.run.Cells()[0]
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 300).Draw(t, "micros")
		values := make([]float64, len(micros))
		for i, v := range micros {
			values[i] = float64(v) / 1000
		}
		lines, footer := parseHistogram(t, string(s.histogram(cell, metric.Election, slices.Clone(values))))
		slices.Sort(values)
		n := len(values)
		for i, p := range lines {
			if i > 0 && (p.value < lines[i-1].value || p.level <= lines[i-1].level || p.count < lines[i-1].count) {
				t.Fatalf("line %d goes back: %+v after %+v", i, p, lines[i-1])
			}
			upTo := 0
			for _, v := range values {
				if v <= p.value+1e-9 {
					upTo++
				}
			}
			if upTo != p.count || float64(p.count) < p.level*float64(n)-1e-6 {
				t.Fatalf("line %d: %+v, but %d of %d values are as large", i, p, upTo, n)
			}
		}
		first, last := lines[0], lines[len(lines)-1]
		if first.level != 0 || first.value != values[0] || last.level != 1 || last.count != n ||
			last.value != values[n-1] || last.inverse != "" {
			t.Fatalf("from %+v to %+v, of %v", first, last, values)
		}
		if len(footer) < 3 || !strings.HasPrefix(footer[1], fmt.Sprintf("#[Max     = %12.3f, Total count    = %12d]",
			values[n-1], n)) {
			t.Fatalf("footer %q", footer)
		}
	})
}

// The levels are those of HdrHistogram with five ticks per half distance.
func TestHistogram_Levels(t *testing.T) {
	t.Parallel()
	s := &selection{run: small(t)}
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i + 1)
	}
	lines, _ := parseHistogram(t, string(s.histogram(s.run.Cells()[0], metric.Election, values)))
	for i, want := range []float64{0, .1, .2, .3, .4, .5, .55, .6, .65, .7, .75, .775, .8} {
		if math.Abs(lines[i].level-want) > 1e-9 {
			t.Errorf("level %d is %v, want %v", i, lines[i].level, want)
		}
	}
	if lines[5].value != 500 || lines[5].inverse != "2.00" {
		t.Errorf("the middle is %+v", lines[5])
	}
}

// Operations count if they came to their end, in trials with status ok.
func TestHgrm_Operations(t *testing.T) {
	t.Parallel()
	r := small(t)
	files := write(t, r, "hgrm", Options{Metrics: []string{"election_ms"}})
	total := 0
	for i, f := range files {
		c := r.Cells()[i]
		lines, _ := parseHistogram(t, string(f.Data))
		total += lines[len(lines)-1].count
		if got, want := lines[len(lines)-1].count, c.Count(trace.OK); got < want {
			t.Errorf("%s: %d operations of %d trials", f.Name, got, want)
		}
		values, _ := c.Sample("election_ms")
		if c.Get("loss") == "0" && lines[0].value != slices.Min(values) {
			t.Errorf("%s: from %v on, want %v", f.Name, lines[0].value, slices.Min(values))
		}
	}
	if len(files) != 8 || total < 50 {
		t.Errorf("%d files with %d operations", len(files), total)
	}
}

func TestHgrm_MistakesOfAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("testdata/small")))
	path := filepath.Join(dir, results.OperationsFile)
	for text, says := range map[string]string{
		"trial,operation,process,cause_ms,begin_ms,end_ms,status,cause,phase\n1,1,2,soon,,,ok,,\n": `line 2: column cause_ms: "soon"`,
		"trial,operation,process,cause_ms,begin_ms,end_ms,status,cause,phase\nx,1,2,,,,ok,,\n":     `line 2: column trial: "x"`,
		"trial,operation\n": `columns ["trial" "operation"], expected ["trial"`,
	} {
		must(t, os.WriteFile(path, []byte(text), 0o644))
		r, err := Read(dir)
		must(t, err)
		f, err := Find("hgrm")
		must(t, err)
		if _, err := f.Write(r, Options{}); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v, want one that says %q and names the file", text, err, says)
		}
	}
}

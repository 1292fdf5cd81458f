package report

import (
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestPage_Policy: the scripts of the page are those that its policy lets run: a browser
// runs no other, and a page without scripts is empty.
func TestPage_Policy(t *testing.T) {
	t.Parallel()
	page := written(t, data(t, Options{}, newWorld(6).write(t)))
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(scripts) != 1 {
		t.Fatalf("%d scripts, want 1", len(scripts))
	}
	head := html.UnescapeString(page[:4096])
	for i, s := range []string{scripts[0][1], part(t, page, "code")} {
		if !strings.Contains(head, theme.Sum(s)) {
			t.Errorf("the policy does not let script %d run", i+1)
		}
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	r := Run{Path: "results/a", Manifest: &results.Manifest{
		Argv: []string{"bench", "run", "a.yaml"}, Seed: 7, Finished: 3, Planned: 4, Attempts: 5,
		Tool:    results.Tool{Version: "v1", Commit: "abc", Dirty: true, Go: "go1.26"},
		Machine: results.Machine{CPU: "a processor", Cores: 2, MemoryBytes: 3 << 29, OS: "linux", Arch: "amd64"},
	}}
	got := facts(&r)
	for _, want := range []metric.Field{
		{Name: "folder", Value: "results/a"}, {Name: "command", Value: "bench run a.yaml"}, {Name: "seed", Value: "7"},
		{Name: "trials", Value: "3 of 4 finished, 5 attempts"},
		{Name: "program", Value: "v1 abc with uncommitted changes go1.26"},
		{Name: "machine", Value: "a processor, 2 cores, 1.5 GiB, linux/amd64"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %v in %v", want, got)
		}
	}
	// What is not known has no row.
	if slices.ContainsFunc(got, func(f metric.Field) bool { return f.Name == "limits" || f.Name == "system" }) {
		t.Errorf("empty facts: %v", got)
	}
}

func TestShownConfig(t *testing.T) {
	t.Parallel()
	r := Run{Path: "results/a", Config: strings.Repeat("x", configLimit)}
	if r.ShownConfig() != r.Config {
		t.Error("a short configuration is cut")
	}
	r.Config += "y"
	if got := r.ShownConfig(); strings.Contains(got, "y\n") || len(got) > configLimit+100 ||
		!strings.HasSuffix(got, filepath.Join("results/a", results.ConfigFile)) {
		t.Errorf("%d bytes of a long configuration", len(got))
	}
}

// TestTable: trials.csv is in the page if there is room, and if it is what was read.
func TestTable(t *testing.T) {
	t.Parallel()
	w := newWorld(3)
	dir := w.write(t)
	r := data(t, Options{}, dir).Runs[0]
	packed := r.table(tableLimit)
	if packed == "" || r.table(len(packed)) != packed {
		t.Error("a table for which there is room is left out")
	}
	if r.table(len(packed)-1) != "" {
		t.Error("a table is larger than the room")
	}
	file := filepath.Join(dir, results.TrialsFile)
	if alone := data(t, Options{}, file).Runs[0]; alone.table(tableLimit) != packed {
		t.Error("a file alone gives another table")
	}
	if err := os.WriteFile(file, []byte(w.trials.String()+"one more\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r.table(tableLimit) != "" {
		t.Error("the page offers another table than was read")
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	got, err := figures{1.23456789, 123456789, -2, 0.5, math.NaN(), math.Inf(1), 1e-9, 1 << 60}.MarshalJSON()
	if want := "[1.23457,123456789,-2,0.5,null,null,1e-09,1.15292e+18]"; err != nil || string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Six digits of these would be shown as others than the value itself.
	for _, v := range []float64{2025.49999, 142.4499996, 0.0624999999, 9.9994999999, -1.23549999} {
		b, err := figures{v}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		near, err := strconv.ParseFloat(strings.Trim(string(b), "[]"), 64)
		if err != nil || console.Number(near) != console.Number(v) {
			t.Errorf("%v is in the page as %s, and shown as %s, want %s: %v", v, b, console.Number(near), console.Number(v), err)
		}
	}
}

// TestSpread_Wire: a rank goes with its value; ranks that follow from the order are left out.
func TestSpread_Wire(t *testing.T) {
	t.Parallel()
	s := Spread{Metric: "election_ms", N: 100}
	for i := range 100 {
		s.Values, s.Ranks = append(s.Values, float64(i+1)), append(s.Ranks, i+1)
	}
	if w := s.wire(100); len(w["v"].(figures)) != 100 || w["r"] != nil {
		t.Errorf("%v and the ranks %v, want 100 values and no ranks", w["v"], w["r"])
	}
	w := s.wire(12)
	values, ranks := w["v"].(figures), w["r"].([]int)
	if len(ranks) != len(values) || len(ranks) > 12 || ranks[len(ranks)-1] != 100 {
		t.Fatalf("ranks %v of values %v", ranks, values)
	}
	for i, rank := range ranks {
		if values[i] != float64(rank) {
			t.Errorf("value %v at rank %d", values[i], rank)
		}
	}
}

// TestCell_Doubtful: the page knows what figures can be wrong by, and says nothing where it is nothing.
func TestCell_Doubtful(t *testing.T) {
	t.Parallel()
	figure := stats.Summary{N: 6, Min: 1, Median: 2, Max: 3, CILow: 1, CIHigh: 3}
	small := figure
	small.Doubt = 2.5
	for _, c := range []struct {
		figures []stats.Summary
		want    string
	}{{[]stats.Summary{figure, small, small}, `"u":2.5`}, {[]stats.Summary{figure}, ""}} {
		b, err := json.Marshal((&Cell{Figures: c.figures}).wire(details[0]))
		if err != nil || strings.Contains(string(b), `"u"`) != (c.want != "") || !strings.Contains(string(b), c.want) {
			t.Errorf("%s, %v, want %q", b, err, c.want)
		}
	}
}

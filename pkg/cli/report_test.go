package cli

import (
	"html"
	"os"
	"path/filepath"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/player"
)

func TestReport(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	dir := latest(t, root, "small")
	r := bench(t, "report", filepath.Join(root, "small")).want(t, Good)
	page := filepath.Join(dir, reportName)
	has(t, r.out, page+": 8 cells of 1 run")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(text), "<title>small - Conclave</title>", "bench run", `id="code">H4sI`, "in_model=false")
	has(t, unpacked(t, string(text)), `"downtime_ms"`)

	// It replaces its own page and nothing else; several runs go where one is.
	bench(t, "report", dir).want(t, Good)
	csv := filepath.Join(dir, "trials.csv")
	has(t, bench(t, "report", dir, "--out", csv).want(t, Usage).errors, "is no report of bench", "--out")
	has(t, bench(t, "report", dir, "--out", root).want(t, Usage).errors, "a folder, expected a file")
	both := filepath.Join(root, "both.html")
	has(t, bench(t, "report", dir, csv, "--out", both).want(t, Good).out, "16 cells of 2 runs")
	has(t, bench(t, "report", filepath.Join(root, "nothing")).want(t, Usage).errors, "no run there")
	has(t, bench(t, "report").want(t, Usage).errors, "one or more folders")
}

// A trial that broke a promise can be stepped through from its panel.
func TestReport_Player(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.html")
	bench(t, "report", violated(t), "--out", page).want(t, Good)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	has(t, html.UnescapeString(string(text)), `class="player" data-packed="`, player.Policy)
}

func TestReport_Figures(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	figures := filepath.Join(root, "figures")
	var facts struct{ Cells, Bytes int }
	dir := latest(t, root, "small")
	out := bench(t, "report", dir, "--figures", figures, "--metrics", "election_ms", "--where", "loss=0.1",
		"--width", "60mm", "--ymin", "0.5", "--json").want(t, Good).out
	r, err := answer.Decode([]byte(out))
	if err == nil {
		err = answer.Unmarshal([]byte(out), &facts)
	}
	if err != nil || facts.Cells != 8 || facts.Bytes == 0 || len(r.Notes) == 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	has(t, out, "election_ms-nodes-loss-0.1.svg")
	for _, f := range r.Files {
		if info, err := os.Stat(f.Path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f.Path, err)
		}
	}

	// Whoever chooses wrongly is told what there is.
	for want, args := range map[string][]string{
		"without --figures DIR":                       {"--metrics", "election_ms"},
		"leave it out":                                {"--figures", figures, "--all", "--x", "loss"},
		`did you mean "loss"?`:                        {"--figures", figures, "--x", "los"},
		`did you mean "election_ms"?`:                 {"--figures", figures, "--metrics", "election"},
		"expected a number":                           {"--figures", figures, "--metrics", "election_ms", "--ymin", "low"},
		"is of one metric":                            {"--figures", figures, "--ymax", "3"},
		"--ymin 3 is not below --ymax 2":              {"--figures", figures, "--metrics", "election_ms", "--ymin", "3", "--ymax", "2"},
		"--width 85: expected a length with its unit": {"--figures", figures, "--width", "85"},
		"--height 30mm leaves no room":                {"--figures", figures, "--height", "30mm"},
	} {
		has(t, bench(t, append([]string{"report", dir}, args...)...).want(t, Usage).errors, want)
	}
}

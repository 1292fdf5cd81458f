package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/report/export"
	"github.com/conclave-bench/conclave/internal/commands/outcome"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

func smallRun(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	return latest(t, root, "small")
}

func TestExport_EveryFormat(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	begins := map[string]string{
		"gobench": "# conclave", "junit": "<?xml", "github": "[\n", "bmf": "{\n", "csv": "problem,algorithm,",
		"json": "{\n", "latex": "% conclave", "pgfplots": "% conclave", "hgrm": "       Value",
		"ro-crate": "{\n",
	}
	for _, f := range export.Formats() {
		out := filepath.Join(t.TempDir(), "new", "out")
		r := bench(t, "export", dir, "--format", f.Name, "--out", out).want(t, Good)
		if r.out != "" {
			t.Errorf("%s: --out, and standard output has %q", f.Name, r.out)
		}
		path := out
		if f.Several {
			files, err := filepath.Glob(filepath.Join(out, "*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s: no files: %v", f.Name, err)
			}
			path = files[len(files)-1]
			if f.Name == "pgfplots" {
				path = filepath.Join(out, "messages.tex")
			}
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(b), begins[f.Name]) {
			t.Errorf("%s: %v, begins %.40q, want %q", f.Name, err, b, begins[f.Name])
		}
		has(t, r.errors, "bench: wrote "+path)
		if hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".bench*")); len(hidden) > 0 {
			t.Errorf("%s left %v", f.Name, hidden)
		}
	}
}

// A figure for a paper has the size and the ends that were asked for; other formats have none.
func TestExport_Size(t *testing.T) {
	t.Parallel()
	dir, out := smallRun(t), t.TempDir()
	pgf := []string{"export", dir, "--format", "pgfplots", "--metrics", "election_ms", "--out", out}
	bench(t, append(pgf, "--ymin", "20", "--ymax", "60", "--width", "85mm", "--height", "70mm")...).want(t, Good)
	text, err := os.ReadFile(filepath.Join(out, "election_ms.tex"))
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(text), "ymin=20, ymax=60", "the vertical axis starts at 20", "rectangle ++(240.94bp,-198.43bp)")
	for want, args := range map[string][]string{
		"--ymin means nothing to --format csv": {"export", dir, "--format", "csv", "--ymin", "0"},
		"--x means nothing to --format latex":  {"export", dir, "--format", "latex", "--x", "loss"},
		"name it, as --metrics availability":   {"export", dir, "--format", "pgfplots", "--out", out, "--ymin", "0"},
		"--width 85: expected a length":        append(pgf, "--width", "85"),
		"--height 30mm leaves no room":         append(pgf, "--height", "30mm"),
	} {
		has(t, bench(t, args...).want(t, Usage).errors, want)
	}
}

// Whatever way a run is named, it is the same run.
func TestExport_Sources(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	want, err := os.ReadFile(filepath.Join(dir, results.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir() // the tables alone
	for _, name := range tables {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(copied, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const caveats = "bench: note: this run has caveats, which --out FILE writes beside FILE\n"
	for _, source := range []string{dir, filepath.Dir(dir), filepath.Join(filepath.Dir(dir), "latest"),
		filepath.Join(dir, results.TrialsFile), copied} {
		r := bench(t, "export", source, "--format", "csv").want(t, Good)
		if got := withoutLast(r.out, 4); got != string(want) || r.errors != caveats {
			t.Errorf("%s: not summary.csv and restricted means:\n%s%s", source, r.out, r.errors)
		}
	}
	file := filepath.Join(t.TempDir(), "x.csv")
	has(t, bench(t, "export", dir, "--format", "csv", "--out", file).want(t, Good).errors, file+".caveats.txt")
	if text, err := os.ReadFile(file + ".caveats.txt"); err != nil || !strings.HasPrefix(string(text), "- ") {
		t.Errorf("caveats: %v\n%s", err, text)
	}
	bench(t, "export", copied, "--format", "hgrm", "--out", filepath.Join(t.TempDir(), "h")).want(t, Good)
}

// withoutLast is a table without its last columns.
func withoutLast(table string, columns int) string {
	lines := strings.SplitAfter(table, "\n")
	for i, line := range lines {
		if fields := strings.Split(line, ","); len(fields) > columns {
			lines[i] = strings.Join(fields[:len(fields)-columns], ",") + "\n"
		}
	}
	return strings.Join(lines, "")
}

// A run that was killed is exported as far as it came, and not in silence.
func TestExport_Incomplete(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	journal := filepath.Join(dir, results.JournalFile)
	b, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	if err := os.WriteFile(journal, []byte(strings.Join(lines[:11], "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, results.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	r := bench(t, "export", dir, "--format", "gobench").want(t, Good)
	has(t, r.errors, "note: the run is not complete: 10 of 56 trials; bench run --resume "+dir)
	if n := strings.Count(r.out, "\nBenchmark") + strings.Count(r.out, "\n# Benchmark"); n != 10 {
		t.Errorf("%d trials, want 10:\n%s", n, r.out)
	}
}

// One file of a format of several goes to standard output.
func TestExport_Where(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	r := bench(t, "export", dir, "--format", "hgrm", "--where", "label=ring", "--where", "nodes=5",
		"--where", "loss=0", "--metrics", "election_ms").want(t, Good)
	has(t, r.out, "#[Mean    =", "# ring/nodes=5/loss=0: election_ms of completed operations")
	r = bench(t, "export", dir, "--format", "gobench", "--where", "loss=0", "--bench-config", "full").want(t, Good)
	has(t, r.out, "seed: 1\n", "loss=0-1", "Unit messages better=lower assume=exact\n")
	if strings.Contains(r.out, "loss=0.1") {
		t.Errorf("where loss=0, and:\n%s", r.out)
	}
}

// A run with its description in its folder is a run as before, and is described as before.
func TestExport_Crate(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	citation := write(t, "CITATION.cff", "authors: [{name: The team}]\nlicense: CC0-1.0\n")
	crate := []string{"export", dir, "--format", "ro-crate", "--citation", citation}
	first := bench(t, crate...).want(t, Good)
	has(t, first.out, `"@id": "operations.csv"`, `"@id": "manifest.json"`, "The team", "CC0-1.0")
	if strings.Contains(first.errors, "note:") {
		t.Errorf("a complete description says %s", first.errors)
	}
	bench(t, append(crate, "--out", filepath.Join(dir, export.CrateFile))...).want(t, Good)
	if again := bench(t, crate...).want(t, Good); again.out != first.out {
		t.Errorf("the second time:\n%s\nwant\n%s", again.out, first.out)
	}
	has(t, bench(t, "export", dir, "--format", "ro-crate").want(t, Good).errors, "--citation")
}

// What is exported by default is what the table of bench run shows.
func TestExport_MainMetrics(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"election": small,
		"churn": "name: small\nproblem: election\nalgorithms: [bully]\ntransport: sim\nrepetitions: 6\n" +
			"nodes: 3\nscenario: {kind: churn, duration: 1s}\nfaults: {crash_rate: 0.1}\n",
		"mutex": "name: small\nproblem: mutex\nalgorithms: [naimi-trehel]\ntransport: sim\nrepetitions: 6\n" +
			"nodes: 3\nscenario: {kind: burst}\n",
	} {
		root, file := t.TempDir(), write(t, "small.yaml", text)
		bench(t, "run", file, "--out", root, "--quiet").want(t, Good)
		e, err := experiment.Load(file, experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		out := bench(t, "export", latest(t, root, "small"), "--format", "json", "--metrics",
			strings.Join(outcome.New(e, "").Metrics, ",")).want(t, Good).out
		var asked struct {
			Cells []struct{ Metrics map[string]any }
		}
		if err := json.Unmarshal([]byte(out), &asked); err != nil {
			t.Fatal(err)
		}
		lines := bench(t, "export", latest(t, root, "small"), "--format", "gobench").want(t, Good).out
		if got := strings.Count(lines, "\nUnit "); got != len(asked.Cells[0].Metrics) {
			t.Errorf("%s: %d units, want those of %v:\n%s", name, got, outcome.New(e, "").Metrics, lines)
		}
		for metric := range asked.Cells[0].Metrics {
			unit := strings.ReplaceAll(strings.Replace(metric, "_ms", "-ns", 1), "_per_", "/")
			has(t, lines, "\nUnit "+unit+" ")
		}
	}
}

func TestExport_Mistakes(t *testing.T) {
	t.Parallel()
	dir := smallRun(t)
	aFile := write(t, "file", "")
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"", Usage, "0 folders, expected one"},
		{dir, Usage, "expected --format FORMAT, one of: gobench, junit, "},
		{dir + " --format gobnech", Usage, `did you mean "gobench"?`},
		{dir + " " + dir + " --format csv", Usage, "2 folders, expected one"},
		{dir + " --format csv --metrics election", Usage, `did you mean "election_ms"?`},
		{dir + " --format csv --where nodes", Usage, "expected COLUMN=VALUE"},
		{dir + " --format csv --where node=3", Usage, `did you mean "nodes"?`},
		{dir + " --format csv --where nodes=4", Usage, `unknown value of nodes "4" (has: 3, 5)`},
		{dir + " --format csv --bench-config full", Usage, "--bench-config means nothing to --format csv"},
		{dir + " --format gobench --bench-config some", Usage, "expected one of: default, full"},
		{dir + " --format github --metrics election_ms,availability", Usage, "--out DIR"},
		{dir + " --format github --out " + aFile, Usage, "wants a folder"},
		{dir + " --format csv --out " + dir, Usage, "a folder, expected a file"},
		{dir + " --format csv --out " + aFile + "/x", CouldNotRun, "export: "},
		{filepath.Join(dir, "nowhere") + " --format csv", Usage, "no run there"},
		{dir + " --format csv --citation " + aFile, Usage, "--citation means nothing to --format csv"},
		{dir + " --format ro-crate --citation " + aFile, Usage, "it names no authors"},
		{dir + " --format ro-crate --where nodes=3", Usage, "leave out --metrics and --where"},
		{dir + " --fromat csv", Usage, `did you mean "--format"?`},
	} {
		r := bench(t, append([]string{"export"}, strings.Fields(test.args)...)...)
		if r.code != test.code || r.out != "" || !strings.Contains(flat(r.errors), test.says) {
			t.Errorf("export %s: exit code %d, want %d and %q in %q", test.args, r.code, test.code, test.says,
				r.errors)
		}
	}
}

// A promise that was broken is a failure of its test case, with the way to see it again.
func TestExport_Violation(t *testing.T) {
	t.Parallel()
	dir := violated(t)
	has(t, bench(t, "export", dir, "--format", "junit").want(t, Good).out, `<failure message="`,
		`type="Violation"`, "reproduce: bench replay "+dir+" --trial 1")
	has(t, bench(t, "export", dir, "--format", "gobench").want(t, CouldNotRun).errors, "no trial with status ok")
}

// TestGoesOn: nobody is told to resume a run that a process holds.
func TestGoesOn(t *testing.T) {
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root).want(t, Good)
	_, h, config, err := results.ReadConfig(latest(t, root, "small"))
	if err != nil {
		t.Fatal(err)
	}
	trials, err := results.ReadTrials(latest(t, root, "small"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := results.Create(t.TempDir(), h, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := held.AppendGroup(trials[:20]); err != nil {
		t.Fatal(err)
	}
	told := func() string {
		out := filepath.Join(t.TempDir(), "report.html")
		text := bench(t, "export", held.Dir(), "--format", "csv").want(t, Good).errors
		bench(t, "report", held.Dir(), "--out", out).want(t, Good)
		page, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return text + string(page)
	}
	const remedy = "bench run --resume"
	text := told()
	has(t, text, "the run is in progress: 20 of 56 trials", "the run is in progress, and this is what it has so far")
	if strings.Contains(text, remedy) {
		t.Errorf("a run that goes on is to be resumed: %s", text)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	has(t, told(), remedy)
}

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/results"
)

// The commands of docs/how-to/shards.md: shards in any order, one of them killed in the
// middle and started again; the run that they make has the tables and the exit code of
// the run in one piece.
func TestMerge_EndToEnd(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := write(t, "small.yaml", small+"thresholds: [{metric: messages, stat: max, max: 1}]\n")
	whole := bench(t, "run", file, "--out", root).want(t, Missed)
	want := contents(t, latest(t, root, "small"))

	parts := filepath.Join(root, "parts")
	for _, shard := range []string{"1+1/3", "1/3"} { // thresholds are for the whole
		r := bench(t, "run", file, "--shard", shard, "--out", parts).want(t, Good)
		has(t, r.out, "this is only shard", "bench merge merges all shards", "results: "+parts)
	}
	r := bench(t, "merge", filepath.Join(parts, "small"), "--out", root).want(t, Usage)
	has(t, r.errors, "shard 3/3 is missing", "bench run "+file+" --shard 3/3 --out "+parts)

	third := filepath.Join(parts, "small", "shard-3-of-3")
	bench(t, "run", file, "--shard=3/3", "--out", parts).want(t, Good)
	cut(t, third, 5)
	r = bench(t, "merge", filepath.Join(parts, "small"), "--out", root).want(t, Usage)
	has(t, r.errors, "shard 3/3 is not complete", "bench run --resume "+third)
	r = bench(t, "run", file, "--shard=3/3", "--out", parts).want(t, Good)
	has(t, r.errors, "shard       3/3 of 7 repetitions", "4 of 18 trials were finished")

	r = bench(t, "merge", filepath.Join(parts, "small"), "--out", filepath.Join(root, "merged")).want(t, Missed)
	dir := latest(t, filepath.Join(root, "merged"), "small")
	same(t, "merged", contents(t, dir), want)
	if m, err := results.ReadManifest(dir); err != nil || m.Exit == nil || *m.Exit != Missed {
		t.Errorf("merged: %v, exit code of %+v", err, m)
	}
	for line := range strings.Lines(whole.out) {
		if !strings.HasPrefix(line, "results: ") && !strings.Contains(r.out, line) {
			t.Errorf("no %q in what merge prints:\n%s", line, r.out)
		}
	}
	done := make(chan ran)
	late := filepath.Join(root, "late")
	go func() { done <- bench(t, "merge", filepath.Join(late, "small"), "--out", late, "--wait", "5m") }()
	for _, shard := range []string{"1/2", "2/2"} {
		bench(t, "run", file, "--shard", shard, "--out", late).want(t, Good)
	}
	(<-done).want(t, Missed)
	same(t, "merged later", contents(t, latest(t, late, "small")), want)

	var report runAnswer
	out := bench(t, "merge", filepath.Join(parts, "small"), "--out", filepath.Join(root, "again"), "--json").
		want(t, Missed).out
	if err := answer.Unmarshal([]byte(out), &report); err != nil || report.Finished != 56 || !report.Complete {
		t.Errorf("merge --json: %v, %+v", err, report)
	}

	// What reads runs says that a shard is none; a merged run goes on with nothing.
	shard := filepath.Join(parts, "small", "shard-1-of-3")
	has(t, flat(bench(t, "compare", dir, shard).out), "careful: new: this is only shard 1/3 of a run")
	mine, err := results.ReadTrials(shard)
	if err != nil {
		t.Fatal(err)
	}
	other := 1
	for slices.ContainsFunc(mine, func(r results.Trial) bool { return r.Trial == other }) {
		other++
	}
	has(t, bench(t, "replay", shard, "--trial", fmt.Sprint(other)).want(t, Usage).errors,
		fmt.Sprintf("--trial %d is not in shard 1/3", other))
	bench(t, "replay", shard, "--trial", fmt.Sprint(mine[0].Trial)).want(t, Good)
	has(t, bench(t, "run", "--resume", dir).want(t, Missed).errors, "56 of 56 trials were finished")
	page := filepath.Join(root, "page.html")
	bench(t, "report", shard, "--out", page).want(t, Good)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(text), "this is only shard 1/3 of a run")
}

// cut makes the run in dir one that was killed: of its journal, so many lines are left.
func cut(t *testing.T, dir string, lines int) {
	t.Helper()
	name := filepath.Join(dir, results.JournalFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	kept := strings.Join(strings.SplitAfter(string(text), "\n")[:lines], "")
	if err := os.WriteFile(name, []byte(kept), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, results.ManifestFile)); err != nil {
		t.Fatal(err)
	}
}

func TestShard_Refuses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := write(t, "small.yaml", small)
	bench(t, "run", file, "--shard", "1/3", "--out", root).want(t, Good)
	nats := write(t, "nats.yaml", strings.Replace(small, "transport: sim", "transport: nats", 1))
	for want, args := range map[string][]string{
		`"0/3" is no shard, expected I/N, where I counts from 1 to N`: {file, "--shard", "0/3"},
		"there are 7 repetitions":                                     {nats, "--shard", "1/8"},
		"there are 56 trials":                                         {file, "--shard", "1/57"},
		"repetitions has a rule (until)": {file, "--shard", "1/2", "--set",
			"repetitions={max: 20, until: {metric: election_ms, ci: 5%}}"},
		"--shard with --resume":                  {"--resume", root, "--shard", "1/2"},
		"--machine without --shard":              {file, "--machine", "lab7"},
		"a simulation is the same on every":      {file, "--shard", "1/2", "--machine", "lab7"},
		"expected the name of that machine, as ": {nats, "--shard", "1/2", "--host", "ssh lab7 ./node host"},
	} {
		r := bench(t, append(append([]string{"run"}, args...), "--out", filepath.Join(root, "none"))...)
		if args[0] == "--resume" {
			r = bench(t, append([]string{"run"}, args...)...)
		}
		has(t, r.want(t, Usage).errors, want)
	}
	r := bench(t, "run", file, "--shard", "1/3", "--set", "seed=2", "--out", root).want(t, CouldNotRun)
	has(t, r.errors, "shard 1/3 exists already", "the configuration differs", "in another folder (--out)")
	has(t, bench(t, "merge").want(t, Usage).errors, "expected the folders of shards")
}

// A block stays on one machine, whose name stands in each row.
func TestShard_RealNodes(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts processes")
	}
	t.Parallel()
	root := t.TempDir()
	file := write(t, "real.yaml", "name: real\nproblem: election\nalgorithms: [bully]\nnodes: 3\nrepetitions: 2\n"+
		"scenario: {kind: cold-start}\nallow: {invalid: 2}\n")
	for i, name := range []string{"lab3", "lab7"} {
		bench(t, "run", file, "--shard", []string{"1/2", "2/2"}[i], "--machine", name, "--out", root).want(t, Good)
	}
	r := bench(t, "run", file, "--shard", "2/2", "--machine", "lab3", "--out", root).want(t, Usage)
	has(t, r.errors, `shard 2/2 began on machine "lab7", and this is "lab3"`)
	r = bench(t, "run", "--resume", filepath.Join(root, "real", "shard-2-of-2")).want(t, Usage)
	has(t, r.errors, `began on machine "lab7"`)
	r = bench(t, "run", "--resume", filepath.Join(root, "real", "shard-2-of-2"), "--machine", "lab7").want(t, Good)
	has(t, r.errors, "1 of 1 trials were finished")
	r = bench(t, "merge", filepath.Join(root, "real", "shard-2-of-2"), "--out", root).want(t, Usage)
	has(t, r.errors, "shard 1/2 is missing", "bench run "+file+" --shard 1/2 --out "+root)
	bench(t, "merge", filepath.Join(root, "real"), "--out", root).want(t, Good)
	dir := latest(t, root, "real")
	rows := contents(t, dir)[results.TrialsFile]
	has(t, rows, "seed,host,problem", ",lab3,election,", ",lab7,election,")
	m, err := results.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Parts) != 2 || m.Parts[0].Host != "lab3" || len(m.Parts[0].Bus) == 0 || m.Parts[1].Machine.Cores == 0 {
		t.Errorf("machines %+v", m.Parts)
	}
}

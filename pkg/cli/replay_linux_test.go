package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
)

// TestReplay_RealNodes: what reached real nodes is fed to the same algorithm, and
// a record that it cannot have is a defect.
func TestReplay_RealNodes(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	file := write(t, "real.yaml", `
name: real
problem: election
algorithms: [bully]
nodes: 3
scenario: {kind: leader-crash, settle: 10ms}
repetitions: 1
retries: 20
trace: all
`)
	bench(t, "run", file, "--out", out).want(t, Good)
	dir := latest(t, out, "real")
	r := bench(t, "replay", dir, "--trial", "1").want(t, Good)
	has(t, r.out, "retraced: ", "the algorithm reacts as recorded")
	r = bench(t, "replay", dir, "--trial", "1", "--state").want(t, Good)
	has(t, r.out, "receives ELECTION{Attempt:{Incarnation:0 Count:1}} from", "status idle → electing",
		"the algorithm reacts as recorded")
	page := filepath.Join(out, "one.html")
	bench(t, "trace", dir, "--trial", "1", "--html", "--out", page).want(t, Good)
	has(t, bench(t, "replay", dir, "--trial", "1", "--live", "--state").out, " → ")
	has(t, bench(t, "replay", dir, "--trial", "1", "--json").want(t, Good).out, `"retraced_events": `, `"differs": []`)
	has(t, bench(t, "replay", dir, "--trial", "1", "--live").out, "real nodes never repeat exactly")

	path := filepath.Join(dir, "traces", "trial-1.ndjson")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(`"type":"send",(.*)"kind":"COORDINATOR"`).ReplaceAll(text,
		[]byte(`"type":"send",$1"kind":"ANSWER"`))
	if string(changed) == string(text) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"replay", "trace"} {
		has(t, bench(t, command, dir, "--trial", "1").want(t, CouldNotRun).errors,
			"trial-1.ndjson was edited or is damaged")
	}
	if err := os.Remove(filepath.Join(dir, results.ManifestFile)); err != nil { // as if it had been killed
		t.Fatal(err)
	}
	r = bench(t, "replay", dir, "--trial", "1").want(t, CouldNotRun)
	has(t, r.out, "the records have that it sends ANSWER", "and the algorithm sends COORDINATOR")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	has(t, bench(t, "replay", dir, "--trial", "1").want(t, Usage).errors, "trace=all", "--live")
}

package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
)

// until is small with a rule: cells of constant latency are precise at once.
var until = strings.NewReplacer("name: small", "name: until",
	"repetitions: 7", "repetitions: {min: 6, max: 20, until: {metric: election_ms, ci: 1.5%}}",
).Replace(small) + "network: {latency: {distribution: uniform, min: 1ms, max: 3ms}}\n"

func TestPlan_Until(t *testing.T) {
	path := write(t, "until.yaml", until)
	golden(t, "plan-until.txt", bench(t, "plan", path).want(t, Good).out)
	var r planReport
	if err := json.Unmarshal([]byte(bench(t, "plan", path, "--json").want(t, Good).out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Repetitions != 20 || r.Fewest != 6 || r.Trials != 160 || r.LeastTrials != 48 ||
		r.LeastS > r.EstimateS || r.Until == nil || *r.Until != (planUntil{"election_ms", 0.015}) {
		t.Errorf("plan: %+v", r)
	}
}

func TestRun_Until(t *testing.T) {
	path, root := write(t, "until.yaml", until), t.TempDir()
	ran := bench(t, "run", path, "--out", root).want(t, Good)
	has(t, ran.errors, "8 cells x 6..20 repetitions = 48..160 trials")
	has(t, ran.out, "until ", "precise ±", "max ±", "[1] repetitions: a cell ends when")
	dir := latest(t, root, "until")
	m, err := results.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Complete || m.Planned != m.Finished || m.Planned <= 48 || m.Planned >= 160 {
		t.Errorf("complete %v, %d of %d", m.Complete, m.Finished, m.Planned)
	}

	again := bench(t, "run", "--resume", dir, "--json").want(t, Good)
	var r runReport
	if err := json.Unmarshal([]byte(again.out), &r); err != nil {
		t.Fatal(err)
	}
	trials := 0
	for _, c := range r.Stopping.Cells {
		trials += c.Repetitions
		if c.Stopped == results.Precise && *c.HalfWidth > 0.015 || c.Stopped == "" {
			t.Errorf("cell %d: %+v", c.Cell, c)
		}
	}
	if !r.Complete || r.Planned != m.Planned || r.Finished != trials {
		t.Errorf("%d trials, want %d: %+v", trials, m.Planned, r)
	}
	for _, c := range r.Stopping.Cells {
		if c.Repetitions < 20 {
			unneeded := bench(t, "replay", dir, "--trial", fmt.Sprint(20*(c.Cell-1)+20)).want(t, Good)
			has(t, unneeded.out, "not recorded: the run, or its cell, ended before this trial")
			break
		}
	}
	if len(r.Warnings) == 0 || !strings.HasPrefix(r.Warnings[0], "repetitions: ") {
		t.Errorf("warnings %q in %s", r.Warnings, filepath.Base(dir))
	}
}

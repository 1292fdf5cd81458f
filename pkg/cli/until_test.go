package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/results"
)

// until is small with a rule: cells of constant latency are precise at once.
var until = strings.NewReplacer("name: small", "name: until",
	"repetitions: 7", "repetitions: {min: 6, max: 20, until: {metric: election_ms, ci: 1.5%}}",
).Replace(small) + "network: {latency: {distribution: uniform, min: 1ms, max: 3ms}}\n"

func TestPlan_Until(t *testing.T) {
	t.Parallel()
	path := write(t, "until.yaml", until)
	golden(t, "plan-until.txt", bench(t, "plan", path).want(t, Good).out)
	var r struct {
		Repetitions, Trials int
		Fewest              int     `json:"min_repetitions"`
		LeastTrials         int     `json:"min_trials"`
		LeastS              float64 `json:"min_estimate_s"`
		EstimateS           float64 `json:"estimate_s"`
		Metric              string  `json:"until_metric"`
		CI                  float64 `json:"until_ci"`
		Anytime             bool    `json:"until_anytime"`
	}
	if err := answer.Unmarshal([]byte(bench(t, "plan", path, "--json").want(t, Good).out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Repetitions != 20 || r.Fewest != 6 || r.Trials != 160 || r.LeastTrials != 48 ||
		r.LeastS > r.EstimateS || r.Metric != "election_ms" || r.CI != 0.015 || r.Anytime {
		t.Errorf("plan: %+v", r)
	}
}

func TestRun_Until(t *testing.T) {
	t.Parallel()
	path, root := write(t, "until.yaml", until), t.TempDir()
	ran := bench(t, "run", path, "--out", root, "--notes").want(t, Good)
	has(t, ran.errors, "8 cells x 6..20 repetitions = 48..160 trials")
	has(t, ran.out, "until ", "precise ±", "max ±", "] repetitions: a cell ends when")
	dir := latest(t, root, "until")
	m, err := results.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Complete || m.Planned != m.Finished || m.Planned <= 48 || m.Planned >= 160 {
		t.Errorf("complete %v, %d of %d", m.Complete, m.Finished, m.Planned)
	}

	again := bench(t, "run", "--resume", dir, "--json").want(t, Good)
	var r runAnswer
	if err := answer.Unmarshal([]byte(again.out), &r); err != nil {
		t.Fatal(err)
	}
	trials := 0
	for _, c := range r.Stopping {
		trials += c.Repetitions
		if c.Stopped == results.Precise && *c.HalfWidth > 0.015 || c.Stopped == "" {
			t.Errorf("cell %d: %+v", c.Cell, c)
		}
	}
	if !r.Complete || r.Planned != m.Planned || r.Finished != trials {
		t.Errorf("%d trials, want %d: %+v", trials, m.Planned, r)
	}
	for _, c := range r.Stopping {
		if c.Repetitions < 20 {
			unneeded := bench(t, "replay", dir, "--trial", fmt.Sprint(20*(c.Cell-1)+20)).want(t, Good)
			has(t, unneeded.out, "not recorded: the run, or its cell, ended before this trial")
			break
		}
	}
	if !slices.ContainsFunc(r.Notes, func(n noteAnswer) bool { return strings.HasPrefix(n.Text, "repetitions: ") }) {
		t.Errorf("notes %q in %s", r.Notes, filepath.Base(dir))
	}
}

// With anytime all intervals of a run are those of the confidence sequence, and say so.
func TestRun_Anytime(t *testing.T) {
	t.Parallel()
	path, root := write(t, "until.yaml", strings.Replace(until, "max: 20", "max: 60", 1)), t.TempDir()
	set := []string{"--set", "repetitions.until.anytime=true", "--set", "repetitions.until.ci=20%"}
	has(t, bench(t, append([]string{"plan", path}, set...)...).want(t, Good).out,
		"known to ±20 % in a cell, and the interval holds whenever the cell stops (anytime)")
	ran := bench(t, append([]string{"run", path, "--out", root, "--notes"}, set...)...).want(t, Good)
	has(t, ran.out, "% anytime", "[95 % interval, anytime: it holds whenever a cell stops]",
		"intervals hold whenever a cell stops (anytime), but tests assume a fixed n")
	dir := latest(t, root, "until")
	m, err := results.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Stopping.Anytime || !strings.Contains(m.Intervals, "by a confidence sequence") {
		t.Errorf("intervals %s, %+v", m.Intervals, m.Stopping)
	}
	table, err := results.ReadTable(dir)
	if err != nil {
		t.Fatal(err)
	}
	summary := contents(t, dir)[results.SummaryFile]
	early := 0
	for i, c := range table.Cells() {
		stop, want := m.Stopping.Cells[i], stats.Anytime.Describe(c.Sample("election_ms"))
		if stop.Stopped == results.Precise && stop.Repetitions < 60 {
			early++
		}
		var line []string
		for _, f := range c.Design {
			line = append(line, f.Value)
		}
		line = append(line, results.SummaryRow(c, "election_ms", want)...)
		if has(t, summary, strings.Join(line, ",")+"\n"); !math.IsNaN(want.CIHigh) && !slices.Contains(line, "anytime") {
			t.Errorf("cell %d: %v", i+1, line)
		}
		if half := (want.CIHigh - want.CILow) / 2 / want.Median; stop.HalfWidth != nil && half != *stop.HalfWidth {
			t.Errorf("cell %d: half-width %v, shown is %v", i+1, *stop.HalfWidth, half)
		}
	}
	if early == 0 {
		t.Errorf("no cell ended early: %+v", m.Stopping.Cells)
	}
	if alone, err := results.ReadTable(filepath.Join(dir, results.TrialsFile)); err != nil ||
		!alone.Until().Anytime || alone.Cells()[0].Describe("election_ms").Method != stats.Anytime {
		t.Errorf("%v: the table alone does not know by what its trials ended", err)
	}
	has(t, bench(t, "export", dir, "--format", "markdown").want(t, Good).out, "anytime: it holds whenever")
	has(t, bench(t, "export", dir, "--format", "json").want(t, Good).out, `"intervals": "anytime"`)
	has(t, bench(t, "export", dir, "--format", "latex").want(t, Good).out, "by a confidence sequence")

	plain := t.TempDir()
	has(t, bench(t, "run", path, "--out", plain, "--notes").want(t, Good).out, "until: {anytime: true} has valid intervals")
	both := bench(t, "compare", latest(t, plain, "until"), dir, "--no-fail").want(t, Good).out
	has(t, flat(both), "base: its results decided the number of trials, by election_ms: intervals and tests assume a fixed n",
		"new: its results decided the number of trials, by election_ms: intervals hold whenever")
}

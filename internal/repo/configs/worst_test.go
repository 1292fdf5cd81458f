package configs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// heading is the first lines of a worst case: what is seen, the figure, the search and the theory.
var heading = regexp.MustCompile(`^# yaml-.+\n((?:# .+\n)+)#\n# The costliest schedule of a search: (\S+) (\S+)\.\n` +
	`# Found by: (bench explore (\S+) --maximise (\S+) .+)\n# Theory: (?:(\S+) times (\S+), |no figure)(.*)\.\n\n`)

// TestWorst: each schedule of the museum is within the model, its trial breaks no promise and costs what
// the first lines say to the last digit, which is the part of theory that they say. The table of
// docs/evidence/worst.md follows from them.
func TestWorst(t *testing.T) {
	t.Parallel()
	table := &bytes.Buffer{}
	fmt.Fprint(table, "| file | processes | cost | theory | ratio |\n|---|---|---|---|---|\n")
	for _, name := range names(t, "worst") {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		part := heading.FindStringSubmatch(string(text))
		if part == nil {
			t.Errorf("%s does not begin as a worst case does: %s", name, heading)
			continue
		}
		e := load(t, name)
		plan := e.Trials()[0].Plan
		alg, err := algo.Lookup(plan.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		cost := explore.Costs(alg)[part[6]]
		if base := strings.TrimSuffix(filepath.Base(name), ".yaml"); e.Name != "worst-"+base ||
			cost == nil || cost.Name != part[2] || part[5] != alg.Spec.Name ||
			base != (&explore.Worst{Metric: cost, Found: explore.Found{
				Schedule: &explore.Schedule{Algorithm: alg}}}).Name() {
			t.Errorf("%s: its name, its metric and its search do not agree: %q", name, part[1:])
			continue
		}
		stated, err := strconv.ParseFloat(part[3], 64)
		if th := e.Thresholds; err != nil || len(th) != 1 || th[0].Metric != cost.Name || *th[0].Min != stated ||
			*th[0].Max != stated {
			t.Errorf("%s: thresholds %v, want exactly %s", name, th, part[3])
		}
		o, err := algotest.Simulate(plan)
		if err != nil {
			t.Fatal(err)
		}
		if got := valueOf(o.Metrics, cost); got != stated || o.Status != trace.OK || !plan.InModel {
			t.Errorf("%s: %s is %v, want %v; %s; in the model: %v", name, cost.Name, got, stated, o.Status,
				plan.InModel)
		}
		theory, ratio := "no figure", ""
		if part[8] != "" {
			most, err := strconv.ParseFloat(part[8], 64)
			if want := fmt.Sprintf("%.3g", stated/most); err != nil || part[7] != want {
				t.Errorf("%s: %s times %s, want %s", name, part[7], part[8], want)
			}
			theory, ratio = console.Number(most)+": "+part[9], part[7]
		} else {
			theory += part[9]
		}
		fmt.Fprintf(table, "| [%s](../../configs/%s) | %d | %s %s | %s | %s |\n",
			strings.TrimSuffix(filepath.Base(name), ".yaml"), name, plan.Nodes, cost.Name,
			console.Number(stated), theory, ratio)
	}
	const page, begin, end = "../../../docs/evidence/worst.md", "<!-- worst: begin -->\n", "<!-- worst: end -->"
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ends := strings.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no table between %q and %q", page, begin, end)
	}
	now := before + begin + table.String() + end + after
	if *rewrite {
		err = os.WriteFile(page, []byte(now), 0o644)
	}
	if err != nil || !*rewrite && now != string(old) {
		t.Errorf("%s has another table than the files: %v; go test ./internal/repo/configs -run TestWorst -rewrite",
			page, err)
	}
}

// valueOf is the figure of a trial.
func valueOf(all []metric.Value, m *metric.Metric) float64 {
	for _, v := range all {
		if v.Name == m.Name {
			x, _ := strconv.ParseFloat(config.FormatFloat(v.Value), 64)
			return x
		}
	}
	return -1
}

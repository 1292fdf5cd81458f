package cli

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/results"
)

// TestCompare_FalsePairsOnSockets compares two labels of one algorithm on real processes,
// which met the same luck: 2000 times, 20 of 80 pairs whose sides are chosen by lot.
func TestCompare_FalsePairsOnSockets(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("runs 160 trials on real processes; set CONCLAVE_NIGHTLY=1")
	}
	dir := t.TempDir()
	file := write(t, "pairs.yaml", `
name: pairs
problem: election
algorithms: [bully, {name: bully, label: again}]
nodes: 5
scenario: {kind: leader-crash, settle: 20ms}
repetitions: 80
allow: {invalid: 80}
`)
	bench(t, "run", file, "--out", dir).want(t, Good)
	all, err := results.ReadTable(latest(t, dir, "pairs"))
	if err != nil {
		t.Fatal(err)
	}
	const pairs, size = 2000, 20
	comparisons, alarms, failed := 0, 0, 0
	draw := rand.New(rand.NewPCG(1, 2))
	for range pairs {
		base, new := *all, *all
		base.Trials, new.Trials = nil, nil
		order, side := draw.Perm(80), draw.Perm(80)
		for _, trial := range all.Trials {
			i := trial.Repetition - 1
			switch first := (trial.Cell == 1) == (side[i]%2 == 0); {
			case order[i] >= size:
			case first:
				base.Trials = append(base.Trials, trial)
			default:
				new.Trials = append(new.Trials, trial)
			}
		}
		for _, trials := range [][]results.Trial{base.Trials, new.Trials} {
			for i := range trials { // of one cell
				trials[i].Cell, trials[i].Design = 1, all.Trials[0].Design
			}
		}
		r, err := compare.Compare(&base, &new, compare.Options{Metrics: []string{"election_ms"}})
		if err != nil {
			t.Fatal(err)
		}
		row := r.Rows[0]
		if row.Test == compare.Pairs {
			comparisons++
		}
		if row.P <= compare.DefaultAlpha {
			alarms++
		}
		if len(r.Failures) > 0 {
			failed++
		}
	}
	t.Logf("%d of %d comparisons of pairs are false alarms; %d fail", alarms, comparisons, failed)
	if comparisons < pairs || alarms > pairs/20+30 || failed > alarms { // three standard errors
		t.Errorf("%d of %d comparisons of pairs are false alarms, want 5 %% at most but for chance; %d fail", alarms,
			comparisons, failed)
	}
}

// TestCompare_FalseAlarmsOnSockets compares trials of one run on real processes
// with other trials of the same run, two thousand times: whatever is found then is
// a false alarm.
func TestCompare_FalseAlarmsOnSockets(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("runs 320 trials on real processes; set CONCLAVE_NIGHTLY=1")
	}
	dir := t.TempDir()
	file := write(t, "aa.yaml", `
name: aa
problem: election
algorithms: [bully, ring-list]
nodes: 3
sweep: [{vary: nodes, over: [3, 5]}]
scenario: {kind: leader-crash, settle: 20ms}
repetitions: 80
allow: {invalid: 80}
`)
	bench(t, "run", file, "--out", dir).want(t, Good)
	all, err := results.ReadTable(latest(t, dir, "aa"))
	if err != nil {
		t.Fatal(err)
	}
	const pairs, size = 2000, 20
	tests, alarms, failed := 0, 0, 0
	draw := rand.New(rand.NewPCG(1, 2))
	for range pairs {
		base, new := *all, *all
		base.Trials, new.Trials = nil, nil
		order := draw.Perm(80)
		for _, trial := range all.Trials {
			switch i := slices.Index(order, trial.Repetition-1); {
			case i < size:
				base.Trials = append(base.Trials, trial)
			case i < 2*size:
				new.Trials = append(new.Trials, trial)
			}
		}
		r, err := compare.Compare(&base, &new, compare.Options{Threshold: compare.DefaultThreshold})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if !math.IsNaN(row.P) {
				tests++
				if row.P <= compare.DefaultAlpha {
					alarms++
				}
			}
		}
		if len(r.Failures) > 0 {
			failed++
		}
	}
	t.Logf("%d of %d tests are false alarms before correction; %d of %d pairs fail", alarms, tests, failed, pairs)
	// The two times of an election go together, so that half of the tests count for
	// the error: three standard errors are 0.7 of a hundred.
	if tests == 0 || float64(alarms) > 0.057*float64(tests) {
		t.Errorf("%d of %d tests are false alarms, want 5 %% at most but for chance", alarms, tests)
	}
	if failed > pairs/100 {
		t.Errorf("%d of %d pairs fail, want at most 1 %%", failed, pairs)
	}
}

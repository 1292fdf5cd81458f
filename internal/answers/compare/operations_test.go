package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
)

// spread are ten operations of each trial, whose lengths differ within it and between
// trials, times a factor.
func spread(factor float64) func(int) []string {
	return func(trial int) (rows []string) {
		for i := range 10 {
			rows = append(rows, fmt.Sprintf("0,0,%g,ok,leader-crash", factor*float64(100+37*((trial*7+i*3)%11)+trial%5)))
		}
		return rows
	}
}

// TestOperations: what shifts all operations alike is found exactly in pairs, and judged
// by its interval and the threshold; too few operations are refused with the number it takes.
func TestOperations(t *testing.T) {
	t.Parallel()
	of := func(n int, factor float64) *results.Table { return withOperations(t, n, spread(factor)) }
	o := Options{Metrics: []string{"election_ms"}, Threshold: 0.05, Over: experiment.OverOperations}
	for _, tt := range []struct {
		name     string
		base, to *results.Table
		stat     string
		want     Verdict
		failures int
	}{
		{"the same", of(20, 1), of(20, 1), "p95", Same, 0},
		{"slower by 10 %", of(20, 1), of(20, 1.1), "p90", Worse, 4},
		{"slower by 1 %", of(20, 1), of(20, 1.01), "p90", Unclear, 0},
		{"faster", of(20, 1.1), of(20, 1), "median", Better, 0},
		{"too few", of(5, 1), of(5, 1.5), "p95", TooFew, 0},
		{"other trials", of(20, 1), of(10, 1), "p90", Unclear, 0},
	} {
		o.Stat = tt.stat
		r, err := Compare(tt.base, tt.to, o)
		if err != nil || len(r.Rows) != 4 || len(r.Failures) != tt.failures {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
			continue
		}
		for _, row := range r.Rows {
			if row.Verdict != tt.want || row.Over != experiment.OverOperations || len(row.Others) != 0 {
				t.Errorf("%s: %s %s, want %s", tt.name, row.Verdict, row.Why, tt.want)
			}
		}
	}
	o.Stat = "p90"
	r, _ := Compare(of(20, 1), of(20, 1.1), o)
	if want := "p90 of election_ms over operations: 437 -> 480.7 (+10.00% [+10.00%, +10.00%])"; r.Rows[0].Paired ==
		nil || !strings.Contains(r.Failures[0], want) {
		t.Errorf("%q, want %s", r.Failures, want)
	}
	r, _ = Compare(of(5, 1), of(5, 1.1), o)
	if got := r.Rows[0].Why; !strings.Contains(got, "too few: 5 trials, of 8 needed") {
		t.Error(got)
	}
	// Conditions alone decide where there are some, on one statistic if they name it.
	o.Stat = ""
	for text, failures := range map[string]int{"election_ms > 0": 4, "mean of election_ms > 0": 4,
		"p99 of election_ms > 0": 0} {
		o.Conditions = condition(t, text)
		if r, err := Compare(of(20, 1), of(20, 1.01), o); err != nil || len(r.Failures) != failures {
			t.Errorf("%s: %+v, %v, want four failures", text, r.Failures, err)
		}
	}
	o.Conditions, o.Metrics = nil, []string{"messages"}
	if _, err := Compare(of(6, 1), of(6, 1), o); err == nil ||
		!strings.Contains(err.Error(), "a single operation has no messages") {
		t.Error(err)
	}
}

// TestProve_Operations: what is proved of trials is not proved of their operations, which are asked as well
// where trials have several.
func TestProve_Operations(t *testing.T) {
	t.Parallel()
	tail := func(trial int) []string { // one operation in ten takes three times as long
		rows := spread(1)(trial)
		for i, row := range rows {
			if fields := strings.Split(row, ","); i == 0 {
				fields[2] = "1800"
				rows[i] = strings.Join(fields, ",")
			}
		}
		return rows
	}
	o := Options{Metrics: []string{"election_ms"}, Prove: 0.05}
	for name, tt := range map[string]struct {
		new    *results.Table
		proved bool
	}{"the same": {withOperations(t, 40, spread(1)), true}, "a longer tail": {withOperations(t, 40, tail), false}} {
		base := withOperations(t, 40, spread(1))
		for _, table := range []*results.Table{base, tt.new} { // the means of trials are the same
			for i := range table.Trials {
				setTime(&table.Trials[i], 100+float64(table.Trials[i].Repetition))
			}
		}
		r := compared(t, base, tt.new, o)
		said := strings.Join(append(r.Open, r.Failures...), "\n")
		if tt.proved != (said == "") || !tt.proved && !strings.Contains(said, "over operations") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

package compare

import (
	"fmt"
	"strings"
	"testing"

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

// TestCompareTails: what shifts all operations alike is found exactly in pairs, and judged
// by the interval and the threshold; too few operations are refused with the number it takes.
func TestCompareTails(t *testing.T) {
	t.Parallel()
	of := func(n int, factor float64) *results.Table { return withOperations(t, n, spread(factor)) }
	o := Options{Metrics: []string{"election_ms"}, Threshold: 0.05}
	for _, tt := range []struct {
		name     string
		base, to *results.Table
		stat     string
		want     Verdict
		failures int
	}{
		{"the same", of(20, 1), of(20, 1), "p95", Same, 0},
		{"slower by 10 %", of(20, 1), of(20, 1.1), "p90", Worse, 4},
		{"slower by 1 %", of(20, 1), of(20, 1.01), "p90", Small, 0},
		{"faster", of(20, 1.1), of(20, 1), "median", Better, 0},
		{"too few", of(5, 1), of(5, 1.5), "p95", TooFew, 0},
		{"other trials", of(20, 1), of(10, 1), "p90", Unclear, 0},
	} {
		r, err := CompareTails(tt.base, tt.to, tt.stat, o)
		if err != nil || len(r.Rows) != 4 || len(r.Failures) != tt.failures || r.Confidence != 1-0.05/4 {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
			continue
		}
		for _, row := range r.Rows {
			if row.Verdict != tt.want {
				t.Errorf("%s: %s %v: %v, want %s", tt.name, row.Verdict, row.Why, &row, tt.want)
			}
		}
	}
	r, _ := CompareTails(of(20, 1), of(20, 1.1), "p90", o)
	if row := r.Rows[0]; !row.Paired || !strings.Contains(r.Failures[0], "(+10.00% [+10.00%, +10.00%])") {
		t.Errorf("%q, want exactly 10 %%", r.Failures)
	}
	r, _ = CompareTails(of(5, 1), of(5, 1.1), "p90", o)
	if got := r.Rows[0].String(); !strings.Contains(got, "too few: trials: 5, and it takes 6") {
		t.Error(got)
	}
	// Conditions alone decide where there are some.
	o.Conditions = []Condition{{Metric: "election_ms", text: "election_ms > 0"}}
	if r, err := CompareTails(of(20, 1), of(20, 1.01), "p90", o); err != nil || len(r.Failures) != 4 {
		t.Errorf("%+v, %v, want four failures", r, err)
	}
	o.Conditions, o.Metrics = nil, []string{"messages"}
	if _, err := CompareTails(of(6, 1), of(6, 1), "p90", o); err == nil ||
		!strings.Contains(err.Error(), "a single operation has no messages") {
		t.Error(err)
	}
}

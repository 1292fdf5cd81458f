package export

import (
	"strings"
	"testing"
)

// TestOperations: quantiles over operations stand in csv and json, with n and the effect
// of trials; where there are too few of them for an interval, its place is empty.
func TestOperations(t *testing.T) {
	t.Parallel()
	r := small(t)
	o := Options{Metrics: []string{"election_ms"}, Operations: true}
	lines := strings.Split(string(write(t, r, "csv", o)[0].Data), "\n")
	if !strings.Contains(lines[0], ",metric,operations,pending,trials,p50,p50_low,p50_high,p50_design_effect,p90,") {
		t.Errorf("columns %s", lines[0])
	}
	if !strings.Contains(lines[1], ",election_ms,") || !strings.Contains(lines[1], ",,,") {
		t.Errorf("row %s, want no interval of so few", lines[1])
	}
	has := string(write(t, r, "json", o)[0].Data)
	for _, want := range []string{`"over": "operations"`, `"needed_operations": 72`, `"ci_low": null`} {
		if !strings.Contains(has, want) {
			t.Errorf("no %s in %s", want, has)
		}
	}
	o.Quantiles = []float64{25, 99.99}
	for format, want := range map[string][]string{
		"csv": {",p25,p25_low,", ",p99.99,p99.99_low,"}, "json": {`"p25": {`, `"p99.99": {`, `"needed_operations": 36887`},
		"markdown": {"| p25 |", "| p99.99 |"}, "latex": {"p25", "p99.99"},
	} {
		text := string(write(t, r, format, o)[0].Data)
		if strings.Contains(text, "p50") || strings.Contains(text, "p90") {
			t.Errorf("%s has quantiles that were not asked for", format)
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %s in %s", format, part, text)
			}
		}
	}
	for format, o := range map[string]Options{
		"gobench": {Operations: true}, "csv": {Operations: true, Metrics: []string{"downtime_ms"}},
	} {
		f, err := Find(format)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(r, o); err == nil {
			t.Errorf("%s of %v: no error", format, o.Metrics)
		}
	}
}

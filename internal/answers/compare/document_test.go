package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// rendered is a document as programs read it.
func rendered(t *testing.T, d *answer.Document) *answer.Encoded {
	t.Helper()
	e, err := answer.Decode([]byte(written(t, d, "json")))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func written(t *testing.T, d *answer.Document, format string) string {
	t.Helper()
	text, err := d.In(format)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocument_JUnit: what fails the gate fails the test case, and nothing else does.
func TestDocument_JUnit(t *testing.T) {
	t.Parallel()
	cell := []metric.Field{{Name: "label", Value: "bully"}, {Name: "nodes", Value: "3"}}
	r := &Report{
		Columns: []string{"label", "nodes"},
		New:     Side{Started: time.Unix(1e9, 0), Took: 90 * time.Second},
		Rows: []Row{
			{Metric: "election_ms", Cell: cell, Design: cell, Test: Pairs},
			{Metric: "election_ms", Cell: cell, Design: cell, Test: Pairs, Failure: "28 -> 40 <slow> ]]> & \x01"},
			{Metric: "messages", Cell: cell, Design: cell},
		},
		CellFailures: []CellFailure{{Cell: "bully, nodes=3", Text: "more violations: ok 10 -> 9"}},
	}
	text := written(t, r.Document(), "junit")
	if strings.Count(text, "<failure") != 2 || strings.Count(text, "<testcase") != 4 ||
		strings.Count(text, "<testsuite ") != 3 || strings.Count(text, "pairs: trials of equal seeds") != 1 {
		t.Errorf("want 3 suites, 4 cases, 2 failures:\n%s", text)
	}
	for _, want := range []string{"28 -&gt; 40 &lt;slow&gt;", "more violations: ok 10", `name="election_ms"`,
		`timestamp="2001-09-09T01:46:40"`, `time="90.000000"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestDocument_Nothing: a comparison of nothing says so. It proves nothing, and a condition on it is a
// mistake.
func TestDocument_Nothing(t *testing.T) {
	t.Parallel()
	base, where := run("sim", 6, nil), metric.Where{{Name: "transport", Value: "nats"}}
	for verdict, o := range map[string]Options{"nothing to compare": {}, "inconclusive": {Prove: 0.05}} {
		o.Where = where
		d := compared(t, base, base, o).Document()
		text := written(t, d, "text")
		if d.Verdict != verdict || d.Exit != map[bool]int{true: 5}[o.Prove > 0] ||
			!strings.Contains(text, ": no trials\n") || !strings.Contains(text, "\nnothing to compare") ||
			strings.Contains(text, "passes") {
			t.Errorf("%s: exit %d, %s:\n%s", verdict, d.Exit, d.Verdict, text)
		}
	}
	o := Options{Where: where, Conditions: condition(t, "messages > 5%")}
	if _, err := Compare(base, base, o); answer.ExitOf(err) != answer.Usage {
		t.Errorf("a condition on nothing: %v", err)
	}
	r, err := Compare(base, base, Options{Where: where, Over: experiment.OverOperations})
	if err != nil {
		t.Fatal(err)
	}
	if text := written(t, r.Document(), "text"); !strings.Contains(text, "\nnothing to compare") {
		t.Errorf("over operations:\n%s", text)
	}
}

package compare

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answer"
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
	var b bytes.Buffer
	if err := answer.Named(format).Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
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

package export

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/compare"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestComparison: what fails the gate fails the test case, and nothing else does.
func TestComparison(t *testing.T) {
	t.Parallel()
	design := []metric.Field{{Name: "label", Value: "bully"}, {Name: "nodes", Value: "3"}}
	r := &compare.Report{
		Columns: []string{"label", "nodes"},
		New:     compare.Side{Started: time.Unix(1e9, 0), Took: 90 * time.Second},
		Rows: []compare.Row{
			{Metric: "election_ms", Design: design},
			{Metric: "election_ms", Design: design, Failure: "28 -> 40 <slow> ]]> & \x01"},
			{Metric: "messages", Design: design},
		},
		CellFailures: []compare.CellFailure{{Cell: "bully, nodes=3", Text: "more violations: ok 10 -> 9"}},
	}
	b, err := Comparison(r)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	valid(t, parseXML(t, text))
	if strings.Count(text, "<failure") != 2 || strings.Count(text, "<testcase") != 4 ||
		strings.Count(text, "<testsuite ") != 3 {
		t.Errorf("want 3 suites, 4 cases, 2 failures:\n%s", text)
	}
	for _, want := range []string{"28 -&gt; 40 &lt;slow&gt;", "more violations: ok 10", `name="election_ms"`,
		`timestamp="2001-09-09T01:46:40"`, `time="90.000000"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestGate: faults come before all comparisons, and experiments of one design keep apart.
func TestGate(t *testing.T) {
	t.Parallel()
	design := []metric.Field{{Name: "nodes", Value: "3"}}
	r := &compare.Report{Columns: []string{"nodes"}, New: compare.Side{Started: time.Unix(1e9, 0)},
		Rows: []compare.Row{{Metric: "messages", Design: design, Failure: "5 -> 7"}}}
	b, err := Gate([]Part{
		{Name: "a.yaml", Report: r},
		{Name: "b.yaml", Report: r, Faults: []Fault{
			{Kind: "violation", Failure: true, Text: "bully: two <leaders>", Hint: "gate/bench-head replay x --trial 3"},
			{Kind: "could not run", Text: "no room"},
		}},
	}, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	valid(t, parseXML(t, text))
	at := 0
	for _, want := range []string{`package="a.yaml"`, `tests="1" failures="0"`, "runs, and keeps its promises",
		`package="b.yaml"`, `tests="2" failures="1" errors="1"`, `name="bully: two &lt;leaders&gt;"`,
		"reproduce: gate/bench-head replay x --trial 3", `type="could not run"`, `package="a.yaml"`,
		`classname="a.yaml.messages"`, "5 -&gt; 7", `package="b.yaml" id="3"`, `classname="b.yaml.messages"`} {
		next := strings.Index(text[at:], want)
		if next < 0 {
			t.Fatalf("no %q behind the others in:\n%s", want, text)
		}
		at += next
	}
}

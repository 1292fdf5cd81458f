package gate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// held is a gate that has compared two experiments, of which the second breaks a promise.
func held() *gate {
	compared := func() *answer.Document {
		d := answer.New("compare", "Conclave: 1 worse")
		d.Add(answer.Facts{{Name: "base", Value: "x"}})
		d.Add(answer.Note{Text: "bully: messages: 5 -> 7", Kind: "fails", Aside: true})
		d.Table("rows", answer.Columns(answer.Everybody, "metric")...).Row("messages")
		d.Checks = []answer.Check{{Group: "messages", Name: "bully", Failure: "5 -> 7", Failed: true}}
		d.End(answer.Missed, "fails")
		return d
	}
	g := &gate{Request: &Request{Out: "gate", Meaning: func(code int) string { return fmt.Sprint("code ", code) }},
		began: time.Unix(1e9, 0), base: party{title: "one"}, head: party{title: "two", program: "gate/bench-head"}}
	for _, name := range []string{"a.yaml", "b.yaml"} {
		g.parts = append(g.parts, &part{name: name, compared: compared()})
	}
	g.judge("b.yaml", &run{Dir: "x", Exit: answer.Violated,
		Violations: []trial{{3, "bully", "two <leaders>"}, {4, "bully", "again"}}})
	g.fault("b.yaml", answer.CouldNotRun, "no room", "")
	return g
}

func written(t *testing.T, d *answer.Document, format string) string {
	t.Helper()
	text, err := d.In(format)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocument: what is wrong comes before all comparisons, and experiments of one design keep apart.
func TestDocument(t *testing.T) {
	t.Parallel()
	d := held().document()
	if d.Exit != answer.CouldNotRun || len(d.Asides(true)) > 0 {
		t.Errorf("exit code %d, aside %q", d.Exit, d.Asides(true))
	}
	for format, inOrder := range map[string][]string{
		"junit": {`package="a.yaml"`, `tests="1" failures="0"`, "runs, and keeps its promises", `package="b.yaml"`,
			`tests="2" failures="1" errors="1"`, `name="bully: two &lt;leaders&gt;, and so on in 2 trials"`,
			"reproduce: gate/bench-head replay x --trial 3", `type="could not run"`, `package="a.yaml"`,
			`classname="a.yaml.messages"`, "5 -&gt; 7", `package="b.yaml" id="3"`, `classname="b.yaml.messages"`},
		"text": {"base  one\nhead  two\n", "fails: a.yaml: bully: ", "violation: b.yaml: bully: two <leaders>, and",
			"\n  reproduce: gate/bench-head replay x --trial 3\n", "could not run: b.yaml: no room\n", "\n\na.yaml\n",
			"\n\nb.yaml\n", "\n\ncode 1\ncomparison: "},
		"csv": {"section,metric\na.yaml,messages\nb.yaml,messages\n"},
	} {
		text := written(t, d, format)
		at := 0
		for _, want := range inOrder {
			next := strings.Index(text[at:], want)
			if next < 0 {
				t.Fatalf("%s: no %q behind the others in:\n%s", format, want, text)
			}
			at += next
		}
	}
}

// TestUnmarshal_Run: what a program says of a run is read from a document, and from what stood before.
func TestUnmarshal_Run(t *testing.T) {
	t.Parallel()
	d := answer.New("run", "")
	d.Add(answer.Facts{{Name: "dir", Value: "x"}}, answer.Note{Text: "too busy"})
	d.Table("violations", answer.Columns(answer.Everybody, "trial:count algorithm reason")...).Row(3, "bully", "two")
	d.Table("thresholds_missed", answer.Columns(answer.Everybody, "text")...).Row("more")
	d.End(answer.Violated, "violation")
	for _, text := range []string{written(t, d, "json"), `{"schema_version": 1, "dir": "x", "exit_code": 3,
		"violations": [{"trial": 3, "algorithm": "bully", "reason": "two"}], "errors": [],
		"thresholds_missed": [{"text": "more"}], "warnings": ["too busy"]}`} {
		var r run
		if err := answer.Unmarshal([]byte(text), &r); err != nil || r.Dir != "x" || r.Exit != 3 || len(r.Misses) != 1 ||
			r.Violations[0] != (trial{3, "bully", "two"}) || strings.Join(r.warnings(), "") != "too busy" {
			t.Errorf("%v: %+v", err, r)
		}
	}
}

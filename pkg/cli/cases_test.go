package cli

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// holds is a case that does.
const holds = `{"id": "HOLDS", "algorithm": "bully", "kind": "election",
  "topology": {"type": "complete", "n": 3},
  "scenario": {"crashed": [3], "initial_leader": 3, "events": [{"t": 0, "op": "suspect", "node": 1}]},
  "expect": {"sent": 5, "leader": 2, "sent_by_kind": {"ANSWER": 1, "COORDINATOR": 1, "ELECTION": 3}}}`

// variant is that case under another ID, with pieces of it replaced.
func variant(t *testing.T, id string, pairs ...string) string {
	t.Helper()
	text := strings.Replace(holds, "HOLDS", id, 1)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q does not stand in the case", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func caseFile(t *testing.T, cases ...string) string {
	t.Helper()
	return write(t, "cases.json", "{\"cases\": [\n"+strings.Join(cases, ",\n")+"\n]}\n")
}

// TestVerifyCases_Golden: a line for each case, what was expected and what came, what
// nobody here can check, and what was not run.
func TestVerifyCases_Golden(t *testing.T) {
	t.Parallel()
	file := caseFile(t, holds,
		variant(t, "WRONG", `"sent": 5`, `"sent": 6`, `"leader": 2`, `"leader": 1`),
		variant(t, "WRONG-KINDS", `"ANSWER": 1, "COORDINATOR": 1`, `"ANSWER": 2`),
		variant(t, "IN-PART", `"leader": 2`, `"beauty": 1`),
		variant(t, "OTHER", `"bully"`, `"ring-list"`),
		variant(t, "OTHER-2", `"bully"`, `"ring-list"`, `"topology"`, `"params": {"x": 1}, "topology"`),
		variant(t, "ELSEWHERE", `"bully"`, `"bulli"`, `"events"`, `"tree"`))
	r := bench(t, "verify", "bully", "--cases", file).want(t, Violated)
	golden(t, "verify-cases.txt", r.out)
	has(t, r.errors, "cases.json has the old format, which the next version does not read", "./scripts/convert-cases")
	got, err := answer.Decode([]byte(bench(t, "verify", "bully", "--cases", file, "--json").want(t, Violated).out))
	if err != nil || got.Table("cases")[1]["result"] != "FAILED" || got.Verdict != "a promise was broken within the model" {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestVerifyCases_ExitCodes(t *testing.T) {
	t.Parallel()
	only := `"expect": {"beauty": 1}}`
	randomly := []string{`"crashed": [3], "initial_leader": 3`,
		`"crashed": [3], "channels": "random delays, seeds 0..9"`}
	_, expect, _ := strings.Cut(holds, "\n  \"expect\"")
	for name, test := range map[string]struct {
		cases []string
		code  int
		says  string
	}{
		"all hold": {[]string{holds}, Good, "election/bully: 1 case: 1 ok\n"},
		"one does not": {[]string{variant(t, "WRONG", `"sent": 5`, `"sent": 6`), holds}, Violated,
			"FAILED   WRONG  sent: expected 6, got 5\n"},
		"nothing to check": {[]string{variant(t, "STRANGE", `"expect"`+expect, only), holds}, Incomplete,
			"unknown  STRANGE  not checked here: beauty\n"},
		"nothing to check, and one that fails": {[]string{
			variant(t, "STRANGE", `"expect"`+expect, only), variant(t, "WRONG", `"sent": 5`, `"sent": 6`),
		}, Violated, "election/bully: 2 cases: 1 FAILED, 1 unknown, 1 expectation not checked here\n"},
		"in words": {[]string{holds, variant(t, "MANY", randomly...)}, Good,
			"not run  MANY   cannot be read: scenario.channels \"random delays, seeds 0..9\"\n" +
				"election/bully: 2 cases: 1 ok, 1 not run\nwrite what cannot be read as an experiment"},
		"nothing else": {[]string{variant(t, "MANY", randomly...)}, Incomplete,
			"election/bully: 1 case: 1 not run\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := bench(t, "verify", "bully", "--cases", caseFile(t, test.cases...)).want(t, test.code)
			has(t, r.out, test.says)
		})
	}
}

// TestVerifyCases_Experiments: a file of experiments is read as well, and what is wrong in
// it has the line where it stands.
func TestVerifyCases_Experiments(t *testing.T) {
	t.Parallel()
	const text = `problem: election
algorithms: [bully]
transport: sim
repetitions: 1
---
case: A
nodes: 3
scenario:
  kind: script
  events: [{at: 0ms, do: elect, node: 1}]
  expect: {leader: 3}
---
case: B
nodes: 3
scenario:
  kind: script
  events: [{at: 0ms, do: elect, node: 1}]
  expect: {leader: 2}
`
	r := bench(t, "verify", "bully", "--cases", write(t, "cases.yaml", text)).want(t, Violated)
	has(t, r.out, "ok       A\n", "FAILED   B  leader: expected 2, got 3\n",
		"election/bully: 2 cases: 1 ok, 1 FAILED\n")
	wrong := write(t, "cases.yaml", strings.Replace(text, "leader: 2", "leader: 7", 1))
	r = bench(t, "verify", "bully", "--cases", wrong).want(t, Usage)
	has(t, r.errors, "cases.yaml:18: B: scenario.expect: leader: process 7 of 3")
}

// TestVerifyCases_Mistakes: what cannot be meant is told with its place and a remedy,
// all at once, and no case is run.
func TestVerifyCases_Mistakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cases []string
		says  []string
	}{
		"keys": {[]string{holds, variant(t, "A", `"crashed"`, `"crahsed"`), variant(t, "B", `"op"`, `"du"`)},
			[]string{`cases.json:6: A: scenario.crahsed: unknown key; did you mean "scenario.crashed"?`,
				`cases.json:10: B: scenario.events[1].du: unknown key; did you mean "do"?`}},
		"values": {[]string{holds, variant(t, "A", `"node": 1`, `"node": 4`),
			variant(t, "B", `"sent": 5`, `"sent": "5"`), variant(t, "C", `"ANSWER"`, `"ANSWR"`)},
			[]string{"cases.json:6: A: scenario.events[1].node: process 4 of 3",
				`cases.json:10: B: scenario.expect.sent: "5", expected a whole number`,
				`cases.json:14: C: scenario.expect: sent_by_kind: no message is called "ANSWR" (has: ELECTION, `}},
		"no JSON":  {[]string{holds, "{"}, []string{"cases.json:7: not JSON: "}},
		"no cases": {nil, []string{"cases.json: no cases; expected one of election/bully"}},
		"another's": {[]string{variant(t, "A", `"bully"`, `"ring-list"`)},
			[]string{"cases.json: no case of election/bully; it has cases of election/ring-list 1"}},
		"a misspelt's": {[]string{variant(t, "A", `"bully"`, `"buly"`)},
			[]string{"it has cases of election/buly 1 (unknown here)"}},
		"a range of numbers": {[]string{variant(t, "A", `"n": 3`, `"n": "3..7"`)},
			[]string{`cases.json:2: A: nodes: "3..7", expected a whole number`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := bench(t, "verify", "bully", "--cases", caseFile(t, test.cases...)).want(t, Usage)
			has(t, r.errors, test.says...)
			if r.out != "" {
				t.Errorf("standard output has %q", r.out)
			}
			for line := range strings.Lines(r.errors) {
				if !strings.HasPrefix(line, "bench: ") && !strings.HasPrefix(line, "  ") {
					t.Errorf("a line without the command's name: %q", line)
				}
			}
		})
	}
	for args, says := range map[string]string{
		"--cases nowhere.json":         "bench: nowhere.json: ",
		"--cases .":                    "bench: .: ",
		"--cases x.json --schedules 7": "--schedules means nothing with --cases",
	} {
		r := bench(t, append([]string{"verify", "bully"}, strings.Fields(args)...)...).want(t, Usage)
		has(t, r.errors, says)
	}
}

// TestVerify_RunsTheReferences: without --cases those that come with bench are run.
func TestVerify_RunsTheReferences(t *testing.T) {
	t.Parallel()
	r := bench(t, "verify", "naimi-trehel", "--schedules", "20").want(t, Good)
	has(t, r.out, "ok References the algorithm's reference cases have the expected outcomes "+
		"(10 cases); not checked here: LAST_at_end, NEXT1_while_in_cs, NEXT_at_end, token_at_end")
}

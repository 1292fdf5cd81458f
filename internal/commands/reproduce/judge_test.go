package reproduce

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestVerdicts: the interval decides, not the estimate.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	of := func(value, low, high float64) Estimate { return Estimate{value, low, high, false, 30} }
	all := func(low, high float64) Estimate { return Estimate{none, low, high, true, 30} }
	for _, c := range []struct {
		assertion string
		estimate  Estimate
		want      Verdict
	}{
		{"exactly 9", all(9, 9), Holds},
		{"exactly 9", all(9, 9.001), Refuted},
		{"exactly 0.3", all(0.1+0.2, 0.3), Holds}, // up to rounding
		{"about 9", of(9.5, 8.9, 10), Holds},
		{"about 9", of(9.5, 9.1, 10), Refuted},
		{"about 9", of(9.5, none, none), Undecided},
		{"at most 9", of(8, 7, 9), Holds},
		{"at most 9", of(8, 7, 9.1), Undecided},
		{"at most 9", of(10, 9.1, 11), Refuted},
		{"at most 9", all(1, 9.1), Refuted}, // one trial is enough
		{"at most 9", of(none, 9.1, none), Refuted},
		{"at most 9", of(none, 8, none), Undecided},
		{"at least 9", of(10, 9, 11), Holds},
		{"at least 9", of(10, 8.9, 11), Undecided},
		{"at least 9", of(8, 7, 8.9), Refuted},
		{"at least 9", of(none, 10, none), Holds}, // more than the time limit is more
		{"less than 9", of(8, 7, 8.9), Holds},
		{"less than 9", all(7, 9), Refuted},
		{"less than 9", of(9, 9, 9), Refuted},
		{"less than 9", of(8.5, 8, 9.5), Undecided},
		{"within 10 % of 100", of(104, 91, 109), Close},
		{"within 10 % of 100", of(104, 89, 109), Undecided},
		{"within 10 % of 100", of(120, 111, 130), Refuted},
		{"within 10 % of 100", of(80, 70, 89), Refuted},
	} {
		a, err := parseAssertion(c.assertion)
		must(t, err)
		if got := a.judge(c.estimate, a.number, a.number); got != c.want {
			t.Errorf("%s of %v: %s, want %s", c.assertion, c.estimate, got, c.want)
		}
	}
}

// trial is one that took so long, or was cut short.
func trial(ms float64, status trace.Status) *results.Trial {
	t := results.Trial{Status: status, Kinds: []trace.MessageCount{{Name: "TOKEN", Sent: 7}}}
	t.Set(metric.Election.Of(ms))
	return &t
}

// TestEstimates: what is censored counts as longer, and what is not measured not at all.
func TestEstimates(t *testing.T) {
	t.Parallel()
	var trials []*results.Trial
	for i := range 9 {
		trials = append(trials, trial(float64(10+i), trace.OK))
	}
	trials = append(trials, trial(99, trace.Violated))
	cut := append(trials[:9:9], trial(math.NaN(), trace.TimedOut), trial(math.NaN(), trace.TimedOut),
		trial(math.NaN(), trace.TimedOut))
	for _, c := range []struct {
		stat, metric string
		trials       []*results.Trial
		want         string
		n            int
	}{
		{"", "election_ms", trials, "10 to 18", 9},
		{"mean", "election_ms", trials, "14 [", 9},
		{"mean", "TOKEN", trials, "7 [7, 7]", 9},
		{"mean", "TOKEN", trials[:5], "7 [..., ...]", 5},
		{"median", "election_ms", trials, "14 [11, 17]", 9},
		{"min", "election_ms", trials, "10", 9},
		{"max", "election_ms", trials, "18", 9},
		{"share above 15", "election_ms", trials, "0.333 [0.075, 0.701]", 9},
		{"", "TOKEN", trials, "7", 9},
		{"", "ELECTION", trials, "0", 9},
		{"", timeouts, cut, "0 to 1", 12},
		{"mean", timeouts, cut, "0.25 [", 12},
		{"", broken, trials, "0 to 1", 10},
		{"", broken, cut, "0", 9},
		{"share above 17", "election_ms", cut, "0.333 [0.099, 0.651]", 12},
		{"median", "election_ms", cut, "15.5 [12, ...]", 12},
		{"mean", "election_ms", cut, "... [..., ...]", 12},
		{"mean", "election_ms", nil, "n/a", 0},
		{"mean", "nothing", trials, "n/a", 0},
	} {
		s, err := parseStat(c.stat)
		must(t, err)
		got := s.estimate(sample(c.trials, c.metric))
		if !strings.HasPrefix(got.String(), c.want) || got.N != c.n {
			t.Errorf("%s of %s: %s of %d, want %s of %d", c.stat, c.metric, got, got.N, c.want, c.n)
		}
	}
}

// TestJudge: a label is looked up in the cell that is otherwise the same, and what is
// close is so by how much it is off.
func TestJudge(t *testing.T) {
	t.Parallel()
	dir := write(t, "paper: A. Author\ncolumns: [nodes]\nstatements:\n"+
		"- says: x\n  metric: messages\n  paper: exactly label twin\n  where: {label: bully}\n"+
		"- says: y\n  metric: messages\n  paper: within 50 % of 2N²\n  where: {label: bully}\n")
	text := strings.Replace(goodExperiment, "[bully]", "[bully, {name: bully, label: twin}]", 1)
	must(t, os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(text), 0o644))
	s, err := Load(dir, "small")
	must(t, err)
	rows, err := judged(t, s, false)
	must(t, err)
	var got []string
	for i := range rows {
		got = append(got, rows[i].Case+" "+rows[i].Outcome())
	}
	want := []string{"nodes=3 holds", "nodes=4 holds", "nodes=3 within 33.4 %", "nodes=4 within 25 %"}
	if !slices.Equal(got, want) || rows[0].Stated == rows[1].Stated {
		t.Errorf("%q, want %q; messages %v and %v", got, want, rows[0].Stated, rows[1].Stated)
	}
}

const goodExperiment = `
name: small
problem: election
algorithms: [bully]
transport: sim
scenario: {kind: cold-start}
sweep: [{vary: nodes, over: [3, 4]}]
repetitions: 1
`

// write makes a study in a folder of its own.
func write(t *testing.T, statements string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(goodExperiment), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "small"+suffix), []byte(statements), 0o644))
	return dir
}

// TestMistakes: each is told with the file, the line and what to write instead.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const head = "paper: A. Author\nstatements:\n- says: x\n  metric: messages\n"
	for _, c := range []struct{ text, want string }{
		{"", "EOF"},
		{"paper: A. Author\n", "expected paper: and statements:"},
		{head + "  papre: exactly 1\n", `line 5: unknown key "papre"`},
		{head, "small.statements.yaml:3: statement 1: expected says:, metric: and paper:"},
		{head + "  paper: 2N\n", `begins with none of: exactly, about`},
		{head + "  paper: exactly 2M\n", `"2M" is neither a number`},
		{head + "  paper: within 5 of 2N\n", "expected as: within 5 % of 287"},
		{head + "  paper: exactly 1\n  theory: exactly\n", "theory: "},
		{head + "  paper: exactly 1\n  stat: p99\n", `"p99" is none of: every, mean`},
		{head + "  paper: exactly 1\n  stat: share above x\n", "expected as: share above 100"},
		{head + "  paper: exactly 1\n  expect: holds\n", `expect: "holds", expected "refuted" or nothing`},
		{head + "  paper: exactly 1\n  where: {node: 3}\n", `where: "node" is no column of the design`},
		{head + "  paper: exactly 1\n  where: {nodes: {a: 1}}\n", "expected a value or a list of values"},
		{"columns: [node]\n" + head + "  paper: exactly 1\n", `columns: "node"`},
	} {
		dir := write(t, c.text)
		s, err := Load(dir, "small")
		if err == nil {
			_, err = s.Experiment()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "small.statements.yaml") {
			t.Errorf("%s\n%v, want %s", c.text, err, c.want)
		}
	}
	if _, err := Load(papers, "raft-figure16"); err == nil ||
		!strings.Contains(err.Error(), `did you mean "raft-figure-16"?`) {
		t.Error(err)
	}
	if _, err := Names(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no study") {
		t.Error(err)
	}
	if _, err := Names("nowhere"); err == nil || !strings.Contains(err.Error(), "--papers") {
		t.Error(err)
	}
}

// TestMistakes_Run: what can only be told when the experiment is known, or has run.
func TestMistakes_Run(t *testing.T) {
	t.Parallel()
	const head = "paper: A. Author\ncolumns: [nodes]\nstatements:\n- says: x\n"
	for _, c := range []struct{ text, want string }{
		{head + "  metric: mesages\n  paper: exactly 1\n",
			`small.statements.yaml:4: metric: there is no "mesages"; did you mean "messages"?`},
		{head + "  metric: VOTE\n  paper: exactly 1\n", `there is no "VOTE"`},
		{head + "  metric: messages\n  paper: less than label raft\n", `no cell has label "raft" and nodes=3`},
		{head + "  metric: messages\n  paper: at most P(split)\n", "no parameter t_election_spread"},
		{head + "  metric: messages\n  paper: exactly 1\n  where: {nodes: 5}\n",
			"no cell of small.yaml is like that"},
		{head + "  metric: COORDINATOR\n  paper: exactly N-1\n", ""},
	} {
		s, err := Load(write(t, c.text), "small")
		must(t, err)
		if _, err = judged(t, s, false); err == nil && c.want != "" ||
			err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s\n%v, want %q", c.text, err, c.want)
		}
	}
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

const studied = `
name: small
problem: election
algorithms: [bully]
transport: sim
network: {latency: 1ms}
scenario:
  kind: script
  leader: 4
  crashed: [4]
  events: [{at: 0ms, do: suspect, node: 1}]
nodes: 4
repetitions: 1
`

// sockets leaves room for the lateness of a machine that is busy with other tests.
const sockets = "sockets: [repetitions=2, network.latency=20ms, retries=9]\n"

const stated = `
paper: A. Author. On elections. Proc. Nowhere, 1999.
columns: [nodes]
` + sockets + `statements:
- says: elections take N² - N - 1 messages
  section: section 1
  metric: messages
  paper: exactly N²-N-1
- says: elections take N messages
  section: section 2
  metric: messages
  paper: at most N
  theory: exactly N²-N-1
  expect: refuted
  note: That would be too good.
`

// study makes a folder with one study of that name.
func study(t *testing.T, name, statements string) (papers string) {
	t.Helper()
	papers = t.TempDir()
	for file, text := range map[string]string{
		name + ".yaml": studied, name + ".statements.yaml": statements,
	} {
		if err := os.WriteFile(filepath.Join(papers, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return papers
}

// TestReproduce: the table, as people and programs get it; a run like any other is left.
func TestReproduce(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	papers := study(t, "small", stated)
	r := here.bench(t, "reproduce", "small", "--papers", papers).want(t, Good)
	has(t, r.out, "exactly N²-N-1 = 11  ", " 11        1  holds\n", "at most N = 4        exactly N²-N-1 = 11  11",
		"1  refuted\n", "That would be too good.", "2 verdicts, 0 not as expected")
	here.bench(t, "replay", here.latest(t, "results", "small"), "--trial", "1").want(t, Good)

	md := here.bench(t, "reproduce", "--papers", papers, "--markdown", "--out", "elsewhere").want(t, Good)
	has(t, md.out, "# Published statements", "\n## small\n", "| nodes=4 | at most N = 4 | exactly N²-N-1 = 11 | 11 | 1 | refuted |\n")
	here.latest(t, "elsewhere", "small")

	var report struct {
		Studies  []struct{ Study string }
		Verdicts []struct {
			Verdict  string
			OfTheory string `json:"verdict_on_theory"`
			Expected bool
			Measured struct{ Value float64 }
			Stated   float64
		}
	}
	text := here.bench(t, "reproduce", "--papers", papers, "--json").want(t, Good).out
	if err := answer.Unmarshal([]byte(text), &report); err != nil || len(report.Studies) != 1 || len(report.Verdicts) != 2 {
		t.Fatalf("JSON: %v\n%s", err, text)
	}
	row := report.Verdicts[1]
	if row.Verdict != "refuted" || row.OfTheory != "holds" || !row.Expected || row.Measured.Value != 11 || row.Stated != 4 {
		t.Errorf("JSON: %+v", row)
	}
	list := here.bench(t, "reproduce", "--papers", papers, "--list").want(t, Good).out
	if has(t, list, "small", "sim, nats", "A. Author"); strings.Contains(list, "bubble") {
		t.Errorf("a study is about no library: %s", list)
	}
	if text := here.bench(t, "reproduce", "--papers", papers, "--list", "--json").want(t, Good).out; !json.Valid([]byte(text)) {
		t.Errorf("not JSON: %s", text)
	}
}

// TestReproduce_NotExpected: a verdict that the study does not expect has an exit code,
// be it of the paper's assertion or of the theory's.
func TestReproduce_NotExpected(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	for _, change := range [][2]string{
		{"paper: exactly N²-N-1", "paper: exactly N"},        // refuted, and nothing says so
		{"paper: at most N\n", "paper: at most N²\n"},        // holds, and should not
		{"theory: exactly N²-N-1", "theory: exactly N(N-1)"}, // the theory does not
	} {
		papers := study(t, "small", strings.Replace(stated, change[0], change[1], 1))
		r := here.bench(t, "reproduce", "--papers", papers).want(t, Missed)
		has(t, r.out, "(NOT EXPECTED)", "2 verdicts, 1 not as expected")
	}
}

// TestReproduce_Quick: the study's settings for a short run, for which it is no mistake
// to leave a statement undecided. Without them it is.
func TestReproduce_Quick(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	text := strings.Replace(stated, "sockets:", "quick: [repetitions=2]\nsockets:", 1)
	papers := study(t, "small", strings.Replace(text, "paper: exactly N²-N-1", "paper: about N²-N-1\n  stat: median", 1))
	r := here.bench(t, "reproduce", "--papers", papers, "--quick").want(t, Good)
	has(t, r.out, "  2  undecided\n", "  2  refuted\n", "2 verdicts, 0 not as expected")
	r = here.bench(t, "reproduce", "--papers", papers).want(t, Missed)
	has(t, r.out, " 1 undecided (NOT EXPECTED) ", "2 verdicts, 1 not as expected")
}

// TestReproduce_Broken: a promise that is broken in a study's run, or a trial that cannot
// be run, outweighs every verdict, and is told with the command that shows it again.
func TestReproduce_Broken(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	for algorithm, want := range map[string]struct {
		code int
		says string
	}{
		"test-greedy": {Violated, "reproduce: bench replay results/small/"},
		"test-panic":  {CouldNotRun, "trial 1 could not be run: mutex/test-panic: "},
	} {
		papers := study(t, "small", stated)
		broken := "name: small\nproblem: mutex\nalgorithms: [" + algorithm + "]\ntransport: sim\nnodes: 3\n" +
			"scenario: {kind: burst, hold: 5ms}\nrepetitions: 1\n"
		if err := os.WriteFile(filepath.Join(papers, "small.yaml"), []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		has(t, here.bench(t, "reproduce", "--papers", papers).want(t, want.code).errors, want.says)
	}
}

func TestReproduce_Mistakes(t *testing.T) {
	t.Parallel()
	papers := study(t, "small", strings.Replace(stated, sockets, "", 1))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"smal"}, Usage, `no study "smal"; did you mean "small"? (has: small)`},
		{[]string{"small", "a"}, Usage, `no study "a"`},
		{[]string{"--transport", "tcp"}, Usage, `--transport "tcp", expected sim or nats`},
		{[]string{"--json", "--markdown"}, Usage, "leave one out"},
		{[]string{"--quick", "--transport", "nats"}, Usage, "short already"},
		{[]string{"small", "--transport", "nats"}, Usage, "too large for real processes"},
		{[]string{"--papers", "nowhere"}, Usage, "nowhere: no such folder"},
	} {
		args := append([]string{"reproduce", "--papers", papers}, c.args...)
		has(t, bench(t, args...).want(t, c.code).errors, c.want)
	}
}

// TestReproduce_Sockets: what counts exactly in simulation does on real processes.
func TestReproduce_Sockets(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	here := newFolder(t)
	papers := study(t, "small", stated)
	r := here.bench(t, "reproduce", "--transport", "nats", "--papers", papers).want(t, Good)
	has(t, r.out, " 11        2  holds", "2 verdicts, 0 not as expected")
}

package experiment

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/config"
)

func mustLoad(t testing.TB, path string) *Experiment {
	t.Helper()
	e, err := Load(path, overrides(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// write puts a file with such a text into a folder of the test's own.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// outline is an experiment as a text to compare: the resolved copy, then a line
// for each cell.
func outline(e *Experiment) string {
	var b strings.Builder
	b.Write(e.resolved)
	fmt.Fprintln(&b, "---", strings.Join(e.Columns, ", "))
	for _, c := range e.Cells {
		values := make([]string, len(c.Design))
		for i, f := range c.Design {
			values[i] = f.Value
		}
		fmt.Fprintf(&b, "%d: %s\n", c.Number, strings.Join(values, ", "))
		for _, reason := range c.Plan.OutOfModel {
			fmt.Fprintln(&b, "   not in the model:", reason)
		}
	}
	for _, o := range e.Overrides {
		fmt.Fprintln(&b, "override:", o)
	}
	for _, n := range e.Notes {
		fmt.Fprintln(&b, "note:", n)
	}
	return b.String()
}

func TestGoodFiles(t *testing.T) {
	t.Parallel()
	for _, f := range inputs(t, "good") {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			golden(t, f, outline(mustLoad(t, f)))
		})
	}
}

func TestResolvedCopyIsTheSameExperiment(t *testing.T) {
	t.Parallel()
	for _, f := range inputs(t, "good") {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			e := mustLoad(t, f)
			text, err := e.Resolved()
			if err != nil {
				t.Fatal(err)
			}
			sameExperiment(t, e, mustLoad(t, write(t, "config.resolved.yaml", string(text))))
		})
	}
}

func sameExperiment(t testing.TB, a, b *Experiment) {
	t.Helper()
	x, y := *a, *b
	x.Notes, y.Notes, x.Overrides, y.Overrides = nil, nil, nil, nil
	if !bytes.Equal(a.resolved, b.resolved) || a.Hash() != b.Hash() {
		t.Errorf("resolved to\n%s\nthen to\n%s", a.resolved, b.resolved)
	}
	if !reflect.DeepEqual(x, y) {
		t.Errorf("two experiments:\n%+v\n%+v", x, y)
	}
}

func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	yaml := mustLoad(t, "testdata/good/everything.yaml")
	sameExperiment(t, yaml, mustLoad(t, "testdata/good/everything.toml"))
	sameExperiment(t, yaml, mustLoad(t, "testdata/good/everything.json"))
}

func TestTemplateLoads(t *testing.T) {
	t.Parallel()
	e := mustLoad(t, write(t, "template.yaml", Template()))
	if len(e.Cells) != 6 {
		t.Errorf("%d cells, want 6", len(e.Cells))
	}
	shorter := mustLoad(t, write(t, "bully-vs-ring.yaml", "problem: election\n"+
		"algorithms: [bully, {name: ring-list, label: ring}]\nsweep: [{vary: nodes, over: [3, 5, 9]}]\n"))
	sameExperiment(t, shorter, e) // the template writes the defaults
}

// What the template only mentions is what an experimenter writes next.
func TestTemplateLoadsWithItsCommentedLines(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("  # - {on", "  - {on", "  # - {at", "  - {at",
		"  # - {every", "  - {every", "  # - {do", "  - {do", "  # downtime", "  downtime", "  # max_down",
		"  max_down", "crash_rate: 0 ", "crash_rate: 1 ", "events: []", "events:",
		"COORDINATOR", "REQUEST", "\nrepetitions: 10", "\n#", "# repetitions: {", "repetitions: {", "# hosting", "hosting",
	).Replace(template)
	e := mustLoad(t, write(t, "template.yaml", text))
	f := &e.Cells[0].Plan.Faults
	if len(f.Events) != 5 || f.CrashRate != 1 || len(e.Cells) != 6 || e.Fewest != 10 ||
		e.Repetitions != 100 || *e.Until != (Until{"election_ms", 0.05, true}) {
		t.Errorf("%d cells, failures %+v, until %+v", len(e.Cells), f, e.Until)
	}
}

func TestGraphOfAFileStandsInTheResolvedCopy(t *testing.T) {
	t.Parallel()
	path := write(t, "e.yaml", "problem: mutex\nalgorithms: [commanded]\nnodes: 3\n"+
		"topology: {kind: file, path: g.edges}\n")
	edges := filepath.Join(filepath.Dir(path), "g.edges")
	if err := os.WriteFile(edges, []byte("1 2 7\n2 3 5 # back\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, Overrides{})
	if err == nil || !strings.Contains(err.Error(), "file is no tree graph") {
		t.Fatalf("a graph of a file taken for a tree: %v", err)
	}
	connected := strings.Replace(string(must(os.ReadFile(path))),
		"problem: mutex\nalgorithms: [commanded]", "algorithms: [election/any]", 1)
	if err := os.WriteFile(path, []byte(connected), 0o644); err != nil {
		t.Fatal(err)
	}
	e := mustLoad(t, path)
	if err := os.Remove(edges); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(e.resolved), "topology: {kind: file, edges: [[1, 2], [2, 3]], weights: [7, 5]}") {
		t.Errorf("resolved to\n%s", e.resolved)
	}
	sameExperiment(t, e, mustLoad(t, write(t, "again.yaml", string(e.resolved))))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestBuildNeedsNoFile(t *testing.T) {
	t.Parallel()
	e, err := Build([]string{"election/bully", "election/ring-list"}, "3, 5,9", Overrides{
		Set: []string{"repetitions=2"}, Env: []string{"CONCLAVE_TRANSPORT=sim"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.Name != "bully-vs-ring-list" || len(e.Cells) != 6 || len(e.Trials()) != 12 ||
		e.Transport != "sim" {
		t.Errorf("%s", outline(e))
	}
	one, err := Build([]string{"mutex/naimi-trehel"}, "4", Overrides{})
	if err != nil || one.Cells[0].Plan.Nodes != 4 {
		t.Errorf("one number of nodes: %v", err)
	}
	for _, bad := range []struct {
		algorithms []string
		nodes      string
		set, want  string
	}{
		{nil, "", "nodes=3", "--algorithms: algorithms: an empty list"},
		{[]string{"bully"}, "", "nodes=3", "--algorithms: problem: missing"},
		{[]string{"election/bully"}, "3,x", "seed=3", "--nodes 3,x: nodes: \"x\", expected"},
		{[]string{"election/bully"}, "3,5", "sweep=[]", "several --nodes"},
	} {
		_, err := Build(bad.algorithms, bad.nodes, Overrides{Set: []string{bad.set}})
		if err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v %s: %v, want %q", bad.algorithms, bad.nodes, err, bad.want)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"no-such.yaml": "no-such.yaml: cannot be read: no such file",
		"testdata":     "testdata: cannot be read: a folder, expected a regular file",
	} {
		if _, err := Load(name, Overrides{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	large := write(t, "large.yaml", "# "+strings.Repeat("x", config.MaxSize))
	if _, err := Load(large, Overrides{}); err == nil || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

func TestCredentialsThatOthersCanReadAreRefused(t *testing.T) {
	t.Parallel()
	path := write(t, "e.yaml", "algorithms: [election/bully]\n"+
		"bus: {url: \"nats://host:4222\", credentials: me.creds}\n")
	creds := filepath.Join(filepath.Dir(path), "me.creds")
	if err := os.WriteFile(creds, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, Overrides{}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("loads: %v", err)
	}
	if err := os.Chmod(creds, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := mustLoad(t, path); e.Bus.Credentials != creds {
		t.Errorf("credentials %q, want the file beside the experiment", e.Bus.Credentials)
	}
}

// TestWeightsWhereTheyAreNeeded: who needs weights has random ones, unless others are written.
func TestWeightsWhereTheyAreNeeded(t *testing.T) {
	t.Parallel()
	edges := write(t, "weights.edges", "1 2 7\n2 3 5\n")
	for topology, want := range map[string]map[string]string{
		"auto":                              {"spanning": "random random []", "any": "random  []"},
		"complete":                          {"spanning": "complete random []", "any": "complete  []"},
		"{kind: tree, weights: by-ids}":     {"spanning": "tree by-ids []", "any": "tree by-ids []"},
		"{kind: file, path: weights.edges}": {"spanning": "file  [7 5]", "any": "file  [7 5]"},
		"{kind: file, weights: by-ids, path: weights.edges}": {"spanning": "file by-ids []", "any": "file by-ids []"},
		"{kind: tree, weights: [1, 5]}":                      {"spanning": "tree  [1 5]", "any": "tree  [1 5]"},
		"{kind: auto, weights: by-ids}":                      {"spanning": "random by-ids []", "any": "random by-ids []"},
		"{kind: auto, weights: [1, 5, 2]}":                   {"spanning": "random random [1 5 2]", "any": "random  [1 5 2]"},
		"{kind: random, weights: [1, 5, 2]}":                 {"spanning": "random  [1 5 2]", "any": "random  [1 5 2]"},
	} {
		path := filepath.Join(filepath.Dir(edges), "e.yaml")
		text := "problem: election\nnodes: 3\nalgorithms: [spanning, any]\ntopology: " + topology + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e := mustLoad(t, path)
		for _, c := range e.Cells {
			s := c.Plan.Shape
			if got := fmt.Sprintf("%s %s %v", s.Kind, s.Weighing, s.Weights); got != want[c.Plan.Label] {
				t.Errorf("%s: %s has %s, want %s", topology, c.Plan.Label, got, want[c.Plan.Label])
			}
		}
	}
}

// TestTimeLimit: a scenario that takes longer than the usual limit has room in the limit that nobody
// has set; one that somebody has set stays, with a remark that says what would do.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	const text = "problem: mutex\nalgorithms: [naimi-trehel]\ntransport: sim\nnetwork: {latency: 1ms}\n"
	for name, test := range map[string]struct {
		more  string
		limit time.Duration
		note  string
	}{
		"short": {"scenario: {kind: sequential, requests: 2000, hold: 0ms}", 10 * time.Second, ""},
		"messages": {"scenario: {kind: sequential, requests: 20000, hold: 0ms}", 240 * time.Second,
			"about 1m20s: time_limit is 4m0s"},
		"holds": {"scenario: {kind: closed, requests: 1000, hold: 50ms, think: 0ms}", 156 * time.Second,
			"about 52s: time_limit"},
		"set": {"scenario: {kind: sequential, requests: 20000, hold: 0ms}\ntime_limit: 20s", 20 * time.Second,
			"time_limit is 20s, and a trial takes about 1m20s: one that has not ended by then is a timeout; " +
				"set time_limit to 4m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := Parse("x.yaml", []byte(text+test.more+"\n"), Overrides{})
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Cells[0].Plan.TimeLimit; got != test.limit || e.TimeLimit != got {
				t.Errorf("limit %v, of the experiment %v, want %v", got, e.TimeLimit, test.limit)
			}
			notes := strings.Join(e.Notes, "\n")
			if !strings.Contains(notes, test.note) || strings.Contains(notes, "time_limit") != (test.note != "") {
				t.Errorf("notes %q, want %q", notes, test.note)
			}
		})
	}
}

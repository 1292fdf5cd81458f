package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/console"
	_ "github.com/conclave-bench/conclave/internal/repo/fakes"
	"github.com/conclave-bench/conclave/internal/repo/misdeeds"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/internal/worlds/guest/guesttest"
	"github.com/conclave-bench/conclave/pkg/results"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/raft"
	_ "github.com/conclave-bench/conclave/plugins/election/ringlist"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew; read the difference first")

// testdata is where golden files are, whatever folder a test works in.
var testdata, _ = filepath.Abs("testdata")

// asBench in the environment makes the test binary the command bench.
const asBench = "CONCLAVE_TEST_AS_BENCH"

// hubHands in the environment is that of a process which a program of a hub replaces.
const hubHands = "CONCLAVE_TEST_HUB_HANDS"

// peakIn in the environment names a file for what the kernel knows of that command's memory at its end.
const peakIn = "BENCH_TEST_PEAK_IN"

// asAgent in the environment makes it the command node agent.
const asAgent = "CONCLAVE_TEST_AS_AGENT"

// misdeed in the environment registers the algorithm that does it, for commands that run code of
// plugins; impatience there is how long an event may take.
const misdeed, impatience = "BENCH_TEST_MISDEED", "BENCH_TEST_PATIENCE"

func TestMain(m *testing.M) {
	guesttest.Main()
	deed := os.Getenv(misdeed)
	if deed == "" && len(os.Args) > 1 && os.Args[1] == nodeRole { // nodes have an environment of their own
		deed = "nothing"
	}
	if deed != "" {
		if err := misdeeds.Register(deed); err != nil {
			panic(err)
		}
	}
	if d, err := time.ParseDuration(os.Getenv(impatience)); err == nil {
		guard.SetPatience(d)
	}
	roles := []string{nodeRole, busRole, workRole, agentRole, isolatedRole}
	if len(os.Args) > 1 && slices.Contains(roles, os.Args[1]) ||
		os.Getenv(asBench) != "" {
		if os.Getenv(hubHands) == "" { // else the program that a hub hands out becomes bench likewise
			os.Unsetenv(asBench) // or it would be taken for an override
		}
		code := Bench()
		if name := os.Getenv(peakIn); name != "" {
			if status, err := os.ReadFile("/proc/self/status"); err == nil {
				_ = os.WriteFile(name, status, 0o644) // who wants it will miss it
			}
		}
		os.Exit(code)
	}
	if os.Getenv(asAgent) != "" {
		args := os.Args[1:]
		if len(args) == 0 {
			args = []string{"agent"}
		}
		os.Exit(nodeCommand(args, os.Stderr))
	}
	if os.Getenv(collects) == "" { // what commands would save of memory costs the tests a sixth of their time
		debug.SetGCPercent(200)
		os.Setenv(collects, "200")
	}
	os.Exit(m.Run())
}

// collects is the variable that keeps commands from collecting garbage as seldom or often as they like.
const collects = "GOGC"

// measured is the environment of a command whose memory is measured.
func measured(settings ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, collects+"=") }),
		settings...)
}

// A ran is what a command has left behind.
type ran struct {
	code        int
	out, errors string
}

// bench runs the command in this process.
func bench(t testing.TB, args ...string) ran {
	t.Helper()
	var out, errors bytes.Buffer
	code := newStreams(strings.NewReader(""), &out, &errors, nil).bench(args)
	return ran{code, out.String(), errors.String()}
}

// A runAnswer is what programs read of the end of a run.
type runAnswer struct {
	Exit              int `json:"exit_code"`
	Planned, Finished int
	Complete          bool
	Cells             []map[string]any
	Stopping          []results.Stopped
	Ranking           []struct {
		Metric, Slower, Faster string
		Shown                  bool
		SameLuck               bool `json:"seed_matched"`
		N                      int
		Ratio, Difference      *float64
	}
	Notes []noteAnswer
}

type noteAnswer struct{ Text string }

type figureAnswer struct {
	Value, Low, High *float64
	N                int
}

// want fails unless the command ended with code.
func (r ran) want(t testing.TB, code int) ran {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", r.code, code, r.out, r.errors)
	}
	return r
}

// narrow fails if a line of text is wider than a terminal, unless a path or a command in it is long.
func narrow(t testing.TB, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if console.Fold(line) != line {
			t.Errorf("%d columns: %s", console.Width(line), line)
		}
	}
}

// flat is text without its line breaks, for a sentence that goes on in the next line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// has fails unless text contains each of parts; a line of one may go on in the next.
func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) && !strings.Contains(flat(text), flat(p)) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// write makes a file in a temporary folder and returns its path.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// latest is the folder of the last run of the experiment name under root.
func latest(t testing.TB, root, name string) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root, name, "2*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no run in %s/%s: %v", root, name, err)
	}
	return dirs[len(dirs)-1]
}

// violated is a run in which a promise is broken.
func violated(t testing.TB) (dir string) {
	t.Helper()
	root := t.TempDir()
	bench(t, "run", "--algorithms", "test-greedy", "--nodes", "3", "--transport", "sim", "--set",
		"scenario.kind=burst", "--set", "scenario.hold=5ms", "--set", "name=greedy", "--out", root).
		want(t, Violated)
	return latest(t, root, "greedy")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(testdata, name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(go test ./pkg/cli -run '%s' -rewrite)", path, got,
			want, t.Name())
	}
}

// small is an experiment of a few milliseconds.
const small = `
name: small
problem: election
algorithms: [bully, {name: ring-list, label: ring}]
transport: sim
sweep:
  - {vary: nodes, over: [3, 5]}
  - {vary: network.loss, over: [0, 0.1]}
repetitions: 7
`

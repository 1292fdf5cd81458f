package runner_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	bully, err := algo.Lookup("election/bully")
	if err != nil {
		panic(err)
	}
	s := bully.Spec
	s.Name, s.Summary = "test-doomed", "for tests: bully, until a doomed node has to elect"
	algo.RegisterElector(s, func(c algo.Config) algo.Elector {
		return &fatal{bully.New(c).(algo.Elector)}
	})
}

// fatal is a plugin whose node is killed, as the system kills one when memory is
// short, where it is doomed.
type fatal struct{ algo.Elector }

func (f *fatal) Elect(env algo.Env) {
	if doomed {
		time.AfterFunc(7*time.Millisecond, func() { // while the plugin does nothing
			if p, err := os.FindProcess(os.Getpid()); err == nil {
				_ = p.Kill() // it works, or the test fails
			}
		})
	}
	f.Elector.Elect(env)
}

func (f *fatal) Timeout(env algo.Env, t algo.Timer) { f.Elector.(algo.Timed).Timeout(env, t) }

const doomedTrials = `
name: doomed
problem: election
algorithms: [test-doomed]
transport: nats
nodes: 3
network: {latency: 20ms}    # a busy machine is late, too: see TestSkew of pkg/check
scenario: {kind: leader-crash, settle: 5ms}
repetitions: 3
retries: 3
allow: {invalid: ALLOW}
trace: all
`

// Attempts that the harness spoiled are repeated, kept, and never averaged in.
func TestInvalidTrials(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts processes")
	}
	for _, test := range []struct {
		name, doomed string
		allow        string
		dead         []int // trials that stay invalid
		spoiled      func(trial, attempt int) bool
		code         int // of bench run --resume on the whole
	}{
		{name: "the first attempts", doomed: `-1$`, allow: "0",
			spoiled: func(_, attempt int) bool { return attempt == 1 }},
		{name: "all attempts at a trial", doomed: `-3-[0-9]+$`, allow: "0", dead: []int{3}, code: 5,
			spoiled: func(trial, _ int) bool { return trial == 3 }},
		{name: "as many as are allowed", doomed: `-3-[0-9]+$`, allow: "1", dead: []int{3},
			spoiled: func(trial, _ int) bool { return trial == 3 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			text := strings.Replace(doomedTrials, "ALLOW", test.allow, 1)
			e, f := created(t, text, root)
			o := options(t)
			o.NodeArgs = []string{doomedRole, test.doomed}
			told := 0
			o.Progress = func(runner.Progress) { told++ }
			s, err := runner.Run(context.Background(), e, f, o)
			must(t, err)
			must(t, f.Close())
			complete(t, f.Dir())
			if told != s.Manifest.Attempts {
				t.Errorf("told of %d attempts, want %d", told, s.Manifest.Attempts)
			}
			for trial := 1; trial <= 3; trial++ {
				checkAttempts(t, f.Dir(), trial, slices.Contains(test.dead, trial), test.spoiled)
			}
			for _, row := range table(t, f.Dir(), results.SummaryFile) {
				if row["metric"] == "election_ms" && row["n"] != strconv.Itoa(3-len(test.dead)) {
					t.Errorf("%s is a mean over %s trials", row["metric"], row["n"])
				}
			}
			checkExit(t, f.Dir(), test.code)
		})
	}
}

// checkExit says what bench makes of a run that is complete.
func checkExit(t *testing.T, dir string, code int) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command(exe, "run", "--resume", dir)
	out, _ := c.CombinedOutput() // the exit code says it
	if got := c.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, out)
	}
	if code == 5 && !strings.Contains(strings.Join(strings.Fields(string(out)), " "), "stayed invalid after") {
		t.Errorf("no reason in:\n%s", out)
	}
}

// checkAttempts compares the journal's attempts at a trial with the last of them,
// which is its row. A busy machine may have spoiled more of them.
func checkAttempts(t *testing.T, dir string, trial int, dead bool,
	spoiled func(trial, attempt int) bool) {
	t.Helper()
	attempts, err := results.ReadAttempts(dir, trial)
	must(t, err)
	for i, a := range attempts {
		if a.Attempts != i+1 {
			t.Errorf("trial %d: attempt %d is counted as %d", trial, i+1, a.Attempts)
		}
		if !spoiled(trial, i+1) {
			continue
		}
		if a.Status != trace.Invalid || !strings.Contains(a.Reason, "died: SIGKILL") {
			t.Errorf("trial %d, attempt %d: %s, %s; want invalid, a node died", trial, i+1, a.Status,
				a.Reason)
		}
	}
	last := attempts[len(attempts)-1]
	row := table(t, dir, results.TrialsFile)[trial-1]
	want := trace.OK
	if dead {
		want = trace.Invalid
	}
	if dead && len(attempts) != 4 || last.Status != want || trace.Status(row["status"]) != want {
		t.Errorf("trial %d: %d attempts, the last %s (%s), the row %s, want %s", trial, len(attempts),
			last.Status, last.Reason, row["status"], want)
	}
}

// An interrupted run goes on with the attempts that are left.
func TestInvalidTrials_AttemptsCountOn(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts processes")
	}
	t.Parallel()
	text := strings.NewReplacer("ALLOW", "2", "repetitions: 3", "repetitions: 2").Replace(doomedTrials)
	e, f := created(t, text, t.TempDir())
	o := options(t)
	o.NodeArgs = []string{doomedRole, `.`}
	for left := 4 * 2; left > 0; left-- {
		ctx, stop := context.WithCancelCause(context.Background())
		enough := errors.New("enough")
		o.Progress = func(runner.Progress) { stop(enough) }
		s, err := runner.Run(ctx, e, f, o)
		if left > 1 && !errors.Is(err, enough) || s.Manifest.Attempts != 9-left {
			t.Fatalf("%d attempts are left, %d were made: %v", left-1, s.Manifest.Attempts, err)
		}
		must(t, f.Close())
		f, err = results.Open(f.Dir(), results.Resume{})
		must(t, err)
		defer f.Close()
	}
	complete(t, f.Dir())
}

// TestNothingLeaks runs many trials in one process.
func TestNothingLeaks(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("starts processes, and looks for them in /proc")
	}
	text := strings.Replace(doomedTrials, "ALLOW", "100", 1)
	sweep := func() {
		e, f := created(t, text, t.TempDir())
		_, err := runner.Run(context.Background(), e, f, options(t))
		must(t, errors.Join(err, f.Close()))
	}
	open := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(all)
	}
	sweep() // what is made once and kept
	files, routines := open(), runtime.NumGoroutine()
	for range times(2, 50) {
		sweep()
	}
	until(t, 10*time.Second, "as many files and goroutines as before", func() bool {
		return open() <= files && runtime.NumGoroutine() <= routines
	})
}

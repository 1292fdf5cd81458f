package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/pkg/cli"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// signedRole is a child process that leaves its id in the file that the second argument
// names, and then is what the third one says.
const signedRole = "__signed"

func init() { roles[signedRole] = signedChild }

func signedChild() int {
	f, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
	}
	if err != nil || f.Close() != nil {
		return 1
	}
	os.Args = append(os.Args[:1], os.Args[3:]...)
	return cli.Bench()
}

// started are the processes that left their ids in a file.
func started(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	ids := strings.Fields(string(b))
	slices.Sort(ids)
	return len(slices.Compact(ids))
}

const inRounds = `
name: rounds
algorithms: [election/bully, election/ring-list]
nodes: 3
repetitions: 7
rounds: 3
trace: none
`

// TestRounds_Simulation: rounds change no figure of a simulation, on which the start of a
// process has no influence; and every round has simulators of its own.
func TestRounds_Simulation(t *testing.T) {
	t.Parallel()
	run := func(text string, o runner.Options) map[string]string {
		_, f := created(t, strings.Replace(text, "nodes", "transport: sim\nnodes", 1), t.TempDir())
		e, err := experiment.Load(filepath.Join(f.Dir(), results.ConfigFile), experiment.Overrides{})
		must(t, err)
		_, err = runner.Run(context.Background(), e, f, o)
		must(t, err)
		complete(t, f.Dir())
		return files(t, f.Dir())
	}
	o, file := options(t), filepath.Join(t.TempDir(), "simulators")
	o.WorkArgs, o.Workers = []string{signedRole, file, "__work"}, 2
	got := run(inRounds, o)
	if n := started(t, file); n < 3 || n > 6 {
		t.Errorf("%d simulators, want one or two for each of 3 rounds", n)
	}
	want := run(strings.Replace(inRounds, "rounds: 3", "rounds: 1", 1), runner.Options{})
	round := regexp.MustCompile(`(?m)^(\d+,\d+,)(\d+),(\d+),`)
	of := map[string]string{}
	got[results.TrialsFile] = round.ReplaceAllStringFunc(got[results.TrialsFile], func(s string) string {
		m := round.FindStringSubmatch(s)
		of[m[2]] = m[3]
		return m[1] + m[2] + ",1,"
	})
	same(t, got, want)
	if fmt.Sprint(of) != "map[1:1 2:1 3:1 4:2 5:2 6:3 7:3]" {
		t.Errorf("rounds of repetitions: %v", of)
	}
}

// simulating is a machine for real nodes that simulates, and writes down what is asked of it.
type simulating struct {
	log *[]string
	mu  *sync.Mutex
}

func (m simulating) say(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(*m.log); n > 0 && strings.HasPrefix((*m.log)[n-1], what+" ") {
		(*m.log)[n-1] += "+"
		return
	}
	*m.log = append(*m.log, what+" ")
}

func (m simulating) Baseline() (map[string]any, error)    { m.say("baseline"); return nil, nil }
func (m simulating) Network(string) (*link.Matrix, error) { return &link.Matrix{}, nil }
func (m simulating) Close()                               { m.say("close") }

func (m simulating) Run(_ context.Context, s *harness.Setup, sink trace.Sink) (harness.End, harness.Quality, error) {
	m.say("trial")
	s.Virtual = true
	return sim.Run(s, sink), harness.Quality{}, nil
}

// TestRounds_Machines: each round has a machine, which is gone before the next one begins; what
// starting costs is in the manifest; and a run that was interrupted goes on in its rounds.
func TestRounds_Machines(t *testing.T) {
	t.Parallel()
	e, f := created(t, inRounds, t.TempDir())
	var log []string
	o := runner.Options{Machine: func(context.Context, *experiment.Experiment, runner.Options, runner.Room) (
		runner.Machine, []results.Site, error) {
		m := simulating{&log, &sync.Mutex{}}
		m.say("start")
		return m, nil, nil
	}}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	o.Progress = func(p runner.Progress) {
		if p.Finished == 9 { // of 14, of which 6, 4 and 4 are in a round
			cancel(stop)
		}
	}
	_, err := runner.Run(ctx, e, f, o)
	if !errors.Is(err, stop) {
		t.Fatalf("got %v", err)
	}
	if got, want := fmt.Sprint(log), "[start  baseline  trial +++++ close  start  baseline  trial ++ close ]"; got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	must(t, f.Close())
	f, err = results.Open(f.Dir(), results.Resume{})
	must(t, err)
	defer f.Close()
	log, o.Progress = nil, nil
	sum, err := runner.Run(context.Background(), e, f, o)
	must(t, err)
	if got, want := fmt.Sprint(log), "[start  baseline  trial  close  start  baseline  trial +++ close ]"; got != want {
		t.Errorf("resumed:\ngot  %v\nwant %v", got, want)
	}
	c := sum.Manifest.Costs
	if c == nil || !(c.RoundMS > 0) || !(c.TrialMS > 0) {
		t.Errorf("costs %+v", c)
	}
	complete(t, f.Dir())
	for _, row := range table(t, f.Dir(), results.TrialsFile) {
		want := map[string]string{"1": "1", "2": "1", "3": "1", "4": "2", "5": "2", "6": "3", "7": "3"}[row["repetition"]]
		if row["round"] != want {
			t.Errorf("trial %s is of round %s, want %s", row["trial"], row["round"], want)
		}
	}
}

// TestRounds_RealNodes: each round has a host of its own, as a process, which starts bus and
// nodes; and the run says where its variance lies, and what a round costs.
func TestRounds_RealNodes(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts processes")
	}
	t.Parallel()
	e, f := created(t, `{name: rounds, algorithms: [election/bully], nodes: 2, repetitions: 4, rounds: 2, trace: none,
  scenario: {kind: leader-crash, settle: 50ms}}`, t.TempDir())
	o, dir := options(t), t.TempDir()
	hosts := filepath.Join(dir, "hosts")
	o.WorkArgs = []string{signedRole, hosts, "__work"}
	_, err := runner.Run(context.Background(), e, f, o)
	must(t, err)
	complete(t, f.Dir())
	if n := started(t, hosts); n != 2 {
		t.Errorf("%d hosts in 2 rounds", n)
	}
	run, err := results.ReadTable(f.Dir())
	must(t, err)
	spreads := fmt.Sprint(compare.Spreads(run))
	if !strings.Contains(spreads, "variance of election_ms") ||
		!strings.Contains(spreads, "2 rounds of 2 trials in a cell") || !strings.Contains(spreads, "a round costs") {
		t.Errorf("spreads %s", spreads)
	}
}

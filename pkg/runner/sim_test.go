package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const sweep = `
name: sweep
problem: election
algorithms: [bully, {name: ring-list, params: {remember_dead: true}, label: memory}]
transport: sim
network: {latency: {distribution: exponential, mean: 2ms}}
scenario: {kind: leader-crash}
sweep:
  - {vary: nodes, over: [3, 6]}
  - {vary: network.loss, over: [0, 0.1]}
repetitions: 20
time_limit: 2s
trace: failures
`

// The same file and seed give the same bytes, whatever the number of workers, and
// whether or not the run was interrupted.
func TestSimulation_SameBytes(t *testing.T) {
	t.Parallel()
	whole := func(workers int) map[string]string {
		e, f := created(t, sweep, t.TempDir())
		_, err := runner.Run(context.Background(), e, f, runner.Options{Workers: workers})
		must(t, err)
		complete(t, f.Dir())
		return files(t, f.Dir())
	}
	want := whole(1)
	traces := 0
	for name := range want {
		if filepath.Dir(name) == results.TracesDir {
			traces++
		}
	}
	if traces == 0 {
		t.Error("no trial has failed: there are no traces to compare")
	}
	for _, workers := range []int{2, 4, 16} {
		same(t, whole(workers), want)
	}

	e, f := created(t, sweep, t.TempDir())
	for before := -1; len(f.Done()) < len(e.Trials()); {
		if len(f.Done()) <= before {
			t.Fatal("a run has finished no trial")
		}
		before = len(f.Done())
		ctx, stop := context.WithCancel(context.Background())
		// One worker, or the group that is told of would be the whole.
		_, _ = runner.Run(ctx, e, f, runner.Options{Workers: 1, Progress: func(p runner.Progress) {
			if p.Finished%50 == 0 {
				stop()
			}
		}})
		stop()
		must(t, f.Close())
		var err error
		f, err = results.Open(f.Dir(), results.Resume{})
		must(t, err)
		defer f.Close()
	}
	complete(t, f.Dir())
	same(t, files(t, f.Dir()), want)
}

// Those trials that were asked for have a trace, no others; the half of one that a killed
// run has left is gone.
func TestTraces(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"none", "failures", "all"} {
		text := strings.NewReplacer("trace: failures", "trace: "+asked, "repetitions: 20", "repetitions: 5").Replace(sweep)
		e, f := created(t, text, t.TempDir())
		traces := filepath.Join(f.Dir(), results.TracesDir)
		half := filepath.Join(traces, ".trial-1.ndjson123")
		must(t, errors.Join(os.MkdirAll(traces, 0o755), os.WriteFile(half, nil, 0o644)))
		_, err := runner.Run(context.Background(), e, f, runner.Options{})
		must(t, err)
		count := map[bool]int{}
		for i, row := range table(t, f.Dir(), results.TrialsFile) {
			failed := trace.Status(row["status"]) != trace.OK
			count[failed]++
			_, err := results.ReadTrace(f.Dir(), i+1)
			if kept := asked == "all" || asked == "failures" && failed; (err == nil) != kept {
				t.Errorf("trace: %s: trial %d, %s: %v", asked, i+1, row["status"], err)
			}
		}
		if count[true] == 0 || count[false] == 0 {
			t.Errorf("%d trials failed and %d did not: want some of both", count[true], count[false])
		}
		if _, err := os.Lstat(half); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("trace: %s: %s: %v", asked, half, err)
		}
	}
}

// flood fails often, and for few reasons.
const flood = `
name: flood
problem: election
algorithms: [bully]
transport: sim
network: {latency: 2ms}
detector: {kind: heartbeat}
time_limit: 200ms
scenario: {kind: leader-crash}
nodes: 3
sweep:
  - {vary: network.loss, over: [0.4, 0.5]}
repetitions: 40
seed: 1
`

// The first ten trials that fail for a reason keep their traces, whether the run is in one piece, in
// processes of its own or in this one, was interrupted and resumed, or merged of shards; and they are the
// same to the last byte.
func TestTraces_First(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	whole := func(o runner.Options) string {
		e, f := created(t, flood, filepath.Join(root, fmt.Sprint("whole", o.Workers, len(o.WorkArgs))))
		defer f.Close()
		_, err := runner.Run(context.Background(), e, f, o)
		must(t, err)
		return f.Dir()
	}
	want := whole(runner.Options{Workers: 1})
	failed, kept := map[string]int{}, 0
	for _, row := range table(t, want, results.TrialsFile) {
		if trace.Status(row["status"]) == trace.OK {
			continue
		}
		key := row["status"] + results.Alike(row["reason"])
		n, err := strconv.Atoi(row["trial"])
		must(t, err)
		_, err = results.ReadTrace(want, n)
		if keeps := failed[key] < results.MostAlike; keeps != (err == nil) {
			t.Errorf("trial %d, the number %d of %q: trace %v", n, failed[key]+1, key, err)
		}
		if failed[key]++; err == nil {
			kept++
		}
	}
	m, err := results.ReadManifest(want)
	must(t, err)
	sum := 0
	for _, left := range m.Traced {
		sum += left.Kept
	}
	if len(failed) == 0 || kept != sum || len(m.Traced) != 1 || m.Traced[0].Trials <= kept {
		t.Errorf("%d reasons, %d kept; the manifest says %+v", len(failed), kept, m.Traced)
	}

	resumed := func() string {
		e, f := created(t, flood, filepath.Join(root, "resumed"))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, err := runner.Run(ctx, e, f, runner.Options{Workers: 2, Progress: func(p runner.Progress) {
			if p.Finished >= 30 {
				cancel()
			}
		}})
		if err == nil {
			t.Error("the run was not interrupted")
		}
		must(t, f.Close())
		f, err = results.Open(f.Dir(), results.Resume{})
		must(t, err)
		defer f.Close()
		_, err = runner.Run(context.Background(), e, f, runner.Options{Workers: 2})
		must(t, err)
		return f.Dir()
	}
	merged := func() string {
		dir := filepath.Join(root, "merged")
		var parts []string
		for i := 1; i <= 3; i++ {
			e, err := experiment.Load(write(t, flood), experiment.Overrides{})
			must(t, err)
			e, err = e.Only(experiment.Shard{Index: i, Of: 3})
			must(t, err)
			config, err := e.Resolved()
			must(t, err)
			f, err := results.Create(dir, runner.Header(e, []string{"bench"}), config)
			must(t, err)
			_, err = runner.Run(context.Background(), e, f, runner.Options{})
			must(t, errors.Join(err, f.Close()))
			parts = append(parts, f.Dir())
		}
		run, err := results.Merge(parts, dir, []string{"bench", "merge"}, nil)
		must(t, err)
		return run
	}
	o := options(t)
	o.Workers = 3
	for name, dir := range map[string]string{"workers": whole(o), "resumed": resumed(), "merged": merged()} {
		must(t, results.Verify(dir))
		same(t, files(t, dir), files(t, want))
		if m, err := results.ReadManifest(dir); err != nil || m.Traced[0].Kept != kept {
			t.Errorf("%s: the manifest says %+v, %v, want %d kept", name, m.Traced, err, kept)
		}
	}
}

// On real nodes all records are held back until it is known whether the trial failed.
func TestTraces_RealNodes(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts processes")
	}
	t.Parallel()
	text := strings.Replace(sweep, "transport: sim", "transport: nats", 1)
	text = strings.NewReplacer("[0, 0.1]", "[0]", "[3, 6]", "[3]", "repetitions: 20", "repetitions: 1").Replace(text)
	e, f := created(t, text, t.TempDir())
	_, err := runner.Run(context.Background(), e, f, options(t))
	must(t, err)
	for i, row := range table(t, f.Dir(), results.TrialsFile) {
		kept, err := results.ReadTrace(f.Dir(), i+1)
		// An attempt before, which a busy machine has spoiled, may have left its own.
		if trace.Status(row["status"]) == trace.OK && err == nil && fmt.Sprint(kept.Attempt) == row["attempts"] {
			t.Errorf("trial %d is ok, and its trace is kept", i+1)
		}
	}
}

// A gate is where the trial that comes second stops until it is let through.
var gate chan struct{}

func init() {
	bully, err := algo.Lookup("election/bully")
	if err != nil {
		panic(err)
	}
	s := bully.Spec
	s.Name, s.Summary = "test-gate", "for tests: bully, behind a gate"
	algo.RegisterElector(s, func(c algo.Config) algo.Elector {
		if c.ID == 1 && gate != nil {
			<-gate
		}
		return bully.New(c).(algo.Elector)
	})
}

// A trial in simulation is on disk before long, even if the next one takes for
// ever.
func TestSimulation_CommitsBeforeLong(t *testing.T) {
	text := strings.NewReplacer("bully, ", "test-gate, ", "20", "5").Replace(sweep)
	e, f := created(t, text, t.TempDir())
	gate = make(chan struct{}, 8)
	defer func() { gate = nil }()
	done := make(chan error, 1)
	go func() {
		_, err := runner.Run(context.Background(), e, f, runner.Options{Workers: 1})
		done <- err
	}()
	for n, t1 := 0, 0; n < 3; n++ {
		gate <- struct{}{}
		until(t, time.Minute, "a further trial is in the journal", func() bool {
			select {
			case err := <-done:
				t.Fatalf("the run ended before: %v", err)
			default:
			}
			return len(finished(f.Dir())) > t1
		})
		t1 = len(finished(f.Dir()))
	}
	close(gate)
	must(t, <-done)
	complete(t, f.Dir())
}

// A program that was given no machine says so, whatever it is to run on one.
func TestRealNodes_NoMachine(t *testing.T) {
	t.Parallel()
	e, f := created(t, strings.Replace(sweep, "transport: sim", "transport: nats", 1), t.TempDir())
	_, err := runner.Run(context.Background(), e, f, runner.Options{})
	_, _, again := runner.Replay(context.Background(), e, &e.Trials()[0], runner.Options{}, nil)
	for _, err := range []error{err, again} {
		if err == nil || !strings.Contains(err.Error(), "no machine for real nodes") {
			t.Errorf("%v, want that there is no machine", err)
		}
	}
}

// Every trial of a run can be had again, to the last record.
func TestReplay_IsTheSame(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sweep, "trace: failures", "trace: all", 1)
	text = strings.Replace(text, "repetitions: 20", "repetitions: 2", 1)
	e, f := created(t, text, t.TempDir())
	_, err := runner.Run(context.Background(), e, f, runner.Options{})
	must(t, err)
	for k, trial := range e.Trials() {
		o := runner.Options{}
		if k%4 == 0 { // in a process of its own
			o = options(t)
		}
		kept, err := results.ReadTrace(f.Dir(), trial.Number)
		must(t, err)
		var got trace.List
		_, _, err = runner.Replay(context.Background(), e, &trial, o, &got)
		must(t, err)
		if len(got) != len(kept.Records) {
			t.Fatalf("trial %d: %d records, want %d", trial.Number, len(got), len(kept.Records))
		}
		for i := range got {
			if got[i] != kept.Records[i] {
				t.Fatalf("trial %d, record %d: %+v, want %+v", trial.Number, i, got[i], kept.Records[i])
			}
		}
	}
}

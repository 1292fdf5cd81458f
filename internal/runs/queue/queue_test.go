package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

const config = `name: queued
problem: election
algorithms: [bully, raft]
transport: sim
repetitions: 12
trace: all
sweep:
  - {vary: nodes, over: [3, 5]}
`

// natsAt starts a NATS server with JetStream.
func natsAt(t *testing.T) queue.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		NoLog: true, JetStream: true, StoreDir: t.TempDir()})
	must(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS is not ready")
	}
	return queue.Server{URL: s.ClientURL()}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begun is a fresh run of the experiment, in a queue of that name; "": in none.
func begun(t *testing.T, name string, lines ...string) (*experiment.Experiment, *results.Folder, queue.Run) {
	t.Helper()
	e, err := experiment.Parse("queued.yaml", []byte(config+strings.Join(lines, "")), experiment.Overrides{})
	must(t, err)
	resolved, err := e.Resolved()
	must(t, err)
	h := runner.Header(e, nil)
	h.Queue = name
	f, err := results.Create(t.TempDir(), h, resolved)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return e, f, queue.Run{Header: f.Header(), Config: resolved, Program: program(), Virtual: true,
		KeyFile: filepath.Join(f.Dir(), ".queue-key")}
}

// program is this one, also where a test's binary cannot be read.
func program() results.Tool { return results.ThisSite().Tool }

// worker starts a worker; stop ends it.
func worker(t *testing.T, s queue.Server, name string) (stop func(), said func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	var all []string
	var done sync.WaitGroup
	done.Go(func() {
		err := queue.Work(ctx, queue.WorkerConfig{Server: s, Machine: name, Options: runner.Options{Workers: 1},
			Say: func(text string) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, text)
			}})
		if err != nil {
			t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(stop)
	return stop, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(all, "\n")
	}
}

// tables are those of a folder, and its traces.
func tables(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"*.csv", "traces/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		must(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			must(t, err)
			files[strings.TrimPrefix(name, dir)] = string(data)
		}
	}
	return files
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(want) < 40 || len(got) != len(want) {
		t.Errorf("%d files, want %d: tables and a trace of each trial", len(got), len(want))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s differs from that of the run in one piece", name)
		}
	}
}

// TestQueue: what workers have run is what one machine would have; one that is ended in the
// middle, and one that comes late, make no difference.
func TestQueue(t *testing.T) {
	t.Parallel()
	e, plain, _ := begun(t, "", "rounds: 3\n")
	_, err := runner.Run(t.Context(), e, plain, runner.Options{})
	must(t, err)
	s := natsAt(t)
	e, f, run := begun(t, "queued-1", "rounds: 3\n")
	stop, _ := worker(t, s, "lab1")
	rows := 0
	_, err = runner.Run(t.Context(), e, f, runner.Options{
		Queue: func(ctx context.Context) (runner.Queue, error) {
			return queue.NewSender(ctx, s, run, func(text string) { t.Log(text) })
		},
		Progress: func(runner.Progress) {
			if rows++; rows == 5 {
				go stop()
				worker(t, s, "lab2")
			}
		},
	})
	must(t, err)
	same(t, tables(t, f.Dir()), tables(t, plain.Dir()))
	if rows != 48 {
		t.Errorf("%d rows were told, want 48", rows)
	}
	stop()
	until(t, "lab2 is the only worker", func() bool {
		list, err := queue.Workers(t.Context(), s, 200*time.Millisecond)
		must(t, err)
		return len(list) == 1 && list[0].Machine == "lab2" && list[0].Cores == 1 && list[0].Site.Machine.Cores > 0
	})
	if _, err := os.Stat(run.KeyFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key outlives the run: %v", err)
	}
}

// next is what came of one block.
func next(ctx context.Context, t *testing.T, q *queue.Sender) work.Yield {
	t.Helper()
	all, err := q.Next(ctx)
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%d yields at once, want one", len(all))
	}
	return all[0]
}

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute it is not so: %s", what)
		}
	}
}

// TestQueue_RunnerAway: what was finished while the runner was away is there when it is back.
func TestQueue_RunnerAway(t *testing.T) {
	slowtest.Skip(t, "waits for a lease to end")
	t.Parallel()
	s := natsAt(t)
	worker(t, s, "lab1")
	e, f, run := begun(t, "queued-2")
	sender := func(ctx context.Context) (runner.Queue, error) {
		return queue.NewSender(ctx, s, run, func(string) {})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the runner is killed")
	// When the first row comes, all is sent, and the worker has its key.
	progress := func(runner.Progress) { cancel(gone) }
	if _, err := runner.Run(ctx, e, f, runner.Options{Queue: sender, Progress: progress}); !errors.Is(err, gone) {
		t.Fatalf("%v, want %v", err, gone)
	}
	_, said := worker(t, s, "lab2")
	until(t, "a worker that comes late waits for the runner", func() bool {
		return strings.Contains(said(), "run queued-2: its runner does not answer with a key")
	})
	done(t, s, 48)
	_, err := runner.Run(t.Context(), e, f, runner.Options{Queue: sender})
	must(t, err)
	_, plain, _ := begun(t, "")
	_, err = runner.Run(t.Context(), e, plain, runner.Options{})
	must(t, err)
	same(t, tables(t, f.Dir()), tables(t, plain.Dir()))
}

// TestQueue_OtherProgram: a worker of another build leaves a run alone, and both sides say so.
func TestQueue_OtherProgram(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	e, f, run := begun(t, "queued-3")
	run.Program.Binary = strings.Repeat("0", 64)
	_, said := worker(t, s, "lab1")
	var notes []string
	ctx, cancel := context.WithCancel(t.Context())
	_, err := runner.Run(ctx, e, f, runner.Options{Queue: func(ctx context.Context) (runner.Queue, error) {
		return queue.NewSender(ctx, s, run, func(text string) {
			if notes = append(notes, text); strings.Contains(text, "lab1") { // it may not be there at once
				cancel()
			}
		})
	}})
	if !errors.Is(err, context.Canceled) || len(f.Done()) > 0 {
		t.Errorf("%v, %d trials done", err, len(f.Done()))
	}
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "lab1 runs another one, build") }) {
		t.Errorf("the runner said %q", notes)
	}
	until(t, "the worker says that it leaves the run alone", func() bool {
		return strings.Contains(said(), "build 000000000000") && strings.Contains(said(), "it is skipped")
	})
}

// TestQueue_ForeignBlocks: a block that is not of the experiment is nothing that a worker runs;
// one that nobody can finish ends the run with the reason.
func TestQueue_ForeignBlocks(t *testing.T) {
	slowtest.Skip(t, "waits for a lease to end")
	t.Parallel()
	s := natsAt(t)
	_, _, run := begun(t, "queued-4")
	q, err := queue.NewSender(t.Context(), s, run, func(string) {})
	must(t, err)
	defer func() { must(t, q.Close(true)) }()
	must(t, q.Send(t.Context(), []work.Block{{Number: 99, Trials: []int{999}, Orders: []int{1}}}))
	_, said := worker(t, s, "lab1")
	y := next(t.Context(), t, q)
	if !strings.Contains(said(), "is not of an experiment of 4 cells") ||
		y.Of != 99 || y.Worker != "lab1" || !strings.Contains(y.Failed, "it was begun 5 times") {
		t.Errorf("%+v; the worker said %q", y, said())
	}
}

// TestQueue_Hostile: whoever can write into the queue gets no worker to leave its folder, to
// open a file, to use another bus or to run something else; and it goes on with honest runs.
func TestQueue_Hostile(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	one := []work.Block{{Number: 1, Trials: []int{1}, Orders: []int{1}}}
	runs := map[string]struct {
		change func(*queue.Run)
		blocks []work.Block
		want   string // of what the worker says
	}{
		"name":     {change: func(r *queue.Run) { r.Header.Name = "../../evil" }, blocks: one},
		"shard":    {change: func(r *queue.Run) { r.Header.Shard = &results.Shard{Index: -7, Of: 1} }, blocks: one},
		"topology": {add("topology: {kind: file, path: /etc/passwd}\n"), one, "/etc/passwd"},
		"include":  {add("include: /etc/passwd\n"), one, "include: unknown key"},
		"hosts":    {add("hosts: [{name: a, command: touch evil}]\n"), one, "hosts: unknown key"},
		"command":  {add("host: touch evil\n"), one, "host: unknown key"},
		"out":      {add("out: /tmp/evil\n"), one, "out: "},
		"bus": {func(r *queue.Run) {
			r.Config = []byte(strings.Replace(config, "sim", "nats\nbus: {url: \"nats://127.0.0.1:1\"}", 1))
		}, one, "a bus of its own"},
		"path": {func(r *queue.Run) {
			r.Config = []byte(strings.Replace(string(r.Config), "queued", "../evil", 1))
		}, one, "name"},
		"size":   {func(r *queue.Run) { r.Config = make([]byte, 64<<20) }, one, "unfolds to more than"},
		"twice":  {blocks: []work.Block{{Number: 1, Trials: []int{1, 1}, Orders: []int{1, 2}}}, want: "is not of"},
		"orders": {blocks: []work.Block{{Number: 1, Trials: []int{1}}}, want: "is not of"},
		"minus":  {blocks: []work.Block{{Number: -1, Trials: []int{1}, Orders: []int{1}}}, want: "is not of"},
	}
	for name, c := range runs {
		_, _, run := begun(t, "a-"+name) // they come before the honest one
		if c.change != nil {
			c.change(&run)
		}
		q, err := queue.NewSender(t.Context(), s, run, func(string) {})
		must(t, err)
		must(t, q.Send(t.Context(), c.blocks))
		defer func() { must(t, q.Close(false)) }() // it gives its key to workers
	}
	nc, err := nats.Connect(s.URL)
	must(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	must(t, err)
	bucket, err := js.KeyValue(t.Context(), "conclave-runs")
	must(t, err)
	for name, data := range map[string]string{"b-noise": "noise", "b-empty": ""} {
		_, err := bucket.PutString(t.Context(), name, data)
		must(t, err)
	}
	var said func() string
	e, f, run := begun(t, "z-honest")
	_, err = runner.Run(t.Context(), e, f, runner.Options{Queue: func(ctx context.Context) (runner.Queue, error) {
		q, err := queue.NewSender(ctx, s, run, func(string) {})
		_, said = worker(t, s, "lab1")
		return q, err
	}})
	must(t, err)
	for name, c := range runs { // it says so when it has been through all of them
		until(t, fmt.Sprintf("%s: the worker says %q", name, c.want), func() bool {
			return c.want == "" || slices.ContainsFunc(strings.Split(said(), "\n"), func(line string) bool {
				return strings.Contains(line, "run a-"+name+": ") && strings.Contains(line, c.want)
			})
		})
	}
	for _, name := range []string{"evil", "../evil", "../../evil"} {
		if _, err := os.Stat(filepath.Join(os.TempDir(), name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

// add puts a line into the experiment.
func add(line string) func(*queue.Run) {
	return func(r *queue.Run) { r.Config = []byte(config + line) }
}

// done waits until a worker says that it has done so many blocks.
func done(t *testing.T, s queue.Server, blocks int) {
	t.Helper()
	has := -1
	for deadline := time.Now().Add(60 * time.Second); has < blocks; {
		if time.Now().After(deadline) {
			t.Fatalf("%d blocks after a minute, want %d", has, blocks)
		}
		list, err := queue.Workers(t.Context(), s, 200*time.Millisecond)
		must(t, err)
		if len(list) > 0 {
			has = 0
			for _, w := range list {
				has += w.Blocks
			}
		}
	}
}

// TestQueue_Twice: a block that is in the queue is sent again without ado, and so is a result
// that nobody has fetched. To wait for either would be for ever: a runner that comes back
// does not fetch before it has sent, and a worker that waits for it does not finish the block.
func TestQueue_Twice(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	_, _, run := begun(t, "queued-5")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	q, err := queue.NewSender(ctx, s, run, func(string) {})
	must(t, err)
	defer func() { must(t, q.Close(true)) }()
	block := []work.Block{{Number: 1, Trials: []int{1, 2}, Orders: []int{1, 2}}}
	for range 2 {
		must(t, q.Send(ctx, block))
	}
	worker(t, s, "lab1")
	done(t, s, 1)
	must(t, q.Send(ctx, block))
	done(t, s, 2)
	y := next(ctx, t, q)
	if len(y.Rows) != 2 || y.Keep == nil {
		t.Errorf("%+v, want two rows", y)
	}
}

// TestQueue_Lost: a NATS server that forgets what it has said it keeps costs time alone,
// whether blocks are gone, who fetches them, or everything.
func TestQueue_Lost(t *testing.T) {
	slowtest.Skip(t, "waits for a lease to end")
	t.Parallel()
	for name, lose := range map[string]func(context.Context, jetstream.JetStream) error{
		"blocks": func(ctx context.Context, js jetstream.JetStream) error {
			s, err := js.Stream(ctx, "CONCLAVE_TRIALS")
			if err != nil {
				return err
			}
			return s.Purge(ctx)
		},
		"consumers": func(ctx context.Context, js jetstream.JetStream) error {
			return errors.Join(js.DeleteConsumer(ctx, "CONCLAVE_TRIALS", "lost-consumers"),
				js.DeleteConsumer(ctx, "CONCLAVE_RESULTS", "lost-consumers"))
		},
		"everything": func(ctx context.Context, js jetstream.JetStream) (err error) {
			for _, name := range []string{"CONCLAVE_TRIALS", "CONCLAVE_RESULTS", "KV_conclave-runs",
				"OBJ_conclave-files"} {
				err = errors.Join(err, js.DeleteStream(ctx, name))
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natsAt(t)
			e, f, run := begun(t, "lost-"+name)
			nc, err := nats.Connect(s.URL)
			must(t, err)
			defer nc.Close()
			js, err := jetstream.New(nc)
			must(t, err)
			rows, told := 0, ""
			worker(t, s, "lab1")
			_, err = runner.Run(t.Context(), e, f, runner.Options{
				Queue: func(ctx context.Context) (runner.Queue, error) {
					return queue.NewSender(ctx, s, run, func(text string) { told += text + "\n" })
				},
				Progress: func(runner.Progress) {
					if rows++; rows == 1 {
						if err := lose(t.Context(), js); err != nil {
							t.Error(err)
						}
					}
				},
			})
			must(t, err)
			if rows != 48 || len(f.Done()) != 48 {
				t.Errorf("%d rows, want 48; the runner said %q", rows, told)
			}
		})
	}
}

// TestServer: what leaves the machine is encrypted.
func TestServer(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"nats://127.0.0.1:4222":                       "",
		"nats://localhost:4222,nats://127.0.0.1:4223": "",
		"tls://lab1:4222":                             "",
		"nats://lab1:4222":                            "is not encrypted; expected tls://lab1:4222",
		"tls://lab1:4222,nats://10.0.0.2:4222":        "expected tls://10.0.0.2:4222",
		"lab1":                                        "is not an address of NATS",
		"":                                            "is not an address of NATS",
	} {
		err := queue.Server{URL: url}.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
}

// TestQueue_Programs: what comes over the network starts no program at a worker, which says so. The run here has no
// such trials: it only claims to.
func TestQueue_Programs(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	e, f, run := begun(t, "programs")
	run.Header.Programs = map[string]guest.Origin{"mutex/fake": {Command: []string{"python3", "fake.py"}}}
	_, said := worker(t, s, "lab1")
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_, err := runner.Run(ctx, e, f, runner.Options{Queue: func(ctx context.Context) (runner.Queue, error) {
			return queue.NewSender(ctx, s, run, func(string) {})
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the run ends with %v", err)
		}
	})
	const want = `run programs is skipped: mutex/fake was the program "python3 fake.py" there, and nothing starts a program ` +
		`because a run names it: add --plugin mutex/fake="python3 fake.py"`
	for deadline := time.Now().Add(time.Minute); !strings.Contains(said(), want); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the worker says %q, want %q", said(), want)
		}
	}
	cancel()
	done.Wait()
}

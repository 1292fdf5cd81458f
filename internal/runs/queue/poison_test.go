package queue_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// joined is a client of the server that has read the sources.
func joined(t *testing.T, s queue.Server) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(s.URL)
	must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	must(t, err)
	return nc, js
}

func gzipped(t *testing.T, from io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.Copy(z, from)
	must(t, err)
	must(t, z.Close())
	return b.Bytes()
}

// zeros never end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// genuine is a signed result of a block, as another run of the experiment has had it.
func genuine(t *testing.T, s queue.Server) (m *nats.Msg) {
	t.Helper()
	nc, _ := joined(t, s)
	sub, err := nc.SubscribeSync("conclave.results.>")
	must(t, err)
	must(t, nc.Flush())
	e, f, run := begun(t, "before")
	_, err = runner.Run(t.Context(), e, f, runner.Options{Queue: func(ctx context.Context) (runner.Queue, error) {
		return queue.NewSender(ctx, s, run, func(string) {})
	}})
	must(t, err)
	m, err = sub.NextMsg(0)
	must(t, err)
	return m
}

// forged has another worker than a result, which is compressed like that.
func forged(t *testing.T, result []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(nil)
	must(t, err)
	defer z.Close()
	text, err := z.DecodeAll(result, nil)
	must(t, err)
	other := bytes.Replace(text, []byte(`"worker":"lab1"`), []byte(`"worker":"evil"`), 1)
	if bytes.Equal(other, text) {
		t.Fatalf("there is no worker in %q", text)
	}
	return zipped(t, bytes.NewReader(other))
}

// zipped is what a result is compressed with.
func zipped(t *testing.T, from io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	must(t, err)
	_, err = io.Copy(z, from)
	must(t, err)
	must(t, z.Close())
	return b.Bytes()
}

// TestQueue_Poison: what cannot be read, what somebody else has made and what was altered is
// set aside and named, its block is run again, and the run ends with the tables of one without
// all that. The queue then says what it was, and can be rid of it.
func TestQueue_Poison(t *testing.T) {
	t.Parallel()
	e, plain, _ := begun(t, "")
	_, err := runner.Run(t.Context(), e, plain, runner.Options{})
	must(t, err)
	s := natsAt(t)
	worker(t, s, "lab1")
	other := genuine(t, s)
	_, js := joined(t, s)
	e, f, run := begun(t, "poisoned")
	results, trials := "conclave.results.poisoned.", "conclave.trials.poisoned."
	bomb := bytes.Repeat(zipped(t, io.LimitReader(zeros{}, 30<<20)), 30) // 900 MiB
	poison := []*nats.Msg{
		{Subject: results + "2", Data: []byte("garbage")},
		{Subject: results + "3", Data: other.Data[:len(other.Data)/2]},
		{Subject: results + "4", Data: bomb},
		{Subject: results + "5", Data: forged(t, other.Data)},
		{Subject: results + "6", Data: forged(t, other.Data), Header: other.Header},
		{Subject: results + "7", Data: other.Data, Header: other.Header}, // of another run
		{Subject: results + "8"},
		{Subject: results + "9999", Data: []byte("garbage")},
		{Subject: results + "x.y\x1b[31m", Data: []byte("garbage")},
		{Subject: trials + "9", Data: []byte("garbage")},
		{Subject: trials + "10", Data: []byte(`{"number": 10, "trials": [1], "orders": [1]}`)},
		{Subject: trials + "99", Data: []byte(`{"number": 99, "trials": [1], "orders": [1]}`)},
	}
	told := ""
	_, err = runner.Run(t.Context(), e, f, runner.Options{Queue: func(ctx context.Context) (runner.Queue, error) {
		q, err := queue.NewSender(ctx, s, run, func(text string) { told += text + "\n" })
		for _, m := range poison { // before any block is sent
			if err == nil {
				_, err = js.PublishMsg(ctx, m)
			}
		}
		return q, err
	}})
	must(t, err)
	same(t, tables(t, f.Dir()), tables(t, plain.Dir()))

	list, err := queue.List(t.Context(), s, func(string) {})
	must(t, err)
	if len(list) != 1 || list[0].Run != "poisoned" || list[0].Blocks+list[0].Results > 0 || list[0].Runner {
		t.Fatalf("the queue has %+v, want what was set aside alone", list)
	}
	for _, m := range poison {
		name := strings.ReplaceAll(m.Subject, "\x1b", "?")
		if !strings.Contains(told, name+" was not usable, and is set aside: it") {
			t.Errorf("the runner does not name %q:\n%s", m.Subject, told)
		}
		i := slices.IndexFunc(list[0].Aside, func(a queue.Aside) bool { return a.Subject == m.Subject })
		if i < 0 {
			t.Errorf("the queue does not have %q", m.Subject)
			continue
		}
		a := list[0].Aside[i]
		kept, err := js.Stream(t.Context(), "CONCLAVE_ASIDE")
		must(t, err)
		raw, err := kept.GetMsg(t.Context(), a.Sequence)
		must(t, err)
		if !bytes.Equal(raw.Data, m.Data) || a.Bytes != len(m.Data) || a.Reason == "" {
			t.Errorf("%q: %d bytes are kept, want %d: %s", m.Subject, len(raw.Data), len(m.Data), a.Reason)
		}
	}
	must(t, queue.Remove(t.Context(), s, []string{"poisoned"}, func(string) {}))
	if list, err = queue.List(t.Context(), s, func(string) {}); err != nil || len(list) > 0 {
		t.Errorf("%v; the queue still has %+v", err, list)
	}
}

// TestQueue_FileAltered: a trace that was replaced on its way is not taken for what the worker
// has sent.
func TestQueue_FileAltered(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	_, js := joined(t, s)
	_, _, run := begun(t, "altered")
	told := ""
	q, err := queue.NewSender(t.Context(), s, run, func(text string) { told += text })
	must(t, err)
	defer func() { must(t, q.Close(true)) }()
	must(t, q.Send(t.Context(), []work.Block{{Number: 1, Trials: []int{1}, Orders: []int{1}}}))
	worker(t, s, "lab1")
	done(t, s, 1)
	files, err := js.ObjectStore(t.Context(), "conclave-files")
	must(t, err)
	_, err = files.PutBytes(t.Context(), "altered.1.1", gzipped(t, strings.NewReader("a trace")))
	must(t, err)
	y := next(t.Context(), t, q)
	if len(y.Rows) != 1 || len(y.Traces[1]) < 20 || !strings.Contains(told, "its file altered.1.1 is not what the worker has sent") {
		t.Errorf("%d rows, a trace of %d bytes; the runner said %q", len(y.Rows), len(y.Traces[1]), told)
	}
}

// TestQueue_RunAltered: a worker does not run another experiment than the one that the runner
// has put into the queue.
func TestQueue_RunAltered(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	_, js := joined(t, s)
	_, _, run := begun(t, "replaced")
	q, err := queue.NewSender(t.Context(), s, run, func(string) {})
	must(t, err)
	defer func() { must(t, q.Close(true)) }()
	must(t, q.Send(t.Context(), []work.Block{{Number: 1, Trials: []int{1}, Orders: []int{1}}}))
	bucket, err := js.KeyValue(t.Context(), "conclave-runs")
	must(t, err)
	honest, err := bucket.Get(t.Context(), "replaced")
	must(t, err)
	run.Config = bytes.Replace(run.Config, []byte("raft"), []byte("bully-quorum"), 1)
	text, err := json.Marshal(&run)
	must(t, err)
	_, err = bucket.Put(t.Context(), "replaced", gzipped(t, bytes.NewReader(text)))
	must(t, err)
	_, said := worker(t, s, "lab1")
	until(t, "the worker says that this is not the run", func() bool {
		return strings.Contains(said(), "run replaced: its data in the queue differ from what its runner announced")
	})
	_, err = bucket.Put(t.Context(), "replaced", honest.Value())
	must(t, err)
	if y := next(t.Context(), t, q); len(y.Rows) != 1 {
		t.Errorf("%+v", y)
	}
}

// TestQueue_Remove: a run is removed with all that it has left, but not from under its runner.
func TestQueue_Remove(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	_, js := joined(t, s)
	quiet := func(string) {}
	block := []work.Block{{Number: 1, Trials: []int{1}, Orders: []int{1}}}
	_, _, run := begun(t, "left")
	q, err := queue.NewSender(t.Context(), s, run, quiet)
	must(t, err)
	stop, _ := worker(t, s, "lab1")
	must(t, q.Send(t.Context(), block))
	done(t, s, 1)
	stop()
	block[0] = work.Block{Number: 2, Trials: []int{2}, Orders: []int{2}}
	must(t, q.Send(t.Context(), block))
	err = queue.Remove(t.Context(), s, []string{"left"}, quiet)
	if err == nil || !strings.Contains(err.Error(), "the runner of left is at work; end it first") {
		t.Errorf("with its runner: %v", err)
	}
	must(t, q.Close(false))
	list, err := queue.List(t.Context(), s, quiet)
	must(t, err)
	if len(list) != 1 || list[0].Run != "left" || list[0].Blocks != 1 || list[0].Results != 1 || list[0].Runner ||
		list[0].Build != program().Binary || list[0].Announced.IsZero() {
		t.Errorf("the queue has %+v", list)
	}
	err = queue.Remove(t.Context(), s, []string{"left", "nothing"}, quiet)
	if err == nil || !strings.Contains(err.Error(), `no run "nothing" is in the queue`) {
		t.Errorf("what is not there: %v", err)
	}
	must(t, queue.Remove(t.Context(), s, []string{"left"}, quiet))
	if list, err = queue.List(t.Context(), s, quiet); err != nil || len(list) > 0 {
		t.Errorf("%v; the queue still has %+v", err, list)
	}
	files, err := js.ObjectStore(t.Context(), "conclave-files")
	must(t, err)
	if left, err := files.List(t.Context()); err == nil {
		t.Errorf("%d files are left", len(left))
	}
}

// process starts a worker as a process of its own.
func process(t *testing.T, s queue.Server, settings ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command(exe)
	c.Env = append(append(os.Environ(), asWorker+"="+s.URL), settings...)
	must(t, c.Start())
	t.Cleanup(sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}))
	return c
}

// TestWork_Sweeps: a worker removes the folders of killed ones though there is no run for it.
func TestWork_Sweeps(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	dead := filepath.Join(temp, "conclave-work-dead")
	must(t, os.Mkdir(dead, 0o700))
	must(t, os.WriteFile(filepath.Join(dead, "lock"), nil, 0o600))
	process(t, natsAt(t), "TMPDIR="+temp)
	until(t, dead+" is gone", func() bool {
		_, err := os.Stat(dead)
		return err != nil
	})
}

// TestQueue_WorkerKilled: a worker that is killed costs nothing but time, and the next one of
// its machine removes what it has left there.
func TestQueue_WorkerKilled(t *testing.T) {
	slowtest.Skip(t, "waits for a lease to end")
	t.Parallel()
	e, plain, _ := begun(t, "")
	_, err := runner.Run(t.Context(), e, plain, runner.Options{})
	must(t, err)
	s, temp := natsAt(t), t.TempDir()
	start := func(settings ...string) *exec.Cmd {
		t.Helper()
		return process(t, s, append(settings, "TMPDIR="+temp)...)
	}
	folders := func() []string {
		left, err := filepath.Glob(filepath.Join(temp, "conclave-work-*"))
		must(t, err)
		return left
	}
	first := start(stuckAt + "=10") // in its third block, so that it is not done before it is killed
	e, f, run := begun(t, "killed")
	rows, old := 0, []string(nil)
	_, err = runner.Run(t.Context(), e, f, runner.Options{
		Queue: func(ctx context.Context) (runner.Queue, error) {
			return queue.NewSender(ctx, s, run, func(text string) { t.Log(text) })
		},
		Progress: func(runner.Progress) {
			if rows++; rows != 5 {
				return
			}
			must(t, first.Process.Kill())
			_ = first.Wait() // it was killed
			old = folders()
			start()
		},
	})
	must(t, err)
	same(t, tables(t, f.Dir()), tables(t, plain.Dir()))
	if len(old) != 1 {
		t.Fatalf("the killed worker has left %v", old)
	}
	until(t, fmt.Sprintf("%s is gone", old), func() bool { return !slices.Contains(folders(), old[0]) })
}

// TestQueue_Again: a result that comes once more, when its block is done, is taken out of the queue,
// and the runner does not see it.
func TestQueue_Again(t *testing.T) {
	t.Parallel()
	s := natsAt(t)
	nc, js := joined(t, s)
	sub, err := nc.SubscribeSync("conclave.results.again.1")
	must(t, err)
	must(t, nc.Flush())
	_, _, run := begun(t, "again")
	run.Config = bytes.Replace(run.Config, []byte("trace: all"), []byte("trace: none"), 1)
	q, err := queue.NewSender(t.Context(), s, run, func(string) {})
	must(t, err)
	defer func() { must(t, q.Close(true)) }()
	keep := func(trial int) {
		t.Helper()
		must(t, q.Send(t.Context(), []work.Block{{Number: trial, Trials: []int{trial}, Orders: []int{trial}}}))
		y := next(t.Context(), t, q)
		if len(y.Rows) != 1 || y.Block.Number != trial {
			t.Fatalf("%+v, want the block of trial %d", y.Rows, trial)
		}
		y.Keep()
	}
	worker(t, s, "lab1")
	keep(1)
	m, err := sub.NextMsg(time.Minute)
	must(t, err)
	until(t, "the result may be published again", func() bool {
		_, err = js.PublishMsg(t.Context(), &nats.Msg{Subject: m.Subject, Data: m.Data, Header: m.Header})
		return err == nil
	})
	keep(2)
	until(t, "it is out of the queue", func() bool {
		list, err := queue.List(t.Context(), s, func(string) {})
		must(t, err)
		return len(list) == 1 && list[0].Results == 0 && len(list[0].Aside) == 0
	})
}

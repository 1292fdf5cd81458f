package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/launch"
)

// TestQueue: a run that is killed is in the queue until it is removed or complete. A message that
// is of no use is named by the run and listed; what the folder keeps for --resume goes with the
// run.
func TestQueue(t *testing.T) {
	t.Parallel()
	l, root, file := newLab(t), t.TempDir(), write(t, "many.yaml", strings.Replace(many, "50000", "50", 1))
	queued := func(code int, args ...string) ran {
		t.Helper()
		return bench(t, append([]string{"queue"}, append(args, "--join", l.url)...)...).want(t, code)
	}
	has(t, queued(Good, "list").out, "no runs are in the queue")
	c := started(t, "results", "run", file, "--queue", l.url, "--out", root)
	var q map[string]any
	until := func(what string, so func() bool) { // of the only run in the queue
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			text := queued(Good, "list", "--json").out
			d, err := answer.Decode([]byte(text))
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if list := d.Table("runs"); len(list) == 1 {
				if q = list[0]; so() {
					return
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("it is not so that %s: %s", what, text)
			}
		}
	}
	until("there are blocks", func() bool { return q["runner"] == true && q["blocks"].(float64) > 0 })
	run := q["run"].(string)
	has(t, queued(CouldNotRun, "remove", run).errors, "is at work; end it first")
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	until("NATS has noticed", func() bool { return q["runner"] == false })
	dir := latest(t, root, "many")
	key := filepath.Join(dir, launch.KeyFile)
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Errorf("%v, %+v: want a key that nobody else reads", err, info)
	}

	nc, err := nats.Connect(l.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	bad := "conclave.results." + run + ".1"
	if _, err := js.Publish(t.Context(), bad, []byte("garbage")); err != nil {
		t.Fatal(err)
	}
	c = started(t, bad+" was not usable", "run", "--resume", dir, "--queue", l.url)
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // likewise
	until("NATS has noticed", func() bool { return q["runner"] == false })
	has(t, queued(Good, "list").out, run, "away", bad, "7 bytes", "it is not signed")
	has(t, queued(Good, "remove", run).out, "removed "+run)
	has(t, queued(Good, "list").out, "no runs are in the queue")
	has(t, queued(CouldNotRun, "remove", run).errors, "no run", "is in the queue")

	// A run that is complete leaves nothing in the queue, and its folder no key.
	l.offer(t, "lab1")
	bench(t, "run", write(t, "small.yaml", small), "--queue", l.url, "--out", root).want(t, Good)
	has(t, queued(Good, "list").out, "no runs are in the queue")
	if _, err := os.Stat(filepath.Join(latest(t, root, "small"), launch.KeyFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key outlives its run: %v", err)
	}
}

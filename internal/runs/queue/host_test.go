package queue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// offers starts a worker whose machine is a host; its agent says what it hears.
func offers(t *testing.T, s queue.Server, name string) (stop func(), ended chan error) {
	t.Helper()
	return offersAt(t, s, name, agent.Ports{})
}

func offersAt(t *testing.T, s queue.Server, name string, ports agent.Ports) (stop func(), ended chan error) {
	t.Helper()
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("there is no cat here")
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	ended = make(chan error, 1)
	done.Go(func() {
		ended <- queue.Work(ctx, queue.WorkerConfig{Server: s, Machine: name, Options: runner.Options{Workers: 1},
			Say: func(string) {}, Host: queue.HostConfig{Host: queue.Host{Address: "127.0.0.1", Slots: 3, Region: "ireland", Ports: ports},
				Program: proc.Command{Path: cat}}})
	})
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(stop)
	return stop, ended
}

// hosts waits until so many hosts say this of themselves.
func hosts(t *testing.T, s queue.Server, n int, busy string) {
	t.Helper()
	var list []queue.Status
	for range 200 {
		var err error
		list, err = queue.Workers(t.Context(), s, 100*time.Millisecond)
		must(t, err)
		found := 0
		for _, w := range list {
			if w.Host != nil && w.Host.Busy == busy && w.Host.Address == "127.0.0.1" && w.Host.Slots == 3 &&
				w.Host.Region == "ireland" {
				found++
			}
		}
		if found == n {
			return
		}
	}
	t.Fatalf("hosts %+v, want %d that are busy with %q", list, n, busy)
}

// TestHost: whoever runs trials over several hosts has the machine of a worker for itself,
// one at a time; the queue waits meanwhile. Not parallel: its folder for locks is its machine.
func TestHost(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := natsAt(t)
	stop, _ := offers(t, s, "lab 1.x")
	hosts(t, s, 1, "")
	first, err := s.Dial("lab 1.x", time.Minute)
	must(t, err)
	defer first.Close()
	hosts(t, s, 1, "a run over several hosts")
	if _, err := s.Dial("lab 1.x", 0); err == nil ||
		!strings.Contains(err.Error(), "worker lab 1.x: it is busy with a run over several hosts") {
		t.Errorf("the second: %v", err)
	}
	if _, err := s.Dial("lab2", 0); err == nil || !strings.Contains(err.Error(), "no worker lab2 is there as a host") {
		t.Errorf("nobody: %v", err)
	}

	const text = "what it hears\n"
	if _, err := io.WriteString(first, text); err != nil {
		t.Error(err)
	}

	e, f, run := begun(t, "queued-host")
	over := make(chan error)
	go func() {
		_, err := runner.Run(t.Context(), e, f, runner.Options{Queue: func(ctx context.Context) (runner.Queue, error) {
			return queue.NewSender(ctx, s, run, func(string) {})
		}})
		over <- err
	}()
	select {
	case err := <-over:
		t.Fatalf("the queue did not wait: %v", err)
	case <-time.After(700 * time.Millisecond): // it had time to begin
	}
	must(t, first.CloseWrite())
	if all, err := io.ReadAll(first); strings.Trim(string(all), "\n")+"\n" != text || err != nil { // but for beats
		t.Errorf("%q, %v", all, err)
	}
	if why := first.Obituary(); why != "exit code 0" {
		t.Error(why)
	}
	must(t, <-over)
	if len(f.Done()) != 48 {
		t.Errorf("%d trials", len(f.Done()))
	}

	again, err := s.Dial("lab 1.x", time.Minute)
	must(t, err)
	defer again.Close()
	stop()
	_, _ = io.ReadAll(again)
	if why := again.Obituary(); why != "its worker was ended" {
		t.Error(why)
	}
}

// TestHost_OtherProgram: the agent of another build is started for nobody.
func TestHost_OtherProgram(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := natsAt(t)
	offers(t, s, "lab1")
	hosts(t, s, 1, "")
	nc, err := nats.Connect(s.URL)
	must(t, err)
	defer nc.Close()
	ours, err := json.Marshal(program())
	must(t, err)
	for ask, want := range map[string]string{
		`{"program": {"binary": "0000000000000000"}, "key": "x"}`:  "worker lab1 runs another build, ",
		`{"program": {}, "key": "x"}`:                              "worker lab1 runs another build, ",
		`{"program": 1}`:                                           "the request cannot be read",
		fmt.Sprintf(`{"program": %s, "key": "x"}`, ours):           "no key to seal the answer to",
		fmt.Sprintf(`{"program": %s, "command": "rm -r /"}`, ours): "no key to seal the answer to",
	} {
		m, err := nc.Request(fmt.Sprintf("conclave.worker.agent.%x", "lab1"), []byte(ask), time.Minute)
		must(t, err)
		var a struct{ Error, Sealed string }
		must(t, json.Unmarshal(m.Data, &a))
		if !strings.Contains(a.Error, want) || a.Sealed != "" {
			t.Errorf("%s: %+v, want %q", ask, a, want)
		}
	}
	hosts(t, s, 1, "") // none of them keeps it
}

// TestHost_Ports: a host with ports of its own has its agent at the fourth. If that is in use, it says so; when
// it is free again, it has it.
func TestHost_Ports(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := natsAt(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := taken.Addr().(*net.TCPAddr).Port
	offersAt(t, s, "lab1", agent.Ports{First: port - agent.PortAgent, Last: port})
	hosts(t, s, 1, "")
	want := fmt.Sprintf("port %d is in use: give bench work other --ports, or end what has it", port)
	if _, err := s.Dial("lab1", time.Second); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("%v, want %q", err, want)
	}
	must(t, taken.Close())
	host, err := s.Dial("lab1", time.Minute)
	must(t, err)
	host.Close()
}

// TestHost_NoAddress: a machine whose network interface is not there is no host.
func TestHost_NoAddress(t *testing.T) {
	t.Parallel()
	err := queue.Work(t.Context(), queue.WorkerConfig{Host: queue.HostConfig{Interface: "none0"}})
	if err == nil || !strings.Contains(err.Error(), "interface none0: ") {
		t.Error(err)
	}
}

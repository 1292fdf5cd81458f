//go:build linux || darwin

package agent

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/pkg/bus"
)

func TestMain(m *testing.M) { proctest.Main(m) }

func init() {
	proctest.Programs["bus"] = func() {
		if err := bus.ServeProcess(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func TestBusProcess(t *testing.T) {
	b, ids := startBus(t, 2)
	c, err := bus.Dial(bus.DialConfig{URL: b.URL, Seed: ids[0].Secret()})
	must(t, err)
	defer c.Close()
	stats, err := b.Stats()
	must(t, err)
	if stats.Connections != 1 {
		t.Errorf("%+v", stats)
	}
	b.child.Kill()
	<-b.Done()
	deadline := time.Now().Add(time.Minute)
	for len(c.Faults()) == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the bus was killed, and a minute later that is no fault")
		}
		time.Sleep(time.Millisecond) // polled until the deadline
	}
	if _, err := b.Stats(); err == nil {
		t.Error("a dead bus has statistics")
	}
}

func TestBusProcess_EndsWhenAsked(t *testing.T) {
	b, _ := startBus(t, 1)
	b.Close()
	if exit := b.child.Exit(); exit.Signal == "SIGKILL" {
		t.Errorf("it ended by %s", exit.Signal)
	}
	b.Close()
}

func TestStartBus_SaysWhatWentWrong(t *testing.T) {
	sp := proc.NewSpawner()
	defer func() { must(t, sp.Close()) }()
	t.Setenv(proctest.Key, "bus")
	for name, c := range map[string]struct {
		exe  string
		args []string
		want string
	}{
		"no users":    {os.Args[0], nil, "no users"},
		"no program":  {"/no/such/program", nil, "no such file"},
		"not the bus": {"/bin/sh", []string{"-c", "echo wrong program >&2; exit 1"}, "wrong program"},
	} {
		b, err := StartBus(sp, c.exe, c.args, bus.ServerConfig{})
		if err == nil {
			b.Close()
			t.Errorf("%s: no error", name)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// startBus is not for parallel tests: it sets this process's environment.
func startBus(t *testing.T, n int) (*BusProcess, []bus.Identity) {
	t.Helper()
	sp := proc.NewSpawner()
	t.Cleanup(func() { must(t, sp.Close()) })
	ids, err := bus.NewIdentities(n)
	must(t, err)
	var users []bus.User
	for _, id := range ids {
		users = append(users, bus.User{ID: id.ID, Public: id.Public})
	}
	t.Setenv(proctest.Key, "bus")
	b, err := StartBus(sp, os.Args[0], nil, bus.ServerConfig{Users: users})
	must(t, err)
	t.Cleanup(b.Close)
	return b, ids
}

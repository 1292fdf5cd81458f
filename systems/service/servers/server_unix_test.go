//go:build unix

package servers_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

func TestMain(m *testing.M) {
	service.Main()
	os.Exit(m.Run())
}

func init() {
	service.Program("servers-listen", func(args []string) error {
		l, err := net.Listen("tcp", args[0])
		if err != nil {
			return err
		}
		fmt.Println("listens")
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			_ = c.Close()
		}
	})
}

// A fake is a system whose server is a shell script, or a program that listens.
type fake struct {
	service.System
	script string // empty: it listens
	path   string // of a program that is not there
}

const port = 7000

func (fake) About() service.About {
	return service.About{Name: "fake", Packages: []string{"fake-server"}}
}
func (fake) Prepare(context.Context, service.Member) error { return nil }
func (f fake) Version(ctx context.Context) (string, error) {
	_, err := service.Find(f.path, "fake-server")
	return "", err
}
func (fake) Ready(ctx context.Context, m service.Member) error {
	c, err := net.DialTimeout("tcp", netip.AddrPortFrom(m.Addr, port).String(), time.Second)
	if err == nil {
		err = c.Close()
	}
	return err
}

func (f fake) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	return service.Leadership{Leader: 1}, f.Ready(ctx, m)
}

func (f fake) Commands(m service.Member) []service.Command {
	switch {
	case f.path != "":
		return []service.Command{{Name: "fake", Path: f.path}}
	case f.script != "":
		return []service.Command{{Name: "fake", Path: "sh", Args: []string{"-c", f.script}}}
	}
	c, err := service.Own("servers-listen", netip.AddrPortFrom(m.Addr, port).String())
	if err != nil {
		panic(err)
	}
	return []service.Command{c}
}

// cluster is one of n servers, which ends with the test.
func cluster(t *testing.T, f fake, n int) *servers.Cluster {
	t.Helper()
	c, err := servers.NewCluster(f, n, t.TempDir(), service.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestServer_Fails: a server that ends at its start, or never serves, is an error with the end of its log, in
// which nothing is left that a terminal would obey.
func TestServer_Fails(t *testing.T) {
	for name, c := range map[string]struct {
		fake fake
		says []string
	}{
		"exits": {fake{script: "echo first; echo 'out of \033[31mluck' >&2; exit 3"},
			[]string{"fake, server 1", "exit code 3", "first", "out of ?[31mluck"}},
		"hangs": {fake{script: "echo waits; exec sleep 100"},
			[]string{"not ready in time", "refused", "waits"}},
		"missing": {fake{path: "no-such-program"},
			[]string{"no-such-program is not installed", "fake-server"}},
		"silent": {fake{script: "exit 1"}, []string{"exit code 1", "it wrote: nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
			defer stop()
			err := cluster(t, c.fake, 1).Up(ctx)
			if err == nil {
				t.Fatal("it is ready")
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%v; expected %q in it", err, s)
				}
			}
			if strings.Contains(err.Error(), "\033") {
				t.Errorf("%q: a terminal would obey that", err)
			}
		})
	}
}

// TestCluster: servers of two clusters do not meet, a killed one leaves nothing, and a server is paused.
func TestCluster(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	a, b := cluster(t, fake{}, 3), cluster(t, fake{}, 3)
	if err := errors.Join(a.Up(ctx), b.Up(ctx)); err != nil {
		t.Fatal(err)
	}
	if l := a.Leader(ctx); l != 1 {
		t.Errorf("leader %d", l)
	}
	pid := a.Servers[1].Pids()[0]
	a.Kill(1)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is there after its end: %v", pid, err)
	}
	if l := a.Leader(ctx); l != -1 {
		t.Errorf("leader %d, which is down", l)
	}
	if err := (fake{}).Ready(ctx, a.Member(1)); err == nil {
		t.Error("a server that was killed answers")
	}
	if err := (fake{}).Ready(ctx, b.Member(1)); err != nil {
		t.Errorf("a server of another cluster: %v", err)
	}
	if err := a.Start(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if err := a.Servers[1].Await(ctx); err != nil {
		t.Error(err)
	}
	if err := errors.Join(a.Servers[0].Pause(), a.Servers[0].Resume()); err != nil {
		t.Error(err)
	}
	if log := a.Servers[1].Log(); !strings.Contains(log, "listens") {
		t.Errorf("log %q", log)
	}
	if m := a.Member(2); m.Addr != m.Peers[2] || filepath.Base(m.Folder) != "server3" {
		t.Errorf("member %+v", m)
	}
}

// TestOnce: what a program wrote is in the error, and it is not root.
func TestOnce(t *testing.T) {
	run := func(script string) error {
		return servers.Once(t.Context(), service.Command{Name: "sh", Path: "sh", Dir: t.TempDir(),
			Args: []string{"-c", script}})
	}
	if err := run(`[ "$(id -u)" != 0 ]`); err != nil {
		t.Errorf("it is root: %v", err)
	}
	if err := run("echo disk full; exit 4"); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	err := servers.Once(ctx, service.Command{Name: "sleep", Path: "sleep", Args: []string{"100"}})
	if err == nil {
		t.Error("it has not ended in time, and that is no error")
	}
}

// TestServer_Revive: a program that has ended by itself is started again in the same folder, and one that
// runs is let be.
func TestServer_Revive(t *testing.T) {
	c := cluster(t, fake{script: "test -e been && exec sleep 100; touch been; echo 'out of luck'; exit 3"}, 1)
	if err := c.Start(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	s := c.Servers[0]
	end := (*servers.EndedError)(nil)
	deadline := time.Now().Add(10 * time.Second)
	for ; !errors.As(s.Ended(), &end); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program has not ended")
		}
	}
	if end.Program != "fake" || end.Exit != "exit code 3" || !strings.Contains(end.Log, "out of luck") {
		t.Errorf("%+v", end)
	}
	if err := s.Revive(); err != nil {
		t.Fatal(err)
	}
	pid := s.Pids()[0]
	if err := errors.Join(s.Ended(), s.Revive(), syscall.Kill(pid, 0)); err != nil || s.Pids()[0] != pid {
		t.Errorf("after its second start: %v, process %d, then %d", err, pid, s.Pids()[0])
	}
}

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// serveRemote is a host program whose nodes are this binary.
func serveRemote() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	machine := func(r work.Room) (work.Machine, error) {
		return host.NewMachine(host.MachineConfig{Exe: exe, NodeArgs: []string{"trial-node"}, BusArgs: []string{"trial-bus"},
			Telltale: os.Environ(), Nodes: r.Nodes, Run: r.Run, Ready: r.Ready, Limit: r.Limit, Pause: r.Pause})
	}
	return work.Serve(os.Stdin, os.Stdout, work.Config{Machine: machine, About: func() any { return map[string]string{"machine": "here"} }})
}

// newRemote is a host of this binary, and a mark by which what it starts can be told.
func newRemote(tb testing.TB, nodes int) (*work.Remote, string) {
	tb.Helper()
	exe, err := os.Executable()
	must(tb, err)
	marker, _ := mark(tb)
	r, err := work.NewRemote(context.Background(),
		[]string{"env", marker, exe, "trial-remote"}, work.Room{Nodes: nodes, Run: "remote", Ready: 10 * time.Second})
	must(tb, err)
	tb.Cleanup(r.Close)
	return r, marker
}

func TestRemote_RunsTrialsAsAMachine(t *testing.T) {
	t.Parallel()
	r, marker := newRemote(t, 5)
	if got := string(r.About()); got != `{"machine":"here"}` {
		t.Errorf("it says of itself: %s", got)
	}
	baseline, err := r.Baseline()
	must(t, err)
	if p50, _ := baseline["round_trip_p50_us"].(float64); p50 <= 0 {
		t.Errorf("baseline %v", baseline)
	}
	for id, s := range map[string]harness.Scenario{
		"election/bully":     {Plot: &harness.LeaderCrash{Settle: ms(20)}},
		"mutex/naimi-trehel": {Plot: &harness.Sequential{Requests: 20}},
	} {
		var params map[string]any
		if id == "election/bully" {
			params = slow
		}
		p := plan(t, id, 5, s, params)
		want := simulate(t, p)
		got := run(t, r, p, func(o outcome) error { return same(want, o) })
		if got.quality.ReadyTime <= 0 || got.quality.SchedDelayP99 <= 0 || got.quality.Busy <= 0 {
			t.Errorf("%s: %+v", id, got.quality)
		}
	}
	r.Close()
	noneLeft(t, marker)
}

// hostOf is the process of the host that bears the mark.
func hostOf(t *testing.T, marker string) int {
	t.Helper()
	pids, err := proctest.Orphans(marker)
	must(t, err)
	for _, pid := range pids {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasSuffix(string(line), "\x00trial-remote\x00") {
			return pid
		}
	}
	t.Fatalf("none of %v is the host", pids)
	return 0
}

// A host that dies spoils its trial, takes its nodes along, and is replaced.
func TestRemote_HostDies(t *testing.T) {
	t.Parallel()
	for want, sig := range map[string]syscall.Signal{
		"the host died: SIGKILL":                  syscall.SIGKILL,
		"the host died: it did not answer within": syscall.SIGSTOP,
	} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			r, marker := newRemote(t, 3)
			p := culpritPlan(t, "none", time.Minute)
			if sig == syscall.SIGSTOP {
				p.TimeLimit = ms(200)
				r.Patience = ms(300) - 10*time.Second // which the nodes may take to be ready
			}
			pid := hostOf(t, marker)
			over := make(chan outcome, 1)
			go func() {
				o, err := attempt(context.Background(), r, p)
				if err != nil {
					t.Error(err)
				}
				over <- o
			}()
			poll(t, 10*time.Second, func() error {
				if pids, err := proctest.Orphans(marker); err != nil || len(pids) < 4 {
					return errors.New("no nodes yet")
				}
				return nil
			})
			must(t, syscall.Kill(pid, sig))
			var o outcome
			select {
			case o = <-over:
			case <-time.After(20 * time.Second):
				t.Fatal("the trial goes on")
			}
			if err := spoiled(o, want); err != nil {
				t.Error(err)
			}
			noneLeft(t, marker)
			if o := run(t, r, culpritPlan(t, "none", ms(10))); o.Status == trace.Invalid {
				t.Errorf("the next trial: %s", o.Reason)
			}
			if again := hostOf(t, marker); again == pid {
				t.Error("it is the same host")
			}
		})
	}
}

// Whatever ended a host may end those that are to replace it.
func TestRemote_HostDiesAgain(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	starts := filepath.Join(t.TempDir(), "starts")
	marker, _ := mark(t)
	r, err := work.NewRemote(context.Background(), append([]string{"env", marker},
		shell(fmt.Sprintf(`echo >> %[1]q
			case $(wc -l < %[1]q) in 1|6) exec %[2]q trial-remote;; esac
			kill -9 $$`, starts, exe))...), work.Room{Nodes: 3, Ready: 10 * time.Second})
	must(t, err)
	defer r.Close()
	must(t, syscall.Kill(hostOf(t, marker), syscall.SIGKILL))
	p := culpritPlan(t, "none", 0)
	if err := spoiled(once(t, r, p), "the host died: SIGKILL"); err != nil {
		t.Error(err)
	}
	run(t, r, p)
	if lines, err := os.ReadFile(starts); err != nil || len(lines) != 6 {
		t.Errorf("%d hosts were started, %v, want 6", len(lines), err)
	}
}

// Interrupted, the host is gone at once, with all that it has started.
func TestRemote_Interrupted(t *testing.T) {
	t.Parallel()
	r, marker := newRemote(t, 3)
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(ms(100), func() { cancel(reason) })
	if _, err := attempt(ctx, r, culpritPlan(t, "none", time.Minute)); !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
	begun := time.Now()
	r.Close()
	noneLeft(t, marker)
	if took := time.Since(begun); took > 30*time.Second { // the trial takes a minute
		t.Errorf("it took %v", took)
	}
}

func shell(text string) []string { return []string{"sh", "-c", text} }

// What the runner has decided reaches the machine of the host.
func TestRemote_Limit(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	r, err := work.NewRemote(context.Background(), []string{exe, "trial-remote"},
		work.Room{Nodes: 3, Ready: 10 * time.Second, Limit: 4096})
	must(t, err)
	defer r.Close()
	p := plan(t, "mutex/naimi-trehel", 3, harness.Scenario{Plot: &harness.Sequential{Requests: 200}}, nil)
	poll(t, 20*time.Second, func() error { return spoiled(once(t, r, p), "is full") })
}

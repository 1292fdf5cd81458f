package host_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/host"
	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/internal/proc/proctest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// serveRemote is a host program whose nodes are this binary.
func serveRemote() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return host.ServeMachine(os.Stdin, os.Stdout, host.MachineConfig{
		Exe: exe, NodeArgs: []string{"trial-node"}, BusArgs: []string{"trial-bus"}, Telltale: os.Environ(),
	}, map[string]string{"machine": "here"})
}

// newRemote is a host of this binary, and a mark by which what it starts can be told.
func newRemote(tb testing.TB, nodes int) (*host.Remote, string) {
	tb.Helper()
	exe, err := os.Executable()
	must(tb, err)
	marker, _ := mark(tb)
	r, err := host.NewRemote(context.Background(),
		[]string{"env", marker, exe, "trial-remote"}, host.MachineConfig{Nodes: nodes, Run: "remote"})
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
		"election/bully":     {Kind: harness.LeaderCrash, Settle: ms(20)},
		"mutex/naimi-trehel": {Kind: harness.Sequential, Requests: 20},
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
				r.SetPatience(ms(300) - 10*time.Second) // which the nodes may take to be ready
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
	r, err := host.NewRemote(context.Background(), append([]string{"env", marker},
		shell(fmt.Sprintf(`echo >> %[1]q
			case $(wc -l < %[1]q) in 1|6) exec %[2]q trial-remote;; esac
			kill -9 $$`, starts, exe))...), host.MachineConfig{Nodes: 3})
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

func TestRemote_NoHost(t *testing.T) {
	t.Parallel()
	const hello = `read line; echo '{"about":{}}'; `
	for name, test := range map[string]struct {
		command []string
		start   string // the error, or
		trial   string // of the trial, or
		invalid string
	}{
		"missing": {command: []string{"no-such-program"},
			start: `start host: exec: "no-such-program": executable file not found in $PATH`},
		"ends": {command: shell(`echo "Permission denied (publickey)." >&2; exit 255`),
			start: "the host died: exit code 255: Permission denied (publickey)."},
		"talks": {command: shell(`echo Welcome to lab7; sleep 60`),
			start: `the host died: it wrote "Welcome to lab7" to its standard output, which is for the runner`},
		"refuses": {command: shell(`echo '{"error":"not here"}'; sleep 60`), start: "the host: not here"},
		"ends later": {command: shell(hello + `read line; exit 3`),
			invalid: "the host died: exit code 3"},
		"talks later": {command: shell(hello + `read line; echo hm; sleep 60`),
			invalid: `the host died: it wrote "hm"`},
		"lies": {command: shell(hello + `read line; echo '{"records":"AAAA"}'; sleep 60`),
			invalid: "the host died: it sent a damaged record: trace record: 3 bytes, want 64"},
		"cannot": {command: shell(hello + `read line; echo '{"error":"too many open files"}'; cat`),
			trial: "the host: too many open files"},
		"says nothing": {command: shell(hello + `read line; echo '{}'; cat`),
			trial: "the host: no end of the trial in its answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := host.NewRemote(context.Background(), test.command, host.MachineConfig{Nodes: 3})
			if test.start != "" {
				if err == nil || !strings.Contains(err.Error(), test.start) {
					t.Errorf("error %v, want %q", err, test.start)
				}
				return
			}
			must(t, err)
			defer r.Close()
			o, err := attempt(context.Background(), r, culpritPlan(t, "none", 0))
			switch {
			case test.trial != "":
				if err == nil || err.Error() != test.trial {
					t.Errorf("error %v, want %q", err, test.trial)
				}
			case err != nil:
				t.Error(err)
			default:
				if err := spoiled(o, test.invalid); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func shell(text string) []string { return []string{"sh", "-c", text} }

// A host without a runner, or with one of another version, says so.
func TestServeMachine_Refuses(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"hello\n":                      "invalid character 'h'",
		"{\"baseline\":true}\n":        "no runner is there",
		"{\"config\":{\"nodes\":3}}\n": "the runner speaks protocol 0, this program 1",
		"":                             "",
	} {
		var out strings.Builder
		in := strings.NewReader(input)
		err := host.ServeMachine(in, &out, host.MachineConfig{}, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", input, err, want)
		}
	}
}

// What the runner has decided reaches the machine of the host.
func TestRemote_Limit(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	r, err := host.NewRemote(context.Background(), []string{exe, "trial-remote"},
		host.MachineConfig{Nodes: 3, Limit: 4096})
	must(t, err)
	defer r.Close()
	p := plan(t, "mutex/naimi-trehel", 3, harness.Scenario{Kind: harness.Sequential, Requests: 200}, nil)
	poll(t, 20*time.Second, func() error { return spoiled(once(t, r, p), "is full") })
}

// TestRemoteEnd: an end is the same on both sides, and so is what JSON cannot say.
func TestRemoteEnd(t *testing.T) {
	for _, busy := range []float64{0, 0.5, math.NaN()} {
		end := harness.End{At: 5, Reason: harness.Broken, Err: errors.New("hm"), Pending: 3, Skipped: 2,
			Invalid: []string{"a", "b"}}
		q := host.Quality{SchedDelayP99: 7, Busy: busy, Stolen: busy / 2, Throttled: 11, ReadyTime: 9,
			ClockError: 13, Usage: harness.Usage{CPU: 17, BusiestCPU: 15, Switches: 19, BusiestSwitches: 14,
				Involuntary: 3}}
		gotEnd, gotQ, err := host.SendEnd(end, q)
		must(t, err)
		if math.IsNaN(busy) && math.IsNaN(gotQ.Busy) {
			q.Busy, gotQ.Busy, q.Stolen, gotQ.Stolen = 0, 0, 0, 0
		}
		if !reflect.DeepEqual(gotEnd, end) || gotQ != q {
			t.Errorf("got %+v, %+v, want %+v, %+v", gotEnd, gotQ, end, q)
		}
	}
}

func TestRecordsBetweenHostAndRunner(t *testing.T) {
	all := trace.List{
		{At: 5, Type: trace.Send, Process: 1, Peer: 2, Seq: 1<<63 + 1, Sent: 5, Due: 9, Bytes: 3, Depth: 2},
		{At: 6, Type: trace.Save, Process: 2, Arg: 3, Text: "\xff\x00\n"},
		{At: -7, Type: trace.Cut, Text: "1|2,3"}, // Arg says nothing of its length
	}
	var b []byte
	for i := range all {
		b = agent.AppendRecord(b, &all[i])
	}
	var got trace.List
	must(t, agent.EachRecord(b, &got))
	if !reflect.DeepEqual(got, all) {
		t.Errorf("got %+v, want %+v", got, all)
	}
	for cut := 1; cut < len(b); cut++ {
		var some trace.List
		err := agent.EachRecord(b[:cut], &some)
		whole := cut == trace.Size+4 || cut == 2*(trace.Size+4)+3
		if (err == nil) != whole || !reflect.DeepEqual(some, all[:len(some)]) && len(some) > 0 {
			t.Errorf("the first %d bytes: %v, %+v", cut, err, some)
		}
	}
}

// FuzzEachRecord: whatever a host sends, its records are read or refused.
func FuzzEachRecord(f *testing.F) {
	r := trace.Record{Type: trace.Log, Process: 1, Text: "hm"}
	f.Add(agent.AppendRecord(agent.AppendRecord(nil, &r), &trace.Record{Type: trace.Up}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var list trace.List
		err := agent.EachRecord(b, &list)
		var again []byte
		for i := range list {
			again = agent.AppendRecord(again, &list[i])
		}
		if !strings.HasPrefix(string(b), string(again)) || err == nil && len(again) != len(b) {
			t.Errorf("%d bytes were read as %d records, which are %d bytes: %v", len(b), len(list), len(again), err)
		}
	})
}

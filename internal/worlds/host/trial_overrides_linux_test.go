package host_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// culpritPlan is a trial of three in which process 2 does a bad thing after 20 ms
// while the others wait.
func culpritPlan(tb testing.TB, deed string, linger time.Duration) harness.Plan {
	tb.Helper()
	p, err := deedPlan(deed, linger)
	must(tb, err)
	return p
}

func deedPlan(deed string, linger time.Duration) (harness.Plan, error) {
	p, err := algotest.Plan("election/test-culprit", 3, script(),
		map[string]any{"deed": deed, "linger": linger})
	p.TimeLimit, p.Network.Latency = 30*time.Second, link.Constant(0)
	return p, err
}

// mark gives the children of a machine an environment that they can be told by.
func mark(tb testing.TB) (string, func(*host.MachineConfig)) {
	tb.Helper()
	marker := fmt.Sprintf("CONCLAVE_TEST_MARK=%s-%d", tb.Name(), time.Now().UnixNano())
	return marker, func(c *host.MachineConfig) { c.Telltale = append(c.Telltale, marker) }
}

// noneLeft: the bus has no such mark, so that between trials nobody has.
func noneLeft(tb testing.TB, marker string) {
	tb.Helper()
	poll(tb, 10*time.Second, func() error {
		if pids, err := proctest.Orphans(marker); err != nil || len(pids) > 0 {
			return fmt.Errorf("left behind: %v, %v", pids, err)
		}
		return nil
	})
}

// fine makes sure that the machine can still run a trial.
func fine(tb testing.TB, m *host.Machine) {
	tb.Helper()
	p := plan(tb, "election/test-numbered", 3, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"messages": int64(3)})
	if o := run(tb, m, p); o.Totals.Delivered != 18 || o.End.Pending != 0 {
		tb.Errorf("the next trial: %+v, %+v", o.Totals, o.End)
	}
}

func TestTrial_NodeThatDoesNotJoin(t *testing.T) {
	t.Parallel()
	for mood, want := range map[string]string{
		"hang":    "1 of 3 nodes were not ready within 700ms: p2",
		"stop":    "1 of 3 nodes were not ready within 700ms: p2",
		"killed":  "node p2 was not ready: SIGKILL",
		"exit":    "node p2 was not ready: it has ended its whole process: exit code 7: no thanks",
		"garbage": `node p2 was not ready: wrote "\x00\xffsegmentation fault?" to its standard output`,
		"endless": "node p2 was not ready: wrote a line of more than 1048576 bytes",
	} {
		t.Run(mood, func(t *testing.T) {
			t.Parallel()
			marker, marked := mark(t)
			m := newMachine(t, 3, marked, func(c *host.MachineConfig) {
				c.NodeArgs, c.Ready = []string{"trial-moody"}, ms(700)
				c.Telltale = append(c.Telltale, moodKey+"="+mood)
			})
			poll(t, 20*time.Second, func() error { // the others may be late as well
				o := once(t, m, culpritPlan(t, "none", ms(1)))
				if len(o.End.Invalid) != 1 || !strings.Contains(o.End.Invalid[0], want) {
					return fmt.Errorf("%q, want %q", o.End.Invalid, want)
				}
				if o.Status != trace.Invalid {
					return fmt.Errorf("%s: %s", o.Status, o.Reason)
				}
				return nil
			})
			noneLeft(t, marker)
		})
	}
}

func TestTrial_NodeThatDoesNotJoinAgain(t *testing.T) {
	t.Parallel()
	for mood, want := range map[string]string{
		"hang-again": "node p2 was not ready again within",
		"exit-again": "node p2 was not ready again: it has ended its whole process: exit code 7: no thanks",
	} {
		t.Run(mood, func(t *testing.T) {
			t.Parallel()
			marker, marked := mark(t)
			m := newMachine(t, 3, marked, func(c *host.MachineConfig) {
				c.NodeArgs, c.Ready = []string{"trial-moody"}, time.Second
				c.Telltale = append(c.Telltale, moodKey+"="+mood)
			})
			p := culpritPlan(t, "none", ms(1))
			p.Scenario = script(crash(5), restart(10))
			poll(t, 20*time.Second, func() error {
				o := once(t, m, p)
				if !strings.Contains(strings.Join(o.End.Invalid, "; "), want) {
					return fmt.Errorf("%q, want %q", o.End.Invalid, want)
				}
				return nil
			})
			noneLeft(t, marker)
		})
	}
}

// TestTrial_PluginsMisdeeds: what the plugin broke is its fault; what the harness
// cannot vouch for makes the trial invalid. The next trial is fine in any case.
func TestTrial_PluginsMisdeeds(t *testing.T) {
	marker, marked := mark(t)
	m := newMachine(t, 3, marked)
	for _, c := range []struct {
		deed, broken, invalid string
	}{
		{"panic", "process 2: panic: the plugin has lost its head, in host_test.(*culprit).Timeout", ""},
		{"overflow", "process 2: fatal error: stack overflow, in ", ""},
		{"invariant", "process 2: invariant: the culprit is guilty", ""},
		{"huge", "process 2 sends a BULK of 1048581 bytes: at most 65536 are allowed", ""},
		{"kill", "process 2: SIGKILL while it handled an event", ""},
		{"spill", "process 2: it writes more than 16 MiB to its standard output or error in one trial", ""},
		{"spin", "(*culprit).Timeout has started a goroutine that outlives its event", ""},
		{"open", "it has left more than 63 files open", ""},
		{"take", "process 2: the trial takes more than 512 MiB of memory", ""},
		{"leave", "process 2: it has ended its whole process: exit code 0", ""},
		{"crash", "process 2: SIGSEGV: segmentation violation", ""},
		{"hoard", "process 2: fatal error: out of memory, in host_test.(*culprit).Timeout", ""},
		{"forge", "", ""}, // what it prints is no report
		{"print", "", ""},
	} {
		t.Run(c.deed, func(t *testing.T) {
			if (c.deed == "hoard" || c.deed == "take") && testing.Short() {
				t.Skip("the race detector, for which -short is, has words of its own where memory ends")
			}
			poll(t, 20*time.Second, func() error {
				o := once(t, m, culpritPlan(t, c.deed, ms(300)))
				invalid := strings.Join(o.End.Invalid, "; ")
				if c.broken == "" {
					spoilt := o.Status == trace.Invalid
					if !strings.Contains(invalid, c.invalid) || spoilt != (c.invalid != "") || o.Status == trace.Failed {
						return fmt.Errorf("%s, %q, want %q", o.Status, invalid, c.invalid)
					}
					return nil
				}
				if o.End.Err == nil || !strings.Contains(o.End.Err.Error(), c.broken) ||
					o.End.Reason != harness.Broken || o.Status != trace.Failed || invalid != "" {
					return fmt.Errorf("%s, %s, %v, %q, want %q", o.Status, o.End.Reason, o.End.Err, invalid,
						c.broken)
				}
				if len(o.End.Err.Error()) > 5000 {
					return fmt.Errorf("it takes %d bytes to say so", len(o.End.Err.Error()))
				}
				return nil
			})
			fine(t, m)
			noneLeft(t, marker)
		})
	}
}

func TestTrial_HandlerThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	m := newMachine(t, 3)
	p := culpritPlan(t, "block", ms(1))
	p.TimeLimit = ms(200)
	poll(t, 30*time.Second, func() error {
		o := once(t, m, p)
		const want = `process 2: Timeout of "deed": it does not return: `
		if o.Status != trace.Failed || !strings.HasPrefix(o.Reason, want) {
			return fmt.Errorf("%s: %s, want %s", o.Status, o.Reason, want)
		}
		return nil
	})
	fine(t, m)
}

// TestTrial_Flood: 100 000 messages at once are a load, not a deadlock: either all
// arrive, or the trial says why not.
func TestTrial_Flood(t *testing.T) {
	m := newMachine(t, 3)
	o := once(t, m, culpritPlan(t, "flood", ms(1)))
	if len(o.End.Invalid) == 0 && (o.Totals.Delivered != 100_000 || o.End.Reason != harness.Finished) {
		t.Errorf("%s, %+v", o.End.Reason, o.Totals)
	}
	t.Logf("%s after %v: %+v %.200q", o.End.Reason, o.End.At, o.Totals, o.End.Invalid)
	fine(t, m)
}

func TestTrial_TelemetryIsFull(t *testing.T) {
	m := newMachine(t, 3, func(c *host.MachineConfig) { c.Limit = 64 << 10 })
	poll(t, 20*time.Second, func() error {
		o := once(t, m, culpritPlan(t, "records", ms(100)))
		if all := strings.Join(o.End.Invalid, "; "); !strings.Contains(all, "telemetry full") ||
			o.Status != trace.Invalid {
			return fmt.Errorf("%s, %q", o.Status, all)
		}
		return nil
	})
	fine(t, m)
}

// underWay starts a trial that goes on for 20 s and returns when it is under way,
// with where its telemetry is.
func underWay(t *testing.T, ctx context.Context, nodes int, change ...func(*host.MachineConfig)) (
	m *host.Machine, telemetry string, result func() (outcome, error)) {
	t.Helper()
	dir := t.TempDir()
	change = append(change, func(c *host.MachineConfig) {
		c.Telltale = append(c.Telltale, startedKey+"="+dir)
	})
	m = newMachine(t, nodes, change...)
	type ended struct {
		o   outcome
		err error
	}
	over := make(chan ended, 1)
	p := culpritPlan(t, "none", 20*time.Second)
	go func() {
		o, err := attempt(ctx, m, p)
		over <- ended{o, err}
	}()
	result = func() (outcome, error) {
		t.Helper()
		select {
		case e := <-over:
			return e.o, e.err
		case <-time.After(15 * time.Second):
			t.Fatal("the trial goes on")
			return outcome{}, nil
		}
	}
	awaitStart(t, dir, &telemetry)
	return m, telemetry, result
}

func awaitStart(t *testing.T, dir string, telemetry *string) {
	t.Helper()
	poll(t, 20*time.Second, func() error {
		b, err := os.ReadFile(filepath.Join(dir, "started"))
		*telemetry = string(b)
		return err
	})
}

// children are the processes that this one started with arg as their argument.
func children(tb testing.TB, arg string) (pids []int) {
	tb.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(tb, err)
	for _, name := range all {
		line, _ := os.ReadFile(name) // gone already, perhaps
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "stat"))
		fields := strings.Fields(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]))
		if strings.HasSuffix(string(line), "\x00"+arg+"\x00") && len(fields) > 2 &&
			fields[2] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestTrial_BusDies(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		want   string
	}{
		{"killed", syscall.SIGKILL, "the bus died"},
		{"stopped", syscall.SIGSTOP, "the bus does not answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.signal == syscall.SIGSTOP && !slowtest.Night() {
				t.Skip("takes ten seconds: CONCLAVE_NIGHTLY=1 runs it")
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			m, _, result := underWay(t, ctx, 3)
			before := m.URL()
			pids := children(t, "trial-bus")
			if len(pids) != 1 {
				t.Fatalf("buses: %v", pids)
			}
			must(t, syscall.Kill(pids[0], c.signal))
			o, err := result()
			must(t, err)
			if len(o.End.Invalid) == 0 || !strings.HasPrefix(o.End.Invalid[0], c.want) {
				t.Errorf("%q, want %q first", o.End.Invalid, c.want)
			}
			t.Logf("%q", o.End.Invalid)
			fine(t, m)
			if m.URL() == before || len(children(t, "trial-bus")) != 1 {
				t.Errorf("the bus at %s was replaced by that at %s", before, m.URL())
			}
		})
	}
}

// Not parallel: a bus has the environment of this process.
func TestMachine_BusDiesAtItsStart(t *testing.T) {
	t.Setenv(frailKey, t.TempDir())
	m := newMachine(t, 3, func(c *host.MachineConfig) { c.BusArgs = []string{"trial-frail-bus"} })
	fine(t, m)
	for _, pid := range children(t, "trial-frail-bus") {
		must(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	fine(t, m)
	if started, err := os.ReadDir(os.Getenv(frailKey)); err != nil || len(started) != 4 {
		t.Errorf("%d buses were started, %v; want 4", len(started), err)
	}
}

func TestTrial_Cancelled(t *testing.T) {
	marker, marked := mark(t)
	for _, during := range []string{"the trial", "the join"} {
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("enough")
		var m *host.Machine
		var err error
		var begun time.Time
		if during == "the join" {
			m = newMachine(t, 3, marked, func(c *host.MachineConfig) {
				c.NodeArgs, c.Telltale = []string{"trial-moody"}, append(c.Telltale, moodKey+"=hang")
			})
			time.AfterFunc(ms(100), func() { cancel(why) })
			begun = time.Now()
			_, err = attempt(ctx, m, culpritPlan(t, "none", ms(1)))
		} else {
			var result func() (outcome, error)
			m, _, result = underWay(t, ctx, 3, marked)
			begun = time.Now()
			cancel(why)
			_, err = result()
		}
		if !errors.Is(err, why) || time.Since(begun) > 15*time.Second { // the trial takes 20
			t.Errorf("%s: %v after %v", during, err, time.Since(begun))
		}
		if left, _ := proctest.Orphans(marker); len(left) > 0 {
			t.Errorf("%s: left behind: %v", during, left)
		}
		m.Close()
	}
}

func TestMachine_CloseLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(context.Background())
	m, telemetry, result := underWay(t, ctx, 3)
	if _, err := os.Stat(telemetry); err != nil || !strings.Contains(telemetry, "/conclave-") {
		t.Errorf("telemetry: %v", err)
	}
	cancel(errors.New("enough"))
	_, _ = result()
	m.Close()
	// .../conclave-12345/1/p2-0
	if _, err := os.Stat(filepath.Dir(filepath.Dir(telemetry))); !os.IsNotExist(err) {
		t.Errorf("telemetry is left: %v", err)
	}
	if n := len(children(t, "trial-bus")) + len(children(t, "trial-node")); n > 0 {
		t.Errorf("%d children are left", n)
	}
	m.Close()
}

// runHost is a host that runs a long trial until it is killed.
func runHost() error {
	o, err := hostAlone(time.Minute)
	return fmt.Errorf("the trial is over: %+v, %w", o.End, err)
}

func TestMachine_NobodyOutlivesTheHost(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			marker, _ := mark(t)
			c, telemetry := startHost(t, "trial-host", marker)
			defer func() {
				if t.Failed() {
					c.Kill()
					t.Logf("the host: %v: %s", c.Exit(), c.Stderr())
				}
			}()
			if all, err := proctest.Orphans(marker); err != nil || len(all) != 5 {
				t.Errorf("host, bus and three nodes: %v, %v", all, err)
			}
			must(t, syscall.Kill(c.Pid(), sig))
			c.Exit()
			noneLeft(t, marker)
			if dir := filepath.Dir(filepath.Dir(telemetry)); strings.Contains(dir, "/conclave-") {
				_ = os.RemoveAll(dir) // a host that is killed cannot
			}
		})
	}
}

// TestTrial_Secrets: the keys of a run are in no argument, no environment and
// nothing that is written.
func TestTrial_Secrets(t *testing.T) {
	ids, err := bus.NewIdentities(1)
	must(t, err)
	server, err := bus.StartServer(bus.ServerConfig{Observer: ids[0].Public})
	must(t, err)
	defer server.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	seed := string(ids[0].Secret())
	m, telemetry, result := underWay(t, ctx, 3, func(c *host.MachineConfig) {
		c.External = bus.DialConfig{URL: server.URL(), Seed: ids[0].Secret()}
	})
	nodes := children(t, "trial-node")
	if len(nodes) != 3 {
		t.Fatalf("nodes: %v", nodes)
	}
	looksLikeSeed := regexp.MustCompile(`S[UAON][A-Z2-7]{56}`)
	search := func(where, text string) {
		if strings.Contains(text, seed) || looksLikeSeed.MatchString(text) ||
			strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(seed))) {
			t.Errorf("%s holds a secret", where)
		}
	}
	for _, pid := range nodes {
		for _, what := range []string{"cmdline", "environ"} {
			name := fmt.Sprintf("/proc/%d/%s", pid, what)
			text, err := os.ReadFile(name)
			must(t, err)
			search(name, string(text))
		}
	}
	records, err := os.ReadFile(telemetry)
	must(t, err)
	search("telemetry", string(records))
	cancel(errors.New("enough"))
	_, _ = result()

	o := once(t, m, culpritPlan(t, "panic", ms(300))) // its stack, with arguments
	if o.End.Err == nil {
		t.Logf("no panic: %+v", o.End)
	} else {
		search("the panic", o.End.Err.Error())
	}
	ids[0] = bus.Identity{}
	m.Close()
	server.Close()
	p := culpritPlan(t, "none", ms(1))
	m = newMachine(t, 3, func(c *host.MachineConfig) {
		c.External = bus.DialConfig{URL: server.URL(), Seed: []byte(seed)}
	})
	o = once(t, m, p) // nobody is there any more
	search("the reason", fmt.Sprint(o.End.Invalid))
	if len(o.End.Invalid) == 0 || !strings.Contains(o.End.Invalid[0], "connect to bus") {
		t.Errorf("%q", o.End.Invalid)
	}
}

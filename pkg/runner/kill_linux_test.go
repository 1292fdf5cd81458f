package runner_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
	"github.com/conclave-bench/conclave/pkg/results"
)

// short is a sweep of trials on real nodes, each a tenth of a second: long enough for
// something to be done to it meanwhile.
const short = `
name: short
problem: election
algorithms: [bully]
transport: nats
nodes: 3
network: {latency: 1ms}
scenario: {kind: leader-crash, settle: 50ms}
repetitions: 6
retries: 9
allow: {invalid: 6}
`

// unhurried is one whose trials take a second each, however fast the machine is: whoever interrupts it
// after the first need not hurry.
var unhurried = strings.Replace(short, "settle: 50ms", "settle: 1s", 1)

// virtual is a sweep in simulation that takes long enough to be killed: writing
// traces is slow.
const virtual = `
name: virtual
problem: election
algorithms: [bully, ring-list]
transport: sim
nodes: 4
network: {latency: {distribution: uniform, min: 1ms, max: 3ms}, loss: 0.02}
scenario: {kind: leader-crash}
repetitions: 40
allow: {timeout: 80}
trace: all
`

// A command is bench as a program of its own, from a link to the test binary
// that no other test uses, so that whatever it leaves behind can be told.
type command struct {
	t    testing.TB
	exe  string
	root string
	host string // what --host is; "" without
}

func newCommand(t testing.TB) *command {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	from, err := os.Executable()
	must(t, err)
	c := &command{t: t, exe: filepath.Join(t.TempDir(), "bench"), root: t.TempDir()}
	if os.Link(from, c.exe) != nil {
		// Not a copy of ours: a child of another test would have it open for
		// writing, and then nobody can run it.
		must(t, exec.Command("cp", from, c.exe).Run())
	}
	return c
}

// A process is a bench that has been started.
type process struct {
	*exec.Cmd
	out, errs buffer
	ended     chan struct{}
}

// A buffer is written by a process and read by a test.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start runs bench run with args.
func (c *command) start(args ...string) *process {
	c.t.Helper()
	args = append([]string{"run"}, args...)
	if c.host != "" {
		args = append(args, "--host", c.host)
	}
	p := &process{Cmd: exec.Command(c.exe, args...),
		ended: make(chan struct{})}
	p.Stdout, p.Stderr = &p.out, &p.errs
	must(c.t, p.Start())
	go func() {
		defer close(p.ended)
		_ = p.Wait() // the exit code says it
	}()
	c.t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
	})
	return p
}

// ends fails unless p ends by itself with that exit code.
func (c *command) ends(p *process, code int, within time.Duration) {
	c.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(within):
		c.t.Fatalf("it did not end within %v\n%s%s", within, &p.out, &p.errs)
	}
	if got := p.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("exit code %d, want %d\n%s%s", got, code, &p.out, &p.errs)
	}
}

// waits waits for what to come true while p runs. If p ends before, it fails at once with
// what p said.
func (c *command) waits(p *process, what string, come func() bool) {
	c.t.Helper()
	until(c.t, time.Minute, what, func() bool {
		select {
		case <-p.ended:
			if !come() {
				c.t.Fatalf("%s: it ended before, with exit code %d\n%s%s", what, p.ProcessState.ExitCode(), &p.out,
					&p.errs)
			}
			return true
		default:
			return come()
		}
	})
}

// run is bench run with args, which ends with that exit code.
func (c *command) run(code int, args ...string) *process {
	c.t.Helper()
	p := c.start(args...)
	c.ends(p, code, 2*time.Minute)
	return p
}

// dir is the folder of the only run under the command's root; "" if none has
// begun.
func (c *command) dir() string {
	found, err := filepath.Glob(filepath.Join(c.root, "*", "2*"))
	must(c.t, err)
	if len(found) > 1 {
		c.t.Fatalf("%d folders, want one: %v", len(found), found)
	}
	if len(found) == 0 {
		return ""
	}
	if _, err := results.ReadHeader(found[0]); err != nil {
		return "" // killed before it was a run
	}
	return found[0]
}

// alone fails unless all processes of the command are gone soon.
func (c *command) alone() {
	c.t.Helper()
	until(c.t, time.Minute, "no process is left", func() bool {
		links, _ := filepath.Glob("/proc/[0-9]*/exe")
		for _, link := range links {
			// What has ended, or is a zombie, has no such link.
			if to, err := os.Readlink(link); err == nil && to == c.exe {
				return false
			}
		}
		return true
	})
}

// killLoop kills a sweep at n instants, and continues it after each.
func (c *command) killLoop(text string, n int) {
	t := c.t
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the instants: %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	file := write(t, text)
	args := []string{file, "--out", c.root}
	kept := map[string]string{}
	for killed := 0; killed < n; {
		p := c.start(args...)
		more := len(kept) + rng.IntN(4)
		soon := time.Duration(rng.Int64N(int64(150 * time.Millisecond)))
		if rng.IntN(4) == 0 {
			more = 0 // before there is anything to go on with
		}
		if !c.kill(p, more, soon) {
			c.ends(p, 0, time.Minute)
			complete(t, c.dir())
			must(t, os.RemoveAll(c.root))
			args, kept = []string{file, "--out", c.root}, map[string]string{}
			continue
		}
		killed++
		c.alone()
		c.swept(p)
		dir := c.dir()
		if dir == "" {
			must(t, os.RemoveAll(c.root))
			continue
		}
		args = []string{"--resume", dir}
		now := finished(dir)
		for trial, status := range kept {
			if now[trial] != status {
				t.Fatalf("trial %s was %s before and is %q after instant %d", trial, status, now[trial],
					killed)
			}
		}
		kept = now
	}
	c.run(0, args...)
	complete(t, c.dir())
	c.alone()
}

// killLoopAlike is a killLoop, which fails unless a sweep that nobody killed has left
// the same.
func (c *command) killLoopAlike(text string, n int) {
	c.t.Helper()
	c.killLoop(text, n)
	whole := &command{t: c.t, exe: c.exe, root: c.t.TempDir()}
	whole.run(0, write(c.t, text), "--out", whole.root)
	same(c.t, files(c.t, c.dir()), files(c.t, whole.dir()))
}

// kill ends p a moment after so many trials were finished, unless it ends before.
func (c *command) kill(p *process, trials int, soon time.Duration) bool {
	until(c.t, time.Minute, "some trials are finished", func() bool {
		select {
		case <-p.ended:
			return true
		default:
			return trials == 0 || c.dir() != "" && len(finished(c.dir())) >= trials
		}
	})
	select {
	case <-p.ended:
	case <-time.After(soon):
		if err := p.Process.Kill(); !errors.Is(err, os.ErrProcessDone) { // it may have ended just now
			must(c.t, err)
		}
		<-p.ended
	}
	return p.ProcessState.ExitCode() == -1
}

// swept makes a machine, which removes what a killed one has left, unless that of
// another test is at it.
func (c *command) swept(p *process) {
	c.t.Helper()
	m, err := host.NewMachine(host.MachineConfig{Exe: c.exe, BusArgs: []string{"__bus"}, Nodes: 1,
		Run: "sweep"})
	must(c.t, err)
	m.Close()
	name := filepath.Join(telemetry.Dir(0), fmt.Sprintf("conclave-%d-*", p.Process.Pid))
	until(c.t, time.Minute, "nothing is left behind", func() bool {
		left, _ := filepath.Glob(name)
		return len(left) == 0
	})
}

func TestKill_RealNodes(t *testing.T) {
	t.Parallel()
	newCommand(t).killLoop(short, times(3, 200))
}

// The runner's death is that of the host, and of all that it has started.
func TestKill_WithAHost(t *testing.T) {
	t.Parallel()
	nightly(t)
	c := newCommand(t)
	c.host = c.exe + " host"
	c.killLoop(short, 50)
}

// A host program changes nothing about a run, but that the manifest tells of it.
func TestHost(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	c.host = c.exe + " host"
	p := c.start(write(t, unhurried), "--out", c.root)
	c.waits(p, "a trial is finished", func() bool { return len(finished(c.dir())) > 0 })
	must(t, p.Process.Signal(syscall.SIGINT))
	c.ends(p, 130, time.Minute)
	c.alone()
	host := c.host
	c.host = ""
	refused := c.run(2, "--resume", c.dir())
	if want := "add --host '" + host + "'"; !strings.Contains(flat(&refused.errs), want) {
		t.Errorf("no %q in:\n%s", want, &refused.errs)
	}
	c.host = host
	c.run(0, "--resume", c.dir())
	complete(t, c.dir())
	c.alone()
	m, err := results.ReadManifest(c.dir())
	must(t, err)
	if m.Host == nil || m.Host.Machine.String() != m.Machine.String() ||
		m.Host.Tool.Binary != m.Tool.Binary || m.Bus["round_trip_p50_us"] == nil {
		t.Errorf("host %+v, bus %v", m.Host, m.Bus)
	}
	for _, note := range m.Notes {
		if strings.Contains(note, "host") {
			t.Errorf("a note: %s", note)
		}
	}
	c.root, c.host = t.TempDir(), "no-such-program host"
	failed := c.run(1, write(t, short), "--out", c.root)
	if want := `start host: exec: "no-such-program"`; !strings.Contains(flat(&failed.errs), want) {
		t.Errorf("no %q in:\n%s", want, &failed.errs)
	}
}

func TestKill_Simulation(t *testing.T) {
	t.Parallel()
	newCommand(t).killLoopAlike(virtual, times(4, 200))
}

// A run that was killed decides again as it would have without that.
func TestKill_Rule(t *testing.T) {
	t.Parallel()
	slow := strings.Replace(ruled, "trace: none", "trace: all", 1) // long enough to be killed
	newCommand(t).killLoopAlike(slow, times(2, 200))
}

func TestKill_RuleOnRealNodes(t *testing.T) {
	t.Parallel()
	text := strings.Replace(short, "repetitions: 6",
		"repetitions: {min: 6, max: 8, until: {metric: election_ms, ci: 2%}}", 1)
	newCommand(t).killLoop(text, times(1, 50))
}

func TestInterrupt_RealNodes(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	p := c.start(write(t, unhurried), "--out", c.root)
	c.waits(p, "a trial is finished", func() bool { return len(finished(c.dir())) > 0 })
	must(t, p.Process.Signal(syscall.SIGINT))
	c.ends(p, 130, time.Minute)
	c.alone()
	dir := c.dir()
	must(t, results.Verify(dir))
	m, err := results.ReadManifest(dir)
	must(t, err)
	if rows := table(t, dir, results.TrialsFile); m.Complete || m.Finished < 1 ||
		m.Finished >= m.Planned || len(rows) < m.Finished {
		t.Errorf("complete %v, %d of %d finished, %d rows, want a part", m.Complete, m.Finished,
			m.Planned, len(rows))
	}
	if want := "bench run --resume " + dir; !strings.Contains(flat(&p.errs), want) {
		t.Errorf("no %q in:\n%s", want, &p.errs)
	}
	c.run(0, "--resume", dir)
	complete(t, dir)
	c.alone()
}

// flat is what a command said, without the line breaks that keep it within a terminal.
func flat(said fmt.Stringer) string { return strings.Join(strings.Fields(said.String()), " ") }

func TestTwoRunners(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	first := c.start(write(t, short), "--out", c.root, "--quiet")
	c.waits(first, "the run has begun", func() bool { return c.dir() != "" })
	second := c.run(1, "--resume", c.dir())
	want := fmt.Sprintf("is in use by process %d", first.Process.Pid)
	if !strings.Contains(flat(&second.errs), want) {
		t.Errorf("no %q in:\n%s", want, &second.errs)
	}
	c.ends(first, 0, time.Minute)
	complete(t, c.dir())
}

// A folder that goes while its run is going ends the run.
func TestFolderVanishes(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	p := c.start(write(t, short), "--out", c.root)
	c.waits(p, "a trial is finished", func() bool { return len(finished(c.dir())) > 0 })
	dir, aside := c.dir(), filepath.Join(t.TempDir(), "aside")
	must(t, os.Rename(dir, aside))
	c.ends(p, 1, time.Minute)
	if want := "was removed or replaced"; !strings.Contains(flat(&p.errs), want) {
		t.Errorf("no %q in:\n%s", want, &p.errs)
	}
	must(t, os.Rename(aside, dir))
	c.run(0, "--resume", dir)
	complete(t, dir)
}

func TestFolderCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	file := filepath.Join(c.root, "file")
	must(t, os.WriteFile(file, nil, 0o644))
	must(t, os.WriteFile(filepath.Join(c.root, "short"), nil, 0o644))
	const instead = "not a directory; expected a folder, found a file"
	for name, test := range map[string]struct{ out, want string }{
		"below a file":                {filepath.Join(file, "results"), file + ": " + instead},
		"a file":                      {file, file + ": " + instead},
		"a file in the name's place":  {c.root, filepath.Join(c.root, "short") + ": " + instead},
		"where nothing can be made":   {"/proc/results", "/proc/results: "},
		"in a folder of the system's": {"/proc/self/task", "/proc/self/task/short: "},
	} {
		p := c.run(1, write(t, short), "--out", test.out)
		text := flat(&p.errs)
		if !strings.Contains(text, test.want) {
			t.Errorf("%s: no %q in:\n%s", name, test.want, text)
		}
		if strings.Contains(text, "trial ") || p.out.String() != "" {
			t.Errorf("%s: it has begun:\n%s%s", name, &p.out, text)
		}
	}
	c.alone()
}

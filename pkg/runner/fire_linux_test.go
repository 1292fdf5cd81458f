package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The roles of a bench under limits: its arguments follow.
const (
	fewFilesRole     = "__few-files"
	fewProcessesRole = "__few-processes" // as nobody: root may have any number
	readOnlyRole     = "__read-only"     // the folder that comes first is
	starvedRole      = "__starved"       // with the control group that comes first
)

const rlimitNPROC = 6 // Linux

func init() {
	limited := func(which int, most uint64, also func() error) func() int {
		return func() int {
			limit := syscall.Rlimit{Cur: most, Max: most}
			if err := errors.Join(syscall.Setrlimit(which, &limit), also()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return cannot
			}
			return benchRun(os.Args[2:])
		}
	}
	roles[fewFilesRole] = limited(syscall.RLIMIT_NOFILE, 64, func() error { return nil })
	roles[fewProcessesRole] = limited(rlimitNPROC, 60, func() error { return syscall.Setuid(65534) })
	roles[readOnlyRole] = func() int {
		if err := unix.Mount("none", os.Args[2], "tmpfs", unix.MS_RDONLY, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return cannot
		}
		return benchRun(append(os.Args[3:], "--out", os.Args[2]))
	}
}

func init() {
	roles[starvedRole] = func() int {
		procs := filepath.Join(os.Args[2], "cgroup.procs")
		if err := os.WriteFile(procs, []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return cannot
		}
		return benchRun(os.Args[3:])
	}
}

// poor is a control group whose processes have a quota of processor time among them in
// each period, both in microseconds.
func poor(t *testing.T, quota, period int) (group string) {
	t.Helper()
	limits := map[string][][2]string{ // of the two versions
		"/sys/fs/cgroup/cpu": {{"cpu.cfs_period_us", fmt.Sprint(period)}, {"cpu.cfs_quota_us", fmt.Sprint(quota)}},
		"/sys/fs/cgroup":     {{"cpu.max", fmt.Sprint(quota, " ", period)}},
	}
	for _, root := range []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"} {
		dir := filepath.Join(root, fmt.Sprintf("conclave-test-%d-%d", os.Getpid(), quota))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			until(t, 10*time.Second, "the control group is empty", func() bool { return os.Remove(dir) == nil })
		})
		var err error
		for _, l := range limits[root] {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, l[0]), []byte(l[1]), 0))
		}
		if err == nil {
			return dir
		}
	}
	t.Skip("no control groups to be had")
	return ""
}

// A run that gets a twentieth of a processor publishes nothing. Its trials need what many periods
// give, so that none can be done in one of them, undisturbed.
func TestStarved(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	group := poor(t, 10_000, 200_000)
	p := exec.Command(c.exe, starvedRole, group, write(t, queueing), "--out", c.root, "--set", "repetitions=1",
		"--set", "retries=1", "--set", "allow.invalid=0", "--set", "scenario.requests=200")
	out, err := p.CombinedOutput()
	switch code := p.ProcessState.ExitCode(); {
	case code == cannot:
		t.Skipf("no control group to be had: %s", out)
	case code != 5:
		t.Errorf("%v, want exit code 5: %s", err, out)
	}
	dir := c.dir()
	for i, row := range table(t, dir, results.TrialsFile) {
		attempts, err := results.ReadAttempts(dir, i+1)
		must(t, err)
		if trace.Status(row["status"]) != trace.Invalid || len(attempts) != 2 {
			t.Errorf("trial %d: %s after %d attempts", i+1, row["status"], len(attempts))
		}
		t.Logf("trial %d: %s", i+1, row["reason"])
	}
	if n := spoiledBy(t, dir, regexp.MustCompile(`the machine was (overloaded|late)|started .* late|not ready`)); n < 2 {
		t.Errorf("%d attempts are invalid for that, want 2", n)
	}
	c.alone()
}

// queueing is a load whose times are made of latencies and holds alone.
const queueing = `
name: queueing
problem: mutex
algorithms: [naimi-trehel]
transport: nats
nodes: 4
network: {latency: 1ms}
scenario: {kind: closed, requests: 40, hold: 1ms, think: 0s}
repetitions: 4
retries: 0
allow: {invalid: 4}
`

// TestThrottled: of a run that has a quarter of a processor, in slices, no figure stands
// without a mark that is more than a tenth longer than it should be: simulation says
// what it should be, and an idle machine adds a twentieth of its own. Where a quarter is enough, less is given.
func TestThrottled(t *testing.T) {
	t.Parallel()
	for _, quota := range []int{5000, 2500, 1250} {
		if disturbed(t, poor(t, quota, 20_000)) > 0 {
			return
		}
	}
	t.Error("none of the trials is marked, and none invalid")
}

// disturbed is how many trials of a run in a control group are marked or invalid. The others have their
// figures.
func disturbed(t *testing.T, group string) (n int) {
	t.Helper()
	times := func(world string) (rows []map[string]string) {
		c := newCommand(t)
		p := exec.Command(c.exe, starvedRole, group, write(t, queueing), "--out", c.root, "--set", "transport="+world)
		out, err := p.CombinedOutput()
		if p.ProcessState.ExitCode() == cannot {
			t.Skipf("no control group to be had: %s", out)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return table(t, c.dir(), results.TrialsFile)
	}
	truth := times("sim")[0]
	for _, row := range times("nats") {
		t.Logf("trial %s: %s, waiting_ms %s, skew %s, throttled_ms %s: %s", row["trial"], row["status"],
			row["waiting_ms"], row["skew"], row["throttled_ms"], row["reason"])
		if row["reason"] != "" {
			n++
			continue
		}
		for _, metric := range []string{"waiting_ms", "sync_delay_ms", "latency_achieved_ms"} {
			got, want := number(t, row[metric]), number(t, truth[metric])
			if got > 1.15*want {
				t.Errorf("trial %s: %s is %v, simulated %v, and it has no mark", row["trial"], metric, got, want)
			}
		}
	}
	return n
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	must(t, err)
	return v
}

func benchRun(args []string) int {
	os.Args = append([]string{os.Args[0], "run"}, args...)
	return bench()
}

// nightly skips a test that takes long, unless it is the time for such.
func nightly(t *testing.T) {
	t.Helper()
	if !slowtest.Night() {
		t.Skip("takes long: CONCLAVE_NIGHTLY=1 runs it")
	}
}

// processes are those of the command with that argument, at present.
func (c *command) processes(role string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != c.exe {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if bytes.Contains(line, []byte("\x00"+role+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// Nodes, buses, or hosts are killed at random instants: the sweep ends, with every
// trial once, and what was hit is marked.
func TestKill_NodesBusesAndHosts(t *testing.T) {
	slowtest.Skip(t, "kills what real runs started")
	for role, reason := range map[string]string{
		"__node": `node p\d (died|was not ready|was not ready again): SIGKILL`,
		"__bus":  `the bus|connect to bus|disconnected`,
		"host":   `the host died: SIGKILL`,
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			c := newCommand(t)
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed of the instants: %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			text := strings.NewReplacer("invalid: 6", "invalid: 0", "retries: 9", "retries: 50").Replace(short)
			file := write(t, text)
			apart := 200 * time.Millisecond
			if role == "host" { // which takes longest to be replaced
				c.host, apart = c.exe+" host", 500*time.Millisecond
			}
			marked, killed, sweeps := 0, 0, 0
			for n := times(3, 50); killed < n; sweeps++ {
				p := c.start(file, "--out", c.root)
				killed += c.killSome(p, role, n-killed, apart, rng)
				c.ends(p, 0, time.Minute)
				complete(t, c.dir())
				c.alone()
				marked += spoiledBy(t, c.dir(), regexp.MustCompile(reason))
				must(t, os.RemoveAll(c.root))
			}
			// A node that has said good-bye, and a bus between two trials, is not missed.
			t.Logf("%d killed in %d sweeps, %d attempts marked", killed, sweeps, marked)
			if marked == 0 || marked > killed {
				t.Errorf("%d attempts are marked, of %d that can have been hit", marked, killed)
			}
		})
	}
}

// killSome kills at most n processes of that role while p runs, less than apart one
// after the other, and says how many.
func (c *command) killSome(p *process, role string, n int, apart time.Duration, rng *rand.Rand) (
	killed int) {
	for killed < n {
		select {
		case <-p.ended:
			return killed
		case <-time.After(time.Duration(rng.Int64N(int64(apart)))):
		}
		if all := c.processes(role); len(all) > 0 && len(finished(c.dir())) > 0 {
			if syscall.Kill(all[rng.IntN(len(all))], syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	return killed
}

// spoiledBy counts the attempts in the journal that are invalid for such a reason.
func spoiledBy(t *testing.T, dir string, reason *regexp.Regexp) (n int) {
	t.Helper()
	for i := range table(t, dir, results.TrialsFile) {
		attempts, err := results.ReadAttempts(dir, i+1)
		must(t, err)
		for _, a := range attempts {
			if a.Status == trace.Invalid && reason.MatchString(a.Reason) {
				n++
			}
		}
	}
	return n
}

// A hundred trials whose nodes all die: bounded attempts, and a sweep that ends.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	nightly(t)
	text := strings.NewReplacer("ALLOW", "0", "repetitions: 3", "repetitions: 100",
		"retries: 3", "retries: 1").Replace(doomedTrials)
	e, f := created(t, text, t.TempDir())
	o := options(t)
	o.NodeArgs = []string{doomedRole, "."}
	s, err := runner.Run(context.Background(), e, f, o)
	must(t, errors.Join(err, f.Close()))
	if m := s.Manifest; m.Attempts != 200 || m.Statuses[trace.Invalid] != 100 {
		t.Errorf("%d attempts, %v; want 200, all invalid", m.Attempts, m.Statuses)
	}
	checkExit(t, f.Dir(), 5)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	own := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	alone := *own
	alone.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	for _, test := range []struct {
		name  string
		args  []string
		attr  *syscall.SysProcAttr
		codes []int
		want  string
	}{
		{"files", []string{fewFilesRole, "FILE", "--out", "OUT", "--set", "nodes=50"}, nil, []int{1},
			"limit of open files: 656 needed, 64 allowed .*raise it with \"ulimit -Hn 656\""},
		{"processes", []string{fewProcessesRole, "FILE", "--out", "OUT", "--set", "nodes=50",
			"--set", "repetitions=1", "--set", "retries=0", "--set", "allow.invalid=0"}, nil, []int{1, 5},
			`(ulimit -u)|resource temporarily unavailable`},
		{"a disk that is read only", []string{readOnlyRole, "OUT", "FILE"}, own, []int{1},
			"read-only file system; expected a folder that can be written"},
		{"no loopback", []string{"run", "FILE", "--out", "OUT"}, &alone, []int{1},
			"network is unreachable: is the loopback interface up"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCommand(t)
			file := write(t, short)
			for _, dir := range []string{c.root, filepath.Dir(c.exe), filepath.Dir(file)} {
				must(t, errors.Join(os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755)))
			}
			args := slices.Clone(test.args)
			for i, a := range args {
				args[i] = strings.NewReplacer("FILE", file, "OUT", c.root).Replace(a)
			}
			p := exec.Command(c.exe, args...)
			p.SysProcAttr = test.attr
			var out, errs bytes.Buffer
			p.Stdout, p.Stderr = &out, &errs
			begun := time.Now()
			err := p.Run()
			if p.ProcessState == nil || p.ProcessState.ExitCode() == cannot {
				t.Skipf("no such limit here: %v %s", err, &errs)
			}
			if !slices.Contains(test.codes, p.ProcessState.ExitCode()) ||
				!regexp.MustCompile(test.want).MatchString(flat(&errs)) {
				t.Errorf("%v, want exit code %v and %q:\n%s%s", err, test.codes, test.want, &out, &errs)
			}
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("it took %v to say so", took)
			}
			c.alone()
		})
	}
}

// looksLikeSeed is the secret half of any key of NATS.
var looksLikeSeed = regexp.MustCompile(`S[UAONCP][A-Z2-7]{56}`)

// The keys of a run are in nothing that its processes show, print or leave.
func TestSecretsStayInPipes(t *testing.T) {
	t.Parallel()
	c := newCommand(t)
	p := c.start(write(t, short+"\ntrace: all\n"), "--out", c.root)
	c.waits(p, "a bus and nodes run", func() bool {
		return len(c.processes("__bus")) == 1 && len(c.processes("__node")) > 0
	})
	looked := 0
	for _, role := range []string{"run", "__bus", "__node"} {
		for _, pid := range c.processes(role) {
			for _, what := range []string{"cmdline", "environ"} {
				text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, what))
				if err == nil && looksLikeSeed.Match(text) { // else it has ended
					t.Errorf("%s of the %s shows a key", what, role)
				}
				looked++
			}
		}
	}
	c.ends(p, 0, time.Minute)
	must(t, filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		looked++
		text, err := os.ReadFile(path)
		if looksLikeSeed.Match(text) {
			t.Errorf("%s holds a key", path)
		}
		return err
	}))
	if text := p.out.String() + p.errs.String(); looksLikeSeed.MatchString(text) {
		t.Errorf("it printed a key:\n%s", text)
	}
	if looked < 15 {
		t.Errorf("looked at %d places only", looked)
	}
}

// The memory of a run does not grow with its trials.
func TestMemory(t *testing.T) {
	nightly(t)
	for _, world := range []string{"nats", "sim"} {
		text := strings.NewReplacer("repetitions: 6", "repetitions: 2000", "invalid: 6",
			"invalid: 2000", "settle: 50ms", "settle: 5ms", "transport: nats", "transport: "+world).Replace(short)
		e, f := created(t, text, t.TempDir())
		o := options(t)
		var heap []uint64 // after every hundred trials
		o.Progress = func(p runner.Progress) {
			if p.Finished%100 == 0 && p.Finished/100 > len(heap) {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				heap = append(heap, m.HeapAlloc)
			}
		}
		_, err := runner.Run(context.Background(), e, f, o)
		must(t, errors.Join(err, f.Close()))
		t.Logf("%s: %d KiB in use at 100 trials, %d at 1000, %d at 2000", world, heap[0]>>10, heap[9]>>10,
			heap[len(heap)-1]>>10)
		// What a trial may leave: its place in the journal.
		if first, last := heap[4], heap[len(heap)-1]; len(heap) < 20 || last > first+1500*256 {
			t.Errorf("%s: from %d to %d bytes in 1500 trials", world, first, last)
		}
	}
}

package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner/nodes"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Environment of an agent of another machine, its bus and its nodes.
const (
	nameKey  = "CONCLAVE_TEST_HOST"  // the machine's name
	clockKey = "CONCLAVE_TEST_CLOCK" // a file that says how its clock runs: see readClock
	wallKey  = "CONCLAVE_TEST_WALL"  // by how much its wall clock is ahead
)

// readClock reads by how much a clock is ahead of the system's, and by how many ppm it gains; and
// pairs of an instant of the system's clock, and by how many ppm it gains more from then on.
func readClock(path string) (d clock.Distortion, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	words := strings.Fields(string(text))
	for i := 0; i < len(words) && err == nil; i += 2 {
		var at time.Duration
		var ppm float64
		if at, err = time.ParseDuration(words[i]); err == nil {
			_, err = fmt.Sscan(strings.Join(words[i+1:], " "), &ppm)
		}
		if i == 0 {
			d.Ahead, d.Gains = at, ppm/1e6
		} else {
			d.Bends = append(d.Bends, clock.Bend{At: at, Gains: ppm / 1e6})
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return d, err
}

// distortClock makes the clock of this process that of the machine where it is to be. It is
// read again at SIGUSR1.
func distortClock() error {
	path := os.Getenv(clockKey)
	if path == "" {
		return nil
	}
	d, err := readClock(path)
	clock.Distort(d)
	proctest.OnSignal(syscall.SIGUSR1, func() {
		if d, err := readClock(path); err == nil {
			clock.Distort(d)
		}
	})
	return err
}

// serveAgent is an agent of another machine.
func serveAgent() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	var env []string
	for _, key := range []string{nameKey, clockKey, startedKey} {
		env = append(env, key+"="+os.Getenv(key))
	}
	off, _ := time.ParseDuration(os.Getenv(wallKey)) // none: its clock is right
	return agent.Serve(os.Stdin, os.Stdout, agent.Config{Exe: exe, Args: []string{"trial-node"},
		Bus: []string{"trial-bus"}, Env: env, Wall: func() time.Duration { return clock.Wall() + off }},
		results.ThisSite())
}

// A lab is several machines, and their agents.
type lab struct {
	*host.Machine
	agents []*agent.Remote
}

// newLab is of such hosts, whose nodes connect to those servers of an external bus, if there is
// one.
func newLab(t *testing.T, cfg host.MachineConfig, urls []string, hosts ...agent.RemoteConfig) (l lab) {
	t.Helper()
	var err error
	cfg.Run = "hosts"
	cfg.Authority, err = bus.NewAuthority()
	must(t, err)
	var list []host.Host
	for i, c := range hosts {
		c.Command = append([]string{"/usr/bin/env", nameKey + "=" + c.Name}, c.Command...)
		c.Nodes, c.Run, c.Ready, c.Authority = cfg.Nodes, cfg.Run, cfg.Ready, cfg.Authority
		a, err := agent.NewRemote(c)
		must(t, err)
		l.agents = append(l.agents, a)
		list = append(list, host.Host{Agent: a, Address: a.Address()})
		if urls != nil {
			list[i].Bus = urls[i]
		}
	}
	l.Machine, err = host.NewMachineOf(cfg, list...)
	must(t, err)
	t.Cleanup(l.Close)
	return l
}

// labOf is of agents behind pipes, lab1 and so on, each with such a clock: "AHEAD PPM".
func labOf(t *testing.T, nodes int, clocks ...string) lab {
	t.Helper()
	return labAt(t, host.MachineConfig{Nodes: nodes, Ready: 10 * time.Second}, nil, clocks...)
}

// labAt is likewise, with servers of an external bus.
func labAt(t *testing.T, cfg host.MachineConfig, urls []string, clocks ...string) lab {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	var hosts []agent.RemoteConfig
	for i, text := range clocks {
		path := filepath.Join(t.TempDir(), "clock")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		hosts = append(hosts, agent.RemoteConfig{Name: fmt.Sprintf("lab%d", i+1), Address: "127.0.0.1",
			Command: []string{clockKey + "=" + path, exe, "trial-agent"}, Patience: 2 * time.Second})
	}
	return newLab(t, cfg, urls, hosts...)
}

// environ is an entry of a process's environment.
func environ(t *testing.T, pid int, key string) string {
	t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	must(t, err)
	for entry := range strings.SplitSeq(string(list), "\x00") {
		if text, found := strings.CutPrefix(entry, key+"="); found {
			return text
		}
	}
	return ""
}

// agentOn is the process of an agent.
func agentOn(t *testing.T, name string) int {
	t.Helper()
	for _, pid := range children(t, "trial-agent") {
		if environ(t, pid, nameKey) == name {
			return pid
		}
	}
	t.Fatalf("no agent on %s", name)
	return 0
}

// setClock sets the clock of a machine, while a trial is under way there.
func setClock(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(environ(t, agentOn(t, name), clockKey), []byte(text), 0o600))
	pids, err := proctest.Orphans(nameKey + "=" + name)
	must(t, err)
	for _, pid := range pids {
		must(t, syscall.Kill(pid, syscall.SIGUSR1))
	}
}

// trueClock is what the clock of a machine truly shows at an instant of ours: the system's is
// the same, but for the time namespace and for what the machine's file says.
func trueClock(t *testing.T, name string) func(ours time.Duration) time.Duration {
	t.Helper()
	pid := agentOn(t, name)
	var s, ns time.Duration
	offsets, err := os.ReadFile(fmt.Sprintf("/proc/%d/timens_offsets", pid))
	if err == nil { // this kernel has time namespaces
		_, err = fmt.Sscanf(string(offsets), "monotonic %d %d", &s, &ns)
		must(t, err)
	}
	var d clock.Distortion
	if path := environ(t, pid, clockKey); path != "" {
		d, err = readClock(path)
		must(t, err)
	}
	return func(ours time.Duration) time.Duration {
		return d.Shown(ours + s*time.Second + ns)
	}
}

// believable runs a trial of so long in which the nodes note the wall clock, which is the same
// on all machines. What is known of each clock must be true within its bound at every instant
// of the trial, and each record must be where it was within the bounds of the trial.
func (l lab) believable(t *testing.T, takes time.Duration) {
	t.Helper()
	p := plan(t, "election/test-wall", 9, harness.Scenario{Plot: &harness.Script{Until: takes,
		Events: []harness.Event{{At: ms(1), Do: harness.DoElect, Node: 1}}}}, nil)
	from := clock.Monotonic()
	o := run(t, l, p)
	to := clock.Monotonic()
	var worst, bound time.Duration
	for _, a := range l.agents {
		theirs := trueClock(t, a.Name())
		course, err := a.Course(from, to)
		must(t, err)
		for at := from; at <= to; at += (to - from) / 1000 {
			off := (course.Theirs(at) - theirs(at)).Abs()
			worst, bound = max(worst, off), max(bound, course.Bound(at))
			if off > course.Bound(at) {
				t.Errorf("the clock of %s is said to be %v, but is off by %v, known to %v", a.Name(), &course, off,
					course.Bound(at))
			}
		}
	}
	// A note is made after the instant of the record before it of its process, and before that of the
	// next: so much the trial's start is known to by the wall clock, however long notes take. What the
	// records of one host say of it must agree with what those of any other do.
	type note struct{ at, wall time.Duration }
	const never = time.Duration(math.MaxInt64)
	earliest, latest := -never, never
	last := map[uint32]note{}
	for _, r := range o.Trace {
		if r.Type != trace.Log {
			continue
		}
		now := note{at: r.At}
		_, err := fmt.Sscan(r.Text, &now.wall)
		must(t, err)
		if before, noted := last[r.Process]; noted {
			earliest, latest = max(earliest, before.wall-now.at), min(latest, now.wall-before.at)
		}
		last[r.Process] = now
	}
	if len(last) < 9 {
		t.Fatalf("%d processes have noted the wall clock", len(last))
	}
	apart := earliest - latest
	if most := 2 * o.quality.ClockError; apart > most {
		t.Errorf("records of one instant are %v apart at least, want %v at most", apart, most)
	}
	t.Logf("a trial of %v: clocks are off by up to %v, and known to %v; records of one instant are %v apart at least",
		takes, worst, bound, apart)
}

// TestLab is run by scripts/lab.sh, over hosts with networks and clocks of their own.
func TestLab(t *testing.T) {
	path := os.Getenv("CONCLAVE_LAB") // its hosts file
	if path == "" {
		t.Skip("scripts/lab.sh runs this, as root")
	}
	exe, err := os.Executable()
	must(t, err)
	file, err := nodes.LoadHosts(path)
	must(t, err)
	var hosts []agent.RemoteConfig
	for _, h := range file.Hosts {
		hosts = append(hosts, agent.RemoteConfig{Name: h.Name, Address: h.Address, Interface: h.Interface,
			Command: strings.Fields(strings.Replace(h.Command, "node agent", exe+" trial-agent", 1))})
	}
	l := newLab(t, host.MachineConfig{Nodes: 9, Ready: 10 * time.Second}, nil, hosts...)
	for range 3 {
		l.believable(t, 3*time.Second)
	}
	for _, ppm := range []float64{10, 20, 100, 450} {
		l.slew(t, hosts[2].Name, 1500*time.Millisecond, ppm)
		l.believable(t, 3*time.Second)
	}
}

// slew has a clock gain so many ppm more from soon on, and as many less a while later.
func (l lab) slew(t *testing.T, name string, soon time.Duration, ppm float64) {
	t.Helper()
	text, err := os.ReadFile(environ(t, agentOn(t, name), clockKey))
	must(t, err)
	at := clock.Monotonic() + soon
	setClock(t, name, fmt.Sprintf("%s %v %v %v %v", strings.TrimSpace(string(text)), at, ppm, at+2*soon, -ppm))
	t.Logf("%s gains %v ppm more from %v on", name, ppm, soon)
}

// TestTrial_SlewedClock: a clock that is adjusted gradually in mid-trial spoils nothing, and is where the
// trial says it is.
func TestTrial_SlewedClock(t *testing.T) {
	slowtest.Skip(t, "runs trials of several hosts")
	m := labOf(t, 9, "0s 0", "5h 50")
	for _, ppm := range []float64{15, -500} {
		m.slew(t, "lab2", ms(800), ppm)
		m.believable(t, ms(1600))
	}
}

// TestTrial_SeveralHosts: a trial over hosts whose clocks are hours apart, one of which
// drifts, has the records of a trial on one machine: as many messages, and delays that are
// right beyond what is known of the clocks.
func TestTrial_SeveralHosts(t *testing.T) {
	slowtest.Skip(t, "runs trials of several hosts")
	m := labOf(t, 9, "0s 0", "5h 50", "-30h -20")
	m.believable(t, ms(450))
	p := plan(t, "mutex/ricart-agrawala", 9, harness.Scenario{Plot: &harness.Sequential{Requests: 18}}, nil)
	p.Network.Latency = link.Constant(ms(5))
	baseline, err := m.Baseline()
	must(t, err)
	if pairs, _ := baseline["pairs"].([]map[string]any); len(pairs) != 6 || fmt.Sprint(pairs[1]["hosts"]) !=
		"[lab1 lab2]" || pairs[1]["round_trip_p50_us"].(float64) <= 0 {
		t.Errorf("the bus of three hosts alone: %v", baseline)
	}
	want := simulate(t, p)
	o := run(t, m, p)
	if o.Status != trace.OK || o.Completed != 18 || o.Totals.Sent != want.Totals.Sent {
		t.Fatalf("%s: %d entries with %d messages, want %d", o.Status, o.Completed, o.Totals.Sent,
			want.Totals.Sent)
	}
	if e := o.quality.ClockError; e <= 0 || e > ms(5)/2 {
		t.Errorf("the clocks are known to %v", e)
	}
	// A message is handled when it is due, or a moment later; across hosts, by what the
	// clocks can be wrong sooner. The median says little of the machine's other work.
	var off []time.Duration
	for _, r := range o.Trace {
		if r.Type == trace.Deliver && r.Process%3 != r.Peer%3 {
			off = append(off, r.At-r.Sent-ms(5))
		}
	}
	if len(off) < 100 {
		t.Fatalf("%d messages between hosts", len(off))
	}
	for _, d := range off {
		if d < -2*o.quality.ClockError {
			t.Errorf("a message was %v early, by clocks that are known to %v", -d, o.quality.ClockError)
		}
	}
	for i := 1; i < len(o.Trace); i++ {
		if o.Trace[i].At < o.Trace[i-1].At {
			t.Fatalf("records are out of order at %v", o.Trace[i].At)
		}
	}
}

// hostFaults has six processes on three hosts, of which one crashes with the token, one is
// cut off, and one is paused; each time all is quiet before.
const hostFaults = `
problem: mutex
algorithms: [naimi-trehel]
nodes: 6
network: {latency: 10ms}  # a busy machine does not know the time of another well enough for 1 ms
hosting: {hosts: {names: [lab1, lab2, lab3], placement: pack, slots: 2}}
scenario:
  kind: script
  hold: 0s
  events:
    - {at: 1ms, do: request, node: 6}
    - {after: quiet, do: crash, host: lab3}
    - {after: quiet, do: cut, shape: isolate, host: lab1}
    - {after: quiet, do: request, node: 2}  # 1 passes it on: they live on one host
    - {after: quiet, do: request, node: 3}  # 1 does not hear of it
    - {after: quiet, do: pause, host: lab2, for: 20ms}
    - {after: quiet, do: resume, host: lab2}
    - {after: quiet, do: heal}
    - {after: quiet, do: restart, host: lab3}
    - {after: quiet, do: request, node: 5}
`

// told is what happened to processes, links and messages, in its order.
func told(list trace.List) (out []string) {
	for _, r := range list {
		switch r.Type {
		case trace.Crash, trace.Up, trace.Pause, trace.Resume, trace.Cut, trace.Heal, trace.Send, trace.Deliver,
			trace.Lose, trace.Undelivered, trace.Granted, trace.Released:
			if r.Type == trace.Up && r.Incarnation == 0 {
				continue
			}
			out = append(out, fmt.Sprintf("%v %d %d %s", r.Type, r.Process, r.Peer, r.Text))
			if n := len(out); r.Type == trace.Up && n > 1 && strings.HasPrefix(out[n-2], "up") {
				slices.Sort(out[n-2:]) // who is up first is by chance
			}
		}
	}
	return out
}

// TestTrial_HostFaults: an experiment that names hosts is the same in simulation, on one
// machine and over several.
func TestTrial_HostFaults(t *testing.T) {
	t.Parallel()
	e, err := experiment.Parse("hosts.yaml", []byte(hostFaults), experiment.Overrides{})
	must(t, err)
	p := e.Trials()[0].Plan
	p.Trial = "t"
	want := told(simulate(t, p).Trace)
	all := strings.Join(want, "\n")
	for _, line := range []string{"crash 5", "crash 6", "cut 0 0 1 2", "pause 3", "pause 4", "up 6"} {
		if !strings.Contains(all, line) {
			t.Errorf("the simulation has no %q:\n%s", line, all)
		}
	}
	for name, m := range map[string]*host.Machine{
		"one": newMachine(t, 6), "three": labOf(t, 6, "0s 0", "2h 0", "-2h 0").Machine,
	} {
		if got := told(run(t, m, p).Trace); !slices.Equal(got, want) {
			t.Errorf("on %s:\n%s\nin simulation:\n%s", name, strings.Join(got, "\n"), all)
		}
	}
	m := labOf(t, 6, "0s 0", "0s 0")
	for _, c := range []struct{ hosts, want string }{
		{`[{"name": "lab2", "processes": [1, 2, 5]}, {"name": "lab1", "processes": [3, 4, 6]}]`, "[1 1 0 0 1 0] <nil>"},
		{`[{"name": "lab4", "processes": [1]}]`, "[] the plan has a host lab4, which is none of this machine"},
		{`null`, "[0 1 0 1 0 1] <nil>"},
	} {
		p.Hosts = nil
		must(t, json.Unmarshal([]byte(c.hosts), &p.Hosts))
		s, err := p.Setup()
		must(t, err)
		places, err := m.Place(s)
		if got := fmt.Sprint(places, " ", err); got != c.want {
			t.Errorf("%s: %s, want %s", c.hosts, got, c.want)
		}
	}
}

// TestTrial_HostsFail: whatever becomes of a host, the trial is invalid and says why, and the
// next one is good.
func TestTrial_HostsFail(t *testing.T) {
	slowtest.Skip(t, "starts hosts and kills each")
	dir := t.TempDir()
	t.Setenv(startedKey, dir)
	m := labOf(t, 3, "0s 0", "1h 0")
	signal := func(s syscall.Signal) func() {
		return func() { must(t, syscall.Kill(agentOn(t, "lab2"), s)) }
	}
	for name, c := range map[string]struct {
		what func()
		want string
	}{
		"killed":  {signal(syscall.SIGKILL), "the agent on lab2 died: SIGKILL"},
		"stopped": {signal(syscall.SIGSTOP), "the agent on lab2 did not answer within 2s"},
		"a clock that is set": {func() { setClock(t, "lab2", "3600.005s 0") },
			"the clock of lab2: its answers contradict each other"},
	} {
		t.Run(name, func(t *testing.T) {
			over := make(chan error, 1)
			var o outcome
			go func() {
				var err error
				o, err = attempt(t.Context(), m, culpritPlan(t, "none", ms(600)))
				over <- err
			}()
			telemetry := ""
			awaitStart(t, dir, &telemetry)
			c.what()
			must(t, <-over)
			if err := spoiled(o, c.want); err != nil {
				t.Error(err)
			}
			if all := strings.Join(o.End.Invalid, "; "); strings.Count(all, "agent on lab2") > 1 {
				t.Errorf("said more than once: %s", all)
			}
			fine(t, m.Machine)
			must(t, os.RemoveAll(dir))
			must(t, os.Mkdir(dir, 0o700))
		})
	}
}

// TestWrongClock: a machine whose date is years off is refused at once, for the certificates of the run would not hold
// there; some hours do no harm.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	authority, err := bus.NewAuthority()
	must(t, err)
	const year = 365 * 24
	for hours, want := range map[int]string{3 * year: "set its clock", -3 * year: "set its clock", -30: "", 7: ""} {
		a, err := agent.NewRemote(agent.RemoteConfig{Name: "lab3", Command: []string{"env", fmt.Sprintf("%s=%dh", wallKey, hours),
			exe, "trial-agent"}, Address: "127.0.0.1", Nodes: 1, Run: "wrong", Authority: authority})
		if err == nil {
			a.Close()
		}
		var wrong *agent.WrongClock
		if errors.As(err, &wrong) != (want != "") || want == "" && err != nil {
			t.Errorf("%d hours off: %v", hours, err)
			continue
		}
		if there := time.Now().Add(time.Duration(hours) * time.Hour).UTC().Year(); want != "" &&
			(!strings.Contains(err.Error(), fmt.Sprintf("on lab3 it is %d-", there)) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d hours off: %v", hours, err)
		}
	}
}

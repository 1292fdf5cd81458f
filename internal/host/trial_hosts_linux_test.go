package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/clock"
	"github.com/conclave-bench/conclave/internal/host"
	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// clockKey says how the clock of an agent and of its nodes runs: by how much it is ahead,
// and by how many ppm it gains.
const clockKey = "CONCLAVE_TEST_CLOCK"

func distortClock() {
	var ahead string
	var ppm float64
	if _, err := fmt.Sscan(os.Getenv(clockKey), &ahead, &ppm); err != nil {
		return
	}
	by, err := time.ParseDuration(ahead)
	if err != nil {
		panic(err)
	}
	clock.Distort(clock.Distortion{Ahead: by, Gains: ppm / 1e6})
}

// serveAgent is an agent of another machine. SIGUSR1 sets its clock by 5 ms.
func serveAgent() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	set := make(chan os.Signal, 1)
	signal.Notify(set, syscall.SIGUSR1)
	go func() {
		<-set
		clock.Distort(clock.Distortion{Ahead: time.Hour + 5*time.Millisecond})
	}()
	return agent.Serve(os.Stdin, os.Stdout, agent.Config{Exe: exe, Args: []string{"trial-node"},
		Bus: []string{"trial-bus"}, Env: []string{clockKey + "=" + os.Getenv(clockKey), startedKey + "=" + os.Getenv(startedKey)}},
		map[string]string{"machine": "test"})
}

// hostsOf are agents behind pipes, each with such a clock: "AHEAD PPM".
func hostsOf(t *testing.T, nodes int, clocks ...string) *host.Machine {
	t.Helper()
	return hostsAt(t, nodes, bus.DialConfig{}, make([]string, len(clocks)), clocks...)
}

// hostsAt are likewise, and connect to those servers of an external bus, if there is one.
func hostsAt(t *testing.T, nodes int, external bus.DialConfig, urls []string, clocks ...string) *host.Machine {
	t.Helper()
	ready := 10 * time.Second
	if urls[0] != "" {
		ready = 2 * time.Second
	}
	exe, err := os.Executable()
	must(t, err)
	authority, err := bus.NewAuthority()
	must(t, err)
	var hosts []host.Host
	for i, c := range clocks {
		a, err := agent.NewRemote(agent.RemoteConfig{Name: fmt.Sprintf("lab%d", i+1), Address: "127.0.0.1",
			Command: []string{"/usr/bin/env", clockKey + "=" + c, exe, "trial-agent"}, Nodes: nodes, Run: "hosts",
			Ready: ready, Authority: authority, Patience: 2 * time.Second})
		must(t, err)
		hosts = append(hosts, host.Host{Agent: a, Address: "127.0.0.1", Bus: urls[i]})
	}
	m, err := host.NewMachineOf(host.MachineConfig{Nodes: nodes, Run: "hosts", Ready: ready,
		Authority: authority, External: external}, hosts...)
	must(t, err)
	t.Cleanup(m.Close)
	return m
}

// TestTrial_SeveralHosts: a trial over hosts whose clocks are hours apart, one of which
// drifts, has the records of a trial on one machine: as many messages, and delays that are
// right beyond what is known of the clocks.
func TestTrial_SeveralHosts(t *testing.T) {
	m := hostsOf(t, 9, "0s 0", "5h 50", "-30h -20")
	p := plan(t, "mutex/ricart-agrawala", 9, harness.Scenario{Kind: harness.Sequential, Requests: 18}, nil)
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
		"one": newMachine(t, 6), "three": hostsOf(t, 6, "0s 0", "2h 0", "-2h 0"),
	} {
		if got := told(run(t, m, p).Trace); !slices.Equal(got, want) {
			t.Errorf("on %s:\n%s\nin simulation:\n%s", name, strings.Join(got, "\n"), all)
		}
	}
	m := hostsOf(t, 6, "0s 0", "0s 0")
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
	dir := t.TempDir()
	t.Setenv(startedKey, dir)
	m := hostsOf(t, 3, "0s 0", "1h 0")
	for name, c := range map[string]struct {
		signal syscall.Signal
		want   string
	}{
		"killed":              {syscall.SIGKILL, "the agent on lab2 died: SIGKILL"},
		"stopped":             {syscall.SIGSTOP, "the agent on lab2 did not answer within 2s"},
		"a clock that is set": {syscall.SIGUSR1, "the clock of lab2: no line fits the samples"},
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
			must(t, syscall.Kill(agentWith(t, "1h 0"), c.signal))
			must(t, <-over)
			if err := spoiled(o, c.want); err != nil {
				t.Error(err)
			}
			if all := strings.Join(o.End.Invalid, "; "); strings.Count(all, "agent on lab2") > 1 {
				t.Errorf("said more than once: %s", all)
			}
			fine(t, m)
			must(t, os.RemoveAll(dir))
			must(t, os.Mkdir(dir, 0o700))
		})
	}
}

// agentWith is the process of the agent that has such a clock.
func agentWith(t *testing.T, clock string) int {
	t.Helper()
	for _, pid := range children(t, "trial-agent") {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		must(t, err)
		if bytes.Contains(env, []byte(clockKey+"="+clock+"\x00")) {
			return pid
		}
	}
	t.Fatalf("no agent has the clock %q", clock)
	return 0
}

package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// spoiled fails unless the trial is invalid for that reason.
func spoiled(o outcome, want string) error {
	all := strings.Join(o.End.Invalid, "; ")
	if !strings.Contains(all, want) || o.Status != trace.Invalid {
		return fmt.Errorf("%s, %q, want invalid, %q", o.Status, all, want)
	}
	return nil
}

// spoils runs a trial of three, does something to it when it is under way, and
// fails unless it is invalid for that reason. A busy machine may have been faster
// with a reason of its own: then it is tried again.
func spoils(t *testing.T, p harness.Plan, want string, what func(m *host.Machine, telemetry string),
	change ...func(*host.MachineConfig)) (m *host.Machine, o outcome) {
	t.Helper()
	poll(t, 20*time.Second, func() error {
		m, o = during(t, p, what, change...)
		return spoiled(o, want)
	})
	return m, o
}

// during runs a trial of three, and calls what when it is under way, with the
// telemetry of p2.
func during(t *testing.T, p harness.Plan, what func(m *host.Machine, telemetry string),
	change ...func(*host.MachineConfig)) (*host.Machine, outcome) {
	t.Helper()
	dir := t.TempDir()
	m := newMachine(t, 3, append(change, func(c *host.MachineConfig) {
		c.Telltale = append(c.Telltale, startedKey+"="+dir)
	})...)
	over := make(chan error, 1)
	var o outcome
	go func() {
		var err error
		o, err = attempt(context.Background(), m, p)
		over <- err
	}()
	telemetry := ""
	awaitStart(t, dir, &telemetry)
	what(m, telemetry)
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	select {
	case err := <-over:
		must(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("the trial goes on")
	}
	return m, o
}

// nodeOf is the system's process of node id of the machine whose nodes bear the mark.
func nodeOf(t *testing.T, marker string, id int) int {
	t.Helper()
	pids, err := proctest.Orphans(marker)
	must(t, err)
	for _, pid := range pids {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		must(t, err)
		if strings.Contains(string(maps), fmt.Sprintf("/p%d-0\n", id)) {
			return pid
		}
	}
	t.Fatalf("none of %v has the telemetry of p%d", pids, id)
	return 0
}

// TestTrial_ClockIsSet: nothing is measured with the wall clock, but whoever sets it
// is at work on the machine; and one that sleeps looks the same.
func TestTrial_ClockIsSet(t *testing.T) {
	t.Parallel()
	p := culpritPlan(t, "none", ms(50))
	for _, step := range []time.Duration{0, time.Hour, -time.Hour} {
		calls := 0
		m := newMachine(t, 3, func(c *host.MachineConfig) {
			c.Wall = func() time.Duration {
				now := time.Duration(time.Now().UnixNano())
				if calls++; calls > 5 { // those before the start
					now += step
				}
				return now
			}
		})
		poll(t, 20*time.Second, func() error {
			calls = 0
			o := once(t, m, p)
			if step != 0 {
				return spoiled(o, fmt.Sprintf("the clock was changed by %v", step))
			}
			if strings.Contains(strings.Join(o.End.Invalid, ";"), "clock") {
				t.Errorf("nobody has set it: %q", o.End.Invalid)
			}
			return nil
		})
	}
}

// runStalled is a host whose trial takes a moment; it prints what made it invalid.
func runStalled() error {
	o, err := hostAlone(ms(400))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(o.End.Invalid)
}

// TestTrial_EverythingStands: a machine that sleeps, or is taken away for a while,
// spoils the trial, whose every process then finds its clock ahead.
func TestTrial_EverythingStands(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"the host alone", "all of them"} {
		marker, _ := mark(t)
		c, _ := startHost(t, "trial-stalled", marker)
		defer c.Close()
		stopped := []int{c.Pid()}
		if who == "all of them" {
			var err error
			stopped, err = proctest.Orphans(marker)
			must(t, err)
		}
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			for _, pid := range stopped {
				must(t, syscall.Kill(pid, sig))
			}
			time.Sleep(ms(250)) // how long it stands is what is tested
		}
		must(t, c.Stdout.SetReadDeadline(time.Now().Add(15*time.Second)))
		said, err := io.ReadAll(c.Stdout)
		if err != nil || !bytes.Contains(said, []byte("the machine was overloaded")) {
			t.Errorf("%s: %v, %s; %s", who, err, said, c.Stderr())
		}
	}
}

// TestTrial_NodeHangs: SIGSTOP from elsewhere, which no plan asked for.
func TestTrial_NodeHangs(t *testing.T) {
	t.Parallel()
	marker, marked := mark(t)
	p := culpritPlan(t, "none", ms(100))
	p.TimeLimit = ms(300)
	m, _ := spoils(t, p, "node p3 did not answer at the end", func(*host.Machine, string) {
		must(t, syscall.Kill(nodeOf(t, marker, 3), syscall.SIGSTOP))
	}, marked)
	fine(t, m)
	noneLeft(t, marker)
}

// TestTrial_NodeDoesNotRead: the bus cuts off who does not read, and keeps the
// sender from nothing.
func TestTrial_NodeDoesNotRead(t *testing.T) {
	t.Parallel()
	marker, marked := mark(t)
	p := culpritPlan(t, "bulk", ms(100))
	p.TimeLimit = ms(700)
	m, o := spoils(t, p, "slow consumers on the bus: 1", func(*host.Machine, string) {
		must(t, syscall.Kill(nodeOf(t, marker, 3), syscall.SIGSTOP))
	}, marked)
	if all := strings.Join(o.End.Invalid, "; "); strings.Contains(all, "node p2: ") ||
		strings.Contains(all, "stalled") {
		t.Errorf("the sender suffered: %s", all)
	}
	fine(t, m)
}

// TestTrial_RecordsAreDamaged: a gap in what a node wrote down.
func TestTrial_RecordsAreDamaged(t *testing.T) {
	t.Parallel()
	m, _ := spoils(t, culpritPlan(t, "none", ms(100)), "damaged", func(_ *host.Machine, telemetry string) {
		f, err := os.OpenFile(telemetry, os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 8), int64(os.Getpagesize())+56)
		must(t, err)
		must(t, f.Close())
	})
	fine(t, m)
}

// TestTrial_Strangers: whoever knocks at the bus during a trial spoils it, and only
// it, whatever he says.
func TestTrial_Strangers(t *testing.T) {
	t.Parallel()
	noise := 50
	if slowtest.Night() {
		noise = 100_000
	}
	for _, test := range []struct {
		name  string
		knock func(m *host.Machine) []net.Conn
	}{
		{"one that says nothing", func(m *host.Machine) []net.Conn { return knock(t, m, 1) }},
		{"a thousand that say nothing", func(m *host.Machine) []net.Conn { return knock(t, m, 1000) }},
		{"noise", func(m *host.Machine) (all []net.Conn) {
			random := rand.NewChaCha8([32]byte{1})
			for range noise {
				for _, c := range knock(t, m, 1) {
					b := make([]byte, 1+random.Uint64()%600)
					_, _ = random.Read(b)
					_, _ = c.Write(b) // it may be cut off
					must(t, c.Close())
				}
			}
			return nil
		}},
		{"a thief", func(m *host.Machine) []net.Conn {
			c, err := bus.Dial(bus.DialConfig{URL: m.URL(), Seed: m.Key(1)})
			must(t, err)
			t.Cleanup(c.Close)
			return nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			marker, marked := mark(t)
			var held []net.Conn
			p := culpritPlan(t, "none", ms(150))
			m, _ := spoils(t, p, "unknown clients on the bus", func(m *host.Machine, _ string) {
				held = append(held, test.knock(m)...)
			}, marked)
			for _, c := range held {
				must(t, c.Close())
			}
			fine(t, m)
			noneLeft(t, marker)
		})
	}
}

// knock is n bare connections to the machine's bus, as far as it lets them in.
func knock(t *testing.T, m *host.Machine, n int) (all []net.Conn) {
	t.Helper()
	u, err := url.Parse(m.URL())
	must(t, err)
	for range n {
		c, err := net.Dial("tcp", u.Host)
		must(t, err)
		all = append(all, c)
	}
	return all
}

// TestTrial_Forged: messages that a process did not send, under its name, with its
// key. An external bus cannot tell who connects, so that it is the records that tell.
func TestTrial_Forged(t *testing.T) {
	t.Parallel()
	ids, err := bus.NewIdentities(1)
	must(t, err)
	server, err := bus.StartServer(bus.ServerConfig{Observer: ids[0].Public})
	must(t, err)
	defer server.Close()
	thief, err := bus.Dial(bus.DialConfig{URL: server.URL(), Seed: ids[0].Secret()})
	must(t, err)
	defer thief.Close()
	payload := []byte{1, 0, 7} // NUMBERED{7}
	frame := func(change func(*transport.Frame)) []byte {
		f := transport.Frame{Seq: 1, Ordinal: 1, Sent: 1, Due: 2, Payload: payload}
		change(&f)
		return f.Append(nil)
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"a message":         {frame(func(*transport.Frame) {}), "p2 got message 1 of p1, which p1 did not send"},
		"one far ahead":     {frame(func(f *transport.Frame) { f.Seq = 1 << 50 }), "p2 got message 1125899906842624 of p1, of "},
		"number 0":          {frame(func(f *transport.Frame) { f.Seq = 0 }), "no process sends such"},
		"an unknown kind":   {frame(func(f *transport.Frame) { f.Kind = 200 }), "no process sends such"},
		"one that was lost": {frame(func(f *transport.Frame) { f.Kind, f.Lost = 200, true }), "no process sends such"},
		"a kind in disguise": {frame(func(f *transport.Frame) { f.Kind = 1 }),
			"its frame says kind 1, its payload kind 0"},
		"an odd payload": {frame(func(f *transport.Frame) { f.Payload = []byte{9, 9} }), "message of version 9"},
		"no frame":       {[]byte("hello"), "frame: malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := culpritPlan(t, "none", ms(60))
			p.Trial = "forged"
			m, _ := spoils(t, p, test.want, func(*host.Machine, string) {
				thief.Address(p.Trial, 1, 3)
				must(t, thief.Send(2, test.data))
				must(t, thief.Flush(5*time.Second))
			}, func(c *host.MachineConfig) {
				c.External = bus.DialConfig{URL: server.URL(), Seed: ids[0].Secret()}
			})
			m.Close()
		})
	}
}

// TestMachine_ListensToThisMachineAlone: at no other address of this machine is there
// anybody at the bus's port.
func TestMachine_ListensToThisMachineAlone(t *testing.T) {
	t.Parallel()
	m := newMachine(t, 1)
	u, err := url.Parse(m.URL())
	must(t, err)
	if u.Hostname() != "127.0.0.1" || u.Port() == "4222" {
		t.Errorf("the bus listens at %s", m.URL())
	}
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	others := 0
	for _, a := range addresses {
		ip, _, err := net.ParseCIDR(a.String())
		must(t, err)
		if ip.String() == "127.0.0.1" || ip.IsLinkLocalUnicast() {
			continue
		}
		others++
		if c, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), u.Port()), time.Second); err == nil {
			must(t, c.Close())
			t.Errorf("it listens at %s too", ip)
		}
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.2", u.Port()), time.Second)
	if err == nil {
		must(t, c.Close())
		t.Error("it listens at 127.0.0.2 too")
	}
	t.Logf("%d other addresses", others)
}

// TestMachine_KeysAreFresh: what a machine's bus lets in, no other machine's does.
func TestMachine_KeysAreFresh(t *testing.T) {
	t.Parallel()
	first, second := newMachine(t, 2), newMachine(t, 2)
	for _, test := range []struct {
		at, of *host.Machine
		in     bool
	}{{first, first, true}, {second, second, true}, {second, first, false}, {first, second, false}} {
		c, err := bus.Dial(bus.DialConfig{URL: test.at.URL(), Seed: test.of.Key(1)})
		if (err == nil) != test.in {
			t.Errorf("own key %v: %v", test.in, err)
		}
		if err == nil {
			c.Close()
		}
	}
}

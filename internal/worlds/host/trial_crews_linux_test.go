package host_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTrial_Crews: nodes that share processes count what the simulator counts.
func TestTrial_Crews(t *testing.T) {
	marker, marked := mark(t)
	m := newMachine(t, 7, marked)
	quiet := harness.Scenario{Plot: &harness.Sequential{Requests: 10, Hold: link.Constant(ms(1))}}
	for _, c := range []struct {
		id string
		harness.Scenario
	}{
		{"mutex/central", quiet}, {"mutex/naimi-trehel", quiet}, {"mutex/ricart-agrawala", quiet},
		{"mutex/raymond", quiet}, {"election/bully", harness.Scenario{Plot: &harness.LeaderCrash{}}},
		{"election/ring-list", harness.Scenario{Plot: &harness.LeaderCrash{}}},
		{"election/ring-max", harness.Scenario{Plot: &harness.ColdStart{Initiators: 7}}},
	} {
		t.Run(c.id, func(t *testing.T) {
			p := plan(t, c.id, 7, c.Scenario, nil)
			p.PerProcess = 3
			want := simulate(t, p)
			o := run(t, m, p, func(o outcome) error { return same(want, o) })
			u := o.quality.Usage
			if u.Handling <= 0 {
				t.Error("nothing is known of the time in handlers")
			}
			if u.Handling = 0; u != (harness.Usage{}) {
				t.Errorf("nobody counts for goroutines: %+v", u)
			}
		})
	}
	noneLeft(t, marker)
}

// TestTrial_CrewsAreOfSoMany: seven nodes, at most three to a process.
func TestTrial_CrewsAreOfSoMany(t *testing.T) {
	marker, marked := mark(t)
	dir := t.TempDir()
	m := newMachine(t, 3, marked, func(c *host.MachineConfig) {
		c.Telltale = append(c.Telltale, startedKey+"="+dir)
	})
	p := culpritPlan(t, "none", ms(50))
	p.PerProcess = 2
	over := make(chan outcome, 1)
	go func() { over <- once(t, m, p) }()
	telemetry := ""
	awaitStart(t, dir, &telemetry)
	pids, err := proctest.Orphans(marker)
	must(t, err)
	must(t, os.WriteFile(dir+"/go", nil, 0o600))
	if len(pids) != 2 {
		t.Errorf("processes %v, want two for three nodes", pids)
	}
	<-over
}

// TestTrial_MemberCrashes: the incarnation after a crash has what was saved and nothing else.
// Others in the process go on. A pause stops one alone.
func TestTrial_MemberCrashes(t *testing.T) {
	p := plan(t, "election/test-saver", 3, script(crash(52), restart(80), crash(400), restart(450),
		harness.Event{At: ms(500), Do: harness.DoPause, Node: 3, For: ms(60)}),
		map[string]any{"ticks": int64(120), "pause": ms(5)})
	p.PerProcess, p.InModel = 3, false
	o := run(t, newMachine(t, 3), p, func(o outcome) error {
		if !slices.Equal(ups(o.Trace), []uint32{0, 1, 2}) {
			return fmt.Errorf("incarnations %v: it was crashed again before it was up", ups(o.Trace))
		}
		return nil
	})
	down := map[uint32]time.Duration{}
	up, saved := map[uint32]time.Duration{}, 0
	var paused, resumed time.Duration = math.MaxInt64, math.MaxInt64
	for i := range o.Trace {
		r := &o.Trace[i]
		switch {
		case r.Type == trace.Crash:
			down[r.Incarnation] = r.At
		case r.Type == trace.Up && r.Process == 2:
			up[r.Incarnation] = r.At
		case r.Type == trace.Pause:
			paused = r.At
		case r.Type == trace.Resume:
			resumed = r.At
		case r.Type == trace.Save:
			saved++
		case r.Process == 3 && r.At > paused && r.At < resumed:
			t.Errorf("p3 is paused, and at %v: %v", r.At, r.Type)
		}
	}
	if down[0] < ms(52) || up[1] < down[0] || up[2] < down[1] {
		t.Errorf("crashed at %v, up again at %v", down, up)
	}
	if resumed == math.MaxInt64 || resumed < paused {
		t.Errorf("paused from %v to %v", paused, resumed)
	}
	for i, line := range lines(o.Trace, 2) {
		want := saved
		if i == 0 {
			want = 0
		}
		if !strings.HasSuffix(line, fmt.Sprintf("incarnation %d, saved %d", i, want)) || saved == 0 {
			t.Errorf("incarnation %d says %q, saved were %d", i, line, saved)
		}
	}
}

// TestTrial_MembersConnections: each member has a connection of its own. That of one that crashes ends
// there and then, and its next incarnation makes a new one; the others stay.
func TestTrial_MembersConnections(t *testing.T) {
	t.Parallel()
	ns := startNATS(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	m := newMachine(t, 3, func(c *host.MachineConfig) { c.External.URL = ns.ClientURL() })
	p := plan(t, "election/test-saver", 3, script(crash(40), restart(100)),
		map[string]any{"ticks": int64(60), "pause": ms(5)})
	p.PerProcess, p.InModel = 3, false
	run(t, m, p, func(o outcome) error {
		if !slices.Equal(ups(o.Trace), []uint32{0, 1}) {
			return fmt.Errorf("incarnations %v", ups(o.Trace))
		}
		return nil
	})
	var second []*server.ConnInfo
	poll(t, 10*time.Second, func() error { // the server may not have noted the last ends yet
		all, err := ns.Connz(&server.ConnzOptions{State: server.ConnAll, Sort: server.ByStart})
		must(t, err)
		var names []string
		second = nil
		for _, c := range all.Conns[max(len(all.Conns)-4, 0):] { // of the last trial
			if names = append(names, c.Name); c.Name == "p2" {
				second = append(second, c)
			}
		}
		if slices.Sort(names); !slices.Equal(names, []string{"p1", "p2", "p2", "p3"}) {
			return fmt.Errorf("connections of %v", names)
		}
		return nil
	})
	if end := second[0].Stop; end == nil || end.After(second[1].Start) {
		t.Errorf("p2's connection ended at %v, and its next incarnation's began at %v", end, second[1].Start)
	}
}

// TestTrial_MembersMisdeeds: who is to blame is said, also where the whole process ends.
func TestTrial_MembersMisdeeds(t *testing.T) {
	for deed, want := range map[string]string{
		"panic": "process 2: panic",
		"leave": "process 1: with all that share its process, p1 to p3: it has ended its whole process",
	} {
		t.Run(deed, func(t *testing.T) {
			m := newMachine(t, 3)
			p := culpritPlan(t, deed, 0)
			p.PerProcess = 3
			poll(t, 20*time.Second, func() error {
				o := once(t, m, p)
				if o.End.Err == nil || !strings.HasPrefix(o.End.Err.Error(), want) {
					return fmt.Errorf("%v, want %q", o.End, want)
				}
				return nil
			})
			p = culpritPlan(t, "none", 0)
			p.PerProcess = 3
			run(t, m, p) // the next one is good
		})
	}
}

// TestTrial_Thousand: a thousand nodes are valid on two cores, twenty processes of fifty each,
// and count what the simulator counts.
func TestTrial_Thousand(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("wants a machine for itself: CONCLAVE_NIGHTLY=1 runs it")
	}
	const n = 1000
	m := newMachine(t, n)
	for _, id := range []string{"mutex/central", "mutex/naimi-trehel"} {
		p := plan(t, id, n, harness.Scenario{Plot: &harness.Sequential{
			Requests: 50, Hold: link.Constant(ms(1)),
		}}, nil)
		p.PerProcess, p.Network.Latency = 50, link.Constant(ms(2))
		want := simulate(t, p)
		begun := time.Now()
		o := run(t, m, p)
		t.Logf("%s: %v, of which %v until ready; due late p99 %v", id, time.Since(begun).Round(ms(1)),
			o.quality.ReadyTime.Round(ms(1)), o.quality.SchedDelayP99)
		if err := same(want, o); err != nil || o.Status != trace.OK {
			t.Error(fmt.Sprint(o.Status, ": ", o.Reason), err)
		}
	}
}

package host_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTrial_ReuseIsFresh: whatever a trial leaves behind, the next one in the same processes sees
// what it sees in new ones. Processes that were harmed are not used again.
func TestTrial_ReuseIsFresh(t *testing.T) {
	t.Parallel()
	of := func(n int, events ...harness.Event) harness.Plan {
		p := plan(t, "election/test-witness", n, script(events...), nil)
		p.Reuse = true
		p.Scenario.Set("until", ms(150))
		return p
	}
	late := of(3)
	late.Network.Latency = link.Constant(ms(140))
	lossy := of(5)
	lossy.Network.Loss, lossy.Network.Duplication, lossy.Seed = 0.4, 0.4, 7
	beating := of(3)
	beating.Detector = harness.HeartbeatDetector(ms(10), ms(400))
	drifting := of(3, harness.Event{Do: "skew", Node: 1, Args: fault.Args{Own: &fault.Skewing{By: time.Second}}})
	restarted := of(3, crash(20), restart(40))
	restarted.Scenario.Set("until", ms(500)) // a new process may take long to be up
	cases := []struct {
		name   string
		before harness.Plan
		kept   int
	}{
		{"nothing but itself", of(3), 3},
		{"messages in flight", late, 3},
		{"heartbeats", beating, 3},
		{"a skewed clock", drifting, 3},
		{"a cut", of(3, harness.Event{Do: harness.DoCut, Groups: [][]uint32{{1}, {2, 3}}}), 3},
		{"a slow process", of(3, harness.Event{At: ms(20), Do: harness.DoSlow, Node: 2, Args: fault.SlowBy(ms(1))}), 2},
		{"a pause", of(3, harness.Event{At: ms(20), Do: harness.DoPause, Node: 2, For: ms(20)}), 2},
		{"a crash", of(3, crash(20)), 2},
		{"a restart", restarted, 3},
		{"losses, copies and two more nodes", lossy, 3},
	}
	m := newMachine(t, 5)
	probe := of(3)
	probe.Reuse = false
	whole := func(o outcome) error { // a busy machine may not come to the third time in time
		if n := len(testimony(o)); n < 3*(1+3+1+6) {
			return fmt.Errorf("%d lines", n)
		}
		return nil
	}
	fresh := testimony(run(t, m, probe, whole))
	// On a busy machine a connection of the trial before may take longer than a moment to close. What is
	// never closed is there in every attempt.
	settled := func(o outcome) error {
		for _, line := range testimony(o) {
			if strings.Contains(line, "goroutines") && !slices.Contains(fresh, line) {
				return errors.New(line)
			}
		}
		return nil
	}
	for _, c := range cases {
		c.before.InModel = false
		both := &second{t: t, runsTrials: m, before: c.before}
		probe.Reuse = true
		o := run(t, both, probe, whole, settled)
		if got := testimony(o); !slices.Equal(got, fresh) {
			t.Errorf("after %s:\n%s\nin new processes:\n%s", c.name, strings.Join(got, "\n"), strings.Join(fresh, "\n"))
		}
		if kept := common(both.first, o); kept != c.kept {
			t.Errorf("after %s: %d processes are used again, want %d", c.name, kept, c.kept)
		}
	}
}

// A second trial runs right after another one. If the machine spoils it, both run again, because a
// process that was late is not reused.
type second struct {
	t *testing.T
	runsTrials
	before harness.Plan
	first  outcome
}

func (s *second) Run(ctx context.Context, p *harness.Setup, sink trace.Sink) (harness.End, harness.Quality, error) {
	want := s.before.Nodes
	for _, e := range s.before.Scenario.Plot.(*harness.Script).Events {
		if e.Do == harness.DoRestart {
			want++
		}
	}
	s.first = run(s.t, s.runsTrials, s.before, func(o outcome) error { // what never was up cannot be used again
		if got := len(numbers[int](o, "process %d")); got != want {
			return fmt.Errorf("%d of %d processes were up", got, want)
		}
		return nil
	})
	return s.runsTrials.Run(ctx, p, sink)
}

// testimony is what all witnesses have seen, but for what no two trials have in common.
func testimony(o outcome) (out []string) {
	for p := range uint32(3) {
		for _, line := range lines(o.Trace, p+1) {
			if !strings.HasPrefix(line, "process") && !strings.HasSuffix(line, "bytes") {
				out = append(out, fmt.Sprintf("p%d: %s", p+1, line))
			}
		}
	}
	slices.Sort(out) // who is first within a millisecond is chance
	return out
}

// common is how many processes of the system o has of those before.
func common(before, o outcome) (count int) {
	seen := numbers[int](before, "process %d")
	for _, pid := range numbers[int](o, "process %d") {
		if slices.Contains(seen, pid) {
			count++
		}
	}
	return count
}

// numbers are the numbers that witnesses have told of in that form.
func numbers[T any](o outcome, form string) (list []T) {
	for p := range uint32(5) {
		for _, line := range lines(o.Trace, p+1) {
			var x T
			if n, _ := fmt.Sscanf(line, form, &x); n == 1 && fmt.Sprintf(form, x) == line {
				list = append(list, x)
			}
		}
	}
	return list
}

// TestTrial_ReuseKeepsNothing: a process does not grow from trial to trial.
func TestTrial_ReuseKeepsNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, 1)
	p := plan(t, "election/test-witness", 1, script(), nil)
	p.Reuse = true
	p.Scenario.Set("until", ms(100))
	var first, last outcome
	for i := range 10 {
		last = run(t, m, p, func(o outcome) error {
			if len(numbers[uint64](o, "%d bytes")) == 0 {
				return errors.New("it has not come to its third time")
			}
			return nil
		})
		if i == 0 {
			first = last
		}
	}
	if common(first, last) != 1 {
		t.Error("it is another process")
	}
	// The room for messages that wait is half a megabyte.
	was, is := numbers[uint64](first, "%d bytes")[0], numbers[uint64](last, "%d bytes")[0]
	if is > was+1<<20 {
		t.Errorf("%d bytes in the first trial, %d in the tenth", was, is)
	}
}

// TestTrial_ReuseOnHosts: each machine keeps its own.
func TestTrial_ReuseOnHosts(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	var hosts []agent.RemoteConfig
	for _, name := range []string{"lab1", "lab2"} {
		hosts = append(hosts, agent.RemoteConfig{Name: name, Address: "127.0.0.1",
			Command: []string{exe, "trial-agent"}, Patience: 2 * time.Second})
	}
	m := newLab(t, host.MachineConfig{Nodes: 2, Ready: 10 * time.Second}, nil, hosts...)
	p := plan(t, "election/test-witness", 2, script(), nil)
	p.Reuse = true
	p.Scenario.Set("until", ms(50))
	if kept := common(run(t, m, p), run(t, m, p)); kept != 2 {
		t.Errorf("%d processes are used again, want 2", kept)
	}
}

// TestTrial_ReuseMeasuresTheSame: with reused processes as many messages are sent as with new ones,
// and nobody waits longer or shorter.
func TestTrial_ReuseMeasuresTheSame(t *testing.T) {
	trials, most := 5, 1.0
	if slowtest.Night() {
		trials, most = 1000, 0.1
	}
	m := newMachine(t, 5)
	p := plan(t, "mutex/naimi-trehel", 5, harness.Scenario{Plot: &harness.Sequential{
		Requests: 5, Hold: link.Constant(ms(1)),
	}}, nil)
	p.Network.Latency = link.Constant(ms(2))
	var waiting [2][]float64
	for k := range trials {
		p.Seed = uint64(k + 1)
		want := simulate(t, p)
		for i := range waiting {
			p.Reuse = i == 1
			o := run(t, m, p)
			if err := same(want, o); err != nil {
				t.Error(err)
			}
			waiting[i] = append(waiting[i], metric(t, o.Verdict, "waiting_ms"))
		}
	}
	r := stats.MannWhitney(waiting[0], waiting[1])
	t.Logf("waiting_ms of %d trials each: delta %.3f, p = %.3f", trials, r.Delta, r.P)
	if math.Abs(r.Delta) > most {
		t.Error("they do not measure the same")
	}
}

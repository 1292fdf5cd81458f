package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A distant agent is one whose clock is ahead and to which nothing comes, and from which
// nothing comes, but what JSON carries; records, whose texts are any bytes, as the host
// sends them to its runner.
type distant struct {
	agent.Agent
	tb    testing.TB
	ahead time.Duration
	fails error     // of Counters
	asked *[]string // what nodes were signalled together
	done  chan struct{}
}

// carried is v behind a pipe.
func carried[T any](d *distant, v T) (there T) {
	line, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(line, &there)
	}
	if err != nil {
		d.tb.Error(err)
	}
	return there
}

func (d *distant) Begin(t agent.Trial, reports chan<- agent.Report) error {
	own := make(chan agent.Report)
	done := make(chan struct{})
	d.done = done
	go func() {
		for {
			select {
			case r := <-own:
				select {
				case reports <- carried(d, r):
				case <-done:
					return
				}
			case <-done:
				return
			}
		}
	}()
	return d.Agent.Begin(carried(d, t), own)
}

func (d *distant) Start(a control.Assignment) error { return d.Agent.Start(carried(d, a)) }

func (d *distant) Order(n agent.Ref, orders ...control.Order) error {
	there := carried(d, orders)
	for i := range there {
		if start := there[i].Start; start != nil {
			*start -= d.ahead
		}
	}
	return d.Agent.Order(carried(d, n), there...)
}

func (d *distant) Signal(what agent.Signal, nodes ...agent.Ref) ([]time.Duration, error) {
	if d.asked != nil {
		*d.asked = append(*d.asked, fmt.Sprint(what, nodes))
	}
	at, err := d.Agent.Signal(what, carried(d, nodes)...)
	for i := range at {
		at[i] += d.ahead
	}
	return at, err
}

func (d *distant) Counters(links bool) ([]agent.Counters, error) {
	list, err := d.Agent.Counters(links)
	err = errors.Join(err, d.fails)
	return carried(d, list), err
}

func (d *distant) Health() (agent.Health, error) {
	h, err := d.Agent.Health()
	return carried(d, h), err
}

func (d *distant) Collect() (agent.Collection, error) {
	c, err := d.Agent.Collect()
	return carried(d, c), err
}

func (d *distant) Records(n agent.Ref, from uint64, list []trace.Record) ([]trace.Record, uint64, error) {
	some, next, err := d.Agent.Records(carried(d, n), from, nil)
	var line []byte
	for i := range some {
		line = trace.AppendRecord(line, &some[i])
	}
	must(d.tb, trace.EachRecord(line, trace.SinkFunc(func(r *trace.Record) { list = append(list, *r) })))
	return list, next, err
}

// Course is what answers say of a clock that is ahead, one a millisecond, each 20 µs after its question.
func (d *distant) Course(from, to time.Duration) (clock.Course, error) {
	var samples []clock.Sample
	for at := from; at <= to+time.Millisecond; at += time.Millisecond {
		samples = append(samples, clock.Sample{Asked: at - 10*time.Microsecond, Heard: at + d.ahead,
			Answered: at + d.ahead, Got: at + 10*time.Microsecond})
	}
	return clock.Fit(samples, from)
}

func (d *distant) End() error {
	if d.done != nil {
		close(d.done)
		d.done = nil
	}
	return d.Agent.End()
}

// distantMachine is one whose nodes live with two agents far away: p1 and p3 with the one,
// whose clock is an hour ahead, p2 and p4 with the other, whose clock is a day behind.
func distantMachine(t *testing.T, nodes int, change ...func(*distant)) *host.Machine {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	var hosts []host.Host
	for _, ahead := range []time.Duration{time.Hour, -24 * time.Hour} {
		a, err := agent.NewLocal(agent.Config{Exe: exe, Args: []string{"trial-node"}, Bus: []string{"trial-bus"}, Nodes: nodes,
			Env: []string{"GOMAXPROCS=1", "CONCLAVE_RUN=distant"}, Ready: 10 * time.Second})
		must(t, err)
		d := &distant{Agent: a, tb: t, ahead: ahead}
		for _, f := range change {
			f(d)
		}
		hosts = append(hosts, host.Host{Agent: d, Address: "127.0.0.1"})
	}
	authority, err := bus.NewAuthority()
	must(t, err)
	m, err := host.NewMachineOf(host.MachineConfig{
		Nodes: nodes, Run: "distant", Ready: 10 * time.Second, Authority: authority,
	}, hosts...)
	must(t, err)
	t.Cleanup(m.Close)
	return m
}

// TestTrial_SeveralAgents: a trial on several machines is led, found quiet and collected as
// one on one machine.
func TestTrial_SeveralAgents(t *testing.T) {
	t.Run("quiet is found through all agents", func(t *testing.T) {
		p := plan(t, "election/test-chain", 5, harness.Scenario{Plot: &harness.ColdStart{}},
			map[string]any{"hops": int64(100), "pause": ms(1)})
		o := run(t, distantMachine(t, 5), p)
		if o.Totals.Delivered != 100 || o.End.Reason != harness.Stuck || o.End.Pending != 0 {
			t.Errorf("%d of 100 hops: %s", o.Totals.Delivered, o.End.Reason)
		}
		if q := o.quality; q.ReadyTime <= 0 || q.SchedDelayP99 <= 0 || math.IsNaN(q.Busy) ||
			q.ClockError < 10*time.Microsecond || q.ClockError > 100*time.Microsecond {
			t.Errorf("%+v", q)
		}
	})
	t.Run("as in simulation", func(t *testing.T) {
		p := plan(t, "mutex/naimi-trehel", 4, harness.Scenario{Plot: &harness.Sequential{Requests: 12}}, nil)
		want := simulate(t, p)
		o := run(t, distantMachine(t, 4), p)
		if o.Status != trace.OK || o.Completed != 12 || o.Totals.Sent != want.Totals.Sent {
			t.Errorf("%s: %d entries with %d messages, want %d", o.Status, o.Completed, o.Totals.Sent,
				want.Totals.Sent)
		}
	})
	t.Run("faults", func(t *testing.T) {
		p := plan(t, "election/test-saver", 4, script(crash(52), restart(200),
			harness.Event{At: ms(300), Do: harness.DoPause, Node: 3, For: ms(200)}),
			map[string]any{"ticks": int64(120), "pause": ms(5)})
		p.InModel = false
		due := map[trace.Type]time.Duration{trace.Crash: ms(52), trace.Pause: ms(300), trace.Resume: ms(500)}
		saved := 0
		o := run(t, distantMachine(t, 4), p, func(o outcome) error { // a busy machine may be late
			saved = 0
			seen := 0
			for _, r := range o.Trace {
				if r.Type == trace.Save {
					saved++
				}
				if due[r.Type] == 0 {
					continue
				}
				seen++
				if late := r.At - due[r.Type]; late < 0 || late > ms(50) {
					return fmt.Errorf("%v at %v, want it at %v", r.Type, r.At, due[r.Type])
				}
			}
			if seen != len(due) {
				return fmt.Errorf("%d faults, want %d", seen, len(due))
			}
			return nil
		})
		said := lines(o.Trace, 2)
		if want := fmt.Sprintf("life 1, incarnation 1, saved %d", saved); len(said) != 2 || said[1] != want || saved == 0 {
			t.Errorf("p2 said %q, want %q at last", said, want)
		}
	})
	t.Run("what happens to several at once is one order to each agent", func(t *testing.T) {
		var asked []string
		p := plan(t, "election/test-saver", 4, script(
			harness.Event{At: ms(20), Do: harness.DoPause, Nodes: []algo.ID{1, 3}, For: ms(30)},
			harness.Event{At: ms(80), Do: harness.DoCrash, Nodes: []algo.ID{1, 3}},
			harness.Event{After: "quiet", Do: harness.DoCrash, Nodes: []algo.ID{2, 4}}),
			map[string]any{"ticks": int64(20), "pause": ms(5)})
		p.InModel = false
		run(t, distantMachine(t, 4, func(d *distant) { d.asked = &asked }), p, func(outcome) error {
			want := []string{"pause[{1 0} {3 0}]", "resume[{1 0} {3 0}]", "kill[{1 0} {3 0}]", "kill[{2 0} {4 0}]"}
			got := asked
			asked = nil
			if !slices.Equal(got, want) {
				return fmt.Errorf("%q, want %q", got, want)
			}
			return nil
		})
	})
	t.Run("an agent that fails", func(t *testing.T) {
		m := distantMachine(t, 4, func(d *distant) { d.fails = errors.New("the line is dead") })
		p := culpritPlan(t, "none", ms(300))
		if err := spoiled(once(t, m, p), "the line is dead"); err != nil {
			t.Error(err)
		}
	})
}

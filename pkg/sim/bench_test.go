package sim_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// gossip passes messages on for ever: whatever arrives goes to the next
// process. It costs an algorithm's least, so what is measured is the simulator.
type gossip struct{ algo.Config }

// Rumor is passed on.
type Rumor struct {
	From algo.ID
	Hops uint32
}

// Kind is RUMOR.
func (Rumor) Kind() string { return "RUMOR" }

func (g *gossip) Elect(env algo.Env) {
	for i := range 10 {
		env.Send(g.next(algo.ID(i)), Rumor{From: g.ID})
	}
}

func (g *gossip) Receive(env algo.Env, _ algo.ID, m algo.Message) {
	r := m.(Rumor)
	env.Send(g.next(r.From), Rumor{From: r.From + 1, Hops: r.Hops + 1})
}

func (g *gossip) next(skip algo.ID) algo.ID {
	n := algo.ID(len(g.Peers))
	return (g.ID+skip%7)%n + 1
}

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "test-gossip", Summary: "passes messages on for ever",
		Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
		Messages: []algo.Message{Rumor{}}, Perpetual: true,
		Params: []algo.Param{{Name: "lap", Type: algo.Duration, Doc: "of a message",
			Default: algo.Const(time.Millisecond)}},
		Periods: []algo.Period{{Param: "lap", Timer: "lap"}},
	}, func(c algo.Config) algo.Elector { return &gossip{Config: c} })
}

func gossipSetup(tb testing.TB, nodes int, limit time.Duration) *harness.Setup {
	tb.Helper()
	p := harness.Plan{
		Trial: "t", Algorithm: "election/test-gossip", Label: "gossip", Nodes: nodes,
		Shape:    algo.Shape{Kind: "complete"},
		Network:  link.Network{Latency: link.Uniform(time.Millisecond, 2*time.Millisecond), Loss: 1e-9},
		Scenario: harness.Scenario{Plot: &harness.ColdStart{}},
		Detector: harness.NoDetector(), Seed: 1, TimeLimit: limit, InModel: true,
	}
	s, err := p.Setup()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// bare is an event loop without a framework: a heap, an interface handler,
// boxed messages. It is the floor that the simulator is measured against.
func bare(nodes, events int) {
	type bareEvent struct {
		to  uint32
		msg algo.Message
	}
	var q harness.Queue[bareEvent]
	procs := make([]bareHandler, nodes)
	for i := range procs {
		procs[i] = &bareProcess{id: uint32(i), n: uint32(nodes)}
	}
	seed := uint64(1)
	now := time.Duration(0)
	for i := range nodes * 10 {
		q.Push(time.Duration(i), harness.Delivery, algo.ID(i%nodes+1),
			bareEvent{uint32(i % nodes), Rumor{From: algo.ID(i)}})
	}
	for range events {
		at, e := q.Pop()
		now = at
		to, out := procs[e.to].handle(e.msg)
		seed = seed*6364136223846793005 + 1442695040888963407
		q.Push(now+time.Millisecond+time.Duration(seed>>44), harness.Delivery, algo.ID(e.to+1),
			bareEvent{to, out})
	}
}

type bareHandler interface {
	handle(algo.Message) (uint32, algo.Message)
}

type bareProcess struct{ id, n uint32 }

func (p *bareProcess) handle(m algo.Message) (uint32, algo.Message) {
	r := m.(Rumor)
	return (p.id + uint32(r.From)%7 + 1) % p.n, Rumor{From: r.From + 1, Hops: r.Hops + 1}
}

// BenchmarkEvents compares the simulator, through Stepper, draws, encoding and
// accounting, with a bare event loop, in turn. Floor: 0.3 at N = 100.
func BenchmarkEvents(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var simTime, bareTime time.Duration
			var total uint64
			count := trace.SinkFunc(func(*trace.Record) {})
			for b.Loop() {
				s := gossipSetup(b, n, time.Duration(30_000/n+2)*time.Millisecond)
				begun := time.Now()
				end := sim.Run(s, count)
				simTime += time.Since(begun)
				begun = time.Now()
				bare(n, int(end.Events))
				bareTime += time.Since(begun)
				total += end.Events
			}
			b.ReportMetric(float64(total)/simTime.Seconds(), "events/s")
			b.ReportMetric(float64(total)/bareTime.Seconds(), "bare-events/s")
			b.ReportMetric(bareTime.Seconds()/simTime.Seconds(), "ratio")
		})
	}
}

// TestMemory: at N = 10 000 a process costs less than 2 KiB beyond the
// algorithm's own state.
func TestMemory(t *testing.T) {
	const nodes = 10_000
	s := gossipSetup(t, nodes, 3*time.Millisecond)
	s.Scenario.Set("initiators", 1) // one process talks; all exist
	s, err := s.Plan.Setup()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var held uint64
	sim.Run(s, trace.SinkFunc(func(r *trace.Record) {
		if r.Type == trace.Deliver && held == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			held = after.HeapAlloc - before.HeapAlloc
		}
	}))
	if per := held / nodes; held == 0 || per > 2048 {
		t.Errorf("%d bytes a process, want 1 to 2048", per)
	} else {
		t.Logf("%d bytes a process", per)
	}
}

package sim_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/ringlist"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

const ms = time.Millisecond

// Note is the actors' message; List makes it one that holds a pointer.
type Note struct{ Text string }

// List holds a pointer.
type List struct{ Items []int }

// Kind is NOTE.
func (Note) Kind() string { return "NOTE" }

// Kind is LIST.
func (List) Kind() string { return "LIST" }

// An actor does what its test wrote into the table of acts.
type actor struct {
	algo.Config
	act   act
	wrong error
	list  []int
}

// An act is told what happened: start, elect, timeout t, do op, or a message.
type act func(a *actor, env algo.Env, what string, from algo.ID, m algo.Message)

var acts struct {
	sync.Mutex
	list []act
}

// role puts f into the table and gives the parameter that names it.
func role(f act) map[string]any {
	acts.Lock()
	defer acts.Unlock()
	acts.list = append(acts.list, f)
	return map[string]any{"act": int64(len(acts.list) - 1)}
}

func (a *actor) Start(env algo.Env) { a.act(a, env, "start", 0, nil) }
func (a *actor) Elect(env algo.Env) { a.act(a, env, "elect", 0, nil) }
func (a *actor) Receive(env algo.Env, from algo.ID, m algo.Message) {
	a.act(a, env, "receive", from, m)
}
func (a *actor) Timeout(env algo.Env, t algo.Timer) { a.act(a, env, "timeout "+string(t), 0, nil) }
func (a *actor) Do(env algo.Env, op string, p algo.ID) {
	a.act(a, env, "do "+op, p, nil)
}
func (a *actor) Invariant() error { return a.wrong }

func init() {
	make := func(c algo.Config) algo.Elector {
		acts.Lock()
		defer acts.Unlock()
		return &actor{Config: c, act: acts.list[c.Params.Int("act")]}
	}
	for name, perpetual := range map[string]bool{"test-actor": false, "test-restless": true} {
		s := algo.Spec{
			Name: name, Summary: "does what its test says", Perpetual: perpetual,
			Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
			Messages: []algo.Message{Note{}, List{}},
			Params: []algo.Param{{Name: "act", Type: algo.Int, Doc: "which act",
				Default: algo.Const(int64(0))}},
		}
		if perpetual {
			s.Params = append(s.Params, algo.Param{Name: "beat", Type: algo.Duration, Doc: "the period",
				Default: algo.Const(ms)})
			s.Periods = []algo.Period{{Param: "beat", Timer: "beat"}}
		}
		algo.RegisterElector(s, make)
	}
}

func plan(id string, n int, sc harness.Scenario, params map[string]any) *harness.Plan {
	for _, d := range sc.Does().Params() {
		if l, is := d.At.(*link.Latency); is && l.Law == nil {
			sc.Set(d.Name, link.Constant(ms))
		}
	}
	return &harness.Plan{
		Trial: "t", Algorithm: id, Label: id, Nodes: n, Shape: algo.Shape{Kind: "complete"},
		Network: link.Network{Latency: link.Constant(ms)}, Scenario: sc, Params: params, Seed: 1,
		TimeLimit: time.Hour, InModel: true,
	}
}

func run(tb testing.TB, p *harness.Plan) (harness.End, trace.List) {
	tb.Helper()
	s, err := p.Setup()
	if err != nil {
		tb.Fatal(err)
	}
	s.Virtual = true
	var list trace.List
	return sim.Run(s, &list), list
}

// script runs an actor of n processes through events.
func script(tb testing.TB, n int, f act, change func(*harness.Plan), events ...harness.Event) (
	harness.End, trace.List) {
	tb.Helper()
	p := plan("election/test-actor", n, harness.Scenario{Plot: &harness.Script{Events: events}},
		role(f))
	if change != nil {
		change(p)
	}
	return run(tb, p)
}

// hash is of every byte of the records, texts included.
func hash(list trace.List) uint64 {
	h := fnv.New64a()
	var b [trace.Size]byte
	for i := range list {
		list[i].Put(b[:])
		h.Write(b[:])
		h.Write([]byte(list[i].Text))
	}
	return h.Sum64()
}

// tell is records of these types as text: "2ms deliver p1 from 3".
func tell(list trace.List, types ...trace.Type) []string {
	out := []string{}
	for _, r := range list {
		if !slices.Contains(types, r.Type) {
			continue
		}
		text := fmt.Sprintf("%v %s", r.At, r.Type)
		if r.Process != 0 {
			text += fmt.Sprintf(" p%d", r.Process)
		}
		if r.Peer != 0 {
			text += fmt.Sprintf(" %d", r.Peer)
		}
		if r.Seq != 0 {
			text += fmt.Sprintf(" #%d", r.Seq)
		}
		if r.Text != "" {
			text += " " + r.Text
		}
		out = append(out, text)
	}
	return out
}

func same(tb testing.TB, what string, got, want []string) {
	tb.Helper()
	if !slices.Equal(got, want) {
		tb.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

func runSetup(s *harness.Setup, list *trace.List) harness.End { return sim.Run(s, list) }

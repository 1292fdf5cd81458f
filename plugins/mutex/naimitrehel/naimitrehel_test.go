package naimitrehel

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

const (
	id = "mutex/naimi-trehel"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

// TestCases adds to the common checks those that look into the processes.
func TestCases(t *testing.T) {
	algotest.Cases(t, id, algotest.Checks{
		"LAST_at_end": func(r *algotest.Result, want json.RawMessage) error {
			return compare(replay(t, r.Plan, time.Hour), want, (*node).last)
		},
		"NEXT_at_end": func(r *algotest.Result, want json.RawMessage) error {
			return compare(replay(t, r.Plan, time.Hour), want, func(n *node) algo.ID { return n.next })
		},
		"token_at_end": func(r *algotest.Result, want json.RawMessage) error {
			for _, n := range replay(t, r.Plan, time.Hour) {
				if n.tokenPresent && fmt.Sprint(n.ID) != string(want) {
					return fmt.Errorf("at %d, want %s", n.ID, want)
				}
			}
			return nil
		},
		"NEXT1_while_in_cs": func(r *algotest.Result, want json.RawMessage) error {
			inside := 5 * ms // it is there from 2 to 6
			return compare(replay(t, r.Plan, inside)[:1], []byte(`{"1": `+string(want)+`}`),
				func(n *node) algo.ID { return n.next })
		},
	})
}

// last is what the notes call LAST: the father, or the process itself at a root.
func (n *node) last() algo.ID {
	if n.father == algo.None {
		return n.ID
	}
	return n.father
}

func compare(nodes []*node, raw json.RawMessage, of func(*node) algo.ID) error {
	var want map[algo.ID]algo.ID
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	for _, n := range nodes {
		if got := of(n); got != want[n.ID] {
			return fmt.Errorf("process %d: %d, want %d", n.ID, got, want[n.ID])
		}
	}
	return nil
}

// seen is the algorithm under another name, whose processes can be looked at. One
// trial runs at a time.
var seen []*node

func init() {
	alg, err := algo.Lookup(id)
	if err != nil {
		panic(err)
	}
	spec := alg.Spec
	spec.Name = "test-naimi-trehel-seen"
	algo.RegisterMutex(spec, func(c algo.Config) algo.Mutex {
		n := New(c).(*node)
		seen = append(seen, n)
		return n
	})
}

// replay runs the plan until an instant and gives the processes as they are then.
func replay(t *testing.T, p harness.Plan, until time.Duration) []*node {
	t.Helper()
	seen = nil
	p.Algorithm, p.TimeLimit = "mutex/test-naimi-trehel-seen", until
	if _, err := algotest.Simulate(p); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(seen)
}

// TestWorkedExample is table 5.4 of the notes: after each step, LAST and NEXT of
// the five processes and where the token is (0: in flight).
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	nodes := make([]*node, 6)
	steps := make([]*algo.Stepper, 6)
	alg := algotest.Lookup(t, id)
	for p := algo.ID(1); p <= 5; p++ {
		c := algo.Config{ID: p, Peers: algotest.Everybody(5), Neighbors: algotest.Everybody(5), Holder: 5}
		steps[p] = algo.NewStepper(alg, c, 1, new(algo.Buffer))
		nodes[p] = steps[p].Process().(*node)
	}
	request, release := algo.Event{Type: algo.Request}, algo.Event{Type: algo.Release}
	receive := func(from algo.ID, m algo.Message) algo.Event {
		return algo.Event{Type: algo.Receive, Peer: from, Msg: m}
	}
	for i, step := range []struct {
		at         algo.ID
		event      algo.Event
		want       []algo.Effect
		last, next [5]algo.ID
		token      algo.ID
	}{
		{1, request, []algo.Effect{algotest.Sends(5, Req{1})}, [5]algo.ID{1, 5, 5, 5, 5}, [5]algo.ID{},
			5},
		{5, receive(1, Req{1}), []algo.Effect{algotest.Sends(1, Token{})},
			[5]algo.ID{1, 5, 5, 5, 1}, [5]algo.ID{}, 0},
		{1, receive(5, Token{}), []algo.Effect{algotest.Enters()},
			[5]algo.ID{1, 5, 5, 5, 1}, [5]algo.ID{}, 1},
		{3, request, []algo.Effect{algotest.Sends(5, Req{3})}, // to the old LAST: P25
			[5]algo.ID{1, 5, 3, 5, 1}, [5]algo.ID{}, 1},
		{5, receive(3, Req{3}), []algo.Effect{algotest.Sends(1, Req{3})},
			[5]algo.ID{1, 5, 3, 5, 3}, [5]algo.ID{}, 1},
		{1, receive(5, Req{3}), nil, [5]algo.ID{3, 5, 3, 5, 3}, [5]algo.ID{3}, 1},
		{1, release, []algo.Effect{algotest.Sends(3, Token{})},
			[5]algo.ID{3, 5, 3, 5, 3}, [5]algo.ID{}, 0},
		{3, receive(1, Token{}), []algo.Effect{algotest.Enters()},
			[5]algo.ID{3, 5, 3, 5, 3}, [5]algo.ID{}, 3},
	} {
		got := steps[step.at].Step(0, step.event)
		if !slices.Equal(got, step.want) {
			t.Errorf("step %d: %+v, want %+v", i+1, got, step.want)
		}
		var last, next [5]algo.ID
		token := algo.None
		for p := 1; p <= 5; p++ {
			last[p-1], next[p-1] = nodes[p].last(), nodes[p].next
			if nodes[p].tokenPresent {
				token = algo.ID(p)
			}
			if err := nodes[p].Invariant(); err != nil {
				t.Errorf("step %d: %v", i+1, err)
			}
		}
		if last != step.last || next != step.next || token != step.token {
			t.Errorf("step %d: LAST %v, NEXT %v, token %d; want %v, %v, %d", i+1, last, next, token,
				step.last, step.next, step.token)
		}
	}
}

// TestWaitingRoot: of two requests that reach a root that waits itself, the first
// becomes its NEXT and the second goes on to the first, since LAST has moved; so
// no request is lost (P24).
func TestWaitingRoot(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 4, 2, 1, nil)
	d.Requests(algotest.Sends(1, Req{2})) // to the old LAST, though LAST is 2 itself from now on: P25
	d.Receives(1, Req{3})
	if n := d.Process().(*node); n.next != 3 || n.father != 3 {
		t.Errorf("NEXT %d, LAST %d, want 3 and 3", n.next, n.father)
	}
	d.Receives(1, Req{4}, algotest.Sends(3, Req{4}))
	d.Receives(1, Token{}, algotest.Enters())
	d.Releases(algotest.Sends(3, Token{}))
}

// TestRules is each event in each state of process 2 of four. It stands below the
// root 1 at first, or is the root itself.
func TestRules(t *testing.T) {
	t.Parallel()
	request, release := algo.Event{Type: algo.Request}, algo.Event{Type: algo.Release}
	asks := func(k algo.ID) algo.Event { return algotest.Hear(1, Req{k}) }
	token := algotest.Hear(1, Token{})
	type events []algo.Event
	for name, test := range map[string]struct {
		holder     algo.ID
		events     events
		want       []algo.Effect // of the last event
		last, next algo.ID
		token      bool
	}{
		"idle, asked":    {1, events{asks(3)}, []algo.Effect{algotest.Sends(1, Req{3})}, 3, 0, false},
		"idle, asks":     {1, events{request}, []algo.Effect{algotest.Sends(1, Req{2})}, 2, 0, false},
		"waiting, asked": {1, events{request, asks(3)}, nil, 3, 3, false},
		"waiting, asked again": {1, events{request, asks(3), asks(4)},
			[]algo.Effect{algotest.Sends(3, Req{4})}, 4, 3, false},
		"waiting, served": {1, events{request, token}, []algo.Effect{algotest.Enters()}, 2, 0, true},
		"waiting with a next, served": {1, events{request, asks(3), token},
			[]algo.Effect{algotest.Enters()}, 3, 3, true},
		"inside, asked": {1, events{request, token, asks(3)}, nil, 3, 3, true},
		"inside, asked again": {1, events{request, token, asks(3), asks(4)},
			[]algo.Effect{algotest.Sends(3, Req{4})}, 4, 3, true},
		"inside, leaves": {1, events{request, token, release}, nil, 2, 0, true},
		"inside with a next, leaves": {1, events{request, token, asks(3), release},
			[]algo.Effect{algotest.Sends(3, Token{})}, 3, 0, false},
		"left, asked": {1, events{request, token, asks(3), release, asks(4)},
			[]algo.Effect{algotest.Sends(3, Req{4})}, 4, 0, false},
		"left, asks": {1, events{request, token, asks(3), release, request},
			[]algo.Effect{algotest.Sends(3, Req{2})}, 2, 0, false},
		"left with the token, asks": {1, events{request, token, release, request},
			[]algo.Effect{algotest.Enters()}, 2, 0, true},
		"idle root, asked": {2, events{asks(3)}, []algo.Effect{algotest.Sends(3, Token{})}, 3, 0, false},
		"idle root, asks":  {2, events{request}, []algo.Effect{algotest.Enters()}, 2, 0, true},
		"no root any more, asked": {2, events{asks(3), asks(4)},
			[]algo.Effect{algotest.Sends(3, Req{4})}, 4, 0, false},
	} {
		d := algotest.NewDrive(t, id, 4, 2, test.holder, nil)
		var got []algo.Effect
		for _, ev := range test.events {
			got = d.Step(0, ev)
			if err := d.Invariant(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
		if n := d.Process().(*node); n.last() != test.last || n.next != test.next ||
			n.tokenPresent != test.token {
			t.Errorf("%s: LAST %d, NEXT %d, token %t; want %d, %d, %t", name, n.last(), n.next,
				n.tokenPresent, test.last, test.next, test.token)
		}
	}
}

// TestDuplicates: a REQUEST must never be sent again, as it is not idempotent. The
// root that gave the token away passes the second one on to the requester, which
// then becomes its own NEXT (P22). What asks again is naimi-trehel-ft.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 1, 1, nil)
	d.Receives(2, Req{2}, algotest.Sends(2, Token{}))
	d.Receives(2, Req{2}, algotest.Sends(2, Req{2}))
	d = algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, Req{2}))
	d.Receives(1, Token{}, algotest.Enters())
	d.Receives(1, Req{2})
	if n := d.Process().(*node); n.next != 2 {
		t.Errorf("NEXT is %d, want 2", n.next)
	}
}

// TestCrash: with the holder the token is lost, also when that comes back; with
// a process on the way the request is. The crash of any other hurts nobody (P37).
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		victim algo.ID
		at     time.Duration
		want   trace.Status
	}{
		"idle holder":          {1, 0, trace.TimedOut},
		"inside":               {4, 3*ms - ms/2, trace.TimedOut},
		"the old root, passed": {1, 8 * ms, trace.TimedOut}, // 2 still asks it
		"idle":                 {3, 0, trace.OK},
	} {
		e := algotest.Entries{Nodes: 4, Holder: 1, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 4}, // inside from 2 to 3
			{At: c.at, Do: harness.DoCrash, Node: c.victim},
			{At: 20 * ms, Do: harness.DoRestart, Node: c.victim},
			{At: 10 * ms, Do: harness.DoRequest, Node: 2},
		}}
		e.RunBeyond(t, id, name, c.want)
	}
}

// TestRestart: the first holder comes back while 2 has the token. It makes no
// second one; it gets the one that is there if its own request finds the way.
func TestRestart(t *testing.T) {
	t.Parallel()
	for holder, want := range map[algo.ID]trace.Status{
		1: trace.OK,       // asks 2
		3: trace.TimedOut, // asks 1, whose father it is itself
	} {
		algotest.Entries{Nodes: 3, Holder: holder, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 2}, // inside from 2 to 3
			{At: 3 * ms / 2, Do: harness.DoCrash, Node: holder},
			{At: 7 * ms / 4, Do: harness.DoRestart, Node: holder},
			{At: 2 * ms, Do: harness.DoRequest, Node: holder},
		}}.RunBeyond(t, id, fmt.Sprint("holder ", holder), want)
	}
}

// TestCounts: nothing for the holder, two for a neighbor of the idle holder, 3N-4
// when all ask at once, and the worst case of N.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 8; n++ {
		kinds := func(requests, tokens int) map[string]int64 {
			out := map[string]int64{"REQUEST": int64(requests), "TOKEN": int64(tokens)}
			if requests == 0 {
				return map[string]int64{}
			}
			return out
		}
		for name, e := range map[string]algotest.Entries{
			"the holder": {Events: algotest.InTurn(1), Order: []algo.ID{1}, Kinds: kinds(0, 0),
				Each: []int64{0}, Waiting: []time.Duration{0}},
			"another": {Events: algotest.InTurn(algo.ID(n)), Order: []algo.ID{algo.ID(n)},
				Kinds: kinds(1, 1),
				Each:  []int64{2}, Waiting: []time.Duration{2 * ms}},
			"it again": {Events: algotest.InTurn(algo.ID(n), algo.ID(n)),
				Order: []algo.ID{algo.ID(n), algo.ID(n)}, Kinds: kinds(1, 1), Each: []int64{2, 0}},
			"all at once": {Events: algotest.Together(algotest.Everybody(n)...),
				Order: algotest.Everybody(n), Kinds: kinds(2*n-3, n-1), SyncMax: ms},
		} {
			t.Run(fmt.Sprintf("N=%d: %s", n, name), func(t *testing.T) {
				t.Parallel()
				e.Nodes = n
				e.Run(t, id)
			})
		}
	}
	for name, e := range map[string]algotest.Entries{
		"N=4: worst case": {Nodes: 4, Events: algotest.InTurn(2, 3, 2, 4), Order: []algo.ID{2, 3, 2, 4},
			Kinds: map[string]int64{"REQUEST": 7, "TOKEN": 4}, Each: []int64{2, 3, 2, 4}},
		"N=5: worst case": {Nodes: 5, Events: algotest.InTurn(2, 3, 4, 1, 5, 2),
			Order: []algo.ID{2, 3, 4, 1, 5, 2}, Kinds: map[string]int64{"REQUEST": 11, "TOKEN": 6},
			Each: []int64{2, 3, 3, 2, 2, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.Run(t, id)
		})
	}
}

// TestMean: H(N-1) messages for each entry, of which 1-1/N are tokens, when one
// process at a time asks, anyone as likely. 20 000 entries behind 500.
func TestMean(t *testing.T) {
	t.Parallel()
	for _, n := range []int{4, 16, 64} {
		t.Run(fmt.Sprintf("N=%d", n), func(t *testing.T) {
			t.Parallel()
			p := algotest.MustPlan(t, id, n, harness.Scenario{Plot: &harness.Sequential{Requests: 20_500,
				Warmup: 500, Requesters: "uniform"}}, nil)
			o, err := algotest.Simulate(p)
			if err != nil || o.Status != trace.OK || o.Completed != 20_500 {
				t.Fatalf("%v, %s: %s, %d entries", err, o.Status, o.Reason, o.Completed)
			}
			want := algo.Harmonic(n - 1)
			if got := o.Metrics[0].Value; math.Abs(got-want) > 0.03*want {
				t.Errorf("%s is %v, want %v within 3 %%", o.Metrics[0].Name, got, want)
			}
			tokens := float64(o.Kinds[1].Sent) / 20_500
			if want := 1 - 1/float64(n); math.Abs(tokens-want) > 0.03*want {
				t.Errorf("%v tokens an entry, want %v within 3 %%", tokens, want)
			}
		})
	}
}

// TestInvariants: each lemma notices a state that breaks it.
func TestInvariants(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]node{
		"an idle root without the token":      {},
		"an idle process that is no root":     {father: 2, tokenPresent: true},
		"queued, but nobody comes after":      {father: 2, requestingCS: true},
		"somebody comes after, but it stands": {next: 2, requestingCS: true},
	} {
		if n.Invariant() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

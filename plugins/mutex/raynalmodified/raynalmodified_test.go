package raynalmodified_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/raynalmodified"
)

const (
	id = "mutex/raynal-modified"
	ms = time.Millisecond
)

func primes(n int) map[string]any {
	a := []any{int64(3), int64(5), int64(7), int64(11), int64(13)}
	return map[string]any{"a": a[:n]}
}

func simulate(t *testing.T, c algotest.Entries) algotest.Outcome {
	t.Helper()
	return algotest.MustSimulate(t, c.Plan(t, id))
}

// sentBetween counts the messages from the i-th release, or from the start, to
// the j-th entry.
func sentBetween(o algotest.Outcome, i, j int) (n int) {
	releases, entries := 0, 0
	for k := range o.Trace {
		switch r := &o.Trace[k]; r.Type {
		case trace.Released:
			releases++
		case trace.Granted:
			entries++
		case trace.Send:
			if releases >= i && entries < j {
				n++
			}
		}
	}
	return n
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) { algotest.Cases(t, id) }

// TestEverybody is RAYNAL-M-01 and 05: N-1 messages per hand-over, 1 unit each.
func TestEverybody(t *testing.T) {
	for n := 2; n <= 5; n++ {
		c := algotest.Entries{
			Nodes: n, Params: primes(n), Events: algotest.Together(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), SyncMax: ms,
		}
		c.Run(t, id)
		if got, want := sentBetween(simulate(t, c), 0, n), (n-1)*(n-1); got != want {
			t.Errorf("n = %d: %d messages until the last entry, want %d", n, got, want)
		}
	}
}

// TestFarthest is RAYNAL-M-06 and 10: the next to wait is N-1 hops away.
func TestFarthest(t *testing.T) {
	for n := 2; n <= 5; n++ {
		c := algotest.Entries{
			Nodes: n, Params: primes(n), Events: algotest.Together(1, algo.ID(n)),
			Order: []algo.ID{1, algo.ID(n)}, Waiting: []time.Duration{0, time.Duration(n) * ms},
		}
		c.Run(t, id)
		if got, want := sentBetween(simulate(t, c), 1, 2), (n-1)*(n-1); got != want {
			t.Errorf("n = %d: %d messages from release to entry, want %d", n, got, want)
		}
	}
}

// TestDistance: h(N-1) messages and h units to a process h hops away.
func TestDistance(t *testing.T) {
	const n = 5
	for h := 1; h < n; h++ {
		c := algotest.Entries{Nodes: n, Events: algotest.Together(1, algo.ID(1+h))}
		o := simulate(t, c)
		if got := sentBetween(o, 1, 2); got != h*(n-1) {
			t.Errorf("h = %d: %d messages, want %d", h, got, h*(n-1))
		}
		if at := o.Operations[1].End; at != time.Duration(1+h)*ms {
			t.Errorf("h = %d: entered at %v, want %d ms", h, at, 1+h)
		}
	}
}

// TestAgain is RAYNAL-M-03 and 07: the same process again costs a whole lap,
// N(N-1) messages, which is more than the (N-1)^2 of the notes.
func TestAgain(t *testing.T) {
	for n := 2; n <= 5; n++ {
		c := algotest.Entries{
			Nodes: n, Params: primes(n), Order: []algo.ID{1, 1}, Events: []harness.Event{
				{Do: harness.DoRequest, Node: 1}, {After: "release", Do: harness.DoRequest, Node: 1},
			},
		}
		c.Run(t, id)
		if got, want := sentBetween(simulate(t, c), 1, 2), n*(n-1); got != want {
			t.Errorf("n = %d: %d messages from release to entry, want %d", n, got, want)
		}
	}
}

// TestIdle is RAYNAL-M-04, 08 and 12: nobody wants to enter, and N-1 messages are
// sent at each of the instants 0 to 100, and would be for ever.
func TestIdle(t *testing.T) {
	for n, want := range map[int]int64{3: 202, 4: 303, 5: 404} {
		given := primes(n)
		given["park"] = false
		// The application's first chance is at the very start, so the first turn
		// begins a moment later, and so do all that follow from it.
		c := algotest.Entries{Nodes: n, Params: given, Until: 100*ms + time.Microsecond}
		o := simulate(t, c)
		if o.Totals.Sent != want || o.Completed != 0 || o.End.Pending == 0 {
			t.Errorf("n = %d: %d sent, %d entries, %d on their way, want %d, 0, some",
				n, o.Totals.Sent, o.Completed, o.End.Pending, want)
		}
		if o.End.At != c.Until || o.Status != trace.Unknown {
			t.Errorf("n = %d: %s at %v: %s", n, o.Status, o.End.At, o.Reason)
		}
	}
}

// TestOneProcess: the turn is its own again, without a message and without end.
func TestOneProcess(t *testing.T) {
	for _, park := range []bool{false, true} {
		algotest.Entries{
			Nodes: 1, Params: map[string]any{"park": park}, Events: algotest.InTurn(1, 1, 1),
			Order: []algo.ID{1, 1, 1}, Kinds: map[string]int64{}, Waiting: make([]time.Duration, 3),
		}.Run(t, id)
	}
}

// TestPark: nothing moves while nobody waits. A request wakes N-1 others, and
// the turn comes h hops of N-1 messages, after the one that the wake-up takes.
// Where it is, it costs nothing.
func TestPark(t *testing.T) {
	const n = 5
	park := map[string]any{"park": true}
	o := simulate(t, algotest.Entries{Nodes: n, Params: park, Until: time.Second})
	if o.Totals.Sent != 0 {
		t.Errorf("%d messages while nobody wants to enter", o.Totals.Sent)
	}
	algotest.Entries{
		Nodes: n, Params: park, Events: algotest.InTurn(1, 4, 4, 3, 1),
		Order:   []algo.ID{1, 4, 4, 3, 1},
		Each:    []int64{0, 4 + 3*4, 0, 4 + 4*4, 4 + 3*4},
		Waiting: []time.Duration{0, 4 * ms, 0, 5 * ms, 4 * ms},
	}.Run(t, id)
	algotest.Entries{ // 2 to 5 wake everybody up once, 1 to 4 pass the turn on
		Nodes: n, Params: park, Events: algotest.Together(algotest.Everybody(n)...),
		Order: algotest.Everybody(n), SyncMax: ms,
		Kinds: map[string]int64{"INFORM": 16, "WAKEUP": 16},
	}.Run(t, id)
}

// TestHolder: the turn may be anybody's at first.
func TestHolder(t *testing.T) {
	algotest.Entries{
		Nodes: 4, Holder: 3, Events: algotest.Together(1, 2, 3, 4), Order: []algo.ID{3, 4, 1, 2},
	}.Run(t, id)
}

// world is processes without a network, for rules one at a time.
type world struct {
	procs []*algo.Stepper
	buf   algo.Buffer
}

func newWorld(t *testing.T, n int, given map[string]any) *world {
	t.Helper()
	p := algotest.Entries{Nodes: n, Params: given}.Plan(t, id)
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	for _, p := range setup.Graph.Peers() {
		s := algo.NewStepper(setup.Alg, setup.Config(p, 0, nil), 1, &w.buf)
		s.Step(0, algo.Event{Type: algo.Start})
		w.procs = append(w.procs, s)
	}
	return w
}

func (w *world) step(p algo.ID, ev algo.Event) []algo.Effect {
	return slices.Clone(w.procs[p-1].Step(0, ev))
}

// spread delivers the messages among effects, and says whether q was let in.
func (w *world) spread(p algo.ID, effects []algo.Effect, q algo.ID) (entered bool) {
	for _, e := range effects {
		if e.Op != algo.OpSend {
			continue
		}
		for _, f := range w.step(e.Peer, algo.Event{Type: algo.Receive, Peer: p, Msg: e.Msg}) {
			entered = entered || f.Op == algo.OpGranted && e.Peer == q
		}
	}
	return entered
}

// fraction is X of p after s passes, with the A of the example.
func fraction(p algo.ID, s uint64) *big.Rat {
	a := []int64{3, 5, 7, 11}
	x := big.NewRat(a[p-1], 1)
	if p == 1 {
		x.SetInt64(1)
	}
	for range s {
		x.Mul(x, big.NewRat(a[p-1], a[p%4]))
	}
	return x
}

// TestExample is the table of the lecture notes: N = 4, A = 3, 5, 7, 11.
func TestExample(t *testing.T) {
	w := newWorld(t, 4, primes(4))
	for _, p := range []algo.ID{1, 2, 3, 4} {
		w.step(p, algo.Event{Type: algo.Request})
	}
	x := []string{"1", "5", "7", "11"}
	for row, want := range []string{
		"[3/5 5 7 11] = 231", "[3/5 25/7 7 11] = 165", "[3/5 25/7 49/11 11] = 105",
		"[3/5 25/7 49/11 121/3] = 385", "[9/25 25/7 49/11 121/3] = 231",
	} {
		p := algo.ID(row%4 + 1)
		effects := w.step(p, algo.Event{Type: algo.Release})
		w.step(p, algo.Event{Type: algo.Request})
		if len(effects) != 3 {
			t.Fatalf("row %d: %d messages, want an INFORM to each of 3", row, len(effects))
		}
		s := effects[0].Msg.(raynalmodified.Inform).S
		x[p-1] = fraction(p, s).RatString()
		product := big.NewRat(1, 1)
		for i := range x {
			r, _ := new(big.Rat).SetString(x[i])
			product.Mul(product, r)
		}
		if got := fmt.Sprintf("%v = %s", x, product.RatString()); got != want {
			t.Fatalf("row %d: X and T are %s, want %s", row, got, want)
		}
		if next := p%4 + 1; !w.spread(p, effects, next) {
			t.Fatalf("row %d: %d did not enter", row, next)
		}
	}
}

// TestManyLaps: after 1000 laps the turn is still told.
func TestManyLaps(t *testing.T) {
	w := newWorld(t, 4, nil)
	for p := algo.ID(1); p <= 4; p++ {
		w.step(p, algo.Event{Type: algo.Request})
	}
	for i := range 4000 {
		p := algo.ID(i%4 + 1)
		effects := w.step(p, algo.Event{Type: algo.Release})
		w.step(p, algo.Event{Type: algo.Request})
		if !w.spread(p, effects, p%4+1) {
			t.Fatalf("turn %d: %d did not enter", i, p%4+1)
		}
	}
}

// TestWakeup_Overtaken: an older wake-up that comes later does not hide that its
// sender waits, nor does one that comes after its sender had its turn call.
func TestWakeup_Overtaken(t *testing.T) {
	w := newWorld(t, 3, map[string]any{"park": true})
	wakeup := func() []algo.Effect { return w.step(2, algo.Event{Type: algo.Request}) }
	deliver := func(from algo.ID, m algo.Message) []algo.Effect {
		return w.step(1, algo.Event{Type: algo.Receive, Peer: from, Msg: m})
	}
	w.step(1, algo.Event{Type: algo.Timeout, Timer: "first turn"})
	first := wakeup()[0].Msg
	w.spread(1, deliver(2, first), 2) // 2 enters
	w.step(3, algo.Event{Type: algo.Receive, Peer: 2, Msg: first})
	if sent := w.step(3, algo.Event{Type: algo.Request}); len(sent) != 2 {
		t.Fatalf("3 wakes %d, want 2", len(sent))
	} else {
		w.spread(3, sent, 0)
	}
	w.spread(2, w.step(2, algo.Event{Type: algo.Release}), 3) // 3 enters
	second := wakeup()[0].Msg
	deliver(2, second)
	deliver(2, first) // overtaken
	w.step(3, algo.Event{Type: algo.Receive, Peer: 2, Msg: second})
	var passed []algo.Effect
	for _, e := range w.step(3, algo.Event{Type: algo.Release}) {
		if e.Peer == 1 {
			passed = deliver(3, e.Msg)
		}
	}
	if len(passed) != 2 {
		t.Errorf("1 sends %d messages, want 2: it is its turn, and 2 waits", len(passed))
	}
}

// TestConformance is the kit with fewer schedules: the turn goes round through
// all of each. TestRandomSchedules has the others.
func TestConformance(t *testing.T) {
	if err := algotest.Verify(id, algotest.Options{Schedules: 100}); err != nil {
		t.Error(err)
	}
}

// TestRandomSchedules: any holder, overtaking, with the turn parked and not.
func TestRandomSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, func(seed uint64) map[string]any {
		return map[string]any{"park": seed%8 != 0}
	}, nil)
}

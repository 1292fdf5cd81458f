package raynaloriginal_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/raynaloriginal"
)

const (
	id = "mutex/raynal-original"
	ms = time.Millisecond
)

// run simulates n processes in the unit-delay model, a unit being 1 ms.
func run(t testing.TB, n int, s harness.Scenario, given map[string]any,
	change ...func(*harness.Plan)) algotest.Outcome {
	t.Helper()
	p := algotest.MustPlan(t, id, n, s, given)
	p.TimeLimit = 10 * time.Second
	for _, c := range change {
		c(&p)
	}
	return algotest.MustSimulate(t, p)
}

func request(at time.Duration, p algo.ID) harness.Event {
	return algotest.At(at, harness.DoRequest, p)
}

func script(events ...harness.Event) harness.Scenario {
	return harness.Scenario{Plot: &harness.Script{Events: events}}
}

func order(o algotest.Outcome) (ids []algo.ID) {
	for i := range o.Trace {
		if r := &o.Trace[i]; r.Type == trace.Granted {
			ids = append(ids, algo.ID(r.Process))
		}
	}
	return ids
}

// polls is how often each process polled, by ID - 1.
func polls(o algotest.Outcome, n int) []int {
	out := make([]int, n)
	for i := range o.Trace {
		if r := &o.Trace[i]; r.Type == trace.Send && r.Kind == 0 {
			out[r.Process-1]++
		}
	}
	for i := range out {
		out[i] /= n - 1
	}
	return out
}

var primes = map[int][]any{
	3: {int64(3), int64(5), int64(7)},
	4: {int64(3), int64(5), int64(7), int64(11)},
	5: {int64(3), int64(5), int64(7), int64(11), int64(13)},
}

// expect compares what came out with what a case wants.
func expect(got any, raw json.RawMessage) error {
	if want := strings.ReplaceAll(string(raw), ", ", ","); want != asJSON(got) {
		return fmt.Errorf("got %v, want %s", asJSON(got), want)
	}
	return nil
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestConformance is the kit with fewer schedules: TestSchedules has a thousand of
// its own.
func TestConformance(t *testing.T) {
	t.Parallel()
	if err := algotest.Verify(id, algotest.Options{Schedules: int(algotest.Schedules() / 5)}); err != nil {
		t.Error(err)
	}
}

// TestReference is every case of the reference.
func TestReference(t *testing.T) {
	algotest.Cases(t, id, algotest.Checks{
		"polls_per_node": func(r *algotest.Result, want json.RawMessage) error {
			return expect(polls(r.Trials[0], r.Plan.Nodes), want)
		},
		"polls": func(r *algotest.Result, want json.RawMessage) error {
			return expect(slices.Max(polls(r.Trials[0], r.Plan.Nodes)), want)
		},
		"polls_of_farthest": func(r *algotest.Result, want json.RawMessage) error {
			return expect(polls(r.Trials[0], r.Plan.Nodes)[r.Plan.Nodes-1], want)
		},
		"messages_of_farthest": func(r *algotest.Result, want json.RawMessage) error {
			n := r.Plan.Nodes
			return expect(2*(n-1)*polls(r.Trials[0], n)[n-1], want)
		},
	})
}

// TestBlocks is RAYNAL-04, 09 and 14, the documented flaw: the turn is that of
// a process that does not want it, so whoever does polls without end, and the
// verdict says that the request was not granted.
func TestBlocks(t *testing.T) {
	for n, least := range map[int]int64{3: 400, 4: 600, 5: 800} {
		s := script(request(0, 2))
		s.Set("until", 300*ms+1)
		o := run(t, n, s, map[string]any{"poll_interval": ms, "a": primes[n]})
		if o.Completed != 0 || o.Totals.Sent < least {
			t.Errorf("n = %d: %d entries, %d sent, want 0, %d or more",
				n, o.Completed, o.Totals.Sent, least)
		}
		if o.Status != trace.TimedOut || !strings.Contains(o.Reason, "1 requests not granted") {
			t.Errorf("n = %d: %s: %s", n, o.Status, o.Reason)
		}
	}
}

// TestBlocks_WithoutAnEnd: with no end of its own the trial runs into its limit,
// and with a limit of polls it falls still. Neither breaks a promise.
func TestBlocks_WithoutAnEnd(t *testing.T) {
	s := harness.Scenario{Plot: &harness.Sequential{Requests: 3, Requesters: "in-turn"}}
	limit := func(p *harness.Plan) { p.Holder, p.TimeLimit = 2, time.Second }
	o := run(t, 3, s, nil, limit)
	if o.Status != trace.TimedOut || !strings.HasSuffix(o.Reason, "within 1s") {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
	o = run(t, 3, s, map[string]any{"poll_limit": int64(5)}, limit)
	if o.Status != trace.TimedOut || !strings.HasSuffix(o.Reason, "the system is quiescent") {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
	if got := polls(o, 3); !slices.Equal(got, []int{5, 1, 1}) || o.Completed != 2 {
		t.Errorf("polls %v and %d entries, want 5 1 1 and 2: the turn was not 1's", got, o.Completed)
	}
}

// TestPollLimit counts the polls of each request anew.
func TestPollLimit(t *testing.T) {
	events := append(algotest.Each(harness.DoRequest, algotest.Everybody(2)...), harness.Event{After: "quiet", Do: "request", Node: 2})
	o := run(t, 2, script(events...), map[string]any{"poll_limit": int64(2)})
	if got := polls(o, 2); o.Status != trace.TimedOut || !slices.Equal(got, []int{1, 4}) {
		t.Errorf("%s: %s, polls %v, want 1 4", o.Status, o.Reason, got)
	}
}

func TestPollInterval(t *testing.T) {
	alg := algotest.Lookup(t, id)
	for d, want := range map[time.Duration]time.Duration{0: ms, 3 * ms: 6 * ms} {
		params, _ := alg.Spec.Resolve(nil, algo.Network{Nodes: 2, Latency: d})
		if got := params.Duration("poll_interval"); got != want {
			t.Errorf("d = %v: polls every %v, want %v", d, got, want)
		}
	}
}

// TestCounts: everybody at once costs N^3-N, whatever the shorter interval.
func TestCounts(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for _, interval := range []time.Duration{ms, 2 * ms} {
			o := run(t, n, script(algotest.Each(harness.DoRequest, algotest.Everybody(n)...)...), map[string]any{"poll_interval": interval})
			if want := int64(n*n*n - n); o.Totals.Sent != want || o.Status != trace.OK {
				t.Errorf("n = %d: %d sent, want N^3-N = %d (%s %s)",
					n, o.Totals.Sent, want, o.Status, o.Reason)
			}
		}
	}
}

// TestHolder: the turn may be anybody's at first, and goes round from there.
func TestHolder(t *testing.T) {
	o := run(t, 4, script(algotest.Each(harness.DoRequest, algotest.Everybody(4)...)...), nil, func(p *harness.Plan) { p.Holder = 3 })
	if got := order(o); !slices.Equal(got, []algo.ID{3, 4, 1, 2}) {
		t.Errorf("order %v, want 3 4 1 2", got)
	}
}

// world is processes without a network, for rules one at a time.
type world struct {
	procs   []*algo.Stepper
	wanting []bool
	buf     algo.Buffer
}

func newWorld(t *testing.T, n int, given map[string]any) *world {
	t.Helper()
	p := algotest.MustPlan(t, id, n, script(request(0, 1)), given)
	setup, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{wanting: make([]bool, n)}
	for _, p := range setup.Graph.Peers() {
		w.procs = append(w.procs, algo.NewStepper(setup.Alg, setup.Config(p, 0, nil), 1, &w.buf))
	}
	return w
}

func (w *world) step(p algo.ID, ev algo.Event) []algo.Effect {
	return slices.Clone(w.procs[p-1].Step(0, ev))
}

func (w *world) deliver(p, from algo.ID, m algo.Message) []algo.Effect {
	return w.step(p, algo.Event{Type: algo.Receive, Peer: from, Msg: m})
}

// x is X of process p in lowest terms.
func (w *world) x(p algo.ID) *big.Rat {
	reply := w.deliver(p, p%algo.ID(len(w.procs))+1, raynaloriginal.Request{})[0].Msg
	s := int64(reply.(raynaloriginal.Reply).S)
	own, next := primes[len(w.procs)][p-1].(int64), primes[len(w.procs)][int(p)%len(w.procs)].(int64)
	power := func(a, s int64) *big.Int { return new(big.Int).Exp(big.NewInt(a), big.NewInt(s), nil) }
	if p == 1 { // it had the first turn
		return new(big.Rat).SetFrac(power(own, s), power(next, s))
	}
	return new(big.Rat).SetFrac(power(own, s+1), power(next, s))
}

// poll has p poll once, with all that it leads to, and says whether p entered.
func (w *world) poll(p algo.ID) bool {
	ev := algo.Event{Type: algo.Request}
	if w.wanting[p-1] {
		ev = algo.Event{Type: algo.Timeout, Timer: "poll"}
	}
	w.wanting[p-1] = true
	for _, e := range w.step(p, ev) {
		for _, r := range w.deliver(e.Peer, p, e.Msg) {
			for _, f := range w.deliver(p, e.Peer, r.Msg) {
				if f.Op == algo.OpGranted {
					w.wanting[p-1] = false
					return true
				}
			}
		}
	}
	return false
}

// TestExample is the table of the lecture notes: N = 4, A = 3, 5, 7, 11.
func TestExample(t *testing.T) {
	w := newWorld(t, 4, map[string]any{"a": primes[4]})
	for row, want := range []string{
		"1 5 7 11 = 385", "3/5 5 7 11 = 231", "3/5 25/7 7 11 = 165", "3/5 25/7 49/11 11 = 105",
		"3/5 25/7 49/11 121/3 = 385", "9/25 25/7 49/11 121/3 = 231",
	} {
		got, product := "", big.NewRat(1, 1)
		for p := algo.ID(1); p <= 4; p++ {
			got += w.x(p).RatString() + " "
			product.Mul(product, w.x(p))
		}
		if got += "= " + product.RatString(); got != want {
			t.Fatalf("row %d: X and T are %s, want %s", row, got, want)
		}
		turn := algo.ID(row%4 + 1)
		for p := algo.ID(1); p <= 4; p++ {
			if p != turn && w.poll(p) {
				t.Fatalf("row %d: %d entered, but it is the turn of %d", row, p, turn)
			}
		}
		if !w.poll(turn) {
			t.Fatalf("row %d: %d did not enter", row, turn)
		}
		w.step(turn, algo.Event{Type: algo.Release})
	}
}

// TestReply_OfAnEarlierPoll: a second copy of a reply counts in no poll.
func TestReply_OfAnEarlierPoll(t *testing.T) {
	w := newWorld(t, 3, nil)
	granted := func(from algo.ID, round, s uint64) bool {
		e := w.deliver(1, from, raynaloriginal.Reply{Round: round, S: s})
		return len(e) > 0 && e[0].Op == algo.OpGranted
	}
	w.step(1, algo.Event{Type: algo.Request})
	if granted(2, 1, 0) || granted(2, 1, 1) {
		t.Fatal("entered on two replies of one process")
	}
	granted(3, 1, 1) // 5·7²/3 is not Q/3: polls again
	w.step(1, algo.Event{Type: algo.Timeout, Timer: "poll"})
	if granted(3, 2, 0) || granted(2, 1, 0) {
		t.Fatal("entered on a reply of the poll before")
	}
	if !granted(2, 2, 0) {
		t.Fatal("did not enter when everybody had replied")
	}
}

// TestManyLaps: after 1000 laps the turn is still told, where any fixed width
// would have overflowed.
func TestManyLaps(t *testing.T) {
	w := newWorld(t, 4, nil)
	for range 1000 {
		for p := algo.ID(1); p <= 4; p++ {
			if other := p%4 + 1; w.poll(other) || !w.poll(p) {
				t.Fatalf("the turn of %d is not told any more", p)
			}
			w.step(p, algo.Event{Type: algo.Release})
		}
	}
}

// TestBytes: X travels as how often it has been multiplied, as in raynal-modified, so
// that what a message takes does not grow with the laps but by a byte at 128 of them.
func TestBytes(t *testing.T) {
	o := run(t, 5, harness.Scenario{Plot: &harness.Closed{Requests: 1000,
		Think: link.Constant(0)}}, nil)
	if each := float64(o.Totals.Bytes) / float64(o.Totals.Sent); o.Status != trace.OK || each > 5 {
		t.Errorf("%s: %.1f bytes for a message, want 5 at most", o.Status, each)
	}
}

// TestSchedules: delays in a ratio of 1 to 100, overtaking, duplicates. Where
// everybody wants to enter equally often, everybody does.
func TestSchedules(t *testing.T) {
	for seed := range algotest.Schedules() {
		rng := rand.New(rand.NewPCG(seed, 14))
		n := 1 + rng.IntN(6)
		s := harness.Scenario{Plot: &harness.Closed{
			Requests: n * (1 + rng.IntN(3)),
			Think:    link.Uniform(0, 10*ms), Hold: link.Uniform(0, 5*ms),
		}}
		given := map[string]any{"poll_interval": time.Duration(1+rng.IntN(20)) * ms}
		o := run(t, n, s, given, func(p *harness.Plan) {
			p.Seed = seed
			p.Network.Latency = link.Uniform(ms/10, 10*ms)
			p.Network.Unordered = true
			p.Network.Duplication = 0.1 * float64(seed%2)
		})
		if o.Status != trace.OK || o.Completed != s.Does().Total() {
			t.Fatalf("seed %d, n = %d: %s: %s, %d of %d entries", seed, n, o.Status, o.Reason,
				o.Completed, s.Does().Total())
		}
		for i, p := range order(o) { // the turn goes round, whatever is asked for
			if int(p) != i%n+1 {
				t.Fatalf("seed %d: entry %d by %d, want ring order", seed, i+1, p)
			}
		}
	}
}

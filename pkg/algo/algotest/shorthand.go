package algotest

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// What the tests of several algorithms do alike. Whatever cannot be made ends the test.

// Lookup is the algorithm of that ID.
func Lookup(t testing.TB, id string) *algo.Algorithm {
	t.Helper()
	alg, err := algo.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return alg
}

// MustPlan is Plan.
func MustPlan(t testing.TB, id string, n int, s harness.Scenario, given map[string]any) harness.Plan {
	t.Helper()
	p, err := Plan(id, n, s, given)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// MustSimulate is Simulate.
func MustSimulate(t testing.TB, p harness.Plan) Outcome {
	t.Helper()
	o, err := Simulate(p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// With is the parameters base, with those of given instead.
func With(base, given map[string]any) map[string]any {
	out := maps.Clone(base)
	maps.Copy(out, given)
	return out
}

// At is what process p does, or what is done to it, at that instant.
func At(at time.Duration, do string, p algo.ID) harness.Event {
	return harness.Event{At: at, Do: do, Node: p}
}

// Crash is p's crash at that instant.
func Crash(at time.Duration, p algo.ID) harness.Event { return At(at, harness.DoCrash, p) }

// Restart is p's return.
func Restart(at time.Duration, p algo.ID) harness.Event { return At(at, harness.DoRestart, p) }

// Each is the event do at the start for each process.
func Each(do string, processes ...algo.ID) (out []harness.Event) {
	for _, p := range processes {
		out = append(out, At(0, do, p))
	}
	return out
}

// Feed hands the process of a transcript any event, and compares.
func (r *Transcript) Feed(ev algo.Event, want string) {
	r.t.Helper()
	r.feed(ev, want)
}

// Situations are of one process, each brought about anew by events.
type Situations struct {
	t        testing.TB
	alg      *algo.Algorithm
	config   algo.Config
	contents func(algo.Message) string
}

// NewSituations is of the process of n that c describes, on the graph that its algorithm needs.
// On a ring they stand in the order of their IDs. Contents says what a message holds, for Tell.
func NewSituations(t testing.TB, id string, n int, c algo.Config, given map[string]any,
	contents func(algo.Message) string) Situations {
	t.Helper()
	alg := Lookup(t, id)
	params, errs := alg.Spec.Resolve(given, algo.Network{Nodes: n, Latency: time.Millisecond, Bounded: true})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	g, err := algo.Build(algo.DefaultShape(alg.Spec.Needs.Topology), n, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Peers, c.Neighbors, c.Ring, c.Params = Everybody(n), g.Neighbors(c.ID), Everybody(n), params.Of(c.ID)
	if c.Weights == nil {
		c.Weights = g.Weights(c.ID)
	}
	return Situations{t, alg, c, contents}
}

// Want compares what the process asks for at the last of the events.
func (s Situations) Want(name string, events []algo.Event, want string) {
	s.t.Helper()
	step, got := algo.NewStepper(s.alg, s.config, 1, &algo.Buffer{}), ""
	for _, ev := range events {
		got = Tell(step.Step(0, ev), s.contents)
		if err := step.Invariant(); err != nil {
			s.t.Errorf("%s: %v", name, err)
		}
	}
	if got != want {
		s.t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

// Then is events and more behind them.
func Then(events []algo.Event, more ...algo.Event) []algo.Event {
	return slices.Concat(events, more)
}

// Tell is effects in words: "ELECTION [2] to 3; set T; cancel T'; elected 3 in 1; save 4".
// Contents says what a message holds; Tell leaves out those of which it says "-".
func Tell(effects []algo.Effect, contents func(algo.Message) string) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, e := range effects {
		holds := ""
		if e.Msg != nil {
			if holds = contents(e.Msg); holds == "-" {
				continue
			} else if holds != "" {
				holds = " " + holds
			}
		}
		switch e.Op {
		case algo.OpElected:
			term := ""
			if e.Term > 0 {
				term = fmt.Sprintf(" in %d", e.Term)
			}
			add("elected %d%s", e.Peer, term)
		case algo.OpSetTimer:
			add("set %s", e.Timer)
		case algo.OpCancelTimer:
			add("cancel %s", e.Timer)
		case algo.OpSave:
			add("save%s", holds)
		case algo.OpSend:
			add("%s%s to %d", e.Msg.Kind(), holds, e.Peer)
		}
	}
	return strings.Join(out, "; ")
}

// Suspected is the detector's word that p is dead.
func Suspected(p algo.ID) algo.Event { return algo.Event{Type: algo.Suspect, Peer: p} }

// Restored takes it back.
func Restored(p algo.ID) algo.Event { return algo.Event{Type: algo.Restore, Peer: p} }

// Commanded is the word of a script.
func Commanded(op string) algo.Event { return algo.Event{Type: algo.Do, Op: op} }

// RunFits wants that the promises of algorithm id hold, among five processes with a
// latency of 1 ms, with each of the parameters fit, and with none of unfit.
func RunFits(t testing.TB, id string, fit, unfit map[string]map[string]any) {
	t.Helper()
	alg := Lookup(t, id)
	net := algo.Network{Nodes: 5, Latency: time.Millisecond, Bounded: true}
	needs := func(given map[string]any) error {
		p, errs := alg.Spec.Resolve(given, net)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return alg.Spec.Needs.Params(net, p)
	}
	for name, given := range fit {
		if err := needs(given); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, given := range unfit {
		if needs(given) == nil {
			t.Errorf("%s: the promises hold", name)
		}
	}
}

// RunTimeOuts is RunFits of two time-outs, of which the first covers a round trip and
// the second, if it runs behind it, both; and wants their defaults for that network.
func RunTimeOuts(t testing.TB, id, first, second string, behind bool) {
	t.Helper()
	const ms = time.Millisecond
	least := 2 * ms
	if behind {
		least = 4 * ms
	}
	RunFits(t, id, map[string]map[string]any{
		"defaults":         nil,
		"both just enough": {first: 2 * ms, second: least},
	}, map[string]map[string]any{
		first + " is too short":  {first: 2*ms - 1, second: least},
		second + " is too short": {first: 2 * ms, second: least - 1},
	})
	params, _ := Lookup(t, id).Spec.Resolve(nil, algo.Network{Nodes: 5, Latency: ms})
	if got := fmt.Sprint(params[first], params[second]); got != "23ms 46ms" {
		t.Errorf("defaults of %s and %s: %s", first, second, got)
	}
}

// RunDyingWinners: of five processes the last has crashed, which all suspect at 10 ms,
// and 4 announces itself at that instant, to 1, 2 and 3 in turn. It dies when none,
// one, two or all of them have the announcement, and 3 leads in the end.
func RunDyingWinners(t testing.TB, id string, announces time.Duration, given map[string]any) {
	t.Helper()
	const ms = time.Millisecond
	for told := range 4 {
		b := Ballot{
			Nodes: 5, Crashed: []algo.ID{5}, Detector: 10 * ms, Params: given,
			Events: []harness.Event{At(announces+ms/2, harness.DoCrash, 4)},
		}
		var missed []uint32
		for p := told + 1; p <= 3; p++ {
			missed = append(missed, uint32(p))
		}
		if len(missed) > 0 {
			b.Events = append(b.Events,
				harness.Event{At: announces + ms/2, Do: harness.DoCut, Groups: [][]uint32{missed, {4}}},
				harness.Event{At: announces + 2*ms, Do: harness.DoHeal})
		}
		o := MustSimulate(t, b.Plan(t, id))
		if o.Status != trace.OK || o.Last() != 3 {
			t.Errorf("%d told: %s: %s: %v", told, o.Status, o.Reason, o.Operations)
		}
	}
}

// RunHasty: with the time-outs given, shorter than a round trip, two of four processes
// that suspect the fifth declare themselves in one of 300 runs at least.
func RunHasty(t testing.TB, id string, given map[string]any) {
	t.Helper()
	const ms = time.Millisecond
	for seed := range uint64(300) {
		p := Ballot{
			Nodes: 5, Crashed: []algo.ID{5}, Suspects: []algo.ID{1, 2, 3, 4}, Params: given,
		}.Plan(t, id)
		p.Seed, p.InModel = seed, false
		p.Network.Latency = link.Uniform(ms/100, ms)
		declared := map[uint32]bool{}
		for _, r := range MustSimulate(t, p).Trace {
			if r.Type == trace.Elected && r.Process == r.Peer {
				declared[r.Process] = true
			}
		}
		if len(declared) > 1 {
			return
		}
	}
	t.Errorf("300 runs with %v, and never two leaders", given)
}

// RunRestartInside: of three processes that have entered before, 3 is inside from 100
// ms on, for 20 ms; victim crashes and comes back meanwhile, and 2 requests.
func RunRestartInside(t testing.TB, id string, victim algo.ID) Outcome {
	t.Helper()
	const ms = time.Millisecond
	p := Entries{Nodes: 3, Until: time.Second, Events: append(
		Each(harness.DoRequest, 1, 2, 3), // so that clocks and numbers are high
		At(100*ms, harness.DoRequest, 3),
		At(105*ms, harness.DoCrash, victim), At(106*ms, harness.DoRestart, victim),
		At(110*ms, harness.DoRequest, 2)),
	}.Plan(t, id)
	p.InModel = false
	p.Scenario.Set("hold", link.Constant(20*ms))
	return MustSimulate(t, p)
}

// Rings is every cyclic arrangement of n processes, each once: process 1 comes first.
func Rings(n int) iter.Seq[[]algo.ID] {
	return func(yield func([]algo.ID) bool) {
		order := Everybody(n)
		var arrange func(from int) bool
		arrange = func(from int) bool {
			if from >= n-1 {
				return yield(slices.Clone(order))
			}
			for i := from; i < n; i++ {
				order[from], order[i] = order[i], order[from]
				more := arrange(from + 1)
				order[from], order[i] = order[i], order[from]
				if !more {
					return false
				}
			}
			return true
		}
		arrange(1)
	}
}

// OnRing runs an election on a ring of that order, which all of these begin at once.
func OnRing(t testing.TB, id string, order []algo.ID, initiators ...algo.ID) Outcome {
	t.Helper()
	p := MustPlan(t, id, len(order), harness.Scenario{Plot: &harness.Script{
		Events: Each(harness.DoElect, initiators...)}}, nil)
	p.Shape.Order = order
	o := MustSimulate(t, p)
	if o.Status != trace.OK {
		t.Fatalf("ring %v: %s %s", order, o.Status, o.Reason)
	}
	return o
}

// RunRings holds an election against its paper on every ring of n processes on which all begin: the
// largest leads, all learn it in n messages of the last kind, and the others sum to least to most.
func RunRings(t testing.TB, id string, n int, least, most int64) {
	t.Helper()
	fewest, all := int64(math.MaxInt64), int64(0)
	for order := range Rings(n) {
		o := OnRing(t, id, order, Everybody(n)...)
		sent := int64(0)
		for _, k := range o.Kinds {
			sent += k.Sent
		}
		last := o.Kinds[len(o.Kinds)-1].Sent
		if o.Last() != algo.ID(n) || last != int64(n) {
			t.Fatalf("ring %v: %d leads, %s", order, o.Last(), o.Messages())
		}
		fewest, all = min(fewest, sent-last), max(all, sent-last)
	}
	if fewest != least || all != most {
		t.Errorf("%d processes: %d to %d messages, want %d to %d", n, fewest, all, least, most)
	}
}

// Initiators are the sets of processes, of n, that may begin: each in ascending order, and not empty.
func Initiators(n int) iter.Seq[[]algo.ID] {
	return func(yield func([]algo.ID) bool) {
		for set := 1; set < 1<<n; set++ {
			begin := slices.DeleteFunc(Everybody(n), func(p algo.ID) bool { return set>>p.Index()&1 == 0 })
			if !yield(begin) {
				return
			}
		}
	}
}

// RunInitiators tries every ring of n processes and every set of those that begin: the largest of
// them leads.
func RunInitiators(t testing.TB, id string, n int) {
	t.Helper()
	for order := range Rings(n) {
		for initiators := range Initiators(n) {
			if o := OnRing(t, id, order, initiators...); o.Last() != slices.Max(initiators) {
				t.Fatalf("ring %v, %v begin: %d leads", order, initiators, o.Last())
			}
		}
	}
}

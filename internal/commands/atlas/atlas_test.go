package atlas

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

const timeOut = 50 * time.Millisecond

// plan is that of an elector with time-outs of timeOut.
func planned(t testing.TB, id string, set ...string) *harness.Plan {
	t.Helper()
	set = append(set, "network.latency=1ms", "scenario={kind: script, leader: 1, until: 1s, events: []}")
	e, err := experiment.Build([]string{id}, "3", experiment.Overrides{Transport: "sim", Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return &e.Cells[0].Plan
}

func init() {
	algo.RegisterElector(algo.Spec{
		Name: "test-greedy", Messages: []algo.Message{never{}}, Summary: "everybody leads", Breaks: "It is made to break its promise.",
		Paper:    algo.Paper{Authors: "N. N.", Title: "Greed", Venue: "nowhere", Year: 2000},
		Survives: algo.Faults{Partition: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.PerTerm},
	}, func(c algo.Config) algo.Elector { return greedy{c.ID} })
}

type never struct{}

func (never) Kind() string { return "NEVER" }

func raft(t testing.TB, options ...string) *harness.Plan {
	t.Helper()
	set := []string{"params.t_election=50ms", "params.heartbeat=10ms"}
	for _, o := range options {
		set = append(set, "params."+o+"=true")
	}
	return planned(t, "election/raft", set...)
}

func survey(t testing.TB, p *harness.Plan, graphs []Graph, o Options) []Entry {
	t.Helper()
	o.TimeOut = timeOut
	entries, err := Survey(context.Background(), p, graphs, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if entries[i].Broken != nil {
			t.Errorf("%v: %v", &entries[i].Graph, entries[i].Broken)
		}
	}
	return entries
}

// seeds are few but in nightly runs.
func seeds() int {
	if slowtest.Night() {
		return 20
	}
	return 2
}

// graphs are all of three, four and five processes, and the directed ones of three.
func graphs() []Graph {
	return slices.Concat(All(3, false), All(4, false), All(5, false), All(3, true))
}

// TestRules: in every graph an elector fares as a rule about the graph says. Raft with pre_vote
// and check_quorum serves where somebody reaches a majority, and so does ble if whoever leads
// says so or the rule is happy. Raft with pre_vote alone serves if the leader reaches a majority,
// or else if somebody who does not hear the leader reaches enough who do not hear it either: all
// others refuse for ever.
func TestRules(t *testing.T) {
	t.Parallel()
	unheard := func(g *Graph) bool {
		for v := 2; v <= g.Vertices; v++ {
			n := 1
			for w := 2; w <= g.Vertices; w++ {
				if g.both(v, w) && !g.Has(1, w) {
					n++
				}
			}
			if !g.Has(1, v) && n >= g.Majority() {
				return true
			}
		}
		return g.Quorum(1)
	}
	for name, test := range map[string]struct {
		plan   *harness.Plan
		serves func(g *Graph) bool
	}{
		"raft, pre-vote and check-quorum": {raft(t, "pre_vote", "check_quorum"), (*Graph).QuorumConnected},
		"raft, pre-vote":                  {raft(t, "pre_vote"), unheard},
		"ble, announced": {planned(t, "election/ble", "params.hb_delay=50ms", "params.announce=true"),
			(*Graph).QuorumConnected},
		"ble, happy": {planned(t, "election/ble", "params.hb_delay=50ms", "params.rule=happy"), (*Graph).QuorumConnected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, e := range survey(t, test.plan, graphs(), Options{Service: algo.Led, Seeds: seeds(), Seed: 1,
				Workers: 2}) {
				want := Never
				if test.serves(&e.Graph) {
					want = Serves
				}
				if got := e.Class(); got != want {
					t.Errorf("%v: %v with shares %v, want %v", &e.Graph, got, e.Shares, want)
				}
			}
		})
	}
}

// TestNobody: where nobody reaches a majority no elector serves, by any definition that asks for
// one, and Raft never fails to where somebody does.
func TestNobody(t *testing.T) {
	t.Parallel()
	detector := "detector={kind: heartbeat, interval: 10ms, timeout: 50ms}"
	for _, p := range []*harness.Plan{raft(t), planned(t, "election/multi-paxos", detector),
		planned(t, "election/bully-quorum", detector)} {
		for _, service := range []algo.Service{algo.Led, algo.Served} {
			for _, e := range survey(t, p, All(4, false), Options{Service: service, Seeds: 1, Seed: 1, Workers: 2}) {
				switch quorum := e.Graph.QuorumConnected(); {
				case !quorum && e.Class() != Never, quorum && p.Algorithm == "election/raft" && e.Class() == Never:
					t.Errorf("%s in %v: %v by %v", p.Algorithm, &e.Graph, e.Class(), service)
				}
			}
		}
	}
}

// TestSurvey_Same: with any number of workers, and not with another seed.
func TestSurvey_Same(t *testing.T) {
	t.Parallel()
	o := Options{Service: algo.Led, Seeds: 3, Seed: 1, Workers: 1}
	last := 0
	o.Progress = func(done int) { last = done }
	one := survey(t, raft(t), All(3, true), o)
	o.Workers = 3
	if three := survey(t, raft(t), All(3, true), o); fmt.Sprint(one) != fmt.Sprint(three) || last != 36*3 {
		t.Errorf("%d trials\n%v\n%v", last, one, three)
	}
	o.Seed = 2
	if other := survey(t, raft(t), All(3, true), o); fmt.Sprint(one) == fmt.Sprint(other) {
		t.Error("another seed gives the same")
	}
}

// TestSurvey_Definitions: in the chained network a follower asks for votes again and again. Not
// all agree at any time; a majority follows somebody but while it is asked; and somebody always
// has a leader that answers. Where the leader is alone the others wait for a time-out, and split
// votes perhaps.
func TestSurvey_Definitions(t *testing.T) {
	t.Parallel()
	g, err := Parse("3;1;1-2,2-3")
	if err != nil {
		t.Fatal(err)
	}
	for service, want := range map[algo.Service][2]float64{algo.Agreed: {0, 0}, algo.Led: {0.97, 0.98},
		algo.Served: {1, 1}} {
		e := survey(t, raft(t), []Graph{g}, Options{Service: service, Seeds: 1, Seed: 1})[0]
		if share := e.Share(); share < want[0] || share > want[1] || (e.Worst == 0) != (share == 1) {
			t.Errorf("%v: share %v, outage %v", service, share, e.Worst)
		}
	}
	alone, err := Parse("3;1;2-3")
	if err != nil {
		t.Fatal(err)
	}
	e := survey(t, raft(t), []Graph{alone}, Options{Service: algo.Led, Seeds: 2, Seed: 1})[0]
	if e.Class() != Serves || e.Worst < timeOut || e.Worst > 20*timeOut {
		t.Errorf("%v after %v", e.Class(), e.Worst)
	}
}

// TestSurvey_Lockstep: 5 hears nobody but 4, and neither hears the leader. Multi-Paxos serves:
// whoever of the two suspects the leader first, the other follows it, and 5 alone breaks nothing.
// Where both suspect at one instant, 2 has promised 4 what 5 gets, and nobody leads.
func TestSurvey_Lockstep(t *testing.T) {
	t.Parallel()
	g, err := Parse("5;1;1-2,1-3,2-4,4-5")
	if err != nil {
		t.Fatal(err)
	}
	paxos := planned(t, "election/multi-paxos", "detector={kind: heartbeat, interval: 10ms, timeout: 50ms}")
	for lockstep, want := range map[bool]Class{false: Serves, true: Flaps} {
		e := survey(t, paxos, []Graph{g}, Options{Service: algo.Led, Seeds: 8, Seed: 1, Lockstep: lockstep})[0]
		if e.Class() != want {
			t.Errorf("lockstep %v: %v, want %v", lockstep, e.Shares, want)
		}
	}
}

// TestSurvey_Refused: what runs on no complete network has no atlas, nor has a mutex.
func TestSurvey_Refused(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"election/tree": "network of its own", "mutex/central": "elects nobody",
		"election/nobody": "unknown"} {
		if _, err := Survey(context.Background(), &harness.Plan{Algorithm: id}, nil, Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// greedy is an elector of whose processes each leads the one term that there is.
type greedy struct{ id algo.ID }

func (g greedy) Start(env algo.Env)                    { env.Elected(g.id, 1) }
func (greedy) Elect(algo.Env)                          {}
func (greedy) Receive(algo.Env, algo.ID, algo.Message) {}

// TestSurvey_Broken: a promise that is broken is told once for each graph and way, and no more where
// the experiment is beyond the model.
func TestSurvey_Broken(t *testing.T) {
	t.Parallel()
	p := planned(t, "election/test-greedy")
	o := Options{Service: algo.Led, Seeds: 3, Seed: 1, TimeOut: timeOut}
	for inModel, want := range map[bool]int{true: 1, false: 0} {
		p.InModel = inModel
		entries, err := Survey(context.Background(), p, All(2, false), o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range entries {
			got := entries[i].Broken
			for _, text := range got {
				if !strings.HasPrefix(text, "leadership: ") {
					t.Error(text)
				}
			}
			if len(got) < want || len(got) > 3*want {
				t.Errorf("in model %v: %v", inModel, got)
			}
		}
	}
}

// TestSurvey_Interrupted: it ends, and says why.
func TestSurvey_Interrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(context.Background())
	stop(io.ErrUnexpectedEOF)
	if _, err := Survey(ctx, raft(t), All(3, false), Options{Seeds: 1, TimeOut: timeOut}); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

// TestClass: the bounds, and that one seed decides.
func TestClass(t *testing.T) {
	t.Parallel()
	for want, lists := range map[Class][][]float64{
		Serves: {{0.97, 1}}, Flaps: {{0.969, 1}, {0, 1}, {0, 0.01}}, Never: {{0, 0}},
	} {
		for _, shares := range lists {
			if got := (&Entry{Shares: shares}).Class(); got != want {
				t.Errorf("%v: %v, want %v", shares, got, want)
			}
		}
	}
	e := Entry{Shares: []float64{0, 0.5, 0.98, 1}}
	if serves, never := e.Seeds(); serves != 2 || never != 1 || e.Share() != 0.62 {
		t.Error(serves, never, e.Share())
	}
	e = Entry{}
	for _, o := range []outcome{{share: 1, worst: 3, broken: "two leaders"}, {share: 1, worst: 5},
		{share: 1, worst: 4, broken: "two leaders"}, {share: 1, worst: 2, broken: "none"}} {
		e.add(&o)
	}
	if len(e.Shares) != 4 || e.Worst != 5 || !slices.Equal(e.Broken, []string{"two leaders", "none"}) {
		t.Errorf("%+v", e)
	}
	for share, want := range map[float64]string{0: "0", 1: "1", 0.9999: "0.999", 0.0001: "0.001", 0.5: "0.500"} {
		if got := Decimal(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

// TestSVG: a tile for each graph, in the colour of its class, with its share; what is drawn is
// explained, and no more.
func TestSVG(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for i, g := range slices.Concat(All(3, false), All(3, true)) {
		entries = append(entries, Entry{Graph: g, Shares: []float64{[]float64{1, 0.5, 0}[i%3]}})
	}
	text := string(SVG([]Atlas{{"raft <1>", entries}, {"bully", entries[:1]}}, "all of them"))
	if err := xml.Unmarshal([]byte(text), new(any)); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]int{
		`width="66" height="66"`: 43, `<g class="c0"><title>`: 15, `<g class="c1"><title>`: 14,
		`<g class="c2"><title>`: 14, `class="lead"`: 43 + 1, `class="h"`: 35, `zM`: 36*6/2 - 35, ">0.500</text>": 14,
		">raft &lt;1&gt;</text>": 1, "14 serves · 14 flaps · 14 never": 1, "1 serves · 0 flaps · 0 never": 1,
		">A</text>": 2, ">chained</text>": 1, ">quorum-loss</text>": 0, ">all of them</text>": 1,
	} {
		if got := strings.Count(text, part); got != want {
			t.Errorf("%s: %d times, want %d", part, got, want)
		}
	}
}

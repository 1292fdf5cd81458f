package atlas

import (
	"context"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestHealing: what counts is what happens from the return of the links on, also of an outage that began before.
func TestHealing(t *testing.T) {
	t.Parallel()
	led := algo.Led.String()
	for name, c := range map[string]struct {
		outages []trace.Outage
		want    Healing
	}{
		"nothing":         {nil, Healing{Led: true, Over: true}},
		"over before":     {[]trace.Outage{{Definition: led, Begin: 3, End: 9}}, Healing{Led: true, Over: true}},
		"by another word": {[]trace.Outage{{Definition: "agreed", Begin: 12, End: 19}}, Healing{Led: true, Over: true}},
		"a new one": {[]trace.Outage{{Definition: led, Begin: 12, End: 15}},
			Healing{Led: true, Elections: 1, Longest: 3, Over: true}},
		"nobody led":    {[]trace.Outage{{Definition: led, Begin: 2, End: 14}}, Healing{Elections: 1, Longest: 4, Over: true}},
		"and never did": {[]trace.Outage{{Definition: led, Begin: 2, End: -1}}, Healing{Longest: 10}},
	} {
		if got := healing(&check.Verdict{Outages: c.outages}, algo.Led, 10, 20); *got != c.want {
			t.Errorf("%s: %+v, want %+v", name, *got, c.want)
		}
	}
}

// TestHeal: once the links are back, the leader is deposed by a process that could not hear it and has counted its
// terms up; not so with votes before votes.
func TestHeal(t *testing.T) {
	t.Parallel()
	for params, deposed := range map[string]int{"pre_vote=false": 20, "pre_vote=true": 0} {
		q := Request{Electors: []string{"raft"}, Graphs: []string{"5;1;1-2,1-3"}, Heal: true, Outage: "led",
			TimeOut: UsualTimeOut, Params: []string{params}}
		list, err := q.electors()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := Survey(context.Background(), list[0].plan, list[0].graphs, list[0].options)
		if err != nil {
			t.Fatal(err)
		}
		e := &entries[0]
		elections, longest := e.AfterHeal()
		if e.Class() != Serves || e.Deposed() != deposed || (longest > 0) != (deposed > 0) {
			t.Errorf("%s: %v, deposed in %d of %d, %v elections, %v", params, e.Class(), e.Deposed(), len(e.Healed),
				elections, longest)
		}
	}
}

// TestWithin: one trial cannot flap, so a prediction that flaps allows what some of its seeds show.
func TestWithin(t *testing.T) {
	t.Parallel()
	flaps, serves, never := &Entry{Shares: []float64{1, 0.5, 0}}, &Entry{Shares: []float64{1}}, &Entry{Shares: []float64{0}}
	steady := &Entry{Shares: []float64{1, 1, 1}}
	for _, c := range []struct {
		real, foreseen *Entry
		want           bool
	}{{serves, flaps, true}, {never, flaps, true}, {serves, steady, true}, {never, steady, false}, {flaps, steady, false}} {
		if got := within(c.real, c.foreseen); got != c.want {
			t.Errorf("%v, predicted %v: %v", c.real.Class(), c.foreseen.Class(), got)
		}
	}
}

// TestPredictions: a graph in which a system does not fare as predicted is tried twice more, and most of the three
// trials decide.
func TestPredictions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		further [furtherTrials]float64
		want    []string
	}{
		"a disturbance": {[...]float64{1, 1}, []string{"real fares as rule predicts in 1 of 1 graph",
			"real in 3;1;1-2,2-3: flaps, serves, serves; predicted serves"}},
		"another class": {[...]float64{0.5, 1}, []string{"real fares as rule predicts in 0 of 1 graph",
			"real in 3;1;1-2,2-3: flaps, flaps, serves; predicted serves"}},
	} {
		g, err := Parse("3;1;1-2,2-3")
		if err != nil {
			t.Fatal(err)
		}
		q := &Request{Electors: []string{"raft"}, Outage: "led", TimeOut: UsualTimeOut, Graphs: []string{g.String()}}
		list, err := q.electors()
		if err != nil {
			t.Fatal(err)
		}
		system, rule := list[0], list[0]
		system.Label, rule.Label, rule.predicts = "real", "rule", &algo.Algorithm{}
		tried := 0
		system.options.Seeds, system.options.Workers = 1, 1
		system.Entries = []Entry{{Graph: g, Shares: []float64{0.9}}}
		rule.Entries = []Entry{{Graph: g, Shares: []float64{1, 1}}}
		both := []surveyed{system, rule}
		both[0].options.Run = func(_ context.Context, p *harness.Plan) (check.Verdict, error) {
			v, err := simulate(t.Context(), p)
			share := c.further[tried]
			tried++
			if share < 1 { // nobody led for a part of the second half
				from := p.TimeLimit / 2
				v.Outages = append(v.Outages, trace.Outage{Definition: algo.Led.String(), Begin: from, End: p.TimeLimit * 3 / 4})
			}
			return v, err
		}
		if err := verify(t.Context(), both); err != nil {
			t.Fatal(err)
		}
		if got := predictions(both); tried != furtherTrials || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d trials, %q, want %q", name, tried, got, c.want)
		}
	}
}

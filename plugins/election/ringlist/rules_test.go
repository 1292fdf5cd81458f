package ringlist_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/ringlist"
)

// hop is the number that a process gives to its k-th hop, which waits in place.
func hop(k, place uint64) uint64 { return k<<16 | place }

// rule is what happens to process 2 of the ring 1-2-3-4, which follows 4.
type rule struct {
	events []algo.Event
	want   string // of the last event
}

// rules feeds the events of each rule to a process of its own.
func rules(t *testing.T, incarnation uint32, remember bool, table map[string]rule) {
	t.Helper()
	alg, err := algo.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	params, _ := alg.Spec.Resolve(map[string]any{"remember_dead": remember},
		algo.Network{Nodes: 4, Latency: ms, Bounded: true})
	for name, test := range table {
		s := algo.NewStepper(alg, algo.Config{
			ID: 2, Peers: algotest.Everybody(4), Neighbors: algotest.Everybody(4),
			Ring: algotest.Everybody(4), Leader: 4, Incarnation: incarnation, Params: params,
		}, 1, &algo.Buffer{})
		got := ""
		for _, ev := range test.events {
			got = told(s.Step(0, ev))
			if err := s.Invariant(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

// told is the effects in words.
func told(effects []algo.Effect) string {
	var out []string
	for _, e := range effects {
		switch m := e.Msg.(type) {
		case ringlist.Election:
			out = append(out, fmt.Sprintf("ELECTION %v to %d", m.List, e.Peer))
		case ringlist.Coordinator:
			out = append(out, fmt.Sprintf("COORDINATOR %d of %d to %d", m.Leader, m.Converter, e.Peer))
		case ringlist.Ack:
			out = append(out, fmt.Sprintf("ack %d to %d", m.Seq, e.Peer))
		}
		switch e.Op {
		case algo.OpElected:
			out = append(out, fmt.Sprintf("names %d", e.Peer))
		case algo.OpSetTimer:
			out = append(out, "set "+string(e.Timer))
		case algo.OpCancelTimer:
			out = append(out, "cancel "+string(e.Timer))
		}
	}
	return strings.Join(out, "; ")
}

func election(list ...algo.ID) algo.Event {
	return algotest.Hear(1, ringlist.Election{Seq: 9, List: list})
}

func coordinator(leader, converter algo.ID, incarnation, count uint32) algo.Event {
	return algotest.Hear(1, ringlist.Coordinator{
		Seq: 9, Leader: leader, Converter: converter,
		Round: ringlist.Round{Incarnation: incarnation, Count: count},
	})
}

func acked(seq uint64) algo.Event { return algotest.Hear(3, ringlist.Ack{Seq: seq}) }

var (
	start   = algo.Event{Type: algo.Start}
	suspect = algo.Event{Type: algo.Elect}
	silent  = algotest.Expire("skip 0") // the successor did not acknowledge within T
	lost    = algotest.Expire("lap")
)

// TestRules is each message in each state.
func TestRules(t *testing.T) {
	t.Parallel()
	events := func(e ...algo.Event) []algo.Event { return e }
	const begins = "names 0; set lap; ELECTION [2] to 3; set skip 0"
	rules(t, 0, false, map[string]rule{
		"the first start is quiet":            {events(start), ""},
		"a suspicion starts a lap":            {events(suspect), begins},
		"another changes nothing (P5)":        {events(suspect, suspect), ""},
		"nor one on the way of another's lap": {events(election(1), suspect), ""},
		"it does when the election is over": {
			events(suspect, coordinator(4, 4, 0, 1), suspect),
			"names 0; set lap; ELECTION [2] to 3; set skip 2"},
		"an ELECTION is passed on": {events(election(4, 1)),
			"ack 9 to 1; names 0; set lap; ELECTION [4 1 2] to 3; set skip 0"},
		"and a second one, which is another's": {events(election(4, 1), election(1)),
			"ack 9 to 1; ELECTION [1 2] to 3; set skip 1"},
		"ours comes home": {events(suspect, election(2, 3, 4, 1)),
			"ack 9 to 1; cancel lap; names 4; COORDINATOR 4 of 2 to 3; set skip 1"},
		"a dead initiator's, which comes by again": {events(election(1), election(1, 2, 3)),
			"ack 9 to 1; cancel lap; names 3; COORDINATOR 3 of 2 to 3; set skip 1"},
		"the largest leads, wherever it stands": {events(suspect, election(4, 2, 3, 1)),
			"ack 9 to 1; cancel lap; names 4; COORDINATOR 4 of 2 to 3; set skip 1"},
		"an announcement is passed on": {events(coordinator(4, 3, 0, 1)),
			"ack 9 to 1; cancel lap; names 4; COORDINATOR 4 of 3 to 3; set skip 0"},
		"once": {events(coordinator(4, 3, 0, 1), coordinator(4, 3, 0, 1)), "ack 9 to 1"},
		"ours is removed when it comes home": {
			events(suspect, election(2, 3, 4, 1), coordinator(4, 2, 0, 1)), "ack 9 to 1"},
		"another converter's is another": {events(coordinator(4, 3, 0, 1), coordinator(4, 1, 0, 1)),
			"ack 9 to 1; cancel lap; names 4; COORDINATOR 4 of 1 to 3; set skip 1"},
		"the converter's next is, too": {events(coordinator(4, 3, 0, 1), coordinator(3, 3, 0, 2)),
			"ack 9 to 1; cancel lap; names 3; COORDINATOR 3 of 3 to 3; set skip 1"},
		"its last is not": {
			events(coordinator(4, 3, 0, 1), coordinator(3, 3, 0, 2), coordinator(4, 3, 0, 1)), "ack 9 to 1"},
		"in its next life it counts from one again (P8)": {
			events(coordinator(4, 3, 0, 7), coordinator(4, 3, 1, 1)),
			"ack 9 to 1; cancel lap; names 4; COORDINATOR 4 of 3 to 3; set skip 1"},
		"what it announced in its former life is old (P1)": {
			events(coordinator(4, 3, 1, 1), coordinator(4, 3, 0, 7)), "ack 9 to 1"},
		"the lap is lost": {events(election(1), lost), "names 0; set lap; ELECTION [2] to 3; set skip 1"},
		"ours is lost":    {events(suspect, lost), "names 0; set lap; ELECTION [2] to 3; set skip 1"},
	})
	rules(t, 3, false, map[string]rule{
		"whoever comes back asks": {events(start), begins},
		"and announces in its new life": {
			events(start, election(2, 3, 4, 1), coordinator(4, 2, 2, 8)), "ack 9 to 1"},
	})
}

// TestSkipping is rule 2: who is silent is skipped, and who acknowledged is not.
func TestSkipping(t *testing.T) {
	t.Parallel()
	events := func(e ...algo.Event) []algo.Event { return e }
	rules(t, 0, false, map[string]rule{
		"acknowledged": {events(suspect, acked(hop(1, 0))), "cancel skip 0"},
		"its place is free": {events(suspect, acked(hop(1, 0)), election(1)),
			"ack 9 to 1; ELECTION [1 2] to 3; set skip 0"},
		"twice":             {events(suspect, acked(hop(1, 0)), acked(hop(1, 0))), ""},
		"of an earlier hop": {events(suspect, acked(hop(1, 0)), election(1), acked(hop(1, 0))), ""},
		"of no hop":         {events(suspect, acked(hop(1, 1))), ""},
		"silent":            {events(suspect, silent), "ELECTION [2] to 4; set skip 0"},
		"late, was skipped": {events(suspect, silent, acked(hop(1, 0))), ""},
		"of the next hop":   {events(suspect, silent, acked(hop(2, 0))), "cancel skip 0"},
		"two are silent":    {events(suspect, silent, silent), "ELECTION [2] to 1; set skip 0"},
		"all: alone, it closes the lap and leads": {events(suspect, silent, silent, silent),
			"cancel lap; names 2; COORDINATOR 2 of 2 to 3; set skip 0"},
		"of an announcement": {events(coordinator(4, 4, 0, 1), silent),
			"COORDINATOR 4 of 4 to 4; set skip 0"},
		"is asked again": {events(suspect, silent, coordinator(4, 4, 0, 1)),
			"ack 9 to 1; cancel lap; names 4; COORDINATOR 4 of 4 to 3; set skip 1"},
	})
	rules(t, 0, true, map[string]rule{
		"is remembered": {events(suspect, silent, coordinator(4, 4, 0, 1)),
			"ack 9 to 1; cancel lap; names 4; COORDINATOR 4 of 4 to 4; set skip 1"},
		"until the next election": {events(suspect, silent, coordinator(4, 4, 0, 1), suspect),
			"names 0; set lap; ELECTION [2] to 3; set skip 2"},
		"if all are, nobody is told": {events(suspect, silent, silent, silent), "cancel lap; names 2"},
	})
}

package ringlist_test

import (
	"fmt"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/ringlist"
)

// rule is what happens to process 2 of the ring 1-2-3-4, which follows 4.
type rule struct {
	events []algo.Event
	want   string // of the last event
}

// rules feeds the events of each rule to a process of its own.
func rules(t *testing.T, incarnation uint32, remember bool, table map[string]rule) {
	t.Helper()
	s := algotest.NewSituations(t, id, 4, algo.Config{ID: 2, Leader: 4, Incarnation: incarnation},
		map[string]any{"remember_dead": remember}, contents)
	for name, test := range table {
		s.Want(name, test.events, test.want)
	}
}

// contents is what a message holds, in words.
func contents(m algo.Message) string {
	switch m := m.(type) {
	case ringlist.Election:
		return fmt.Sprint(m.List)
	case ringlist.Coordinator:
		return fmt.Sprintf("%d in %v of %d", m.Leader, m.List, m.Converter)
	case ringlist.Ack:
		if len(m.List) > 0 {
			return fmt.Sprint(m.List)
		}
		return fmt.Sprintf("%d.%d of %d", m.Round.Incarnation, m.Round.Count, m.Converter)
	}
	return ""
}

func election(list ...algo.ID) algo.Event {
	return algotest.Hear(1, ringlist.Election{List: list})
}

// coordinator announces the leader of a ring of two.
func coordinator(leader, converter algo.ID, incarnation, count uint32) algo.Event {
	return algotest.Hear(1, ringlist.Coordinator{
		Leader: leader, List: []algo.ID{1, leader}, Converter: converter,
		Round: ringlist.Round{Incarnation: incarnation, Count: count},
	})
}

// acked is from's acknowledgement of an ELECTION.
func acked(from algo.ID, list ...algo.ID) algo.Event {
	return algotest.Hear(from, ringlist.Ack{List: list})
}

// announced is 3's acknowledgement of an announcement.
func announced(converter algo.ID, count uint32) algo.Event {
	return algotest.Hear(3, ringlist.Ack{Converter: converter, Round: ringlist.Round{Count: count}})
}

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
	const begins = "elected 0; set lap; ELECTION [2] to 3; set skip 0"
	rules(t, 0, false, map[string]rule{
		"the first start is quiet":            {events(start), ""},
		"a suspicion starts a lap":            {events(suspect), begins},
		"another changes nothing (P5)":        {events(suspect, suspect), ""},
		"nor one on the way of another's lap": {events(election(1), suspect), ""},
		"it does when the election is over": {
			events(suspect, coordinator(4, 4, 0, 1), suspect),
			"elected 0; set lap; ELECTION [2] to 3; set skip 2"},
		"an ELECTION is passed on": {events(election(4, 1)),
			"ACK [4 1] to 1; elected 0; set lap; ELECTION [4 1 2] to 3; set skip 0"},
		"and a second one, which is another's": {events(election(4, 1), election(1)),
			"ACK [1] to 1; ELECTION [1 2] to 3; set skip 1"},
		"ours comes home": {events(suspect, election(2, 3, 4, 1)),
			"ACK [2 3 4 1] to 1; cancel lap; elected 4; COORDINATOR 4 in [2 3 4 1] of 2 to 3; set skip 1"},
		"a dead initiator's, which comes by again": {events(election(1), election(1, 2, 3)),
			"ACK [1 2 3] to 1; cancel lap; elected 3; COORDINATOR 3 in [1 2 3] of 2 to 3; set skip 1"},
		"the largest leads, wherever it stands": {events(suspect, election(4, 2, 3, 1)),
			"ACK [4 2 3 1] to 1; cancel lap; elected 4; COORDINATOR 4 in [4 2 3 1] of 2 to 3; set skip 1"},
		"an announcement is passed on": {events(coordinator(4, 3, 0, 1)),
			"ACK 0.1 of 3 to 1; cancel lap; elected 4; COORDINATOR 4 in [1 4] of 3 to 3; set skip 0"},
		"once": {events(coordinator(4, 3, 0, 1), coordinator(4, 3, 0, 1)), "ACK 0.1 of 3 to 1"},
		"ours is removed when it comes home": {
			events(suspect, election(2, 3, 4, 1), coordinator(4, 2, 0, 1)), "ACK 0.1 of 2 to 1"},
		"another converter's is another": {events(coordinator(4, 3, 0, 1), coordinator(4, 1, 0, 1)),
			"ACK 0.1 of 1 to 1; cancel lap; elected 4; COORDINATOR 4 in [1 4] of 1 to 3; set skip 1"},
		"the converter's next is, too": {events(coordinator(4, 3, 0, 1), coordinator(3, 3, 0, 2)),
			"ACK 0.2 of 3 to 1; cancel lap; elected 3; COORDINATOR 3 in [1 3] of 3 to 3; set skip 1"},
		"its last is not": {
			events(coordinator(4, 3, 0, 1), coordinator(3, 3, 0, 2), coordinator(4, 3, 0, 1)), "ACK 0.1 of 3 to 1"},
		"in its next life it counts from one again (P8)": {
			events(coordinator(4, 3, 0, 7), coordinator(4, 3, 1, 1)),
			"ACK 1.1 of 3 to 1; cancel lap; elected 4; COORDINATOR 4 in [1 4] of 3 to 3; set skip 1"},
		"what it announced in its former life is old (P1)": {
			events(coordinator(4, 3, 1, 1), coordinator(4, 3, 0, 7)), "ACK 0.7 of 3 to 1"},
		"the lap is lost": {events(election(1), lost), "elected 0; set lap; ELECTION [2] to 3; set skip 1"},
		"ours is lost":    {events(suspect, lost), "elected 0; set lap; ELECTION [2] to 3; set skip 1"},
	})
	rules(t, 3, false, map[string]rule{
		"whoever comes back asks": {events(start), begins},
		"and announces in its new life": {
			events(start, election(2, 3, 4, 1), coordinator(4, 2, 2, 8)), "ACK 2.8 of 2 to 1"},
	})
}

// TestSkipping is rule 2: who is silent is skipped, and who acknowledged is not.
func TestSkipping(t *testing.T) {
	t.Parallel()
	events := func(e ...algo.Event) []algo.Event { return e }
	rules(t, 0, false, map[string]rule{
		"acknowledged": {events(suspect, acked(3, 2)), "cancel skip 0"},
		"its place is free": {events(suspect, acked(3, 2), election(1)),
			"ACK [1] to 1; ELECTION [1 2] to 3; set skip 0"},
		"twice":              {events(suspect, acked(3, 2), acked(3, 2)), ""},
		"of an earlier hop":  {events(suspect, acked(3, 2), election(1), acked(3, 2)), ""},
		"of another list":    {events(suspect, acked(3, 1, 2)), ""},
		"of another process": {events(suspect, acked(4, 2)), ""},
		"of an ELECTION, not of the announcement": {
			events(suspect, coordinator(4, 4, 0, 1), acked(3, 2)), "cancel skip 0"},
		"of the announcement": {
			events(suspect, coordinator(4, 4, 0, 1), announced(4, 1)), "cancel skip 1"},
		"of another announcement": {events(coordinator(4, 4, 0, 1), announced(4, 2)), ""},
		"of another converter's":  {events(coordinator(4, 4, 0, 1), announced(1, 1)), ""},
		"silent":                  {events(suspect, silent), "ELECTION [2] to 4; set skip 0"},
		"late, was skipped":       {events(suspect, silent, acked(3, 2)), ""},
		"of the next hop":         {events(suspect, silent, acked(4, 2)), "cancel skip 0"},
		"two are silent":          {events(suspect, silent, silent), "ELECTION [2] to 1; set skip 0"},
		"all: alone, it closes the lap and leads": {events(suspect, silent, silent, silent),
			"cancel lap; elected 2; COORDINATOR 2 in [2] of 2 to 3; set skip 0"},
		"of an announcement": {events(coordinator(4, 4, 0, 1), silent),
			"COORDINATOR 4 in [1 4] of 4 to 4; set skip 0"},
		"is asked again": {events(suspect, silent, coordinator(4, 4, 0, 1)),
			"ACK 0.1 of 4 to 1; cancel lap; elected 4; COORDINATOR 4 in [1 4] of 4 to 3; set skip 1"},
	})
	rules(t, 0, true, map[string]rule{
		"is remembered": {events(suspect, silent, coordinator(4, 4, 0, 1)),
			"ACK 0.1 of 4 to 1; cancel lap; elected 4; COORDINATOR 4 in [1 4] of 4 to 4; set skip 1"},
		"until the next election": {events(suspect, silent, coordinator(4, 4, 0, 1), suspect),
			"elected 0; set lap; ELECTION [2] to 3; set skip 2"},
		"if all are, nobody is told": {events(suspect, silent, silent, silent), "cancel lap; elected 2"},
	})
}

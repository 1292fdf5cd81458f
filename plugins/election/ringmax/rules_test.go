package ringmax_test

import (
	"fmt"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/ringmax"
)

// TestRules feeds process 2 of the ring 1-2-3-4, which follows 4, and looks at
// what the last event makes it do.
func TestRules(t *testing.T) {
	t.Parallel()
	s := algotest.NewSituations(t, id, 4, algo.Config{ID: 2, Leader: 4},
		map[string]any{"remember_dead": true}, contents)
	elect, timeout := algo.Event{Type: algo.Elect}, algotest.Expire
	election := func(era uint64, initiator, largest algo.ID) algo.Event {
		return algotest.Hear(1, ringmax.Election{Era: era, Initiator: initiator, Max: largest, Hops: 1})
	}
	coordinator := func(era uint64, initiator, leader algo.ID) algo.Event {
		return algotest.Hear(1, ringmax.Coordinator{Era: era, Initiator: initiator, Leader: leader})
	}
	acked := func(from algo.ID, era uint64, initiator algo.ID, hops uint32) algo.Event {
		return algotest.Hear(from, ringmax.Ack{Era: era, Initiator: initiator, Hops: hops})
	}
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"an ELECTION is passed on": {[]algo.Event{election(1, 1, 1)},
			"save 1; elected 0; set T'; ELECTION era 1 of 1 max 2 to 3; set skip 0"},
		"with the larger maximum": {[]algo.Event{election(1, 1, 3)},
			"save 1; elected 0; set T'; ELECTION era 1 of 1 max 3 to 3; set skip 0"},
		"one of an older era, settled: start afresh": {
			[]algo.Event{election(3, 1, 1), coordinator(3, 1, 4), election(1, 4, 4)},
			"save 4; elected 0; set T'; ELECTION era 4 of 2 max 2 to 3; set skip 2"},
		"one of an older era, electing: void": {[]algo.Event{election(3, 1, 1), election(1, 4, 4)}, ""},
		"from itself, nobody else lives": {
			[]algo.Event{algotest.Hear(2, ringmax.Election{Era: 1, Initiator: 1, Max: 2, Hops: 3})},
			"save 1; elected 0; set T'; ELECTION era 1 of 2 max 2 to 3; set skip 0"},
		"ours comes home": {[]algo.Event{elect, election(1, 2, 4)},
			"elected 4; COORDINATOR era 1 of 2 leader 4 to 3; set skip 1"},
		"ours comes home twice":          {[]algo.Event{elect, election(1, 2, 4), election(1, 2, 4)}, ""},
		"a suspicion during an election": {[]algo.Event{elect, elect}, ""},
		"an announcement of a newer era": {[]algo.Event{coordinator(5, 1, 4)},
			"save 5; elected 0; cancel T'; elected 4; COORDINATOR era 5 of 1 leader 4 to 3; set skip 0"},
		"a second time":   {[]algo.Event{coordinator(5, 1, 4), coordinator(5, 1, 4)}, ""},
		"of an older era": {[]algo.Event{coordinator(5, 1, 4), coordinator(4, 3, 4)}, ""},
		"of a leader below us": {[]algo.Event{election(1, 1, 1), coordinator(1, 1, 1)},
			"cancel T'; save 2; elected 0; set T'; ELECTION era 2 of 2 max 2 to 3; set skip 1"},
		"two leaders in one era": {
			[]algo.Event{election(1, 1, 1), election(1, 4, 4), coordinator(1, 4, 4), coordinator(1, 1, 3)},
			"cancel T'; save 2; elected 0; set T'; ELECTION era 2 of 2 max 2 to 3; set skip 3"},
		"an ELECTION behind its announcement is not waited for": {
			[]algo.Event{election(1, 1, 1), coordinator(1, 1, 4), election(1, 1, 1)},
			"ELECTION era 1 of 1 max 2 to 3; set skip 2"},
		"the announcement is late": {[]algo.Event{election(1, 1, 1), timeout("T'")},
			"save 2; elected 0; set T'; ELECTION era 2 of 2 max 2 to 3; set skip 1"},
		"the successor is silent": {[]algo.Event{election(1, 1, 1), timeout("skip 0")},
			"ELECTION era 1 of 1 max 2 to 4; set skip 0"},
		"it acknowledges": {[]algo.Event{election(1, 1, 1), acked(3, 1, 1, 2)}, "cancel skip 0"},
		"twice":           {[]algo.Event{election(1, 1, 1), acked(3, 1, 1, 2), acked(3, 1, 1, 2)}, ""},
		"of another lap":  {[]algo.Event{election(1, 1, 1), acked(3, 1, 4, 2)}, ""},
		"of another hop":  {[]algo.Event{election(1, 1, 1), acked(3, 1, 1, 1)}, ""},
		"of another era":  {[]algo.Event{election(1, 1, 1), acked(3, 2, 1, 2)}, ""},
		"too late, it was skipped": {
			[]algo.Event{election(1, 1, 1), timeout("skip 0"), acked(3, 1, 1, 2)}, ""},
		"an announcement": {[]algo.Event{coordinator(5, 1, 4), acked(3, 5, 1, 0)}, "cancel skip 0"},
		"and remembered": {[]algo.Event{election(1, 1, 1), timeout("skip 0"), election(1, 4, 4)},
			"set T'; ELECTION era 1 of 4 max 4 to 4; set skip 1"},
		"until its own ELECTION comes by": {
			[]algo.Event{election(1, 1, 1), timeout("skip 0"), election(1, 3, 3)},
			"set T'; ELECTION era 1 of 3 max 3 to 3; set skip 1"},
		"or the era is over": {[]algo.Event{election(1, 1, 1), timeout("skip 0"), election(2, 4, 4)},
			"save 2; elected 0; set T'; ELECTION era 2 of 4 max 4 to 3; set skip 1"},
		"or the detector has news": {
			[]algo.Event{election(1, 1, 1), timeout("skip 0"), elect, election(1, 4, 4)},
			"set T'; ELECTION era 1 of 4 max 4 to 3; set skip 1"},
		"silent in an era that is over": {
			[]algo.Event{election(1, 1, 1), election(2, 1, 1), timeout("skip 0"), election(2, 4, 4)},
			"set T'; ELECTION era 2 of 4 max 4 to 3; set skip 2"},
	} {
		s.Want(name, test.events, test.want)
	}
}

// contents is what a message holds, in words. Acknowledgements are not told of.
func contents(m algo.Message) string {
	switch m := m.(type) {
	case ringmax.Election:
		return fmt.Sprintf("era %d of %d max %d", m.Era, m.Initiator, m.Max)
	case ringmax.Coordinator:
		return fmt.Sprintf("era %d of %d leader %d", m.Era, m.Initiator, m.Leader)
	case ringmax.Era:
		return fmt.Sprint(m.N)
	}
	return "-"
}

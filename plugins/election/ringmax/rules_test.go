package ringmax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/ringmax"
)

// receive is a message that process 2 of the ring 1-2-3-4 receives.
type receive struct {
	from algo.ID
	msg  algo.Message
}

// timeout is a timer of process 2 that fires.
type timeout algo.Timer

// TestRules feeds process 2 of the ring 1-2-3-4, which follows 4, and looks at
// what the last event makes it do.
func TestRules(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	params, _ := alg.Spec.Resolve(map[string]any{"remember_dead": true},
		algo.Network{Nodes: 4, Latency: ms, Bounded: true})
	election := func(era uint64, initiator, largest algo.ID) receive {
		return receive{1, ringmax.Election{Era: era, Initiator: initiator, Max: largest, Hops: 1}}
	}
	coordinator := func(era uint64, initiator, leader algo.ID) receive {
		return receive{1, ringmax.Coordinator{Era: era, Initiator: initiator, Leader: leader}}
	}
	acked := func(from algo.ID, era uint64, initiator algo.ID, hops uint32) receive {
		return receive{from, ringmax.Ack{Era: era, Initiator: initiator, Hops: hops}}
	}
	for name, test := range map[string]struct {
		events []any
		want   string
	}{
		"an ELECTION is passed on": {[]any{election(1, 1, 1)},
			"save 1; elected 0; set T'; ELECTION era 1 of 1 max 2 to 3; set skip 0"},
		"with the larger maximum": {[]any{election(1, 1, 3)},
			"save 1; elected 0; set T'; ELECTION era 1 of 1 max 3 to 3; set skip 0"},
		"one of an older era, settled: start afresh": {
			[]any{election(3, 1, 1), coordinator(3, 1, 4), election(1, 4, 4)},
			"save 4; elected 0; set T'; ELECTION era 4 of 2 max 2 to 3; set skip 2"},
		"one of an older era, electing: void": {[]any{election(3, 1, 1), election(1, 4, 4)}, ""},
		"from itself, nobody else lives": {
			[]any{receive{2, ringmax.Election{Era: 1, Initiator: 1, Max: 2, Hops: 3}}},
			"save 1; elected 0; set T'; ELECTION era 1 of 2 max 2 to 3; set skip 0"},
		"ours comes home": {[]any{"elect", election(1, 2, 4)},
			"elected 4; COORDINATOR era 1 of 2 leader 4 to 3; set skip 1"},
		"ours comes home twice":          {[]any{"elect", election(1, 2, 4), election(1, 2, 4)}, ""},
		"a suspicion during an election": {[]any{"elect", "elect"}, ""},
		"an announcement of a newer era": {[]any{coordinator(5, 1, 4)},
			"save 5; elected 0; cancel T'; elected 4; COORDINATOR era 5 of 1 leader 4 to 3; set skip 0"},
		"a second time":   {[]any{coordinator(5, 1, 4), coordinator(5, 1, 4)}, ""},
		"of an older era": {[]any{coordinator(5, 1, 4), coordinator(4, 3, 4)}, ""},
		"of a leader below us": {[]any{election(1, 1, 1), coordinator(1, 1, 1)},
			"cancel T'; save 2; elected 0; set T'; ELECTION era 2 of 2 max 2 to 3; set skip 1"},
		"two leaders in one era": {
			[]any{election(1, 1, 1), election(1, 4, 4), coordinator(1, 4, 4), coordinator(1, 1, 3)},
			"cancel T'; save 2; elected 0; set T'; ELECTION era 2 of 2 max 2 to 3; set skip 3"},
		"an ELECTION behind its announcement is not waited for": {
			[]any{election(1, 1, 1), coordinator(1, 1, 4), election(1, 1, 1)},
			"ELECTION era 1 of 1 max 2 to 3; set skip 2"},
		"the announcement is late": {[]any{election(1, 1, 1), timeout("T'")},
			"save 2; elected 0; set T'; ELECTION era 2 of 2 max 2 to 3; set skip 1"},
		"the successor is silent": {[]any{election(1, 1, 1), timeout("skip 0")},
			"ELECTION era 1 of 1 max 2 to 4; set skip 0"},
		"it acknowledges": {[]any{election(1, 1, 1), acked(3, 1, 1, 2)}, "cancel skip 0"},
		"twice":           {[]any{election(1, 1, 1), acked(3, 1, 1, 2), acked(3, 1, 1, 2)}, ""},
		"of another lap":  {[]any{election(1, 1, 1), acked(3, 1, 4, 2)}, ""},
		"of another hop":  {[]any{election(1, 1, 1), acked(3, 1, 1, 1)}, ""},
		"of another era":  {[]any{election(1, 1, 1), acked(3, 2, 1, 2)}, ""},
		"too late, it was skipped": {
			[]any{election(1, 1, 1), timeout("skip 0"), acked(3, 1, 1, 2)}, ""},
		"an announcement": {[]any{coordinator(5, 1, 4), acked(3, 5, 1, 0)}, "cancel skip 0"},
		"and remembered": {[]any{election(1, 1, 1), timeout("skip 0"), election(1, 4, 4)},
			"set T'; ELECTION era 1 of 4 max 4 to 4; set skip 1"},
		"until its own ELECTION comes by": {
			[]any{election(1, 1, 1), timeout("skip 0"), election(1, 3, 3)},
			"set T'; ELECTION era 1 of 3 max 3 to 3; set skip 1"},
		"or the era is over": {[]any{election(1, 1, 1), timeout("skip 0"), election(2, 4, 4)},
			"save 2; elected 0; set T'; ELECTION era 2 of 4 max 4 to 3; set skip 1"},
		"or the detector has news": {
			[]any{election(1, 1, 1), timeout("skip 0"), "elect", election(1, 4, 4)},
			"set T'; ELECTION era 1 of 4 max 4 to 3; set skip 1"},
		"silent in an era that is over": {
			[]any{election(1, 1, 1), election(2, 1, 1), timeout("skip 0"), election(2, 4, 4)},
			"set T'; ELECTION era 2 of 4 max 4 to 3; set skip 2"},
	} {
		s := algo.NewStepper(alg, algo.Config{
			ID: 2, Peers: []algo.ID{1, 2, 3, 4}, Neighbors: []algo.ID{1, 2, 3, 4},
			Ring: []algo.ID{1, 2, 3, 4}, Leader: 4, Params: params,
		}, 1, &algo.Buffer{})
		got := ""
		for _, e := range test.events {
			switch e := e.(type) {
			case receive:
				got = told(s.Step(0, algo.Event{Type: algo.Receive, Peer: e.from, Msg: e.msg}))
			case timeout:
				got = told(s.Step(0, algo.Event{Type: algo.Timeout, Timer: algo.Timer(e)}))
			default:
				got = told(s.Step(0, algo.Event{Type: algo.Elect}))
			}
			if err := s.Invariant(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

// told is the effects in words, but for acknowledgements.
func told(effects []algo.Effect) string {
	var out []string
	for _, e := range effects {
		switch m := e.Msg.(type) {
		case ringmax.Election:
			out = append(out, fmt.Sprintf("ELECTION era %d of %d max %d to %d",
				m.Era, m.Initiator, m.Max, e.Peer))
		case ringmax.Coordinator:
			out = append(out, fmt.Sprintf("COORDINATOR era %d of %d leader %d to %d",
				m.Era, m.Initiator, m.Leader, e.Peer))
		case ringmax.Era:
			out = append(out, fmt.Sprintf("save %d", m.N))
		}
		switch e.Op {
		case algo.OpElected:
			out = append(out, fmt.Sprintf("elected %d", e.Peer))
		case algo.OpSetTimer:
			out = append(out, "set "+string(e.Timer))
		case algo.OpCancelTimer:
			out = append(out, "cancel "+string(e.Timer))
		}
	}
	return strings.Join(out, "; ")
}

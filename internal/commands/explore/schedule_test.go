package explore

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

const ms = time.Millisecond

// elects is what asks for something.
func elects(at time.Duration, p algo.ID) harness.Event {
	return harness.Event{At: at, Do: harness.DoElect, Node: p}
}

// TestUnseen: cuts that the detector cannot see are the loss of messages.
func TestUnseen(t *testing.T) {
	t.Parallel()
	cut := func(at, lasts time.Duration) harness.Event {
		return harness.Event{At: at, Do: harness.DoCut, For: lasts, Groups: [][]uint32{{1}}}
	}
	oneWay := cut(0, time.Hour)
	oneWay.Groups, oneWay.Links = nil, [][2]uint32{{1, 2}}
	const quorum = "election/bully-quorum"
	s := &Schedule{
		Algorithm: mustLookup(quorum), Nodes: 3, Latency: link.Constant(ms),
		Detector: harness.HeartbeatDetector(10*ms, 50*ms),
	}
	least := 2 * (s.unit() + 60*ms)
	for name, test := range map[string]struct {
		id     string
		events []harness.Event
		want   bool
	}{
		"no cut":           {quorum, []harness.Event{elects(0, 1)}, false},
		"long":             {quorum, []harness.Event{cut(ms, least)}, false},
		"short":            {quorum, []harness.Event{cut(ms, least-1)}, true},
		"in one direction": {quorum, []harness.Event{oneWay}, true},
		"one upon the other": {quorum, []harness.Event{
			cut(ms, least), elects(2*ms, 1), cut(2*least, least)}, true},
		"one after the other": {quorum, []harness.Event{cut(ms, least), cut(ms+2*least, least)}, false},
		"loss is survived":    {"election/raft", []harness.Event{cut(ms, ms), oneWay}, false},
	} {
		c := s.clone()
		c.Algorithm, c.Events = mustLookup(test.id), test.events
		if got := c.Unseen(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// TestLives: behind a cut that was not seen, only what may never happen counts.
func TestLives(t *testing.T) {
	t.Parallel()
	safety := []string{broken, "mutual-exclusion", "request-order", "token-uniqueness", "leadership"}
	for _, rule := range Rules() {
		if want := !slices.Contains(safety, rule); lives(mustLookup("election/raft"), rule) != want {
			t.Errorf("%s lives: want %t", rule, want)
		}
	}
	if !lives(mustLookup("election/invitation"), "leadership") {
		t.Error("who leads a group is looked at in the end")
	}
}

// TestWithout: whoever is above the one that is taken away moves down, wherever it is
// named.
func TestWithout(t *testing.T) {
	t.Parallel()
	s := &Schedule{
		Algorithm: mustLookup("election/raft"), Nodes: 5, Leader: 5, Holder: 4,
		Params: map[string]any{"pre_vote": true, "last_index": []any{10, 20, 30, 40, 50}},
		Events: []harness.Event{
			elects(0, 2), elects(1, 3), elects(2, 4),
			{At: 3, Do: harness.DoCut, Groups: [][]uint32{{2, 3}, {3}, {5}}},
			{At: 4, Do: harness.DoCut, Links: [][2]uint32{{2, 4}, {3, 5}, {5, 3}}},
			{At: 5, Do: harness.DoCut, Groups: [][]uint32{{3}}},
			{At: 6, Do: harness.DoFlaky, Links: [][2]uint32{{3, 1}}},
		},
	}
	want := &Schedule{
		Algorithm: s.Algorithm, Nodes: 4, Leader: 4, Holder: 3,
		Params: map[string]any{"pre_vote": true, "last_index": []any{10, 20, 40, 50}},
		Events: []harness.Event{
			elects(0, 2), elects(2, 3),
			{At: 3, Do: harness.DoCut, Groups: [][]uint32{{2}, {4}}},
			{At: 4, Do: harness.DoCut, Links: [][2]uint32{{2, 3}}},
		},
	}
	if got := s.without(3); !reflect.DeepEqual(got, want) {
		t.Errorf("without 3\n got %+v\nwant %+v", got, want)
	}
	if got := s.without(4).Holder; got != algo.None {
		t.Errorf("holder %d, who is gone", got)
	}
	if len(s.Events) != 7 || s.Nodes != 5 || len(s.Params["last_index"].([]any)) != 5 {
		t.Errorf("the schedule itself has changed: %+v", s)
	}
	s.Nodes = 1
	if got := s.without(1); got != nil {
		t.Errorf("of one process none is left: %+v", got)
	}
}

// TestAsks: who is to find a leader must be told so, and live on.
func TestAsks(t *testing.T) {
	t.Parallel()
	crash := func(at, lasts time.Duration) harness.Event {
		return harness.Event{At: at, Do: harness.DoCrash, Node: 1, For: lasts}
	}
	for name, test := range map[string]struct {
		leader algo.ID
		events []harness.Event
		want   bool
	}{
		"nothing happens":         {0, nil, false},
		"nothing, to a leader":    {3, nil, false},
		"somebody is told":        {0, []harness.Event{elects(ms, 1)}, true},
		"and is gone":             {0, []harness.Event{elects(ms, 1), crash(2*ms, 0)}, false},
		"and is away":             {0, []harness.Event{elects(ms, 1), crash(2*ms, ms)}, false},
		"it was away before":      {0, []harness.Event{crash(0, ms/2), elects(ms, 1)}, true},
		"another one is gone":     {0, []harness.Event{elects(ms, 2), crash(2*ms, 0)}, true},
		"the leader may be gone":  {3, []harness.Event{crash(ms, 0)}, true},
		"nobody is told anything": {0, []harness.Event{crash(ms, 0)}, false},
	} {
		s := &Schedule{
			Algorithm: mustLookup("election/bully"), Nodes: 3, Leader: test.leader, Events: test.events,
		}
		if got := s.asks(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

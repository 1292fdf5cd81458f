package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// TestUnconnected: which cuts leave links that are enough for a leader, and less than is
// promised. Five processes; the longest time-out of raft is 130 ms, that of stable-leader 66.
func TestUnconnected(t *testing.T) {
	t.Parallel()
	links := func(lasts time.Duration, list ...[2]uint32) []harness.Event {
		return []harness.Event{{At: time.Second, Do: harness.DoCut, Links: list, For: lasts}}
	}
	shape := func(name string) []harness.Event {
		return []harness.Event{{At: time.Second, Do: harness.DoCut, Shape: name, For: 5 * time.Second}}
	}
	pv := map[string]any{"pre_vote": true}
	for name, test := range map[string]struct {
		id     string
		params map[string]any
		events []harness.Event
		want   string // from when to when; "": the promise covers it
	}{
		"nothing":               {"raft", pv, nil, ""},
		"one way":               {"raft", pv, links(5*time.Second, [2]uint32{1, 2}), "from 1s to 6s"},
		"for a moment":          {"raft", pv, links(time.Second, [2]uint32{1, 2}), ""},
		"a majority is left":    {"raft", map[string]any{"check_quorum": true}, links(5*time.Second, [2]uint32{1, 2}), ""},
		"halves":                {"raft", pv, shape("halves"), ""},
		"a bridge":              {"raft", pv, shape("bridge"), "from 1s to 6s"},
		"a ring":                {"raft", nil, shape("ring"), "from 1s to 6s"},
		"deaf":                  {"raft", pv, shape("deaf"), "from 1s to 6s"},
		"to the end":            {"raft", pv, links(0, [2]uint32{1, 2}), "from 1s to 10s"},
		"no majority is needed": {"stable-leader", nil, links(5*time.Second, [2]uint32{1, 2}), "from 1s to 6s"},
		"parts of any size": {"stable-leader", nil, []harness.Event{{At: time.Second, Do: harness.DoCut,
			Groups: [][]uint32{{1}, {2}, {3}, {4}, {5}}}}, ""},
		"nobody could lead": {"raft", pv, []harness.Event{{At: time.Second, Do: harness.DoCut,
			Groups: [][]uint32{{1}, {2}, {3}, {4}, {5}}}}, ""},
		"healed by hand": {"raft", pv, slices.Concat(links(0, [2]uint32{1, 2}),
			[]harness.Event{{At: 4 * time.Second, Do: harness.DoHeal}}), "from 1s to 4s"},
		"again and again": {"raft", pv, []harness.Event{{Every: 5 * time.Second, Do: harness.DoCut,
			Links: [][2]uint32{{1, 2}}, For: 4 * time.Second}}, ""},
		"no promise": {"invitation", nil, links(5*time.Second, [2]uint32{1, 2}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := algotest.Plan("election/"+test.id, 5, harness.Scenario{Plot: &harness.Churn{
				Duration: 10 * time.Second}}, test.params)
			if err != nil {
				t.Fatal(err)
			}
			p.Faults.Events = test.events
			p.Detector = harness.HeartbeatDetector(10*ms, 50*ms)
			why, _ := p.Beyond()
			got := strings.Join(why, "; ")
			if (len(why) > 0) != (test.want != "") || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	p, err := algotest.Plan("election/raft", 5, harness.Scenario{Plot: &harness.Partition{Shape: "bridge",
		Settle: time.Second, Duration: 4 * time.Second}}, pv)
	if err != nil {
		t.Fatal(err)
	}
	if why, _ := p.Beyond(); len(why) != 1 || !strings.Contains(why[0], "from 1s to 5s that is not so (scenario partition)") {
		t.Errorf("a partition: %q", why)
	}
}

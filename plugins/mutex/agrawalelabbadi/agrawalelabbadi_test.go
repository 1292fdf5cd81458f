package agrawalelabbadi

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

const (
	id = "mutex/agrawal-el-abbadi"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestRandomSchedules has crashes in it, of as many as are survived, and messages that
// overtake each other.
func TestRandomSchedules(t *testing.T) {
	algotest.RunSchedules(t, id, nil, func(p *harness.Plan) { p.Network.Unordered = true })
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n    int
		dead []algo.ID
		want string
	}{
		{1, nil, "[1]"},
		{1, []algo.ID{1}, "[]"},
		{3, nil, "[1 2]"},
		{3, []algo.ID{2}, "[1 3]"},
		{3, []algo.ID{1}, "[2 3]"},
		{7, nil, "[1 2 4]"},
		{7, []algo.ID{4}, "[1 2 5]"},
		{7, []algo.ID{4, 5}, "[1 3 6]"}, // 2 is live but has no path
		{7, []algo.ID{2}, "[1 4 5]"},
		{7, []algo.ID{2, 5}, "[1 3 6]"}, // for 2 both would have to live
		{7, []algo.ID{1}, "[2 3 4 6]"},
		{7, []algo.ID{1, 2, 3}, "[4 5 6 7]"},
		{7, []algo.ID{1, 2, 4}, "[]"},
		{7, []algo.ID{2, 3, 4, 6}, "[]"}, // 1 is live, but has no path
		{15, []algo.ID{1, 2, 3}, "[4 5 6 7 8 10 12 14]"},
		{15, []algo.ID{1, 4}, "[2 3 6 8 9 12]"},
		{6, []algo.ID{2, 5}, "[1 3 6]"},         // 3 has one child
		{6, []algo.ID{3}, "[1 2 4]"},            // not needed
		{6, []algo.ID{1, 3}, "[2 4 6]"},         // 3 is replaced by its one child
		{6, []algo.ID{4, 5, 6}, "[]"},           // 3 alone is no path
		{6, []algo.ID{1, 6}, "[]"},              // nor here
		{2, []algo.ID{1}, "[2]"},                // the one child of the root
		{10, []algo.ID{1, 2}, "[3 4 5 6 8 10]"}, // 5 has one child, 10
	} {
		if got := fmt.Sprint(family{}.Quorum(1, test.n, test.dead)); got != test.want {
			t.Errorf("n = %d without %d: %s, want %s", test.n, test.dead, got, test.want)
		}
	}
}

// quorums is the quorum of n without each set of dead processes, as sets of bits, 0 for none.
func quorums(n int) []uint {
	list := make([]uint, 1<<n)
	for dead := range list {
		var who []algo.ID
		for p := range n {
			if dead>>p&1 == 1 {
				who = append(who, algo.ID(p+1))
			}
		}
		for _, p := range (family{}).Quorum(1, n, who) {
			list[dead] |= 1 << (p - 1)
		}
	}
	return list
}

// TestIntersection: whomever two processes think dead, their quorums have a member in common, and
// none of whom they think dead.
func TestIntersection(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 11; n++ {
		all := quorums(n)
		for dead, q := range all {
			if q&uint(dead) != 0 {
				t.Errorf("n = %d: without %b the quorum is %b", n, dead, q)
			}
		}
		slices.Sort(all)
		all = slices.Compact(all)
		for _, q := range all {
			for _, r := range all {
				if q&r == 0 && q != 0 && r != 0 {
					t.Fatalf("n = %d: %b and %b are disjoint", n, q, r)
				}
			}
		}
	}
}

// TestSurvives: whoever crashes, of as many as are survived, there is a quorum; of one more not.
// None is larger than half of a full tree.
func TestSurvives(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 15; n++ {
		least, largest := n, 0
		for dead, q := range quorums(n) {
			largest = max(largest, bits.OnesCount(q))
			if q == 0 {
				least = min(least, bits.OnesCount(uint(dead)))
			}
		}
		if got := survives(n, nil); got != least-1 {
			t.Errorf("n = %d: survives %d, but %d crashes leave no quorum", n, got, least)
		}
		if n&(n+1) == 0 && largest != (n+1)/2 && n > 3 {
			t.Errorf("n = %d: a quorum of %d, want at most %d", n, largest, (n+1)/2)
		}
	}
}

// TestSubstitution: 7 lacks only the lock of 2 when that is suspected. It asks 5 as well, which takes
// its place with 4, and while it is inside 1 dies: it stays, and releases what it asked of the living.
func TestSubstitution(t *testing.T) {
	t.Parallel()
	s := algo.Stamp{Number: 1, ID: 7}
	ask, locked, release := quorum.Request{S: s}, quorum.Locked{S: s, Clock: 1}, quorum.Release{S: s}
	d := algotest.NewDrive(t, id, 7, 7, 0, nil)
	d.Requests(algotest.Sends(1, ask), algotest.Sends(2, ask), algotest.Sends(4, ask))
	d.Receives(1, locked)
	d.Receives(4, locked)
	d.Does(algotest.Suspected(2), algotest.Sends(5, ask))
	d.Receives(5, locked, algotest.Enters())
	d.Does(algotest.Suspected(1))
	d.Releases(algotest.Sends(4, release), algotest.Sends(5, release))
	again := quorum.Request{S: algo.Stamp{Number: 2, ID: 7}}
	// Both subtrees, since 1 is dead, and in the left one both leaves, since 2 is.
	d.Requests(algotest.Sends(3, again), algotest.Sends(4, again), algotest.Sends(5, again),
		algotest.Sends(6, again))
}

// TestCrash: nobody else is held up for longer than it takes to notice that the one inside crashed,
// or an arbiter, and when it comes back it neither enters nor lets anybody enter with its lock.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim := algo.ID(1); victim <= 7; victim++ {
		p := algotest.Entries{Nodes: 7, Until: time.Second, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 1},
			{At: 5 * ms / 2, Do: harness.DoCrash, Node: victim},
			{At: 3 * ms, Do: harness.DoRequest, Node: 7},
			{At: 100 * ms, Do: harness.DoRestart, Node: victim},
			{At: 200 * ms, Do: harness.DoRequest, Node: victim},
			{At: 210 * ms, Do: harness.DoRequest, Node: victim%7 + 1},
		}}.Plan(t, id)
		p.InModel, p.Detector = false, harness.PerfectDetector(10*ms)
		o := algotest.MustSimulate(t, p)
		for _, op := range o.Operations {
			entered := op.Status == trace.Completed
			switch late := op.End - op.Begin; {
			case algo.ID(op.Process) == victim && op.Begin > 100*ms:
				if entered {
					t.Errorf("%d comes back and enters", victim)
				}
			case algo.ID(op.Process) != victim && (!entered || late > 20*ms):
				t.Errorf("crash of %d: %d asks at %v: %s, after %v", victim, op.Process, op.Begin, op.Status, late)
			}
		}
		if len(o.Violations) > 0 {
			t.Errorf("crash of %d: %v", victim, o.Violations)
		}
	}
}

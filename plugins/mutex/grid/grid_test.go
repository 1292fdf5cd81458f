package grid

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

const (
	id = "mutex/grid"
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
		p    algo.ID
		dead []algo.ID
		want string
	}{
		{9, 5, nil, "[2 4 5 6 8]"}, // the row and the column
		{7, 7, nil, "[1 2 3 4 7]"}, // the last row has one: of the others the first row
		{7, 5, nil, "[2 4 5 6]"},   // a short column
		{3, 3, nil, "[1 2 3]"},
		{3, 2, nil, "[1 2]"},
		{9, 8, []algo.ID{5}, "[3 6 7 8 9]"},    // the next column, and itself of its own
		{9, 9, []algo.ID{6}, "[1 4 7 8 9]"},    // behind the last column comes the first
		{9, 2, []algo.ID{1}, "[2 3 4 5 8]"},    // of column 1 not 1, but 4
		{9, 8, []algo.ID{5, 7, 9}, "[]"},       // a dead one in each
		{9, 9, []algo.ID{2, 5, 8}, "[]"},       // a dead column
		{9, 7, []algo.ID{7, 2}, "[1 3 6 8 9]"}, // from the own row on, round to the first
		{16, 14, []algo.ID{6}, "[3 7 11 13 14 15 16]"},
		{1, 1, nil, "[1]"},
		{2, 1, nil, "[1 2]"},
	} {
		if got := fmt.Sprint(family{}.Quorum(test.p, test.n, test.dead)); got != test.want {
			t.Errorf("n = %d, %d without %d: %s, want %s", test.n, test.p, test.dead, got, test.want)
		}
	}
}

// TestIntersection: whoever two processes think dead, up to two each, their quorums have a
// member in common, and none of whom they think dead.
func TestIntersection(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 12; n++ {
		seen := map[uint]bool{}
		for dead := range uint(1) << n {
			if bits.OnesCount(dead) > 2 {
				continue
			}
			for _, p := range algotest.Everybody(n) {
				if q := set(family{}.Quorum(p, n, members(dead))); q&dead != 0 {
					t.Errorf("n = %d: %d asks the dead %b", n, p, q&dead)
				} else if q != 0 {
					seen[q] = true
				}
			}
		}
		for q := range seen {
			for r := range seen {
				if q&r == 0 {
					t.Fatalf("n = %d: %b and %b are disjoint", n, q, r)
				}
			}
		}
	}
}

// TestSurvives: whoever crashes, of as many as are survived, all others have a quorum; of
// one more not.
func TestSurvives(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 0, 2: 0, 3: 0, 4: 1, 5: 0, 6: 1, 7: 1, 8: 1, 9: 2, 10: 1, 11: 1, 12: 2, 16: 3} {
		if got := survives(n, nil); got != want {
			t.Errorf("n = %d: survives %d, want %d", n, got, want)
		}
		if n > 12 {
			continue
		}
		least := n
		for dead := range uint(1) << n {
			for _, p := range algotest.Everybody(n) {
				if dead>>(p-1)&1 == 0 && family.Quorum(family{}, p, n, members(dead)) == nil {
					least = min(least, bits.OnesCount(dead))
				}
			}
		}
		if n > 2 && least != want+1 { // the only one, or the other of two, is not there to ask
			t.Errorf("n = %d: %d crashes leave no quorum, want %d", n, least, want+1)
		}
	}
}

func set(q []algo.ID) (s uint) {
	for _, p := range q {
		s |= 1 << (p - 1)
	}
	return s
}

func members(s uint) (list []algo.ID) {
	for p := algo.ID(1); s > 0; p, s = p+1, s>>1 {
		if s&1 == 1 {
			list = append(list, p)
		}
	}
	return list
}

// TestSubstitution: 1 has asked 2, 3, 4 and 7 when 4 is suspected. It asks 5 and 8, the rest of
// the next column, with the same stamp, needs the lock of 7 no more, and releases that as well.
func TestSubstitution(t *testing.T) {
	t.Parallel()
	s := algo.Stamp{Number: 1, ID: 1}
	ask, locked, release := quorum.Request{S: s}, quorum.Locked{S: s, Clock: 1}, quorum.Release{S: s}
	start := func() algotest.Drive {
		d := algotest.NewDrive(t, id, 9, 1, 0, nil)
		d.Requests(algotest.Sends(2, ask), algotest.Sends(3, ask), algotest.Sends(4, ask), algotest.Sends(7, ask))
		d.Receives(2, locked)
		d.Receives(4, locked)
		d.Does(algotest.Suspected(4), algotest.Sends(5, ask), algotest.Sends(8, ask))
		d.Receives(4, locked) // from the dead
		d.Receives(5, locked)
		return d
	}
	end := []algo.Effect{
		algotest.Sends(2, release), algotest.Sends(3, release), algotest.Sends(5, release),
		algotest.Sends(7, release), algotest.Sends(8, release),
	}

	d := start()
	d.Receives(3, locked)
	d.Receives(8, locked, algotest.Enters())
	d.Receives(7, locked) // behind the entry
	d.Releases(end...)

	d = start()
	d.Receives(2, quorum.Inquire{S: s})
	d.Receives(3, locked)
	d.Receives(8, locked, algotest.Enters())
	d.Receives(7, quorum.Failed{S: s}) // behind the entry
	d.Releases(end...)

	d = start()
	d.Receives(7, quorum.Failed{S: s}) // counts, though the quorum is without it
	d.Receives(3, quorum.Inquire{S: s})
	d.Receives(3, locked, algotest.Sends(3, quorum.Relinquish{S: s}))
	d.Receives(8, locked)
	d.Receives(3, locked, algotest.Enters())
	d.Receives(3, quorum.Inquire{S: s}) // inside: the RELEASE answers it
	d.Does(algotest.Suspected(2))       // inside
	d.Releases(end[1:]...)
	d.Requests(algotest.Sends(3, quorum.Request{S: algo.Stamp{Number: 2, ID: 1}}),
		algotest.Sends(5, quorum.Request{S: algo.Stamp{Number: 2, ID: 1}}),
		algotest.Sends(6, quorum.Request{S: algo.Stamp{Number: 2, ID: 1}}),
		algotest.Sends(9, quorum.Request{S: algo.Stamp{Number: 2, ID: 1}}))
}

// TestForgotten: what the dead asked for or refused counts no more.
func TestForgotten(t *testing.T) {
	t.Parallel()
	s := algo.Stamp{Number: 1, ID: 1}
	ask, locked := quorum.Request{S: s}, quorum.Locked{S: s, Clock: 1}
	d := algotest.NewDrive(t, id, 9, 1, 0, nil)
	d.Requests(algotest.Sends(2, ask), algotest.Sends(3, ask), algotest.Sends(4, ask), algotest.Sends(7, ask))
	d.Receives(4, locked)
	d.Receives(4, quorum.Inquire{S: s})
	d.Does(algotest.Suspected(4), algotest.Sends(5, ask), algotest.Sends(8, ask))
	d.Receives(7, quorum.Failed{S: s})
	d.Does(algotest.Suspected(7)) // no more in the quorum: that it has failed somewhere is as true as before
	d.Receives(3, locked)
	d.Receives(3, quorum.Inquire{S: s}, algotest.Sends(3, quorum.Relinquish{S: s}))

	d = algotest.NewDrive(t, id, 9, 1, 0, nil)
	d.Requests(algotest.Sends(2, ask), algotest.Sends(3, ask), algotest.Sends(4, ask), algotest.Sends(7, ask))
	d.Receives(3, quorum.Failed{S: s})
	d.Does(algotest.Suspected(3), algotest.Sends(6, ask))
	d.Receives(2, quorum.Inquire{S: s})
	d.Receives(2, locked) // it has failed nowhere
	d.Does(algotest.Suspected(6), algotest.Sends(9, ask))
	for _, p := range []algo.ID{4, 7} {
		d.Receives(p, locked)
	}
	d.Does(algotest.Suspected(8)) // not asked
	d.Receives(9, locked, algotest.Enters())
}

// TestLastAnswer: 1 of sixteen has all locks but that of 2, and takes 6 in its place: that has
// been asked when the column of 2 was the full one, and has given its lock.
func TestLastAnswer(t *testing.T) {
	t.Parallel()
	s := algo.Stamp{Number: 1, ID: 1}
	ask, locked := quorum.Request{S: s}, quorum.Locked{S: s, Clock: 1}
	asks := func(list ...algo.ID) (out []algo.Effect) {
		for _, p := range list {
			out = append(out, algotest.Sends(p, ask))
		}
		return out
	}
	d := algotest.NewDrive(t, id, 16, 1, 0, nil)
	d.Requests(asks(2, 3, 4, 5, 9, 13)...)
	d.Does(algotest.Suspected(5), asks(6, 10, 14)...)
	d.Does(algotest.Suspected(14), asks(7, 11, 15)...)
	for _, p := range []algo.ID{3, 4, 6, 7, 11, 15} {
		d.Receives(p, locked)
	}
	d.Does(algotest.Suspected(2), algotest.Enters())
}

// TestNoQuorum: without one nobody enters, whatever comes.
func TestNoQuorum(t *testing.T) {
	t.Parallel()
	s := algo.Stamp{Number: 1, ID: 1}
	ask := quorum.Request{S: s}
	d := algotest.NewDrive(t, id, 9, 1, 0, nil)
	d.Does(algotest.Suspected(4))
	d.Does(algotest.Suspected(5))
	d.Requests(algotest.Sends(2, ask), algotest.Sends(3, ask), algotest.Sends(6, ask), algotest.Sends(9, ask))
	d.Does(algotest.Suspected(9))
	for _, p := range []algo.ID{2, 3, 6} {
		d.Receives(p, quorum.Locked{S: s, Clock: 1})
	}
	d.Does(algotest.Suspected(8))
}

// TestArbiter is rules 2, 8 and 9 at 1: the lock of the dead goes to the next, the dead wait no
// more and are not heard, and a REQUEST that its RELEASE has overtaken is over (P47).
func TestArbiter(t *testing.T) {
	t.Parallel()
	request := func(clock uint64, p algo.ID) quorum.Request {
		return quorum.Request{S: algo.Stamp{Number: clock, ID: p}}
	}
	locks := func(clock uint64, p algo.ID, last uint64) algo.Effect {
		return algotest.Sends(p, quorum.Locked{S: algo.Stamp{Number: clock, ID: p}, Clock: last})
	}
	fails := func(clock uint64, p algo.ID) algo.Effect {
		return algotest.Sends(p, quorum.Failed{S: algo.Stamp{Number: clock, ID: p}})
	}
	d := algotest.NewDrive(t, id, 9, 1, 0, nil)
	d.Receives(2, request(1, 2), locks(1, 2, 1))
	d.Receives(4, request(2, 4), fails(2, 4))
	d.Receives(3, request(3, 3), fails(3, 3))
	d.Does(algotest.Suspected(4))
	d.Does(algotest.Suspected(2), locks(3, 3, 3))
	d.Receives(2, request(4, 2))
	d.Receives(5, request(4, 5), fails(4, 5))
	d.Receives(5, quorum.Release{S: algo.Stamp{Number: 4, ID: 5}}) // it entered with others' locks
	d.Receives(6, quorum.Release{S: algo.Stamp{Number: 5, ID: 6}})
	d.Receives(6, request(5, 6))
	d.Receives(3, quorum.Release{S: algo.Stamp{Number: 3, ID: 3}})
	d.Receives(6, request(5, 6))
	d.Receives(6, request(6, 6), locks(6, 6, 6))
	d.Receives(6, quorum.Release{S: algo.Stamp{Number: 1, ID: 6}}) // of an earlier one
	d.Receives(6, request(5, 6))
	d.Does(algotest.Suspected(6))
	d.Does(algotest.Restored(6))
	d.Receives(6, request(7, 6))
	d.Receives(5, request(8, 5), locks(8, 5, 8))
}

// TestDisplacedWaiter is the other side of GRID-22: without Sanders' FAILED nobody ever enters.
func TestDisplacedWaiter(t *testing.T) {
	t.Parallel()
	p := algotest.Entries{
		Nodes: 6, Params: map[string]any{"failed_to_displaced_waiter": false},
		Events: []harness.Event{
			{At: ms / 4, Do: harness.DoRequest, Node: 6},
			{At: ms, Do: harness.DoRequest, Node: 4},
			{At: 2 * ms, Do: harness.DoRequest, Node: 2},
		},
	}.Plan(t, id)
	p.InModel = false
	if o, err := algotest.Simulate(p); err != nil || o.Completed > 0 || o.Status != trace.TimedOut ||
		!strings.Contains(o.Reason, "the system is quiescent") {
		t.Errorf("%s: %s, %d entries, %v", o.Status, o.Reason, o.Completed, err)
	}
}

// TestCrash: nobody else is held up for longer than it takes to notice that the one inside
// crashed, or an arbiter, and when it comes back it neither enters nor lets anybody enter.
func TestCrash(t *testing.T) {
	t.Parallel()
	for victim := range algo.ID(9) {
		p := algotest.Entries{Nodes: 9, Until: time.Second, Events: []harness.Event{
			{Do: harness.DoRequest, Node: 1},
			{At: 5 * ms / 2, Do: harness.DoCrash, Node: victim + 1},
			{At: 3 * ms, Do: harness.DoRequest, Node: 9},
			{At: 100 * ms, Do: harness.DoRestart, Node: victim + 1},
			{At: 200 * ms, Do: harness.DoRequest, Node: victim + 1},
			{At: 210 * ms, Do: harness.DoRequest, Node: (victim+1)%9 + 1},
		}}.Plan(t, id)
		p.InModel, p.Detector = false, harness.PerfectDetector(10*ms)
		o := algotest.MustSimulate(t, p)
		for _, op := range o.Operations {
			entered := op.Status == trace.Completed
			switch late := op.End - op.Begin; {
			case algo.ID(op.Process) == victim+1 && op.Begin > 100*ms:
				if entered {
					t.Errorf("%d comes back and enters", victim+1)
				}
			case algo.ID(op.Process) != victim+1 && (!entered || late > 20*ms):
				t.Errorf("crash of %d: %d asks at %v: %s, after %v", victim+1, op.Process, op.Begin, op.Status, late)
			}
		}
		if len(o.Violations) > 0 {
			t.Errorf("crash of %d: %v", victim+1, o.Violations)
		}
	}
}

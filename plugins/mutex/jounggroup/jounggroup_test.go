package jounggroup_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/plugins/mutex/jounggroup"
)

const (
	id = "mutex/joung-group"
	ms = time.Millisecond
)

var ra2 = map[string]any{"form": "ra2"}

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestRandomSchedules: ra2, where explore draws two or three sessions, also of one process after
// another.
func TestRandomSchedules(t *testing.T) {
	t.Parallel()
	algotest.RunSchedules(t, id, func(uint64) map[string]any { return ra2 }, nil)
}

// TestExhaustive: ra2 keeps every promise in every order of events, as far as a test may take.
func TestExhaustive(t *testing.T) {
	t.Parallel()
	list, err := algotest.Scopes(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		s.Params, s.States = ra2, 3000
		if space, err := algotest.Exhaust(id, s); err != nil || space.Find != nil {
			t.Errorf("%v: %v, %v", s, err, space.Find)
		}
	}
}

func figure(v []metric.Value, m *metric.Metric) float64 {
	for _, x := range v {
		if x.Name == m.Name {
			return x.Value
		}
	}
	return -1
}

// TestConcurrency: of sessions that take turns, ra1 has one process inside at a time, and ra2 as
// many as a session has; 20 entries of each of N processes.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		form          string
		n, sessions   int
		end           time.Duration
		most          float64
		least, atMost float64 // messages of an entry
	}{
		{"ra1", 8, 2, 321 * ms, 1, 14, 14}, {"ra2", 8, 2, 82 * ms, 4, 16.9, 17.1},
		{"ra1", 8, 4, 321 * ms, 1, 14, 14}, {"ra2", 8, 4, 164 * ms, 2, 15, 15},
		{"ra1", 12, 3, 481 * ms, 1, 22, 22}, {"ra2", 12, 3, 123 * ms, 4, 24.9, 25.1},
	} {
		p := algotest.MustPlan(t, id, test.n, harness.Scenario{Plot: &harness.Closed{Requests: 20 * test.n,
			Think: link.Constant(0), Hold: link.Constant(ms), Sessions: test.sessions}},
			map[string]any{"form": test.form})
		p.Network.Latency = link.Constant(ms)
		o := algotest.MustSimulate(t, p)
		messages := figure(o.Metrics, metric.MessagesPerEntry)
		if o.Status != trace.OK || o.End.At != test.end ||
			figure(o.Metrics, metric.MostInside) != test.most || messages < test.least || messages > test.atMost {
			t.Errorf("%+v: %s: %s, at %v, %v", test, o.Status, o.Reason, o.End.At, o.Metrics)
		}
	}
}

// TestRestart: who comes back numbers its requests beyond those of its former life, which are over.
func TestRestart(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	params, _ := alg.Spec.Resolve(ra2, algo.Network{Nodes: 2})
	s := algo.NewStepper(alg, algo.Config{ID: 1, Peers: algotest.Everybody(2), Incarnation: 1,
		Neighbors: algotest.Everybody(2), Params: params}, 1, &algo.Buffer{})
	sent := s.Step(0, algo.Event{Type: algo.Receive, Peer: 2, Msg: request(1, 2, 1)})
	if len(sent) != 1 || sent[0].Msg.(jounggroup.Reply).Done != 1<<32 {
		t.Errorf("%+v, want a REPLY of who has nothing to do with its former life", sent)
	}
	sent = s.Step(0, algo.Event{Type: algo.Request, Session: 1})
	if len(sent) != 1 || sent[0].Msg != algo.Message(request(1<<32+1, 1, 1)) {
		t.Errorf("%+v, want a REQUEST above all of its former life", sent)
	}
}

func stamp(n uint64, p algo.ID) algo.Stamp { return algo.Stamp{Number: n, ID: p} }

func request(n uint64, p algo.ID, s algo.Session) jounggroup.Request {
	return jounggroup.Request{Stamp: stamp(n, p), Session: s}
}

func reply(n uint64, p algo.ID, done uint64, followers ...algo.Stamp) jounggroup.Reply {
	return jounggroup.Reply{Stamp: stamp(n, p), Done: done, Followers: followers}
}

func start(n uint64, p algo.ID) jounggroup.Start { return jounggroup.Start{Stamp: stamp(n, p)} }

// A drive is process 2 of three.
type drive struct{ algotest.Drive }

func newDrive(t *testing.T, form string) drive {
	return drive{algotest.NewDrive(t, id, 3, 2, 1, map[string]any{"form": form})}
}

func (d drive) asks(n uint64, s algo.Session) {
	d.Does(algo.Event{Type: algo.Request, Session: s}, algotest.Sends(1, request(n, 2, s)),
		algotest.Sends(3, request(n, 2, s)))
}

// TestSameSession: in ra1 a request of the own session is answered at once, waiting and inside, one
// of another when the own one is over, if that is earlier; of equal numbers the smaller process is.
func TestSameSession(t *testing.T) {
	t.Parallel()
	d := newDrive(t, "ra1")
	d.Receives(1, request(3, 1, 1), algotest.Sends(1, reply(3, 1, 0)))
	d.asks(4, 1)
	d.Receives(3, request(9, 3, 1), algotest.Sends(3, reply(9, 3, 0)))
	d.Receives(3, request(10, 3, 2))
	d.Receives(1, request(4, 1, 2), algotest.Sends(1, reply(4, 1, 0)))
	d.Receives(1, reply(4, 2, 0))
	d.Receives(1, reply(4, 2, 0))
	d.Receives(3, reply(3, 2, 0)) // to no request
	d.Receives(3, reply(4, 2, 0), algotest.Enters())
	d.Receives(1, request(5, 1, 1), algotest.Sends(1, reply(5, 1, 0)))
	d.Receives(1, request(2, 1, 3)) // inside: though earlier
	d.Releases(algotest.Sends(3, reply(10, 3, 0)), algotest.Sends(1, reply(2, 1, 0)))
	d.asks(11, 2)
	d.Receives(3, request(12, 3, 1)) // 2 asks for another session than before
}

// TestCaptain: in ra2 who enters by all replies starts whoever it let go first in its session, and
// whoever asks for that while it is inside. A second copy of an earlier request changes nothing.
func TestCaptain(t *testing.T) {
	t.Parallel()
	d := newDrive(t, "ra2")
	d.asks(1, 1)
	d.Receives(3, request(2, 3, 1), algotest.Sends(3, reply(2, 3, 0)))
	d.Receives(3, request(1, 3, 1), algotest.Sends(3, reply(1, 3, 0))) // a copy
	d.Receives(1, reply(1, 2, 0))
	d.Receives(3, reply(1, 2, 0), algotest.Enters(), algotest.Sends(3, start(2, 3)))
	d.Receives(1, request(3, 1, 1), algotest.Sends(1, start(3, 1)))
	d.Receives(1, start(1, 2)) // inside already
	d.Releases()               // a captain's end is told by its replies
	// Of who asks again all that came before is over.
	d.Receives(3, request(5, 3, 2), algotest.Sends(3, reply(5, 3, 1, stamp(3, 1))))
	d.Receives(1, jounggroup.Left{Done: 3})
	d.Receives(3, request(5, 3, 2), algotest.Sends(3, reply(5, 3, 1)))
	d.asks(6, 1)
	d.Receives(3, request(7, 3, 1), algotest.Sends(3, reply(7, 3, 1)))
	d.Receives(3, jounggroup.Left{Done: 7}) // somebody else has started it
	d.Receives(1, reply(6, 2, 3))
	d.Receives(3, reply(6, 2, 7), algotest.Enters())
}

// TestFollowers: a captain that has left still names those whom it started, to other sessions
// alone; and who hears of them waits until each has left, but enters if it is started itself.
func TestFollowers(t *testing.T) {
	t.Parallel()
	d := newDrive(t, "ra2")
	d.asks(1, 1)
	d.Receives(1, reply(1, 2, 0))
	d.Receives(3, reply(1, 2, 0), algotest.Enters())
	d.Receives(3, request(2, 3, 1), algotest.Sends(3, start(2, 3)))
	d.Receives(1, request(3, 1, 2))
	d.Releases(algotest.Sends(1, reply(3, 1, 1, stamp(2, 3))))
	d.asks(4, 2)
	d.Receives(1, request(3, 1, 2), algotest.Sends(1, reply(3, 1, 1, stamp(2, 3)))) // the own session now
	d.Receives(1, reply(4, 2, 0, stamp(2, 3)))
	d.Receives(3, reply(4, 2, 1))
	d.Receives(3, jounggroup.Left{Done: 1})
	d.Receives(3, jounggroup.Left{Done: 2}, algotest.Enters(), algotest.Sends(1, start(3, 1)))
	d.Releases()
	d.asks(5, 1)
	d.Receives(1, reply(5, 2, 3, stamp(9, 3)))
	d.Receives(3, reply(5, 2, 2))
	d.Receives(1, start(4, 2)) // of another request
	d.Receives(1, start(5, 2), algotest.Enters())
}

// TestLeft: a follower that leaves tells those whom it has let go first to another session, and
// who may wait for it; it starts nobody.
func TestLeft(t *testing.T) {
	t.Parallel()
	d := newDrive(t, "ra2")
	d.Receives(1, request(1, 1, 2), algotest.Sends(1, reply(1, 1, 0)))
	d.Receives(3, request(2, 3, 1), algotest.Sends(3, reply(2, 3, 0)))
	d.asks(3, 1)
	d.Receives(3, start(3, 2), algotest.Enters())
	d.Receives(3, request(4, 3, 1), algotest.Sends(3, reply(4, 3, 0)))
	d.Releases(algotest.Sends(1, jounggroup.Left{Done: 3}))
	d.asks(5, 1)
	d.Receives(3, start(5, 2), algotest.Enters())
	d.Receives(1, request(6, 1, 2)) // its request 1 is over
	d.Releases(algotest.Sends(1, reply(6, 1, 5)))
	d.asks(7, 2)
	d.Receives(1, start(7, 2), algotest.Enters())
	d.Releases(algotest.Sends(3, jounggroup.Left{Done: 7})) // its request 4 was of session 1
}

// TestAnew: with a request begins anew whom to start, and whom to wait for.
func TestAnew(t *testing.T) {
	t.Parallel()
	d := newDrive(t, "ra2")
	d.asks(1, 1)
	d.Receives(3, request(2, 3, 1), algotest.Sends(3, reply(2, 3, 0)))
	d.Receives(1, reply(1, 2, 0, stamp(9, 3)))
	d.Receives(1, start(1, 2), algotest.Enters())
	d.Releases()
	d.asks(3, 1)
	d.Receives(1, reply(3, 2, 0))
	d.Receives(3, reply(3, 2, 0), algotest.Enters())
}

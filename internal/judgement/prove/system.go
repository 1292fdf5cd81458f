// Package prove visits every state that a small system of unchanged plugins can reach, under every order
// of its events and with a budget of faults, and finds the shortest schedule that breaks a promise.
//
// What a plugin does depends on the state of its process and on the event alone. So each such pair is
// executed once: the state is restored from bytes, the method is called, and the new state is written as
// bytes again. A state of the whole system is a list of numbers, one for each process and for each link,
// and most of the search only looks up what was executed before.
package prove

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A System is a small system, and what may happen in it.
type System struct {
	Nodes int
	// Requests is how many entries each process of a mutex asks for, and how many elections are
	// started in all, each by another process.
	Requests int
	Params   map[string]any // to set; the others have their defaults at a latency of 1 ms
	Budget
	// Canonical has states that differ only in numbers that no process can tell apart count as one:
	// clocks that are never read, deadlines by what is left of them, and nil and empty slices and maps.
	Canonical bool

	clocks bool // they are read
	tells  bool // a process tells a nil slice or map from an empty one
}

// A Budget is how many faults of each kind one schedule has at most, from 0 to 15.
type Budget struct {
	Crashes    int
	Losses     int // messages that are lost
	Copies     int // messages that arrive twice
	Overtakes  int // messages that overtake others on a link that keeps their order
	Suspicions int // false ones, by the failure detector
	Cuts       int // of links, one after the other; each heals
	// Timeouts is how many timers expire, up to 255; Any: any number.
	Timeouts int
}

// String is the system in a few words, without its parameters.
func (w *System) String() string {
	words := []string{fmt.Sprintf("nodes=%d requests=%d", w.Nodes, w.Requests)}
	for _, b := range []struct {
		name string
		n    int
	}{{"crashes", w.Crashes}, {"losses", w.Losses}, {"copies", w.Copies}, {"overtakes", w.Overtakes},
		{"cuts", w.Cuts}, {"suspicions", w.Suspicions}, {"time-outs", w.Timeouts}} {
		switch {
		case b.n == Any:
			words = append(words, b.name+"=any")
		case b.n > 0:
			words = append(words, fmt.Sprintf("%s=%d", b.name, b.n))
		}
	}
	return strings.Join(words, " ")
}

// Any is a budget without a limit.
const Any = -1

// The bounds of a System.
const (
	MostNodes  = 8
	mostFaults = 15
	mostExpire = 255
)

// Seed is that of the experiment whose one trial is a schedule of a System.
const Seed = 1

// A frame is what all states of one search have in common.
type frame struct {
	system System
	setup  *harness.Setup
	room   algo.Room
	n      int
	mutex  bool
	free   bool // timers expire at any point, by clocks of their own
	timed  bool
	listen bool // processes listen to a failure detector
	detect bool // there is one
	back   bool // a process that crashed may come back
	most   int  // that may be down at once
	learns bool // a process that comes back counts as down until it names a leader
	// timeless: no clock is part of a state. Instants of timers are what is left of them.
	timeless bool
	// merges: states of a process that differ in nil and empty slices or maps alone count as one.
	merges bool

	buf   algo.Buffer
	flat  *flattener
	hands []*algo.Stepper // by ID - 1: what states are restored into
}

// Defaults are how many requests and time-outs a system has where nobody says so: two requests or
// elections, and any number of time-outs where the algorithm is proved for bounded delays, or hands a token
// round without end.
func Defaults(id string) (requests, timeouts int, err error) {
	a, err := algo.Lookup(id)
	if err != nil {
		return 0, 0, err
	}
	perpetual := a.Problem == algo.MutualExclusion && a.Spec.Perpetual
	if a.Spec.Needs.Synchrony == algo.Synchronous || perpetual {
		timeouts = Any
	}
	return 2, timeouts, nil
}

// check says what is wrong with the numbers of w.
func (w *System) check() error {
	if w.Nodes < 1 || w.Nodes > MostNodes {
		return fmt.Errorf("%d processes, expected 1 to %d", w.Nodes, MostNodes)
	}
	if w.Requests < 1 || w.Requests > mostFaults {
		return fmt.Errorf("%d requests, expected 1 to %d", w.Requests, mostFaults)
	}
	for name, k := range map[string]int{"crashes": w.Crashes, "losses": w.Losses, "copies": w.Copies,
		"overtakes": w.Overtakes, "suspicions": w.Suspicions, "cuts": w.Cuts} {
		if k < 0 || k > mostFaults {
			return fmt.Errorf("%d %s, expected 0 to %d", k, name, mostFaults)
		}
	}
	if w.Timeouts < Any || w.Timeouts > mostExpire {
		return fmt.Errorf("%d time-outs, expected 0 to %d, or any", w.Timeouts, mostExpire)
	}
	return nil
}

func newFrame(id string, w System) (*frame, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	p, err := trial.Plan(id, w.Nodes, harness.Scenario{Plot: &harness.Script{}}, w.Params)
	if err != nil {
		return nil, err
	}
	p.Seed = harness.Derive(Seed, "trial", 1)
	setup, err := p.Setup()
	if err != nil {
		return nil, err
	}
	spec := &setup.Alg.Spec
	if needs := spec.Needs.Nodes; needs != nil {
		if err := needs(w.Nodes); err != nil {
			return nil, err
		}
	}
	f := &frame{
		system: w, setup: setup, n: w.Nodes, room: spec.Room(setup.Params), flat: newFlattener(),
		mutex: setup.Alg.Problem == algo.MutualExclusion, back: spec.Survives.Recovery,
		free: spec.Needs.Synchrony != algo.Synchronous, detect: spec.Needs.Detector != algo.NoDetector,
		learns: spec.LiveOf(w.Nodes, setup.Params).Learns, timeless: w.Canonical && !w.clocks,
		merges: w.Canonical && !w.tells,
	}
	if f.most = spec.Survives.CrashesOf(w.Nodes, setup.Params); f.most == 0 || !f.back {
		f.most = w.Nodes // as many as the budget says
	}
	for k := range f.n {
		s := algo.NewStepper(setup.Alg, setup.Config(algo.ID(k+1), 0, nil), f.seed(k, 0), &f.buf)
		if _, is := s.Process().(algo.Guest); is {
			s.End()
			return nil, errors.New("its processes are not part of this program, and their states cannot " +
				"be copied")
		}
		f.hands = append(f.hands, s)
	}
	first := f.hands[0]
	guard.Meet(first.Process(), setup.Algorithm)
	f.listen, f.timed = first.Monitors(), first.Timed()
	return f, nil
}

// seed is that of an incarnation of process k, as in a trial of the harness.
func (f *frame) seed(k int, life uint32) uint64 {
	return harness.Derive(f.setup.Seed, "algorithm "+f.setup.Label, uint64(k+1), uint64(life))
}

// session is what process k asks for, always.
func (f *frame) session(k int) algo.Session { return f.setup.Session(algo.ID(k+1), 0, 0) }

// promised says whether all must come about in the end.
func (f *frame) promised() bool {
	if f.mutex {
		return f.setup.Alg.Spec.Promises.StarvationFree
	}
	return f.setup.Alg.Spec.Promises.Leadership != algo.PerGroup
}

// Beyond says, a sentence each, in what the system goes beyond what the algorithm survives.
func (w *System) Beyond(id string) (why []string, err error) {
	f, err := newFrame(id, *w)
	if err != nil {
		return nil, err
	}
	s := &f.setup.Alg.Spec.Survives
	most := s.CrashesOf(w.Nodes, f.setup.Params)
	say := func(is bool, format string, args ...any) {
		if is {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	say(w.Crashes > 0 && most == 0, "does not survive a crash")
	say(most > 0 && !s.Recovery && w.Crashes > most, "survives %d of %d processes crashed, not %d", most,
		w.Nodes, w.Crashes)
	say(w.Losses > 0 && !s.Loss, "does not survive message loss")
	say(w.Copies > 0 && !s.Duplication, "does not survive duplicated messages")
	say(w.Cuts > 0 && !s.Partition, "does not survive a partition")
	say(w.Overtakes > 0 && f.setup.Alg.Spec.Needs.FIFO, "needs FIFO links")
	say(w.Suspicions > 0 && f.setup.Alg.Spec.Needs.Detector == algo.Perfect, "needs a perfect detector")
	return why, nil
}

type leadership struct {
	of   algo.ID
	term uint64
}

// A local is all that there is at one process. It does not change once it is made.
type local struct {
	up      bool
	waiting bool
	inside  bool
	todo    uint8  // entries still to be asked for; 1 if it may start an election
	doubts  uint16 // whom the detector has told it to be down, by ID - 1
	life    uint32
	leads   leadership
	clock   time.Duration
	timers  trial.Alarms // the first to expire comes first
	known   []uint8      // how many requests of each process happened before, where that matters
	asked   []uint8      // as many at the request that waits

	saved   string // by the algorithm, encoded
	process string // the algorithm's part, flattened
	plain   string // the same for comparisons, where nil is empty; "": as process
	source  string // of random numbers

	// Under the lock of the book: what differs from process in nil and empty slices and maps alone, and all
	// that was asked of this state.
	others []string
	calls  []call
}

// key is the local as bytes, behind those of the process's number.
func (l *local) key(b []byte) []byte {
	text := func(s string) {
		b = appendNumber(b, uint64(len(s)))
		b = append(b, s...)
	}
	flags := byte(0)
	for i, is := range []bool{l.up, l.waiting, l.inside, l.known != nil, l.asked != nil} {
		if is {
			flags |= 1 << i
		}
	}
	b = append(b, flags, l.todo)
	b = appendNumber(b, uint64(l.doubts))
	b = appendNumber(b, uint64(l.life))
	b = appendNumber(b, uint64(l.leads.of))
	b = appendNumber(b, l.leads.term)
	b = appendNumber(b, uint64(l.clock))
	b = appendNumber(b, uint64(len(l.timers)))
	for _, a := range l.timers {
		text(string(a.Name))
		b = appendNumber(b, uint64(a.At))
	}
	b = append(append(b, l.known...), l.asked...)
	text(l.saved)
	text(cmp.Or(l.plain, l.process))
	text(l.source)
	return b
}

// elapse has the clock of a process advance.
func (f *frame) elapse(l *local, by time.Duration) {
	if !f.timeless {
		l.clock += by
		return
	}
	l.timers = slices.Clone(l.timers)
	for i := range l.timers {
		l.timers[i].At = max(l.timers[i].At-by, 0)
	}
}

// left is after how long a timer of l expires, by its own clock.
func (l *local) left(a trial.Alarm) time.Duration { return max(a.At-l.clock, 0) }

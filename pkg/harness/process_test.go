package harness

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTimers: what a process does at 0, and later when something happens to it,
// decides which of its timers fire, and when.
func TestTimers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		on   func(env algo.Env, what string)
		want []string // log of the process
	}{
		"fires once": {func(env algo.Env, what string) {
			if what == "elect" {
				env.SetTimer("a", 2*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "2ms timeout a"}},
		"set again: the first never fires": {func(env algo.Env, what string) {
			switch what {
			case "elect":
				env.SetTimer("a", 2*ms)
			case "note x":
				env.SetTimer("a", 2*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "3ms timeout a"}},
		"set twice in one event": {func(env algo.Env, what string) {
			if what == "elect" {
				env.SetTimer("a", 2*ms)
				env.SetTimer("a", 4*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "4ms timeout a"}},
		"set again to an earlier instant": {func(env algo.Env, what string) {
			if what == "elect" {
				env.SetTimer("a", 4*ms)
				env.SetTimer("a", 2*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "2ms timeout a"}},
		"set again to the same instant": {func(env algo.Env, what string) {
			if what == "elect" {
				env.SetTimer("a", 2*ms)
				env.SetTimer("a", 2*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "2ms timeout a"}},
		"cancelled": {func(env algo.Env, what string) {
			switch what {
			case "elect":
				env.SetTimer("a", 2*ms)
			case "note x":
				env.CancelTimer("a")
			}
		}, []string{"0s elect", "1ms note x 2"}},
		"cancelled by a message of the same instant": {func(env algo.Env, what string) {
			switch what {
			case "elect":
				env.SetTimer("a", ms)
			case "note x":
				env.CancelTimer("a")
			}
		}, []string{"0s elect", "1ms note x 2"}},
		"set again by a message of the same instant": {func(env algo.Env, what string) {
			switch what {
			case "elect":
				env.SetTimer("a", ms)
			case "note x":
				env.SetTimer("a", 2*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "3ms timeout a"}},
		"cancelled by another timer of the same instant": {func(env algo.Env, what string) {
			switch what {
			case "elect":
				env.SetTimer("a", 2*ms)
				env.SetTimer("b", 2*ms)
			case "timeout a":
				env.CancelTimer("b")
			}
		}, []string{"0s elect", "1ms note x 2", "2ms timeout a"}},
		"cancelled, then set": {func(env algo.Env, what string) {
			if what == "elect" {
				env.SetTimer("a", 2*ms)
				env.CancelTimer("a")
				env.SetTimer("a", 3*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "3ms timeout a"}},
		"set by its own expiry": {func(env algo.Env, what string) {
			if what == "elect" || what == "timeout a" && env.Now() < 4*ms {
				env.SetTimer("a", 2*ms)
			}
		}, []string{"0s elect", "1ms note x 2", "2ms timeout a", "4ms timeout a"}},
		"never set, cancelled": {func(env algo.Env, what string) { env.CancelTimer("a") },
			[]string{"0s elect", "1ms note x 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mustSetup(t, "election/test-puppet", 2, Scenario{Plot: &Script{}}, nil))
			p := w.puppet(1)
			p.on = func(env algo.Env, what string, _ algo.ID) { test.on(env, what) }
			w.puppet(2).on = func(env algo.Env, _ string, _ algo.ID) { env.Send(1, Note{"x"}) }
			w.start()
			w.processes[0].Elect(0)
			w.processes[1].Elect(0)
			w.run(time.Second)
			same(t, "the process saw", p.log, test.want)
			if n := w.processes[0].Timers; n != 0 {
				t.Errorf("%d timers still pending", n)
			}
		})
	}
}

// TestSelfSend: a message to oneself is a local call: handled in the same
// event, not handed to the network, not counted.
func TestSelfSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "election/test-puppet", 2, Scenario{Plot: &Script{}}, nil))
	p := w.puppet(1)
	p.on = func(env algo.Env, what string, _ algo.ID) {
		if what == "elect" {
			env.Send(1, Note{"self"})
			env.Send(2, Note{"other"})
		}
	}
	w.start()
	w.processes[0].Elect(0)
	same(t, "seen", p.log, []string{"0s elect", "0s note self 1"})
	if len(w.sent) != 1 || w.sent[0].Depth != 1 {
		t.Errorf("the network got %+v, want the message to process 2 of depth 1", w.sent)
	}
}

// TestPlanesAndDepth: auxiliary messages travel on the detector's plane and add
// nothing to the causal depth; a message is one deeper than what its sender knew.
func TestPlanesAndDepth(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "election/test-puppet", 2, Scenario{Plot: &Script{}}, nil))
	w.puppet(1).on = func(env algo.Env, what string, _ algo.ID) {
		env.Send(2, Hint{})
		if what != "note c" {
			env.Send(2, Note{"a"})
		}
	}
	w.puppet(2).on = func(env algo.Env, _ string, _ algo.ID) { env.Send(1, Note{"c"}) }
	w.start()
	w.processes[0].Elect(0)
	w.run(10 * ms)
	type flight struct {
		plane uint8
		kind  uint8
		depth uint32
	}
	got := []flight{}
	for _, o := range w.sent {
		got = append(got, flight{o.Plane, o.Kind, o.Depth})
	}
	want := []flight{{trace.Detection, 1, 0}, {trace.Data, 0, 1}, {trace.Data, 0, 2},
		{trace.Detection, 1, 2}}
	if !slices.Equal(got, want) {
		t.Errorf("plane, kind and depth\n got %v\nwant %v", got, want)
	}
}

// TestUndeclared: a message that the Spec does not declare is a mistake of the
// plugin, named as such.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "election/test-puppet", 2, Scenario{Plot: &Script{}}, nil))
	w.puppet(1).on = func(env algo.Env, _ string, _ algo.ID) { env.Send(2, Secret{}) }
	defer func() {
		text := fmt.Sprint(recover())
		if !strings.Contains(text, "SECRET") || !strings.Contains(text, "election/test-puppet") {
			t.Errorf("panic %q names neither the message nor the algorithm", text)
		}
	}()
	w.processes[0].Elect(0)
}

// Secret is declared nowhere.
type Secret struct{}

// Kind is SECRET.
func (Secret) Kind() string { return "SECRET" }

// TestQuota: so many entries as are asked for, under closed load as evenly as may be,
// under open load whosever arrivals are the first.
func TestQuota(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nodes, requests int
		want            []int
	}{
		"divides":            {3, 6, []int{2, 2, 2}},
		"the first one more": {3, 8, []int{3, 3, 2}},
		"fewer than nodes":   {4, 2, []int{1, 1, 0, 0}},
		"one process":        {1, 5, []int{5}},
	} {
		for kind, plot := range map[string]Plot{
			"closed": &Closed{Requests: test.requests}, "open": &Open{Requests: test.requests, Rate: 100},
		} {
			t.Run(kind+": "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, mustSetup(t, "mutex/test-lock", test.nodes,
					Scenario{Plot: plot}, nil))
				w.start()
				w.run(time.Hour)
				got, made := make([]int, test.nodes), 0
				for _, r := range w.records {
					switch r.Type {
					case trace.Granted:
						got[r.Process-1]++
					case trace.Request:
						made++
					}
				}
				entries := 0
				for _, n := range got {
					entries += n
				}
				if kind == "closed" && !slices.Equal(got, test.want) || made != test.requests || entries != made {
					t.Errorf("%d requests, entries %v; want %d, %v", made, got, test.requests, test.want)
				}
				done := slices.Sorted(slices.Values(w.done))
				if !slices.Equal(done, w.setup.Graph.Peers()) {
					t.Errorf("done: %v, want every process once", done)
				}
			})
		}
	}
}

// TestClosedLoop: think, request, hold, release, and again.
func TestClosedLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "mutex/test-lock", 1,
		Scenario{Plot: &Closed{Requests: 3, Think: link.Constant(5 * ms), Hold: link.Constant(2 * ms)}},
		nil))
	w.start()
	w.run(time.Second)
	same(t, "requests", w.notes(trace.Request), []string{"p1 at 5ms", "p1 at 12ms", "p1 at 19ms"})
	same(t, "grants", w.notes(trace.Granted), []string{"p1 at 5ms", "p1 at 12ms", "p1 at 19ms"})
	same(t, "releases", w.notes(trace.Released), []string{"p1 at 7ms", "p1 at 14ms", "p1 at 21ms"})
}

// TestClosedDuration: no request is made after the duration; the entries that
// were asked for come to their end.
func TestClosedDuration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "mutex/test-lock", 2, Scenario{Plot: &Closed{Duration: 12 * ms,
		Think: link.Constant(5 * ms), Hold: link.Constant(2 * ms)}}, nil))
	w.start()
	w.run(time.Second)
	same(t, "releases", w.notes(trace.Released),
		[]string{"p1 at 7ms", "p2 at 7ms", "p1 at 14ms", "p2 at 14ms"})
	if len(w.done) != 2 {
		t.Errorf("done: %v, want both once", w.done)
	}
}

// TestQueueing: a process never asks again before it has left; what it wanted
// meanwhile waits, and counts from the instant at which it was meant.
func TestQueueing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "mutex/test-lock", 1,
		Scenario{Plot: &Script{Hold: link.Constant(10 * ms)}}, nil))
	p := w.puppet(1)
	p.on = func(env algo.Env, what string, _ algo.ID) {
		switch what {
		case "request":
			env.SetTimer("grant", 3*ms)
		case "timeout grant":
			env.Granted()
		}
	}
	w.start()
	for _, at := range []time.Duration{0, ms, 5 * ms} {
		w.at(at, func() { w.processes[0].Obey(at, &Instruction{At: at, Do: DoRequest, Node: 1}) })
	}
	w.run(time.Second)
	same(t, "seen", p.log, []string{
		"0s request", "3ms timeout grant", "13ms release", "13ms request", "16ms timeout grant",
		"26ms release", "26ms request", "29ms timeout grant", "39ms release"})
	var intended []time.Duration
	for _, r := range w.records {
		if r.Type == trace.Request {
			intended = append(intended, time.Duration(r.Arg))
		}
	}
	if !slices.Equal(intended, []time.Duration{0, ms, 5 * ms}) {
		t.Errorf("intended instants %v, want 0, 1ms, 5ms", intended)
	}
}

// TestOpenIsPoisson: arrivals of all processes together have the rate asked for,
// those of each its share, and the gaps between them are exponential.
func TestOpenIsPoisson(t *testing.T) {
	t.Parallel()
	const nodes, rate, seconds = 20, 1000.0, 10
	w := newWorld(t, mustSetup(t, "mutex/test-lock", nodes, Scenario{Plot: &Open{Rate: rate,
		Duration: seconds * time.Second, Hold: link.Constant(0)}}, nil))
	w.start()
	w.run(time.Hour)
	counts, last := make([]float64, nodes), make([]float64, nodes)
	n, sum, squares := 0.0, 0.0, 0.0
	for _, r := range w.records {
		if r.Type != trace.Request {
			continue
		}
		i, at := r.Process-1, time.Duration(r.Arg).Seconds()
		gap := at - last[i]
		last[i] = at
		counts[i]++
		n, sum, squares = n+1, sum+gap, squares+gap*gap
	}
	if want := rate * seconds; math.Abs(n-want) > 5*math.Sqrt(want) {
		t.Errorf("%v arrivals, want %v give or take %.0f", n, want, 5*math.Sqrt(want))
	}
	for i, c := range counts {
		if want := rate * seconds / nodes; math.Abs(c-want) > 5*math.Sqrt(want) {
			t.Errorf("process %d: %v arrivals, want %v give or take %.0f", i+1, c, want, 5*math.Sqrt(want))
		}
	}
	mean := sum / n
	if cv := math.Sqrt(squares/n-mean*mean) / mean; math.Abs(cv-1) > 0.05 {
		t.Errorf("coefficient of variation of the gaps %.3f, want 1 as of an exponential", cv)
	}
	if len(w.done) != nodes {
		t.Errorf("%d processes are done, want %d", len(w.done), nodes)
	}
}

// TestOpenWaitsFromIntended: arrivals do not wait for the entries before them,
// and a process is not done before its last entry is over.
func TestOpenWaitsFromIntended(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "mutex/test-lock", 1, Scenario{Plot: &Open{Rate: 1000, Requests: 50,
		Hold: link.Constant(10 * ms)}}, nil))
	w.start()
	for w.queue.Len() > 0 {
		if len(w.done) > 0 && w.now > 0 {
			t.Fatalf("done at %v, with %d events to come", w.now, w.queue.Len())
		}
		w.run(w.queue.Next())
	}
	if len(w.done) != 1 {
		t.Fatalf("done %d times, want once", len(w.done))
	}
	var first, meant time.Duration
	for i, r := range w.records {
		if r.Type == trace.Request {
			meant = time.Duration(r.Arg)
			if first == 0 {
				first = meant
			}
			if r.At < meant {
				t.Fatalf("record %d: asked at %v, before the %v at which it was meant", i, r.At, meant)
			}
		}
	}
	if meant > 200*ms || w.now < first+50*10*ms {
		t.Errorf("last arrival meant at %v, last release at %v: arrivals waited for entries", meant,
			w.now)
	}
}

// TestLateAlarms: on a slow machine arrivals are late, but none is meant later.
func TestLateAlarms(t *testing.T) {
	t.Parallel()
	intended := func(lag time.Duration) (out []uint64) {
		w := newWorld(t, mustSetup(t, "mutex/test-lock", 2,
			Scenario{Plot: &Open{Rate: 100, Requests: 30}}, nil))
		w.lag = lag
		for _, m := range w.processes {
			m.Start(lag)
		}
		w.run(time.Hour)
		for _, r := range w.records {
			if r.Type == trace.Request {
				out = append(out, r.Arg)
			}
		}
		slices.Sort(out)
		return out
	}
	if a, b := intended(0), intended(3*ms); !slices.Equal(a, b) {
		t.Errorf("intended instants drift with the lag:\n%v\n%v", a, b)
	}
}

// TestClasses: whom an alarm comes from decides its turn in an instant.
func TestClasses(t *testing.T) {
	t.Parallel()
	for slot, want := range map[uint16]Class{
		slotRelease: Application, slotRequest: Application, slotBeat: TimerExpiry, slotWatch: TimerExpiry,
		slotSuspect: TimerExpiry, slotRestore: TimerExpiry, slotElect: TimerExpiry,
		slotTimers: TimerExpiry,
	} {
		if got := (Alarm{Slot: slot}).Class(); got != want {
			t.Errorf("slot %d: class %d, want %d", slot, got, want)
		}
	}
	for _, do := range []string{DoCrash, DoRestart, DoCut, DoHeal, fault.Alarm, fault.Finish} {
		if ClassOf(&Instruction{Do: do}) != Control {
			t.Errorf("%s is not control", do)
		}
	}
	for _, do := range []string{DoElect, DoSuspect, DoRequest, "invite"} {
		if ClassOf(&Instruction{Do: do}) != Application {
			t.Errorf("%s is not of the application", do)
		}
	}
}

// TestWorkloadIsSharedLuck: intended instants are the same for every algorithm.
func TestWorkloadIsSharedLuck(t *testing.T) {
	t.Parallel()
	arrivals := func(id string) (out []uint64) {
		w := newWorld(t, mustSetup(t, id, 3, Scenario{Plot: &Open{Rate: 100, Requests: 30}}, nil))
		w.start()
		w.run(time.Hour)
		for _, r := range w.records {
			if r.Type == trace.Request {
				out = append(out, r.Arg)
			}
		}
		return out
	}
	if a, b := arrivals("mutex/test-lock"), arrivals("mutex/test-spinning"); !slices.Equal(a, b) {
		t.Errorf("two algorithms meet different arrivals:\n%v\n%v", a, b)
	}
}

// TestSessions: a request is for the session that its line names, else for the one that its process
// always asks for, else by ID, or drawn; in the queue, too. Elsewhere there are none.
func TestSessions(t *testing.T) {
	t.Parallel()
	run := func(id string, change func(*Plan)) (seen []algo.Session) {
		w := newWorld(t, mustSetup(t, id, 4, Scenario{Plot: &Script{}}, change))
		for _, q := range w.setup.Graph.Peers() {
			w.puppet(q).on = func(env algo.Env, what string, _ algo.ID) {
				if what == "request" {
					env.Granted()
				}
			}
		}
		w.start()
		for _, q := range w.setup.Graph.Peers() {
			for _, args := range []fault.Args{{}, {Own: &fault.Requesting{Session: 9}}} { // the second is queued
				w.at(0, func() { w.processes[q-1].Obey(0, &Instruction{Do: DoRequest, Node: q, Args: args}) })
			}
		}
		w.run(time.Second)
		granted := make([][]algo.Session, 5)
		for _, r := range w.records {
			switch r.Type {
			case trace.Request:
				granted[r.Process] = append(granted[r.Process], algo.Session(r.Peer))
			case trace.Granted:
				if last := len(granted[r.Process]) - 1; granted[r.Process][last] != algo.Session(r.Peer) {
					t.Errorf("p%d requests session %d and enters %d", r.Process, granted[r.Process][last], r.Peer)
				}
			}
		}
		return slices.Concat(granted...)
	}
	none := algo.Params{"session": int64(0)}
	if got := run("mutex/test-lock", nil); !slices.Equal(got, make([]algo.Session, 8)) {
		t.Errorf("without sessions: %v", got)
	}
	for name, test := range map[string]struct {
		change func(*Plan)
		want   []algo.Session
	}{
		"by ID": {func(p *Plan) { p.Params = none }, []algo.Session{1, 9, 2, 9, 1, 9, 2, 9}},
		"three": {func(p *Plan) { p.Params = none; p.Scenario.Set("sessions", 3) },
			[]algo.Session{1, 9, 2, 9, 3, 9, 1, 9}},
		"always": {func(p *Plan) {
			p.Params = algo.Params{"session": []any{int64(5), int64(0), int64(5), int64(7)}}
		}, []algo.Session{5, 9, 2, 9, 5, 9, 7, 9}},
	} {
		if got := run("mutex/test-group", test.change); !slices.Equal(got, test.want) {
			t.Errorf("%s: sessions %v, want %v", name, got, test.want)
		}
	}
	seen := map[algo.Session]int{}
	s := mustSetup(t, "mutex/test-group", 4, Scenario{Plot: &Script{Sessions: 3, SessionChoice: Random}},
		func(p *Plan) { p.Params = none })
	for k := range uint64(300) {
		seen[s.Session(2, 0, k)]++
	}
	if len(seen) != 3 || seen[1] < 70 || seen[2] < 70 || seen[3] < 70 {
		t.Errorf("of 300 requests of one process: %v, want three sessions about as often", seen)
	}
}

package bubble_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/systems/bubble"
	_ "github.com/conclave-bench/conclave/systems/etcdnode"
)

// writing are the libraries that take writes.
var writing = []string{"election/hashicorp-raft", "election/etcd-node"}

const every = 100 * time.Millisecond

// written is a trial of three processes with writes of clients.
type written struct {
	records trace.List
	verdict check.Verdict
}

func write(t *testing.T, id string, plot harness.Plot) *written {
	t.Helper()
	p := algotest.MustPlan(t, id, 3, harness.Scenario{Plot: plot}, nil)
	p.Leader, p.InModel, p.TimeLimit = algo.None, false, time.Hour
	p.Network.Latency, p.WritesEvery = link.Constant(2*time.Millisecond), every
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	s.Virtual = true
	judge := check.NewJudge(s)
	var w written
	end := bubble.Run(s, trace.Tee(judge, &w.records))
	if end.Err != nil {
		t.Fatal(end.Err)
	}
	w.verdict = judge.Finish(end)
	return &w
}

func script(until time.Duration, events ...harness.Event) harness.Plot {
	return &harness.Script{Until: until, Events: events}
}

// ended are the ends of the writes that began from an instant until another.
func (w *written) ended(from, until time.Duration) (out []trace.Record) {
	for _, r := range w.records {
		began := time.Duration(r.Arg)
		if (r.Type == trace.Written || r.Type == trace.Unwritten) && began >= from && began < until {
			out = append(out, r)
		}
	}
	return out
}

// acknowledged is how many of them were.
func acknowledged(ends []trace.Record) (n int) {
	for _, r := range ends {
		if r.Type == trace.Written {
			n++
		}
	}
	return n
}

// figure is a metric of the trial.
func (w *written) figure(t *testing.T, name string) float64 {
	t.Helper()
	for _, m := range w.verdict.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

// leaders are those that name themselves from an instant on.
func (w *written) leaders(from time.Duration) (out []uint32) {
	for _, r := range w.records {
		if r.Type == trace.Elected && r.Peer == r.Process && r.At >= from {
			out = append(out, r.Process)
		}
	}
	return out
}

// TestWrites_Calm: where nothing goes wrong each client has each write acknowledged from the first leader on, and nearly
// all a round trip after they began. A few wait for the batch before theirs, and one in some thousands for two: which
// of a library's goroutines comes first is left to Go.
func TestWrites_Calm(t *testing.T) {
	const trip = 4 * time.Millisecond
	for _, id := range writing {
		w := write(t, id, script(20*time.Second))
		ends := w.ended(10*time.Second, 20*time.Second)
		if len(ends) != 300 || acknowledged(ends) != 300 {
			t.Errorf("%s: %d writes from 10 to 20 s, %d of them acknowledged; want 300", id, len(ends), acknowledged(ends))
		}
		waited, long := 0, 0
		for _, r := range ends {
			took := r.At - time.Duration(r.Arg)
			if took < trip || took > 4*trip || r.Seq != 3 {
				t.Errorf("%s: a write of a round of %d took %v", id, r.Seq, took)
			}
			if took > trip {
				waited++
			}
			if took > 2*trip {
				long++
			}
		}
		if waited >= 150 || long > 3 { // the median is a round trip
			t.Errorf("%s: of 300 writes %d waited for one before them, %d of these for longer than that takes; want "+
				"fewer than 150, and at most 3", id, waited, long)
		}
		all := w.ended(0, time.Hour)
		if share := float64(acknowledged(all)) / float64(len(all)); w.figure(t, "availability_served") != share {
			t.Errorf("%s: availability_served is %v, and %v of the writes were acknowledged", id,
				w.figure(t, "availability_served"), share)
		}
		if n := w.figure(t, "outages_served"); n != 1 {
			t.Errorf("%s: %v outages of service, want that before the first leader", id, n)
		}
	}
}

// TestWrites_Crash: downtime by writes ends with one that the next leader acknowledges, after it leads.
func TestWrites_Crash(t *testing.T) {
	for _, id := range writing {
		w := write(t, id, &harness.LeaderCrash{})
		led, served := w.figure(t, "downtime_led_ms"), w.figure(t, "downtime_served_ms")
		if served < led || served > led+200 {
			t.Errorf("%s: downtime_served_ms is %v, downtime_led_ms %v", id, served, led)
		}
		last := w.verdict.Outages[len(w.verdict.Outages)-1]
		if last.Definition != "served" || last.Origin != trace.LeaderCrashed || last.Status != trace.Completed ||
			!slices.ContainsFunc(w.records, func(r trace.Record) bool { return r.Type == trace.Written && r.At == last.End }) {
			t.Errorf("%s: %+v, and no write is acknowledged then", id, last)
		}
	}
}

// TestWrites_HungDisk: when the disk of its leader hangs, hashicorp/raft keeps it, and no write is acknowledged any
// more. A leader of etcd hangs as a whole, and another takes over.
func TestWrites_HungDisk(t *testing.T) {
	const hangs = 10*time.Second + 50*time.Millisecond
	for i, id := range writing {
		w := write(t, id, script(3*time.Minute, harness.Event{At: hangs, Do: fault.HungDisk, Who: "leader"}))
		n, leads, never := acknowledged(w.ended(hangs, time.Hour)), w.leaders(hangs), w.figure(t, "never_recovered_served")
		switch {
		case i == 0 && (n > 0 || len(leads) > 0 || never != 1 || w.figure(t, "availability_led") < 0.9):
			t.Errorf("%s: %d writes are acknowledged, next leaders %v, never_recovered_served %v, availability_led %v", id, n,
				leads, never, w.figure(t, "availability_led"))
		case i == 1 && (n < 1000 || len(leads) == 0 || never != 0):
			t.Errorf("%s: %d writes are acknowledged, next leaders %v, never_recovered_served %v", id, n, leads, never)
		}
	}
}

// TestWrites_Pause: a write through a leader that is paused waits until it goes on, or until its time is up.
func TestWrites_Pause(t *testing.T) {
	const paused, goesOn = 10*time.Second + 50*time.Millisecond, 10*time.Second + 450*time.Millisecond
	for _, id := range writing {
		w := write(t, id, script(20*time.Second, harness.Event{At: paused, Do: harness.DoPause, Who: "leader", For: goesOn - paused}))
		ends := w.ended(paused, goesOn)
		if len(ends) != 12 || acknowledged(ends) != 12 {
			t.Errorf("%s: of %d writes %d are acknowledged, want 12", id, len(ends), acknowledged(ends))
		}
		for _, r := range ends {
			if r.At < goesOn {
				t.Errorf("%s: a write ends at %v, in the pause of the leader", id, r.At)
			}
		}
		w = write(t, id, script(20*time.Second, harness.Event{At: paused, Do: harness.DoPause, Who: "leader", For: 5 * time.Second}))
		first := w.ended(paused, paused+every)
		for _, r := range first {
			if r.Type != trace.Unwritten || r.At != 10*time.Second+every+time.Second+20*time.Millisecond {
				t.Errorf("%s: %v of a write that began in the pause, at %v", id, r.Type, r.At)
			}
		}
		if len(first) != 3 {
			t.Errorf("%s: %d writes, want 3", id, len(first))
		}
	}
}

// TestWrites_Cut: the client of a process that is cut off from the leader is refused at once, and the others are not.
func TestWrites_Cut(t *testing.T) {
	const from, until = 10*time.Second + 50*time.Millisecond, 11*time.Second + 50*time.Millisecond
	for _, id := range writing {
		w := write(t, id, script(20*time.Second, harness.Event{At: from, Do: harness.DoCut, Shape: "isolate", Who: "successor-of-leader",
			For: until - from}))
		ends := w.ended(from, from+5*every)
		if len(ends) != 15 || acknowledged(ends) != 10 {
			t.Errorf("%s: %d of %d writes are acknowledged, want 10 of 15", id, acknowledged(ends), len(ends))
		}
		if n := w.figure(t, "outages_served"); n != 1 {
			t.Errorf("%s: %v outages of service, want that before the first leader", id, n)
		}
	}
}

// A stubborn subject has a method Write, but not that of a Writer.
type stubborn struct{ *silent }

func (s stubborn) Write(interface{ Done() <-chan struct{} }) {}

// A silent subject names a leader, and has no method Write.
type silent struct{ *bubble.Process }

func (s *silent) Start() error { s.Names(1, 1); return nil }
func (s *silent) Stop()        {}

func init() {
	bubble.Register(algo.Spec{Name: "test-says-that-it-writes", Summary: "does not", Writes: true, Perpetual: true,
		Paper:    algo.Paper{Authors: "nobody", Title: "none", Year: 2026},
		Messages: []algo.Message{Hello{}}, Promises: algo.Promises{Announced: true}, Breaks: "It misbehaves.",
	}, "none", func(p *bubble.Process) bubble.Subject { return stubborn{&silent{p}} })
}

// TestWrites_Undeclared: a Spec that says that a library takes writes, of which it has no method, ends each trial.
func TestWrites_Undeclared(t *testing.T) {
	p := algotest.MustPlan(t, "election/test-says-that-it-writes", 3, harness.Scenario{Plot: script(time.Second)}, nil)
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	var records trace.List
	end := bubble.Run(s, &records)
	if end.Err == nil || !strings.Contains(end.Err.Error(), "Spec.Writes is true, but bubble_test.stubborn") {
		t.Errorf("%v, want what does not match", end.Err)
	}
}

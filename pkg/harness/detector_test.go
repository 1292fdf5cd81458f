package harness

import (
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func perfect(delay time.Duration) func(*Plan) {
	return func(p *Plan) { p.Detector, p.Leader = PerfectDetector(delay), 3 }
}

func heartbeat(interval, timeout time.Duration) func(*Plan) {
	return func(p *Plan) {
		p.Detector, p.Leader = HeartbeatDetector(interval, timeout), 3
	}
}

func TestPerfectDetector(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id      string
		change  func(*Plan)
		prepare func(w *world)
		suspect []string
		restore []string
		seen    []string // by process 1
	}{
		"the leader": {"election/test-puppet", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(3) })
		}, []string{"p1 at 15ms of 3", "p2 at 15ms of 3"}, nil, []string{"15ms elect"}},
		"another process: no election": {"election/test-puppet", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(2) })
		}, []string{"p1 at 15ms of 2", "p3 at 15ms of 2"}, nil, nil},
		"a monitor hears of everybody, and elects by itself": {"election/test-monitor", nil,
			func(w *world) { w.at(5*ms, func() { w.crash(2) }) },
			[]string{"p1 at 15ms of 2", "p3 at 15ms of 2"}, nil, []string{"15ms suspect 2"}},
		"restored": {"election/test-puppet", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(2) })
			w.at(30*ms, func() { w.processes[0].Restarted(2, w.now) })
		}, []string{"p1 at 15ms of 2", "p3 at 15ms of 2"}, []string{"p1 at 40ms of 2"},
			[]string{"40ms elect"}},
		"a monitor is restored": {"election/test-monitor", nil, func(w *world) {
			w.at(5*ms, func() { w.processes[0].Restarted(2, w.now) })
		}, nil, []string{"p1 at 15ms of 2"}, []string{"15ms restore 2"}},
		"crashed from the start": {"election/test-puppet", func(p *Plan) { p.Crashed = []algo.ID{3} },
			func(*world) {}, []string{"p1 at 10ms of 3", "p2 at 10ms of 3"}, nil, []string{"10ms elect"}},
		"naming one that is suspected already": {"election/test-puppet", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(3) })
			w.puppet(1).on = func(env algo.Env, what string, _ algo.ID) {
				if what == "elect" {
					env.SetTimer("later", 20*ms)
				} else if env.Now() < 40*ms {
					env.Elected(3, 0)
				}
			}
		}, []string{"p1 at 15ms of 3", "p2 at 15ms of 3"}, nil,
			[]string{"15ms elect", "35ms timeout later", "45ms elect", "65ms timeout later"}},
		"naming one that is back already": {"election/test-puppet", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(3) })
			w.at(30*ms, func() { w.processes[0].Restarted(3, w.now) })
			w.puppet(1).on = func(env algo.Env, what string, _ algo.ID) {
				switch {
				case what == "elect" && env.Now() < 40*ms:
					env.SetTimer("later", 20*ms)
				case what == "timeout later":
					env.Elected(3, 0)
				}
			}
		}, []string{"p1 at 15ms of 3", "p2 at 15ms of 3"}, []string{"p1 at 40ms of 3"},
			[]string{"15ms elect", "35ms timeout later", "40ms elect"}},
		"naming it twice: elected once": {"election/test-puppet", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(3) })
			w.puppet(1).on = func(env algo.Env, what string, _ algo.ID) {
				if env.Now() == 15*ms {
					env.Elected(3, 0)
					env.Elected(2, 0)
					env.Elected(3, 0)
				}
			}
		}, []string{"p1 at 15ms of 3", "p2 at 15ms of 3"}, nil, []string{"15ms elect", "25ms elect"}},
		"naming it and then another in one event": {"election/test-puppet", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(3) })
			w.puppet(1).on = func(env algo.Env, _ string, _ algo.ID) {
				env.Elected(3, 0)
				env.Elected(2, 0)
			}
		}, []string{"p1 at 15ms of 3", "p2 at 15ms of 3"}, nil, []string{"15ms elect"}},
		"a monitor is not told again": {"election/test-monitor", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(3) })
			w.puppet(1).on = func(env algo.Env, _ string, _ algo.ID) { env.Elected(3, 0) }
		}, []string{"p1 at 15ms of 3", "p2 at 15ms of 3"}, nil, []string{"15ms suspect 3"}},
		"a lock has no elections": {"mutex/test-lock", nil, func(w *world) {
			w.at(5*ms, func() { w.crash(3) })
		}, []string{"p1 at 15ms of 3", "p2 at 15ms of 3"}, nil, nil},
		"no detector": {"election/test-puppet", func(p *Plan) { p.Detector = NoDetector() },
			func(w *world) { w.at(5*ms, func() { w.crash(3) }) }, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustSetup(t, test.id, 3, Scenario{Plot: &Script{}}, func(p *Plan) {
				perfect(10 * ms)(p)
				if test.change != nil {
					test.change(p)
				}
			})
			w := newWorld(t, s)
			test.prepare(w)
			w.start()
			w.run(time.Second)
			same(t, "suspicions", w.notes(trace.Suspect), test.suspect)
			same(t, "restored", w.notes(trace.Restore), test.restore)
			same(t, "seen by p1", w.puppet(1).log, test.seen)
			if n := w.processes[0].Planned; n != 0 {
				t.Errorf("%d alarms still planned", n)
			}
		})
	}
}

// TestSuspectInstruction: a script's suspicion is about the leader unless it
// says whom, and makes an elector an initiator whoever it follows.
func TestSuspectInstruction(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id          string
		of          algo.ID
		suspicion   string
		seen        []string
		initiations int
	}{
		"of the leader":       {"election/test-puppet", 0, "p1 at 0s of 3", []string{"0s elect"}, 1},
		"of somebody else":    {"election/test-puppet", 2, "p1 at 0s of 2", []string{"0s elect"}, 1},
		"a monitor, in words": {"election/test-monitor", 2, "p1 at 0s of 2", []string{"0s suspect 2"}, 0},
		"one that is told":    {"election/test-told", 2, "p1 at 0s of 2", []string{"0s elect"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mustSetup(t, test.id, 3, Scenario{Plot: &Script{}},
				func(p *Plan) { p.Leader = 3 }))
			w.start()
			w.processes[0].Obey(0, &Instruction{Do: DoSuspect, Node: 1, Of: test.of})
			same(t, "suspicion", w.notes(trace.Suspect), []string{test.suspicion})
			same(t, "seen", w.puppet(1).log, test.seen)
			if n := len(w.notes(trace.Elect)); n != test.initiations {
				t.Errorf("%d initiators, want %d", n, test.initiations)
			}
		})
	}
}

func TestOperationsOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}}, nil))
	w.start()
	w.processes[0].Obey(0, &Instruction{Do: "invite", Node: 1, Of: 2})
	w.processes[0].Obey(ms, &Instruction{Do: DoElect, Node: 1})
	same(t, "seen", w.puppet(1).log, []string{"0s do invite 2", "1ms elect"})
	same(t, "recorded", w.notes(trace.Do), []string{"p1 at 0s of 2"})
}

// TestHeartbeatSuspects: silence is noticed when the time-out is over, counted
// from the last heartbeat that arrived, and neither before nor later.
func TestHeartbeatSuspects(t *testing.T) {
	t.Parallel()
	const interval, timeout, crashAt = 20 * ms, 50 * ms, 333 * ms
	for seed := range uint64(20) {
		w := newWorld(t, mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}},
			func(p *Plan) {
				heartbeat(interval, timeout)(p)
				p.Seed = seed
			}))
		last := time.Duration(0)
		w.lose = func(from, to algo.ID, at time.Duration) bool {
			if from == 3 && to == 1 {
				last = at
			}
			return false
		}
		w.at(crashAt, func() { w.crash(3) })
		w.start()
		w.run(time.Second)
		want := last + ms + timeout // it took 1 ms
		var got time.Duration
		for _, r := range w.records {
			switch {
			case r.Type == trace.Suspect && r.Peer != 3:
				t.Errorf("seed %d: false suspicion of %d at %v", seed, r.Peer, r.At)
			case r.Type == trace.Suspect && r.Process == 1:
				got = r.At
			}
		}
		if got != want {
			t.Errorf("seed %d: last heartbeat sent at %v, suspected at %v, want %v", seed, last, got, want)
		}
	}
}

// TestHeartbeatWithoutLoss: no false suspicion while timeout > interval + latency;
// with less, there is one.
func TestHeartbeatWithoutLoss(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		timeout time.Duration
		falsely bool
	}{
		"above interval and latency": {12 * ms, false},
		"below the interval":         {9 * ms, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mustSetup(t, "election/test-puppet", 4, Scenario{Plot: &Script{}},
				heartbeat(10*ms, test.timeout)))
			w.start()
			w.run(3 * time.Second)
			if got := len(w.notes(trace.Suspect)); (got > 0) != test.falsely {
				t.Errorf("%d suspicions of living processes, want some: %t", got, test.falsely)
			}
			beats := 0
			for _, o := range w.sent {
				if o.Kind != Heartbeat || o.Plane != trace.Detection || o.Msg != nil {
					t.Fatalf("sent %+v, want heartbeats alone", o)
				}
				beats++
			}
			if want := 300 * 4 * 3; beats < want-12 || beats > want {
				t.Errorf("%d heartbeats in 3 s, want %d", beats, want)
			}
		})
	}
}

// TestHeartbeatLost: two lost heartbeats in a row make a false suspicion; the
// next that arrives withdraws it, and both make the elector look for a leader.
func TestHeartbeatLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}},
		heartbeat(20*ms, 50*ms)))
	w.lose = func(from, to algo.ID, at time.Duration) bool {
		return from == 3 && to == 1 && at > 100*ms && at < 200*ms
	}
	w.start()
	w.run(time.Second)
	suspicions, restores := w.notes(trace.Suspect), w.notes(trace.Restore)
	if len(suspicions) != 1 || len(restores) != 1 {
		t.Fatalf("suspicions %q, restores %q, want one of each", suspicions, restores)
	}
	if n := len(w.puppet(1).log); n != 2 {
		t.Errorf("p1 saw %q, want an election at each", w.puppet(1).log)
	}
}

// TestHeartbeatPhase: processes do not beat together, and a trial of another
// seed meets other phases.
func TestHeartbeatPhase(t *testing.T) {
	t.Parallel()
	const interval = 20 * ms
	seen := map[time.Duration]bool{}
	for seed := range uint64(10) {
		s := mustSetup(t, "election/test-puppet", 5, Scenario{Plot: &Script{}}, func(p *Plan) {
			heartbeat(interval, 50*ms)(p)
			p.Seed = seed
		})
		w := newWorld(t, s)
		first := make([]time.Duration, 5)
		w.lose = func(from, _ algo.ID, at time.Duration) bool {
			if first[from-1] == 0 {
				first[from-1] = at
			}
			return false
		}
		w.start()
		w.run(interval)
		for p, at := range first {
			if at < 0 || at >= interval {
				t.Errorf("seed %d: p%d first beats at %v, want within the interval", seed, p+1, at)
			}
			seen[at] = true
		}
	}
	phases := []time.Duration{}
	for at := range seen {
		phases = append(phases, at)
	}
	slices.Sort(phases)
	if len(phases) < 45 || phases[0] > interval/5 || phases[len(phases)-1] < interval*4/5 {
		t.Errorf("%d different phases of 50, from %v to %v: not spread over the interval",
			len(phases), phases[0], phases[len(phases)-1])
	}
}

// TestScriptSuspectsOnce: nobody withdraws a script's suspicion of a living
// leader, so it must not be held against that leader for ever.
func TestScriptSuspectsOnce(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Plan){
		"no detector": func(p *Plan) { p.Leader = 3 }, "perfect": perfect(10 * ms),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mustSetup(t, "election/test-puppet", 3, Scenario{Plot: &Script{}}, change))
			w.puppet(1).on = func(env algo.Env, _ string, _ algo.ID) { env.Elected(3, 0) }
			w.start()
			w.processes[0].Obey(0, &Instruction{Do: DoSuspect, Node: 1})
			w.run(time.Second)
			same(t, "seen", w.puppet(1).log, []string{"0s elect"})
		})
	}
}

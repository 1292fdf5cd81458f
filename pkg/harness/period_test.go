package harness

import (
	"fmt"
	"testing"
	"time"
)

// TestEndless: an outage is over within ten of the longest time-outs, each of at least four times the latency of
// 1 ms here.
func TestEndless(t *testing.T) {
	t.Parallel()
	crash := Scenario{Plot: &LeaderCrash{}}
	for beat, want := range map[time.Duration]time.Duration{ms: 40 * ms, 4 * ms: 40 * ms, 70 * ms: 700 * ms} {
		s := mustSetup(t, "election/test-restless", 3, crash, func(p *Plan) {
			p.Leader, p.Params = 3, map[string]any{"beat": beat}
		})
		if got := s.Endless(); got != want || s.Places() != 0 {
			t.Errorf("time-outs of %v: %v and %d places, want %v and none", beat, got, s.Places(), want)
		}
	}
}

// TestPeriod: the longest of what a leader repeats decides how long it settles, and the span
// behind that is a whole number of periods, the least that is as long.
func TestPeriod(t *testing.T) {
	t.Parallel()
	beating := func(interval time.Duration) Detector { return HeartbeatDetector(interval, 3*interval) }
	accrual := Detector{&phi{beats: beats{Interval: 70 * ms}}}
	for name, test := range map[string]struct {
		id              string
		beat            time.Duration
		detector        Detector
		settle, settles time.Duration
		each            time.Duration
		times           int
		of              string
	}{
		"nothing":           {"puppet", 0, PerfectDetector(ms), 0, 50 * ms, 50 * ms, 1, ""},
		"nothing, given":    {"puppet", 0, NoDetector(), 7 * ms, 7 * ms, 7 * ms, 1, ""},
		"the algorithm":     {"restless", 40 * ms, NoDetector(), 0, 80 * ms, 40 * ms, 2, "params.beat of election/test-restless"},
		"a short one":       {"restless", ms, NoDetector(), 0, 50 * ms, ms, 50, "params.beat of election/test-restless"},
		"not a multiple":    {"restless", 40 * ms, NoDetector(), 81 * ms, 81 * ms, 40 * ms, 3, "params.beat of election/test-restless"},
		"but for rounding":  {"restless", 40 * ms, NoDetector(), 80*ms + 3, 80*ms + 3, 40 * ms, 2, "params.beat of election/test-restless"},
		"the detector":      {"puppet", 0, beating(30 * ms), 0, 60 * ms, 30 * ms, 2, "the heartbeats of detector heartbeat"},
		"phi":               {"puppet", 0, accrual, 0, 140 * ms, 70 * ms, 2, "the heartbeats of detector phi"},
		"the longer of two": {"restless", 40 * ms, beating(60 * ms), 0, 120 * ms, 60 * ms, 2, "the heartbeats of detector heartbeat"},
		"the other":         {"restless", 40 * ms, beating(20 * ms), 0, 80 * ms, 40 * ms, 2, "params.beat of election/test-restless"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustSetup(t, "election/test-"+test.id, 3, Scenario{Plot: &LeaderCrash{Settle: test.settle}},
				func(p *Plan) {
					p.Detector, p.Leader = test.detector, 3
					if test.beat > 0 {
						p.Params = map[string]any{"beat": test.beat}
					}
				})
			if each, times := s.spread(); s.settle != test.settles || each != test.each ||
				times != test.times || s.Period().Of != test.of {
				t.Errorf("settles %v and then %d of %v (%q), want %v and then %d of %v (%q)",
					s.settle, times, each, s.Period().Of, test.settles, test.times, test.each, test.of)
			}
			var halves [2]int
			for seed := range uint64(400) {
				s.Seed = seed
				at := NewCoordinator(s).settling(0)
				if at < test.settles || at >= s.latest() {
					t.Fatalf("seed %d: at %v, want from %v to %v", seed, at, test.settles, s.latest())
				}
				halves[2*(at-test.settles)/(s.latest()-test.settles)]++
			}
			if halves[0] < 160 || halves[1] < 160 {
				t.Errorf("%v in the halves of the span, want about as many in each", halves)
			}
		})
	}
}

// TestPeriod_SameLuck: the phase is the same whatever the number of periods.
func TestPeriod_SameLuck(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		var phases []string
		for _, settle := range []time.Duration{80 * ms, 120 * ms, 4000 * ms} {
			s := mustSetup(t, "election/test-restless", 3, Scenario{Plot: &LeaderCrash{Settle: settle}},
				func(p *Plan) {
					p.Leader, p.Seed, p.Params = 3, seed, map[string]any{"beat": 40 * ms}
				})
			phases = append(phases, fmt.Sprint(NewCoordinator(s).settling(0)%(40*ms)))
		}
		if phases[0] != phases[1] || phases[1] != phases[2] {
			t.Errorf("seed %d: phases %v, want one", seed, phases)
		}
	}
}

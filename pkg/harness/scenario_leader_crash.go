package harness

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// LeaderCrash is the name of the scenario in which the leader crashes.
const LeaderCrash = "leader-crash"

func init() {
	RegisterScenario(ScenarioKind{
		Name:    LeaderCrash,
		Doc:     "the process that leads then crashes, at a random phase of every periodic timer",
		Example: "scenario: {kind: leader-crash, elections: 2}",
		Problem: algo.Election, Keys: []string{"settle", "elections"},
		Steady: true, Draws: trace.LeaderCrashed, Cause: []trace.Type{trace.Crash, trace.Up},
		Measured: func(o trace.Origin) bool { return o == trace.LeaderCrashed || o == trace.OtherCrashed },
		Events:   func(_ *Plan, settled time.Duration) []Event { return []Event{leaderCrashes(settled)} },
		Usual:    func(survived bool) bool { return survived },
		Place:    leads, Check: checkLed("the leader crashes"),
		Returns: func(p *Plan) string {
			if p.Scenario.Elections > 1 {
				return fmt.Sprintf("scenario.elections %d", p.Scenario.Elections)
			}
			return ""
		},
		Operations: func(p *Plan) int { return p.Scenario.Elections },
		Takes: func(p *Plan, election time.Duration) time.Duration {
			s := &p.Scenario
			return time.Duration(s.Elections) * (p.middle() + p.Detector.Notice() + election)
		},
		scene: func() scene { return &crashing{} },
	})
}

// crashing may repeat: the crashed one comes back, and when all agree again the leader
// of then crashes.
type crashing struct {
	plain
	rounds int  // elections that are over
	back   bool // the one that crashed last is, or is to be
}

func leaderCrashes(at time.Duration) Event {
	return Event{At: at, Do: DoCrash, Who: "leader", Led: true}
}

func (c *crashing) agreed(d *Coordinator, now time.Duration) {
	s := &d.setup.Scenario
	if s.Elections < 2 {
		d.finish()
		return
	}
	d.caused = false
	if c.back {
		c.back = false
		d.later(leaderCrashes(now + d.settling(c.rounds)))
		return
	}
	if c.rounds++; c.rounds == s.Elections {
		d.finish()
		return
	}
	c.back = true
	d.out = append(d.out, Instruction{At: now + s.Settle, Do: DoRestart, Node: d.struck})
}

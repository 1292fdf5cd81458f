package harness

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var leaderCrash = ScenarioKind{
	Name:    LeaderCrash,
	Doc:     "the process that leads then crashes, at a random phase of every periodic timer",
	Problem: algo.Election, Keys: []string{"settle", "elections"},
	Crashes: true, Steady: true, Draws: trace.LeaderCrashed, cause: []trace.Type{trace.Crash, trace.Up},
	Usual: true, Place: leads, Check: checkLed("the leader crashes"),
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
}

// crashing may repeat: the crashed one comes back, and when all agree again the leader
// of then crashes.
type crashing struct {
	plain
	rounds int  // elections that are over
	back   bool // the one that crashed last is, or is to be
}

func (c *crashing) crash(d *Coordinator, from time.Duration) Event {
	return Event{At: from + d.settling(c.rounds), Do: DoCrash, Who: "leader", Led: true}
}

func (c *crashing) events(d *Coordinator) []Event { return []Event{c.crash(d, 0)} }

func (c *crashing) agreed(d *Coordinator, now time.Duration) {
	s := &d.setup.Scenario
	if s.Elections < 2 {
		d.finish()
		return
	}
	d.caused = false
	if c.back {
		c.back = false
		d.later(c.crash(d, now))
		return
	}
	if c.rounds++; c.rounds == s.Elections {
		d.finish()
		return
	}
	c.back = true
	d.out = append(d.out, Instruction{At: now + s.Settle, Do: DoRestart, Node: d.struck})
}

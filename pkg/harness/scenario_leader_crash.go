package harness

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var leaderCrash = ScenarioKind{
	Name:    LeaderCrash,
	Doc:     "the settled leader crashes, at a random phase of every periodic timer",
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
	rounds int     // elections that are over
	victim algo.ID // who crashed last; None: it is back
}

func (c *crashing) plan(d *Coordinator) []Instruction {
	c.victim = d.setup.Leader
	return []Instruction{{At: d.settling(0), Do: DoCrash, Node: c.victim}}
}

func (c *crashing) agreed(d *Coordinator, now time.Duration) {
	s := &d.setup.Scenario
	if s.Elections < 2 {
		d.finish()
		return
	}
	d.caused = false
	if c.victim != algo.None {
		if c.rounds++; c.rounds == s.Elections {
			d.finish()
			return
		}
		d.out = append(d.out, Instruction{At: now + s.Settle, Do: DoRestart, Node: c.victim})
		c.victim = algo.None
		return
	}
	c.victim = d.leader()
	d.out = append(d.out, Instruction{At: now + d.settling(c.rounds), Do: DoCrash, Node: c.victim})
}

package harness

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name:    "leader-crash",
		Doc:     "the process that leads then crashes, at a random phase of every periodic timer",
		Example: "scenario: {kind: leader-crash, elections: 2}",
		Problem: algo.Election, Plot: &LeaderCrash{},
		Steady: true, Draws: trace.LeaderCrashed,
		Measured: func(o trace.Origin) bool { return o == trace.LeaderCrashed || o == trace.OtherCrashed },
		Usual:    func(survived bool) bool { return survived },
	})
}

// LeaderCrash is the scenario in which the leader crashes.
type LeaderCrash struct {
	led
	Settle    time.Duration // before the crash; 0: LeastSettle
	Elections int           // how many in a row; 0: one
}

// Params declares the fields.
func (c *LeaderCrash) Params() []param.Param {
	return []param.Param{settle(&c.Settle), {Name: "elections", Example: "3", Default: "1", Min: 1,
		Max: 100_000,
		Doc: "leader-crash: how often the leader crashes, each time from a settled state", At: &c.Elections}}
}

func (c *LeaderCrash) Settling() *time.Duration { return &c.Settle }
func (c *LeaderCrash) Cause() []trace.Type      { return []trace.Type{trace.Crash, trace.Up} }
func (c *LeaderCrash) Operations(*Plan) int     { return c.Elections }
func (c *LeaderCrash) scene() scene             { return &crashing{elections: c.Elections} }

func (c *LeaderCrash) Happens(_ *Plan, settled time.Duration) []Event {
	return []Event{leaderCrashes(settled)}
}

func (c *LeaderCrash) Check(p *Plan, wrong Wrong) {
	checkLed(p, wrong, "the leader crashes", c.Elections)
}

func (c *LeaderCrash) Returns() string {
	if c.Elections > 1 {
		return fmt.Sprintf("scenario.elections %d", c.Elections)
	}
	return ""
}

func (c *LeaderCrash) Takes(p *Plan, election time.Duration) time.Duration {
	return time.Duration(c.Elections) * (p.middle() + p.Detector.Notice() + election)
}

// crashing may repeat: the crashed one comes back, and when all agree again the leader
// of then crashes.
type crashing struct {
	plain
	elections int
	rounds    int  // elections that are over
	back      bool // the one that crashed last is, or is to be
}

func leaderCrashes(at time.Duration) Event {
	return Event{At: at, Do: DoCrash, Who: "leader", Led: true}
}

func (c *crashing) agreed(d *Coordinator, now time.Duration) {
	if c.elections < 2 {
		d.finish()
		return
	}
	d.caused = false
	if c.back {
		c.back = false
		d.later(leaderCrashes(now + d.settling(c.rounds)))
		return
	}
	if c.rounds++; c.rounds == c.elections {
		d.finish()
		return
	}
	c.back = true
	d.out = append(d.out, Instruction{At: now + d.setup.Scenario.Settle(), Do: DoRestart, Node: d.struck})
}

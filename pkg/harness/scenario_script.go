package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
)

// Script is the name of the scenario whose events the experiment file lists.
const Script = "script"

func init() {
	RegisterScenario(ScenarioKind{
		Name: Script, Doc: "exactly the listed events; reference cases are written like this",
		Example: "scenario: {kind: script, events: [{at: 0s, do: elect, node: 1}]}",
		Keys: []string{"leader", "holder", "crashed", "hold",
			"sessions", "session_choice", "until", "ties", "events", "expect"},
		Scripted:   true,
		Ends:       func(s *Scenario) time.Duration { return s.Until },
		Operations: func(p *Plan) int { return 1 + len(p.Scenario.Events) },
		Takes: func(p *Plan, election time.Duration) time.Duration {
			last := p.Scenario.Until
			for _, e := range p.Scenario.Events {
				last = max(last, e.At)
			}
			return last + election
		},
		scene: func() scene { return &scriptedScene{} },
	})
}

type scriptedScene struct {
	plain
	lines []line // still to come, that wait for quiet or a release
}

// A line is a line of a script that waits for quiet or a release.
type line struct {
	*Event
	notBefore time.Duration // the last instant among the lines before it
}

func (c *scriptedScene) plan(d *Coordinator) (out []Instruction) {
	s := &d.setup.Scenario
	out = make([]Instruction, 0, 2*len(s.Events)+1) // many are undone
	for i := range s.Events {
		e := &s.Events[i]
		if e.After != "" {
			c.lines = append(c.lines, line{e, d.last})
			continue
		}
		before := len(out)
		out = d.planned(out, e)
		for _, i := range out[before:] {
			d.last = max(d.last, i.At)
		}
	}
	if d.ends == 0 && d.setup.Alg.Spec.Perpetual && d.last > 0 { // what it is to come to may be there before
		out = append(out, Instruction{At: d.last + 1, Do: fault.Strike})
	}
	return out
}

func (c *scriptedScene) watches(d *Coordinator) bool {
	for i := range d.setup.Scenario.Events {
		if d.setup.Scenario.Events[i].After == "release" {
			return true
		}
	}
	return d.setup.Alg.Spec.Perpetual
}

func (c *scriptedScene) released(d *Coordinator, now time.Duration) {
	switch {
	case len(c.lines) > 0 && c.lines[0].After == "release" && now >= c.lines[0].notBefore:
		c.next(d, now)
	case d.setup.Alg.Spec.Perpetual && c.served(d) && d.told(now):
		d.finish()
	}
}

// next issues the line whose turn has come.
func (c *scriptedScene) next(d *Coordinator, now time.Duration) {
	e := c.lines[0].Event
	c.lines = c.lines[1:]
	f := d.faults.add(e)
	if d.leaderless(f, now) {
		return
	}
	d.note(f, now, false)
	f.fired = 1
	d.out = d.carryOut(d.out, f, now)
}

// quiet issues the line that waits for quiet, once the lines before it are done. Behind
// the last line the script ends when no suspicion is to come either.
func (c *scriptedScene) quiet(d *Coordinator, now time.Duration, activity uint64, idle bool) {
	if len(c.lines) > 0 && c.lines[0].After == "quiet" {
		if at := c.lines[0].notBefore; now < at {
			d.out = append(d.out, Instruction{At: at, Do: fault.Alarm})
		} else {
			c.next(d, now)
		}
		return
	}
	switch {
	case d.ends > 0:
	case now < d.last:
		d.out = append(d.out, Instruction{At: d.last, Do: fault.Alarm})
	case idle && len(c.lines) == 0:
		a := d.setup.Alg // one that never rests has not come to its end, if it rests
		d.stuck = a.Spec.Perpetual && a.Problem == algo.MutualExclusion && !c.served(d)
		d.finish()
	case d.setup.Detector.Class() != algo.NoDetector:
		d.wait(now, activity, len(c.lines) > 0)
	}
}

func (c *scriptedScene) told() bool { return len(c.lines) == 0 }

// served says whether every request so far is over.
func (c *scriptedScene) served(d *Coordinator) bool { return d.released >= d.asked }

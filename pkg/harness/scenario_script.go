package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name: "script", Doc: "exactly the listed events; reference cases are written like this",
		Example: "scenario: {kind: script, events: [{at: 0s, do: elect, node: 1}]}",
		Plot:    &Script{}, Scripted: true,
	})
}

// Script is the scenario whose events the experiment file lists.
type Script struct {
	Calm
	Hold          link.Latency
	Sessions      int
	SessionChoice string
	Leader        algo.ID // settled at the start, as Holder and Crashed are: see Plan
	Holder        algo.ID
	Crashed       []algo.ID
	Until         time.Duration // the end, if it does not fall quiet
	Descending    bool          // of the Plan
	Events        []Event
}

// Params declares the fields.
func (c *Script) Params() []param.Param {
	return append(c.entries().params(), []param.Param{
		{Name: "leader", Example: "5", Note: "none", Doc: "settled at the start", At: &c.Leader},
		{Name: "holder", With: "kind: script, events: [{at: 0s, do: request, node: " +
			"1}]", Example: "2", Note: "the least process", Doc: "of the token at the start", At: &c.Holder},
		{Name: "crashed", Example: "[1, 2]", Note: "nobody", Doc: "down at the start", At: &c.Crashed},
		{Name: "until", Example: "500ms", Title: "end of a trial", Note: "when all is " +
			"quiet", Min: time.Microsecond, Max: day,
			Doc: "the end, for algorithms that never fall quiet", At: &c.Until},
		{Name: "ties", Example: "descending", Default: "ascending", Choices: []string{"ascending",
			"descending"},
			Doc: "simulation: which comes first of the senders whose messages are due at one instant",
			At:  &c.Descending},
		{Name: "events", With: "kind: script", Example: "[{at: 0s, do: elect, node: " +
			"1}]", Default: "[]", Doc: "what happens when", At: &c.Events},
	}...)
}

func (c *Script) entries() entries     { return entries{&c.Hold, &c.Sessions, &c.SessionChoice} }
func (c *Script) Lines() []Event       { return c.Events }
func (c *Script) Ends() time.Duration  { return c.Until }
func (c *Script) Operations(*Plan) int { return 1 + len(c.Events) }
func (c *Script) scene() scene         { return &scriptedScene{of: c} }

func (c *Script) Place(p *Plan) {
	p.Leader, p.Holder, p.Crashed, p.Descending = c.Leader, c.Holder, c.Crashed, c.Descending
}

func (c *Script) Takes(_ *Plan, election time.Duration) time.Duration {
	last := c.Until
	for _, e := range c.Events {
		last = max(last, e.At)
	}
	return last + election
}

type scriptedScene struct {
	plain
	of    *Script
	lines []line // still to come, that wait for quiet or a release
}

// A line is a line of a script that waits for quiet or a release.
type line struct {
	*Event
	notBefore time.Duration // the last instant among the lines before it
}

func (c *scriptedScene) plan(d *Coordinator) (out []Instruction) {
	events := c.of.Events
	out = make([]Instruction, 0, 2*len(events)+1) // many are undone
	for i := range events {
		e := &events[i]
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
	for i := range c.of.Events {
		if c.of.Events[i].After == "release" {
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

package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// faults fills in what goes wrong, and checks it against the cell.
func (v *variant) faults(p *harness.Plan) {
	f := &p.Faults
	if f.CrashRate > 0 {
		switch {
		case f.MaxDown > p.Nodes:
			v.wrong("faults.max_down", "%d of %d nodes; expected at most that", f.MaxDown, p.Nodes)
		case p.MostDown() == 0:
			v.wrong("faults.crash_rate", "%v, but faults.max_down 0 allows a minority to be down, which "+
				"of %d nodes is none; set faults.max_down", config.FormatFloat(f.CrashRate), p.Nodes)
		}
	}
	for i := range v.faultEvents {
		v.event(&v.faultEvents[i], p)
		f.Events = v.put(f.Events, &v.faultEvents[i])
	}
	idle := f.CrashRate == 0 && len(v.faultEvents) == 0
	if p.Scenario.Declared().OfFaults && idle && !v.varies("faults") {
		v.wrong("scenario.kind", "%s, and nothing fails; set faults.crash_rate, as 0.5, "+
			"or faults.events", p.Scenario.Kind())
	}
	listens := v.contender.alg.Spec.Needs.Detector != algo.NoDetector
	if p.Parted() != "" && listens && p.Detector.Class() == algo.Perfect {
		v.remarks = append(v.remarks, fmt.Sprintf("detector %s never suspects a live process, so that it "+
			"misses a partition; %s detect it", p.Detector.Kind(), strings.Join(seeing(), " and ")))
	}
}

// put appends the event, unless it is about a kind of message that this algorithm
// does not have: another of those compared does.
func (v *variant) put(list []harness.Event, e *event) []harness.Event {
	if v.serverless(e) {
		v.spared = true
		v.remarks = append(v.remarks, e.key+" never happens: "+v.contender.alg.ID+" has no servers")
		return list
	}
	own := kindsOf(v.contender.alg)
	if e.Kind == "" || slices.Contains(own, e.Kind) {
		return append(list, e.Event)
	}
	v.remarks = append(v.remarks, e.key+" never happens: no message is called "+config.Clip(e.Kind)+
		" (has: "+strings.Join(own, ", ")+")")
	return list
}

// messages are the kinds of all that are compared.
func (d *draft) messages() (kinds []string) {
	for _, c := range d.contenders {
		kinds = append(kinds, kindsOf(c.alg)...)
	}
	return kinds
}

func kindsOf(a *algo.Algorithm) (kinds []string) {
	for _, m := range a.Spec.Messages {
		kinds = append(kinds, m.Kind())
	}
	return kinds
}

// event checks an event against the cell.
func (v *variant) event(e *event, p *harness.Plan) {
	v.eventProcesses(e, p)
	v.eventTime(e, p)
	v.eventVerb(e)
	v.eventWho(e, p)
	if e.Kind == "" {
		return
	}
	kinds := v.messages()
	if slices.Sort(kinds); !slices.Contains(kinds, e.Kind) {
		near := ""
		if k := algo.Nearest(strings.ToUpper(config.Clip(e.Kind)), kinds); k != "" {
			near = "; did you mean " + strconv.Quote(k) + "?"
		}
		v.Add(e.at, config.Join(e.key, "kind"), "no message is called %q%s (has: %s)",
			config.Clip(e.Kind), near, strings.Join(slices.Compact(kinds), ", "))
	}
}

// eventProcesses checks that the processes named are there.
func (v *variant) eventProcesses(e *event, p *harness.Plan) {
	process := func(name string, id algo.ID) {
		if int(id) > p.Nodes {
			v.Add(e.at, config.Join(e.key, name), "process %d of %d", id, p.Nodes)
		}
	}
	process(e.whom, e.Node)
	for _, q := range e.Nodes {
		process("who", q)
	}
	process("of", e.Of)
	process("target", e.Target)
	for _, q := range slices.Concat(e.Groups...) {
		process("groups", algo.ID(q))
	}
	for _, l := range e.Links {
		process("links", algo.ID(max(l[0], l[1])))
	}
}

// eventTime checks that there is time for the event.
func (v *variant) eventTime(e *event, p *harness.Plan) {
	limit, of := p.TimeLimit, "time_limit"
	if s := p.Scenario.Does(); s.Lasts() > 0 && s.Ends() == s.Lasts() && s.Lasts() < limit {
		limit, of = s.Lasts(), "scenario.duration"
	}
	for _, t := range []struct {
		name string
		at   time.Duration
	}{{"at", e.At}, {"every", e.Every}, {"wait", e.Wait}} {
		if t.at >= limit {
			v.Add(e.at, config.Join(e.key, t.name), "%v is not before the %s %v", t.at, of, limit)
		}
	}
}

// eventVerb checks that what happens, and what it waits for, is of the problem.
func (v *variant) eventVerb(e *event) {
	a := v.contender.alg
	problem := func(name, word string, p algo.Problem) {
		if p != "" && a.Problem != p {
			what := map[algo.Problem]string{
				algo.Election: "elections", algo.MutualExclusion: "mutual exclusion",
			}[p]
			v.Add(e.at, config.Join(e.key, name), "%s is for %s, not for %s", word, what, a.ID)
		}
	}
	f, t := fault.Named(e.Do), fault.Triggers.Named(e.On)
	switch {
	case f != nil && a.Service && (f.Disk || f.Clock || f.Served):
		v.serverFault(e, f)
	case f != nil && f.Served && !v.serverless(e): // else it never happens here, or is refused below
		v.Add(e.at, config.Join(e.key, "do"), "%s is for servers of systems, and %s has none; use slow, "+
			"pause or a fault of links", e.Do, a.ID)
	case f != nil && f.Clock && a.Subject:
		v.Add(e.at, config.Join(e.key, "do"), "%s, but %s is a library, and in a bubble all "+
			"processes have one clock: no timer of one fires later than those of the others; use pause, or "+
			"a fault of its disk or links", e.Do, a.ID)
	case f != nil && f.Disk && a.Spec.Diskless:
		v.Add(e.at, config.Join(e.key, "do"), "%s, but nothing that %s writes goes to the disk of the "+
			"trial; use crash, pause, or a fault of links", e.Do, a.ID)
	case f != nil:
		problem("do", e.Do, f.Problem)
	case !commanded(a):
		has := fault.Names(true)
		v.Add(e.at, config.Join(e.key, "do"), "unknown %q%s (has: %s; %s has no operations of its own)",
			config.Clip(e.Do), v.Meant(e.Do, has), strings.Join(has, ", "), a.ID)
	}
	if t != nil {
		problem("on", e.On, t.Problem)
	}
	v.checkServerless(e)
	if c := fault.Choices.Named(e.Who); c != nil {
		problem("who", e.Who, c.Problem)
		if c.Token && a.Spec.Token == "" {
			v.Add(e.at, config.Join(e.key, "who"), "%s, but %s has no token that a message "+
				"hands on (\"bench describe\" shows it)", e.Who, a.ID)
		}
	}
	l := fault.Shapes.Named(e.Shape)
	if l != nil && l.AroundLeader(&e.Event) && a.Problem != algo.Election {
		v.Add(e.at, config.Join(e.key, "shape"), "%s is around the leader, and %s has none; "+
			"name who, or write halves, random or groups", e.Shape, a.ID)
	}
}

// eventWho checks that there is a process to which it can happen.
func (v *variant) eventWho(e *event, p *harness.Plan) {
	if l := fault.Shapes.Named(e.Shape); l != nil && l.TooFew(p.Nodes) != "" {
		v.Add(e.at, config.Join(e.key, "shape"), "%s", l.TooFew(p.Nodes))
	}
	if c := fault.Choices.Named(e.Who); c != nil && p.Nodes < c.Least {
		v.Add(e.at, config.Join(e.key, "who"), "a %s of %d nodes is empty", c.Name, p.Nodes)
	}
}

// seeing are the detectors that may suspect a live process.
func seeing() (names []string) {
	for _, k := range harness.DetectorsOf(algo.EventuallyPerfect) {
		names = append(names, k.Name)
	}
	return names
}

// expectations checks what a script expects against the cell.
func (v *variant) expectations(list []harness.Expect, p *harness.Plan) {
	kinds := v.messages()
	for i := range list {
		e := &list[i]
		x := check.ExpectationOf(e.Name)
		wrong := func(format string, args ...any) {
			v.wrong("scenario.expect", e.Name+": "+format, args...)
		}
		process := func(q float64) {
			if q > float64(p.Nodes) {
				wrong("process %v of %d", q, p.Nodes)
			}
		}
		if x.Problem != "" && x.Problem != v.contender.alg.Problem {
			wrong("means nothing for problem %s; remove it", v.contender.alg.Problem)
		}
		for _, q := range e.List {
			if x.Measure == check.Processes {
				process(float64(q))
			}
		}
		for _, want := range e.Want {
			if x.Measure == check.Process && want.Max != nil {
				process(*want.Max)
			}
			if q, err := strconv.ParseFloat(want.Part, 64); x.ByProcess && err == nil {
				process(q)
			}
			if x.ByKind && !slices.Contains(kinds, want.Part) {
				wrong("no message is called %q (has: %s)", config.Clip(want.Part),
					strings.Join(kinds, ", "))
			}
		}
	}
}

// checkScript checks the lines of a script against the cell.
func (v *variant) checkScript(p *harness.Plan) {
	until := p.Scenario.Does().Ends()
	if len(v.script) == 0 && until == 0 {
		v.wrong("scenario.events", "missing; a script needs them, as [{at: 0ms, do: request, node: 1}], "+
			"or until")
	}
	process := func(key string, id algo.ID) {
		if int(id) > p.Nodes {
			v.wrong(key, "process %d of %d", id, p.Nodes)
		}
	}
	process("scenario.leader", p.Leader)
	process("scenario.holder", p.Holder)
	seen := map[algo.ID]bool{}
	for _, q := range p.Crashed {
		process("scenario.crashed", q)
		if seen[q] {
			v.wrong("scenario.crashed", "process %d appears twice", q)
		}
		seen[q] = true
	}
	if until > p.TimeLimit {
		v.wrong("scenario.until", "%v is beyond the time_limit %v", until, p.TimeLimit)
	}
	if v.contender.alg.Problem == algo.Election {
		for _, key := range ofEntries {
			if v.leaves[key].Explicit() {
				v.wrong(key, "means nothing in an election; remove it")
			}
		}
	}
	for i := range v.script {
		v.event(&v.script[i], p)
	}
}

// commanded says whether processes of a have operations of their own. Only a
// process can tell, so one is made, alone in the world.
func commanded(a *algo.Algorithm) bool {
	params, _ := a.Spec.Resolve(nil, algo.Network{Nodes: 1, Bounded: true})
	shape := algo.DefaultShape(a.Spec.Needs.Topology)
	graph, err := algo.Build(shape, 1, 1)
	if err != nil {
		return false
	}
	_, ok := a.New(algo.Config{ID: 1, Peers: graph.Peers(), Neighbors: graph.Neighbors(1),
		Ring: graph.Ring, Holder: 1, Params: params}).(algo.Commanded)
	return ok
}

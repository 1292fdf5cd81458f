package harness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A ScenarioKind declares one kind of scenario: all that anybody has to know of it.
type ScenarioKind struct {
	Name, Doc string
	Problem   algo.Problem // "": both
	Keys      []string     // of the scenario block that mean something
	Example   string       // the blocks of an experiment file that a short run of it needs

	// Rank is its place in lists, among those of its problem: the lower ones first, those of
	// one rank by name.
	Rank int

	// Usual, if any, says whether it is what is run of its problem where no other is named:
	// where every algorithm survives a crash, or where one does not.
	Usual func(survived bool) bool
	// Duration is that of the scenario unless another is given; 0: there is none.
	Duration time.Duration
	// Place, if any, says who leads and who is down at the start.
	Place func(p *Plan)
	// Check, if any, reports what does not go together.
	Check func(p *Plan, wrong Wrong)
	// Events, if any, are what it does to processes and links once the leader has settled,
	// which it has at an instant. They are known from the plan alone.
	Events func(p *Plan, settled time.Duration) []Event
	// Returns, if any, is where the experiment says that a process which crashed in the course
	// of the trial comes back; "": none does, but by the Events.
	Returns func(p *Plan) string
	// Operations is how many elections or entries there are, about. Nil: one.
	Operations func(p *Plan) int
	// Takes is how long all takes, about, where an election takes so long. Nil: as long.
	Takes func(p *Plan, election time.Duration) time.Duration

	// Draws is what begins an election at an instant that the scenario draws; "": nothing does.
	Draws trace.Origin
	// Scripted: its events are lines of a script, and so are suspicions.
	Scripted bool
	// Lasting: it is about a span of time in which things go wrong, and not about one
	// election: it may pass without any.
	Lasting bool
	// OfFaults: it is about what the experiment has go wrong, so that something has to.
	OfFaults bool
	// Ends, if any, is when it ends, whatever goes on then; 0: it does not by itself.
	Ends func(s *Scenario) time.Duration
	// Rate, if any, is how many requests per second come at an instant, whatever still waits. Where
	// it changes, what is looked for is the rate beyond which they are not served: no waiting time
	// of the whole trial means anything.
	Rate func(s *Scenario, at time.Duration) float64
	// Steady: operation follows operation under the same conditions, so that in the long run
	// their times have one distribution.
	Steady bool

	// Omits: whoever waits asks for nothing else, so that waiting times leave out the
	// requests that slowness kept back.
	Omits bool
	// Never are the loads of claims that it does not make.
	Never []string

	// Cause is records of which one comes before anything is to be measured; none: nothing has
	// to. The first Up of a process is none. Whether a message met a process that was down, real
	// nodes may learn only in the end.
	Cause []trace.Type
	// Measured says whether an election or outage of that origin is what the scenario is about.
	// Nil: each is.
	Measured func(o trace.Origin) bool
	// Table is that of what bench run shows; 0: metric.Brief.
	Table metric.Tables

	// load is how the application of each process asks by itself; nil: it does not.
	load *load
	// scene makes the coordinator's part; nil: loaded where there is a load, else plain.
	scene func() scene
}

var scenarios []*ScenarioKind

// RegisterScenario makes k known. It is called by the declarations, before main.
func RegisterScenario(k ScenarioKind) {
	scenarios = append(scenarios, &k)
	slices.SortFunc(scenarios, func(a, b *ScenarioKind) int {
		if a.Problem != b.Problem && (a.Problem == "" || b.Problem == "") {
			return cmp.Compare(b.Problem, a.Problem) // those of both problems come last
		}
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(a.Name, b.Name))
	})
}

// Scenarios is every kind of scenario, in the order of the documentation.
func Scenarios() []*ScenarioKind { return scenarios }

// ScenarioOf is the scenario of a name; nil if there is none.
func ScenarioOf(name string) *ScenarioKind {
	for _, k := range scenarios {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Measures says whether an election or outage of that origin is what the scenario is about.
func (k *ScenarioKind) Measures(o trace.Origin) bool { return k.Measured == nil || k.Measured(o) }

// begins says whether r is what comes before anything is to be measured.
func (k *ScenarioKind) begins(r *trace.Record) bool {
	return slices.Contains(k.Cause, r.Type) && (r.Type != trace.Up || r.Incarnation > 0)
}

// foreseen is what it does, were the leader to have settled at an instant.
func (k *ScenarioKind) foreseen(p *Plan, settled time.Duration) []Event {
	if k.Events == nil {
		return nil
	}
	return k.Events(p, settled)
}

// Ends is when a trial ends at the latest, whatever goes on then; 0: the scenario does not say.
func (s *Scenario) Ends() time.Duration {
	if k := s.Declared(); k.Ends != nil {
		return k.Ends(s)
	}
	return 0
}

// nameless is a scenario in which nothing happens by itself.
var nameless = ScenarioKind{
	Ends: func(s *Scenario) time.Duration { return s.Until },
}

func always(bool) bool { return true }

// declared is the kind of s, which may come from elsewhere.
func (s *Scenario) declared() (*ScenarioKind, error) {
	return declaration("scenario", s.Kind, &nameless, ScenarioOf)
}

// Declared is the kind of s, which a Setup has checked.
func (s *Scenario) Declared() *ScenarioKind { return checked(s.declared()) }

// declaration is that of a name in a plan; "" stands for none.
func declaration[K any](what, name string, none *K, of func(name string) *K) (*K, error) {
	if name == "" {
		return none, nil
	}
	if k := of(name); k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("plan: no %s is called %q", what, name)
}

// checked is a declaration that is there.
func checked[T any](declared *T, err error) *T {
	if err != nil {
		panic(fmt.Errorf("it was not checked: %w", err))
	}
	return declared
}

// A scene is what a scenario does in one trial: the part of the coordinator that
// differs from kind to kind.
type scene interface {
	// plan is what is to happen at instants that are known before the start.
	plan(d *Coordinator) []Instruction
	// watches says whether it wants to be told of every release.
	watches(d *Coordinator) bool
	// released is such a release.
	released(d *Coordinator, now time.Duration)
	// agreed is agreement after what was to be measured.
	agreed(d *Coordinator, now time.Duration)
	// quiet is Coordinator.Quiet.
	quiet(d *Coordinator, now time.Duration, activity uint64, idle bool)
	// told says whether it has nothing more to say, and served whether that is all that
	// there was to wait for.
	told() bool
	served(d *Coordinator) bool
}

// plain is the scene of an election: it ends at its instant, or with agreement, after what
// is to be measured.
type plain struct{}

func (plain) plan(*Coordinator) []Instruction        { return nil }
func (plain) watches(d *Coordinator) bool            { return d.setup.Alg.Spec.Perpetual }
func (plain) released(*Coordinator, time.Duration)   {}
func (plain) agreed(d *Coordinator, _ time.Duration) { d.finish() }
func (plain) told() bool                             { return true }
func (plain) served(*Coordinator) bool               { return false }
func (plain) quiet(d *Coordinator, now time.Duration, activity uint64, _ bool) {
	switch {
	case d.ends > 0:
	case now < d.last:
		d.out = append(d.out, Instruction{At: d.last, Do: fault.Alarm})
	case d.settled():
		d.scene.agreed(d, now)
	case d.caused && d.setup.Detector.Restless():
		d.wait(now, activity, true)
	}
}

// Varies says whether the rate at which requests come, if they come at one, changes.
func (s *Scenario) Varies() bool {
	rate := s.Declared().Rate
	return rate != nil && rate(s, 0) != rate(s, s.Duration)
}

// A load is how the application of each process asks for the critical section by
// itself.
type load struct {
	// quota is how many requests process id makes; nil: as many as there is time for.
	quota func(s *Setup, id algo.ID) uint64
	// gap is the time before the k-th request of an incarnation, from the instant from on.
	gap func(s *Setup, id algo.ID, incarnation uint32, k uint64, from time.Duration) time.Duration
	// last is the instant and the process of the last request of all; nil: it is not
	// known.
	last func(s *Setup) (time.Duration, algo.ID)
}

// lastArrival is the last request of all, if it is known before the start.
func (s *Setup) lastArrival() (at time.Duration, by algo.ID) {
	if l := s.scenario.load; l != nil && l.last != nil && s.Scenario.Requests > 0 {
		return l.last(s)
	}
	return math.MaxInt64, math.MaxUint32
}

// loaded is the scene of a load: it ends when no application asks any more.
type loaded struct{ plain }

func (loaded) watches(*Coordinator) bool { return false }

func (loaded) quiet(d *Coordinator, _ time.Duration, _ uint64, _ bool) {
	if d.undone == 0 {
		d.finish()
	}
}

// UsualScenario is the scenario of a problem where none is named: one that crashes the leader
// only if that is survived.
func UsualScenario(p algo.Problem, survived bool) string {
	for _, k := range scenarios {
		if k.Problem == p && k.Usual != nil && k.Usual(survived) {
			return k.Name
		}
	}
	return ""
}

// leads has the highest process lead at the start.
func leads(p *Plan) { p.Leader = algo.ID(p.Nodes) }

// checkLed checks a scenario in which somebody leads at the start and something happens
// then, at the latest when the settling and its spread have passed: what, in a sentence.
func checkLed(what string) func(p *Plan, wrong Wrong) {
	return func(p *Plan, wrong Wrong) {
		s := &p.Scenario
		if what != "" && p.Nodes < 2 {
			wrong("nodes", "%d, and %s; want at least 2", p.Nodes, what)
		}
		checkSettle(p, wrong)
		latest := p.latest()
		if latest >= p.TimeLimit {
			wrong("scenario.settle", "%v: up to %v may pass until %s, which is not before the "+
				"time_limit %v; raise that", s.Settle, latest, what, p.TimeLimit)
			return
		}
		if crashes := time.Duration(s.Elections); crashes > 1 && crashes*s.Settle >= p.TimeLimit {
			wrong("scenario.elections", "%d, a settle of %v before each: not within the time_limit %v",
				s.Elections, s.Settle, p.TimeLimit)
		}
		if end := latest + s.Duration; s.Duration >= p.TimeLimit {
			wrong("scenario.duration", "%v is not below the time_limit %v; raise that", s.Duration,
				p.TimeLimit)
		} else if s.Duration > 0 && end >= p.TimeLimit {
			wrong("scenario.duration", "%v, perhaps not before %v have passed: that ends at %v, which "+
				"is not before the time_limit %v; raise that", s.Duration, latest, end, p.TimeLimit)
		}
	}
}

// checkInitiators checks how many begin together.
func checkInitiators(p *Plan, wrong Wrong) {
	if k := p.Scenario.Initiators; k > p.Nodes {
		wrong("scenario.initiators", "%d of %d nodes; write all", k, p.Nodes)
	}
}

// checkLoad checks a load: it must be able to end in time and leave something to
// measure.
func checkLoad(p *Plan, wrong Wrong) {
	s := &p.Scenario
	if s.Requests > 0 && s.Warmup >= s.Requests {
		wrong("scenario.warmup", "%d of %d requests: nothing is left to measure", s.Warmup, s.Requests)
	}
	if s.Duration >= p.TimeLimit {
		wrong("scenario.duration", "%v is not below the time_limit %v; raise that", s.Duration,
			p.TimeLimit)
	}
	if s.Duration > 0 {
		return
	}
	requests := float64(s.Requests)
	if seconds := requests / s.Rate; s.Rate > 0 && seconds > p.TimeLimit.Seconds() {
		wrong("scenario.rate", "%v per second: %d requests take %.3gs, beyond the time_limit %v; "+
			"raise that", strconv.FormatFloat(s.Rate, 'f', -1, 64), s.Requests, seconds, p.TimeLimit)
	}
	if hold := s.Hold.Average(); requests*hold.Seconds() > p.TimeLimit.Seconds() {
		wrong("scenario.hold", "%v for each of %d requests is %.3gs in all, beyond the time_limit %v; "+
			"raise that", hold, s.Requests, requests*hold.Seconds(), p.TimeLimit)
	}
}

// cycle is the time between two entries of the whole group, about: bounded by the
// critical section and its handing over, or by how often they ask.
func (p *Plan) cycle() time.Duration {
	d := p.Network.Latency.Average()
	alone := p.Scenario.Hold.Average() + 2*d
	return max(alone, (alone+p.Scenario.Think.Average())/time.Duration(p.Nodes))
}

// inTurn is how long a load takes whose entries follow one upon the other, about.
func inTurn(p *Plan, _ time.Duration) time.Duration {
	if p.Scenario.Duration > 0 {
		return p.Scenario.Duration
	}
	return p.count() * p.cycle()
}

// count is the operations, as a factor that cannot overflow.
func (p *Plan) count() time.Duration { return time.Duration(min(p.Operations(), 1e6)) }

// Operations is how many elections or entries a trial has, about.
func (p *Plan) Operations() int {
	if k := p.Scenario.Declared(); k.Operations != nil {
		return k.Operations(p)
	}
	return 1
}

// Takes is how long a trial takes, about, where an election takes so long.
func (p *Plan) Takes(election time.Duration) time.Duration {
	if k := p.Scenario.Declared(); k.Takes != nil {
		return k.Takes(p, election)
	}
	return election
}

package harness

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The kinds of scenarios.
const (
	ColdStart    = "cold-start"
	LeaderCrash  = "leader-crash"
	LeaderReturn = "leader-restart"
	Partition    = "partition"
	Churn        = "churn"
	Sequential   = "sequential"
	Burst        = "burst"
	Closed       = "closed"
	Open         = "open"
	Ramp         = "ramp"
	Script       = "script"
)

// A ScenarioKind declares one kind of scenario: all that anybody has to know of it.
type ScenarioKind struct {
	Name, Doc string
	Problem   algo.Problem // "": both
	Keys      []string     // of the scenario block that mean something

	// Usual: it is what is run of its problem where no other is named.
	Usual bool
	// Duration is that of the scenario unless another is given; 0: there is none.
	Duration time.Duration
	// Place, if any, says who leads and who is down at the start.
	Place func(p *Plan)
	// Check, if any, reports what does not go together.
	Check func(p *Plan, wrong Wrong)
	// Returns, if any, is where the experiment says that a crashed process comes back;
	// "": none does.
	Returns func(p *Plan) string
	// Operations is how many elections or entries there are, about.
	Operations func(p *Plan) int
	// Takes is how long all takes, about, where an election takes so long.
	Takes func(p *Plan, election time.Duration) time.Duration

	// Draws is what begins an election at an instant that the scenario draws; "": nothing does.
	Draws trace.Origin
	// Scripted: its events are lines of a script, and so are suspicions.
	Scripted bool
	// Crashes: the scenario crashes the leader, and nothing else is measured.
	Crashes bool
	// Cuts: the scenario cuts the network; its duration is that of the cut.
	Cuts bool
	// Lasting: it is about a span of time in which things go wrong, and not about one
	// election.
	Lasting bool
	// Timed: it ends at its duration, whatever goes on then.
	Timed bool
	// Arrivals: requests come at a rate, whatever still waits.
	Arrivals bool
	// Rises: that rate rises until it is beyond what is served, which is what is looked for:
	// no waiting time of the whole trial means anything.
	Rises bool
	// Steady: operation follows operation under the same conditions, so that in the long run
	// their times have one distribution.
	Steady bool

	// Omits: whoever waits asks for nothing else, so that waiting times leave out the
	// requests that slowness kept back.
	Omits bool
	// Never are the loads of claims that it does not make.
	Never []string

	// cause is what happens before anything is to be measured; none: nothing has to.
	cause []trace.Type
	// load is how the application of each process asks by itself; nil: it does not.
	load *load
	// scene makes the coordinator's part.
	scene func() scene
}

// Scenarios is every kind of scenario, in the order of the documentation.
var Scenarios []ScenarioKind

// What they do looks scenarios up, so that the list cannot be made before they are.
func init() {
	Scenarios = []ScenarioKind{coldStart, leaderCrash, leaderReturn, partition, churn,
		sequential, burst, closedLoad, openLoad, ramp, scripted}
}

// ScenarioOf is the scenario of a name; nil if there is none.
func ScenarioOf(name string) *ScenarioKind {
	for i := range Scenarios {
		if Scenarios[i].Name == name {
			return &Scenarios[i]
		}
	}
	return nil
}

// nameless is a scenario in which nothing happens by itself.
var nameless = ScenarioKind{
	Operations: once,
	Takes:      anElection,
	scene:      func() scene { return plain{} },
}

func once(*Plan) int { return 1 }

func anElection(_ *Plan, election time.Duration) time.Duration { return election }

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
	// events is what goes wrong by itself.
	events(d *Coordinator) []Event
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

// plain is the scene of an election: it ends with agreement, after what is to be
// measured.
type plain struct{}

func (plain) plan(*Coordinator) []Instruction        { return nil }
func (plain) events(*Coordinator) []Event            { return nil }
func (plain) watches(d *Coordinator) bool            { return d.setup.Alg.Spec.Perpetual }
func (plain) released(*Coordinator, time.Duration)   {}
func (plain) agreed(d *Coordinator, _ time.Duration) { d.finish() }
func (plain) told() bool                             { return true }
func (plain) served(*Coordinator) bool               { return false }
func (plain) quiet(d *Coordinator, now time.Duration, activity uint64, _ bool) {
	switch {
	case now < d.last:
		d.out = append(d.out, Instruction{At: d.last, Do: fault.Alarm})
	case d.settled():
		d.scene.agreed(d, now)
	case d.caused && d.setup.Detector.Restless():
		d.wait(now, activity, true)
	}
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
	for _, k := range slices.Backward(Scenarios) {
		if k.Usual && k.Problem == p && (survived || !k.Crashes) {
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
func (p *Plan) Operations() int { return p.Scenario.Declared().Operations(p) }

// Takes is how long a trial takes, about, where an election takes so long.
func (p *Plan) Takes(election time.Duration) time.Duration {
	return p.Scenario.Declared().Takes(p, election)
}

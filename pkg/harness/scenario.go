package harness

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Scenario is what happens in a trial and when it is over: one of Scenarios, with its
// parameters. Without a Plot nothing happens by itself.
type Scenario struct {
	Plot   Plot
	Expect []Expect // what it should lead to
}

// A Plot is a kind of scenario with the values of its parameters. Most embed Calm, and say what is
// different in them.
type Plot interface {
	param.Kind
	// Place says which process leads and which are down at the start.
	Place(p *Plan)
	// Check reports what does not go together.
	Check(p *Plan, wrong Wrong)
	// Happens is what it does to processes and links once the leader has settled, which it has at
	// an instant. That is known from the plan alone.
	Happens(p *Plan, settled time.Duration) []Event
	// Lines are those of a script.
	Lines() []Event
	// Cause lists the types of records of which one has to come before anything is measured; nil: none
	// has to. The first Up of a process does not count. Real nodes may learn only at the end that a
	// message met a process that was down.
	Cause() []trace.Type
	// Returns is the key of the experiment by which crashed processes come back; "": none does, except by
	// what Happens.
	Returns() string
	// Operations estimates the number of elections or entries.
	Operations(p *Plan) int
	// Together estimates how many requests for the critical section are made before the first of them is
	// served, at most.
	Together(p *Plan) int
	// Takes estimates how long the scenario takes, from the time of one election.
	Takes(p *Plan, election time.Duration) time.Duration
	// Lasts is how long faults or requests go on; 0: no bound.
	Lasts() time.Duration
	// Ends is the instant by which the trial ends in any case; 0: the scenario sets none.
	Ends() time.Duration
	// RateAt is the offered load at an instant, and MeanRate that of the whole scenario, in requests per
	// second; 0: requests do not come at a rate.
	RateAt(at time.Duration) float64
	MeanRate() float64
	// Settling is how long a leader has to lead before something happens to it; nil: nothing does.
	Settling() *time.Duration
	// Begin is the number of processes that begin at once; 0: all.
	Begin() int
	// Total is the number of requests; 0: no bound.
	Total() int
	// Unmeasured is the number of entries at the beginning that are not measured.
	Unmeasured() int

	// entries are the parameters of requests for the critical section.
	entries() entries
	// load is how the application of each process makes requests by itself; nil: it makes none.
	load() *load
	// scene makes the coordinator's part.
	scene() scene
}

// Calm is the Plot in which nothing happens by itself.
type Calm struct{}

// The methods of a Plot.
func (Calm) Params() []param.Param                               { return nil }
func (Calm) Place(*Plan)                                         {}
func (Calm) Check(*Plan, Wrong)                                  {}
func (Calm) Happens(*Plan, time.Duration) []Event                { return nil }
func (Calm) Lines() []Event                                      { return nil }
func (Calm) Cause() []trace.Type                                 { return nil }
func (Calm) Returns() string                                     { return "" }
func (Calm) Operations(*Plan) int                                { return 1 }
func (Calm) Together(*Plan) int                                  { return 1 }
func (Calm) Takes(_ *Plan, election time.Duration) time.Duration { return election }
func (Calm) Lasts() time.Duration                                { return 0 }
func (Calm) Ends() time.Duration                                 { return 0 }
func (Calm) RateAt(time.Duration) float64                        { return 0 }
func (Calm) MeanRate() float64                                   { return 0 }
func (Calm) Settling() *time.Duration                            { return nil }
func (Calm) Begin() int                                          { return 0 }
func (Calm) Total() int                                          { return 0 }
func (Calm) Unmeasured() int                                     { return 0 }
func (Calm) entries() entries                                    { return entries{} }
func (Calm) load() *load                                         { return nil }
func (Calm) scene() scene                                        { return plain{} }

// A ScenarioKind declares one kind of scenario: all that its users need to know of
// it.
type ScenarioKind struct {
	Name, Doc string
	Problem   algo.Problem // "": both
	Example   string       // the blocks of an experiment file that a short run of it needs
	Plot      Plot         // with zero parameters

	// Rank is its place in lists, among those of its problem: the lower ones first, those of
	// one rank by name.
	Rank int

	// Usual, if any, says whether it is what is run of its problem where no other is named:
	// where every algorithm survives a crash, or where one does not.
	Usual func(survived bool) bool
	// Draws is what begins an election at an instant that the scenario draws; "": nothing does.
	Draws trace.Origin
	// Scripted: its events are lines of a script, and so are suspicions.
	Scripted bool
	// Lasting: it is about a span of time in which things go wrong, and not about one
	// election: it may pass without any.
	Lasting bool
	// OfFaults: it is about what the experiment has go wrong, so that something has to.
	OfFaults bool
	// Steady: operation follows operation under the same conditions, so that in the long run
	// their times have one distribution.
	Steady bool

	// Omits: a process that waits asks for nothing else, so that waiting times leave out the
	// requests that slowness kept back.
	Omits bool
	// Never are the loads of claims that it does not make.
	Never []string

	// Measured says whether an election or outage of that origin is what the scenario is about.
	// Nil: each is.
	Measured func(o trace.Origin) bool
	// Table is that of what bench run shows; 0: metric.Brief.
	Table metric.Tables
}

var scenarios = param.NewRegistry("kind", func(k *ScenarioKind) (string, Plot) { return k.Name, k.Plot },
	func(a, b *ScenarioKind) int {
		if a.Problem != b.Problem && (a.Problem == "" || b.Problem == "") {
			return cmp.Compare(b.Problem, a.Problem) // those of both problems come last
		}
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(a.Name, b.Name))
	})

// RegisterScenario makes k known. It is called by the declarations, before main.
func RegisterScenario(k ScenarioKind) { scenarios.Add(k) }

// Scenarios is every kind of scenario, in the order of the documentation.
func Scenarios() []*ScenarioKind { return scenarios.All() }

// ScenarioNames are those of all.
func ScenarioNames() []string { return scenarios.Names() }

// ScenarioOf is the scenario of a name; nil if there is none.
func ScenarioOf(name string) *ScenarioKind { return scenarios.Named(name) }

// ScenarioKeys is every parameter of a scenario, each once and in the order of the documentation, with the
// names of the scenarios that have it.
func ScenarioKeys() (keys []param.Param, of [][]string) { return scenarios.Keys() }

// With are the keys of the block that a short run needs besides one, as a file says them.
func (k *ScenarioKind) With(key string) string {
	block, _, _ := strings.Cut(strings.TrimPrefix(k.Example, "scenario: {"), "}, ")
	var kept []string
	for part := range strings.SplitSeq(strings.TrimSuffix(block, "}"), ", ") {
		if name, _, _ := strings.Cut(part, ":"); name == key {
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ", ")
}

// Keys are the keys of the scenario block that mean something.
func (k *ScenarioKind) Keys() []string {
	keys := param.Names(k.Plot.Params())
	if k.Scripted {
		keys = append(keys, "expect")
	}
	return keys
}

// Has says whether the scenario has a parameter of that name.
func (k *ScenarioKind) Has(key string) bool { return param.Find(k.Plot.Params(), key) != nil }

// New is such a scenario, with zero parameters.
func (k *ScenarioKind) New() Scenario { return Scenario{Plot: param.New(k.Plot)} }

// Measures says whether an election or outage of that origin is what the scenario is about.
func (k *ScenarioKind) Measures(o trace.Origin) bool { return k.Measured == nil || k.Measured(o) }

// begins says whether r is what comes before anything is to be measured.
func begins(causes []trace.Type, r *trace.Record) bool {
	for _, t := range causes {
		if t == r.Type && (t != trace.Up || r.Incarnation > 0) {
			return true
		}
	}
	return false
}

// MarshalJSON writes the kind, its parameters, and what is expected.
func (s Scenario) MarshalJSON() ([]byte, error) { return scenarios.Encode(s.Plot, s.expected()) }

// UnmarshalJSON reads them.
func (s *Scenario) UnmarshalJSON(b []byte) (err error) {
	s.Plot, err = scenarios.Decode(b, s.expected())
	return err
}

func (s *Scenario) expected() param.Param { return param.Param{Name: "expect", At: &s.Expect} }

// Does is the Plot; that in which nothing happens where there is none.
func (s *Scenario) Does() Plot {
	if s.Plot == nil {
		return Calm{}
	}
	return s.Plot
}

// Declared is what is declared of the kind of s; of none, and of one that is not declared, nothing.
func (s *Scenario) Declared() *ScenarioKind {
	if k, _ := scenarios.Of(s.Plot); k != nil {
		return k
	}
	return &ScenarioKind{Plot: Calm{}}
}

// Kind is the name of the scenario; "": none.
func (s *Scenario) Kind() string { return s.Declared().Name }

// Set gives a parameter another value; copies of s keep the old one. It panics if the scenario has no
// Plot or no such parameter.
func (s *Scenario) Set(name string, v any) { s.Plot = param.With(s.Plot, name, v) }

// Add adds lines to a script.
func (s *Scenario) Add(lines ...Event) { s.Set("events", slices.Concat(s.Plot.Lines(), lines)) }

// Settle is how long a leader has led before something happens to it.
func (s *Scenario) Settle() time.Duration {
	if at := s.Does().Settling(); at != nil {
		return *at
	}
	return 0
}

// Hold is how long a process is in the critical section; nil: the scenario does not say.
func (s *Scenario) Hold() *link.Latency { return s.Does().entries().hold }

// entries are the parameters of requests and entries, wherever they are.
type entries struct {
	hold     *link.Latency // nil: there are none
	sessions *int
	choice   *string
}

// params declares them.
func (e entries) params() []param.Param {
	return []param.Param{
		{Name: "hold", Example: "2ms", Title: "time in the critical section", Default: "1ms",
			Doc: "time in the critical section", At: e.hold},
		{Name: "sessions", Example: "3", Note: "2", Min: 1, Max: algo.MostSessions,
			Doc: "how many sessions requests name, where an algorithm admits those of one together",
			At:  e.sessions},
		{Name: "session_choice", Example: "random", Note: ByID, Choices: []string{ByID, Random},
			Doc: "which session: that of its process, dealt out by ID, or a random one", At: e.choice},
	}
}

// Parameters that several scenarios have.
func initiators(at *int) param.Param {
	return param.Param{Name: "initiators", Example: "2", Unit: "processes", Default: "all", Min: 1,
		Max:     100_000,
		Choices: []string{"all"}, Doc: "how many processes begin at once: a number, or all", At: at}
}

func settle(at *time.Duration) param.Param {
	return param.Param{Name: "settle", Example: "200ms", Min: time.Duration(0), Max: time.Hour, At: at,
		Note: "twice the longest period of algorithm and detector, 50ms at least",
		Doc:  "at least so long before something happens to the leader, at most about twice; 0s: the default"}
}

func duration(at *time.Duration, preset string) param.Param {
	return param.Param{Name: "duration", Example: "3s", Default: preset, Note: "no " +
		"bound", Min: time.Millisecond, Max: day,
		Doc: "of the partition, of the churn, of the ramp; no new request after it", At: at}
}

func requests(at *int, lasts *time.Duration) param.Param {
	return param.Param{Name: "requests", Example: "200", Note: "100, unless there is a " +
		"duration", Min: 1, Max: int(1e9),
		Doc: "entries in all", At: at, Default: func() any {
			if *lasts > 0 {
				return nil
			}
			return 100
		}}
}

func warmup(at *int) param.Param {
	return param.Param{Name: "warmup", Example: "2", Default: "0", Min: 0, Max: int(1e9), At: at,
		Doc: "entries that are not measured"}
}

func rate(name, title, doc string, at *float64) param.Param {
	return param.Param{Name: name, Title: title, Note: "none: to be given", Example: "50", Unit: "1/s",
		Min: 1e-6, Max: 1e6, At: at,
		Doc: doc}
}

const day = 24 * time.Hour

func always(bool) bool { return true }

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
	p := s.Does()
	return p.RateAt(0) != p.RateAt(p.Lasts())
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
	// open: requests come whatever still waits.
	open bool
}

// lastArrival is the last request of all, if it is known before the start.
func (s *Setup) lastArrival() (at time.Duration, by algo.ID) {
	if s.load != nil && s.load.last != nil {
		return s.load.last(s)
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
	for _, k := range scenarios.All() {
		if k.Problem == p && k.Usual != nil && k.Usual(survived) {
			return k.Name
		}
	}
	return ""
}

// A led Plot begins with the highest process as the leader.
type led struct{ Calm }

func (led) Place(p *Plan) { p.Leader = algo.ID(p.Nodes) }
func (led) begins()       {}

// checkLed checks a scenario in which somebody leads at the start and something happens
// then, so often, at the latest when the settling and its spread have passed: what, in a sentence.
func checkLed(p *Plan, wrong Wrong, what string, times int) {
	settle, lasts := p.Scenario.Settle(), p.Scenario.Does().Lasts()
	if what != "" && p.Nodes < 2 {
		wrong("nodes", "%d, and %s; expected at least 2", p.Nodes, what)
	}
	checkSettle(p, wrong)
	latest := p.latest()
	if latest >= p.TimeLimit {
		wrong("scenario.settle", "%v: up to %v may pass until %s, which is not before the "+
			"time_limit %v; raise that", settle, latest, what, p.TimeLimit)
		return
	}
	if times > 1 && time.Duration(times)*settle >= p.TimeLimit {
		wrong("scenario.elections", "%d, a settle of %v before each: not within the time_limit %v",
			times, settle, p.TimeLimit)
	}
	if end := latest + lasts; lasts >= p.TimeLimit {
		wrong("scenario.duration", "%v is not below the time_limit %v; raise that", lasts, p.TimeLimit)
	} else if lasts > 0 && end >= p.TimeLimit {
		wrong("scenario.duration", "%v, perhaps not before %v have passed: that ends at %v, which "+
			"is not before the time_limit %v; raise that", lasts, latest, end, p.TimeLimit)
	}
}

// checkInitiators checks how many begin together.
func checkInitiators(p *Plan, wrong Wrong) {
	if k := p.Scenario.Does().Begin(); k > p.Clients() {
		wrong("scenario.initiators", "%d of %d nodes; write all", k, p.Clients())
	}
}

// checkLoad checks a load: it must be able to end in time and leave something to measure.
func checkLoad(p *Plan, wrong Wrong) {
	s := p.Scenario.Does()
	lasts, rate, all, warmup := s.Lasts(), s.MeanRate(), s.Total(), s.Unmeasured()
	if all > 0 && warmup >= all {
		wrong("scenario.warmup", "%d of %d requests: nothing is left to measure", warmup, all)
	}
	if lasts >= p.TimeLimit {
		wrong("scenario.duration", "%v is not below the time_limit %v; raise that", lasts, p.TimeLimit)
	}
	if lasts > 0 {
		return
	}
	requests := float64(all)
	if seconds := requests / rate; rate > 0 && seconds > p.TimeLimit.Seconds() {
		wrong("scenario.rate", "%v per second: %d requests take %.3gs, beyond the time_limit %v; "+
			"raise that", decimal(rate), all, seconds, p.TimeLimit)
	}
	if hold := p.Scenario.Hold().Average(); requests*hold.Seconds() > p.TimeLimit.Seconds() {
		wrong("scenario.hold", "%v for each of %d requests is %.3gs in all, beyond the time_limit %v; "+
			"raise that", hold, all, requests*hold.Seconds(), p.TimeLimit)
	}
}

// cycle is the time between two entries of the whole group, about: bounded by the critical section
// and its handing over, or by how often they ask, each of them after so long.
func (p *Plan) cycle(think time.Duration) time.Duration {
	alone := p.Scenario.Hold().Average() + 2*p.Network.Latency.Average()
	return max(alone, (alone+think)/time.Duration(p.Clients()))
}

// count is the operations, as a factor that cannot overflow.
func (p *Plan) count() time.Duration { return time.Duration(min(p.Operations(), 1e6)) }

// Operations is how many elections or entries a trial has, about.
func (p *Plan) Operations() int { return p.Scenario.Does().Operations(p) }

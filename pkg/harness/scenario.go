package harness

import (
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
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
	Script       = "script"
)

// A Kind declares one kind of scenario: all that anybody has to know of it.
type Kind struct {
	Name, Doc string
	Problem   algo.Problem // "": both
	Keys      []string     // of the scenario block that mean something

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

// Kinds is every kind of scenario, in the order of the documentation.
var Kinds []Kind

// What they do looks kinds up, so that the list cannot be made before they are.
func init() {
	Kinds = []Kind{coldStart, leaderCrash, leaderReturn, partition, churn,
		sequential, burst, closedLoad, openLoad, scripted}
}

// KindOf is the scenario of a name; nil if there is none.
func KindOf(name string) *Kind {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i]
		}
	}
	return nil
}

// nameless is a scenario in which nothing happens by itself.
var nameless = Kind{scene: func() scene { return plain{} }}

// check says what is wrong with an s that comes from elsewhere.
func (s *Scenario) check() error {
	if s.Kind != "" && KindOf(s.Kind) == nil {
		return fmt.Errorf("plan: no scenario is called %q", s.Kind)
	}
	return nil
}

// Declared is the kind of s, which a Setup has checked.
func (s *Scenario) Declared() *Kind {
	if s.Kind == "" {
		return &nameless
	}
	k := KindOf(s.Kind)
	if k == nil {
		panic(fmt.Sprintf("harness: no scenario is called %q: it was not checked", s.Kind))
	}
	return k
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
		d.out = append(d.out, Instruction{At: d.last, Do: doAlarm})
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
	// gap is the time before the k-th request of an incarnation.
	gap func(s *Setup, id algo.ID, incarnation uint32, k uint64) time.Duration
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

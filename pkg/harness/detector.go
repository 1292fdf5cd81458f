package harness

import (
	"cmp"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/param"
)

// A Detector is the failure detector that the harness provides: one of Detectors,
// with its parameters. Without a Watch it is none.
type Detector struct{ Watch Watch }

// A Watch is a kind of failure detector with the values of its parameters.
type Watch interface {
	param.Kind
	// takes is how long a crash can go unnoticed, but for the latency of a message, and how long
	// a crash and a return do, about.
	takes() (bound, notice, back time.Duration)
	// create makes the detector of one process.
	create(s *Setup) detector
}

// A DetectorKind declares one failure detector: all that its users need to know of it. A Watch
// that is a checker says what does not go together, and one with beats never falls silent.
type DetectorKind struct {
	Name, Doc string
	// Class is what an algorithm may rely on.
	Class algo.Detector
	Watch Watch // with zero parameters
}

type (
	checker interface {
		check(problem algo.Problem, wrong Wrong)
	}
	beating interface{ heartbeats() *beats }
)

var detectors = param.NewRegistry("kind", func(k *DetectorKind) (string, Watch) { return k.Name, k.Watch },
	func(a, b *DetectorKind) int {
		if a.Class != b.Class && (a.Class == algo.NoDetector || b.Class == algo.NoDetector) {
			return cmp.Compare(a.Class, b.Class)
		}
		return cmp.Or(cmp.Compare(b.Class, a.Class), cmp.Compare(a.Name, b.Name))
	})

// RegisterDetector makes k known. It is called by the declarations, before main.
func RegisterDetector(k DetectorKind) { detectors.Add(k) }

// Detectors is every kind of failure detector: none, and then the others, those of a stronger
// class first.
func Detectors() []*DetectorKind { return detectors.All() }

// DetectorNames are those of all.
func DetectorNames() []string { return detectors.Names() }

// DetectorOf is the detector of a name; nil if there is none.
func DetectorOf(name string) *DetectorKind { return detectors.Named(name) }

// Params are the parameters of such a detector, with their zero values.
func (k *DetectorKind) Params() []param.Param { return k.Watch.Params() }

// New is such a detector, with zero parameters.
func (k *DetectorKind) New() Detector { return Detector{param.New(k.Watch)} }

// DetectorsOf is those of a class.
func DetectorsOf(c algo.Detector) []*DetectorKind {
	all := slices.Clone(detectors.All())
	return slices.DeleteFunc(all, func(k *DetectorKind) bool { return k.Class != c })
}

// DetectorKeys is every parameter of a detector, each once and in an order that all of them
// have, with the names of the detectors that have it.
func DetectorKeys() (keys []param.Param, of [][]string) { return detectors.Keys() }

// Kind is the name of the detector.
func (d *Detector) Kind() string { return d.kind().Name }

// kind is what is declared of d.
func (d *Detector) kind() *DetectorKind {
	k, _ := detectors.Of(d.watch())
	return k
}

func (d *Detector) watch() Watch {
	if d.Watch == nil {
		return noDetector{}
	}
	return d.Watch
}

// MarshalJSON writes the kind and its parameters.
func (d Detector) MarshalJSON() ([]byte, error) { return detectors.Encode(d.watch()) }

// UnmarshalJSON reads them.
func (d *Detector) UnmarshalJSON(b []byte) (err error) {
	d.Watch, err = detectors.Decode(b)
	return err
}

// Params are its parameters.
func (d *Detector) Params() []param.Param { return d.watch().Params() }

// Tuned is the parameter by which it bears a silence, which "bench tune" sets; nil if there is none.
func (d *Detector) Tuned() *param.Param {
	params := d.Params()
	if i := slices.IndexFunc(params, func(p param.Param) bool { return p.Tunes != param.Fixed }); i >= 0 {
		return &params[i]
	}
	return nil
}

// Beat is the parameter that says how often it sends a heartbeat; nil: it sends none.
func (d *Detector) Beat() *param.Param {
	b, params := d.beats(), d.Params()
	if b == nil {
		return nil
	}
	return &params[slices.IndexFunc(params, func(p param.Param) bool { return p.At == &b.Interval })]
}

// Check reports what does not go together, for a problem.
func (d *Detector) Check(problem algo.Problem, wrong Wrong) {
	if c, is := d.Watch.(checker); is {
		c.check(problem, wrong)
	}
}

// Class is what an algorithm may rely on.
func (d *Detector) Class() algo.Detector { return d.kind().Class }

// beats are those that it sends; nil: none, and it falls silent.
func (d *Detector) beats() *beats {
	if b, is := d.Watch.(beating); is {
		return b.heartbeats()
	}
	return nil
}

// Restless says whether the detector never falls silent.
func (d *Detector) Restless() bool { return d.beats() != nil }

// LeaderOnly says whether the named leader alone is watched.
func (d *Detector) LeaderOnly() bool {
	b := d.beats()
	return b != nil && b.LeaderOnly
}

// Period is how often each process sends a heartbeat; 0: it does not.
func (d *Detector) Period() time.Duration {
	if b := d.beats(); b != nil {
		return b.Interval
	}
	return 0
}

// Bound is how long a crash can go unnoticed, where latency is the largest of the
// links.
func (d *Detector) Bound(latency time.Duration) time.Duration {
	bound, _, _ := d.watch().takes()
	return bound + latency
}

// Notice is how long the detector takes to notice a crash, about.
func (d *Detector) Notice() time.Duration {
	_, notice, _ := d.watch().takes()
	return notice
}

// Return is how long it takes until a process that is back is known to be, about.
func (d *Detector) Return() time.Duration {
	_, _, back := d.watch().takes()
	return back
}

// Messages is how many it sends in such a time among n processes, about.
func (d *Detector) Messages(n int, during time.Duration) float64 {
	b := d.beats()
	if b == nil {
		return 0
	}
	each := float64(during) / float64(b.Interval) * float64(n-1)
	if b.LeaderOnly {
		return each
	}
	return each * float64(n)
}

// Literal is d as it stands in an experiment file: "{kind: perfect, delay: 10ms}".
func (d *Detector) Literal() string { return param.Block("kind", d.Kind(), d.Params()) }

// A detector is the failure detector of one process. It asks for alarms of its slots,
// and tells the process what it suspects.
type detector interface {
	// start begins to watch.
	start(m *Process, now time.Duration)
	// beat and watch are its alarms; gen tells one that counts from those that are void.
	beat(m *Process, now time.Duration, gen uint32)
	watch(m *Process, now time.Duration, gen uint32)
	// rewind is that the clock of m runs at another rate from now on.
	rewind(m *Process, now time.Duration)
	// heard is a heartbeat of another process.
	heard(m *Process, now time.Duration, from algo.ID)
	// follow is that m names another leader.
	follow(m *Process, now time.Duration)
	// told is what the executor knows at the instant at: p crashed (slotSuspect), or is
	// up again (slotRestore).
	told(m *Process, p algo.ID, at time.Duration, slot uint16)
}

// deaf is the part of a detector that hears of nothing.
type deaf struct{}

func (deaf) start(*Process, time.Duration)                 {}
func (deaf) beat(*Process, time.Duration, uint32)          {}
func (deaf) rewind(*Process, time.Duration)                {}
func (deaf) watch(*Process, time.Duration, uint32)         {}
func (deaf) heard(*Process, time.Duration, algo.ID)        {}
func (deaf) follow(*Process, time.Duration)                {}
func (deaf) told(*Process, algo.ID, time.Duration, uint16) {}

// Crashed tells the detector of m that p crashed at the instant at, if it can know.
func (m *Process) Crashed(p algo.ID, at time.Duration) { m.det.told(m, p, at, slotSuspect) }

// Restarted tells it that p is up again.
func (m *Process) Restarted(p algo.ID, at time.Duration) { m.det.told(m, p, at, slotRestore) }

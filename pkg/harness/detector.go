package harness

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Detector is the failure detector that the harness provides: one of Detectors,
// with its parameters.
type Detector struct {
	Kind     string        `json:"kind"`               // "": none
	Delay    time.Duration `json:"delay,omitempty"`    // perfect: from the crash to the suspicion
	Interval time.Duration `json:"interval,omitempty"` // heartbeat, phi: between two
	Timeout  time.Duration `json:"timeout,omitempty"`  // heartbeat: silence that makes suspicious
	// Threshold is phi's: the suspicion level that makes suspicious, the negative
	// decimal logarithm of the chance that a heartbeat still comes.
	Threshold float64 `json:"threshold,omitempty"`
	Window    int     `json:"window,omitempty"` // phi: how many intervals it remembers
	// Deviation is phi's least standard deviation of the intervals.
	Deviation time.Duration `json:"deviation,omitempty"`
	// LeaderOnly: only who holds itself leader sends, and only the named leader is
	// watched. Otherwise all watch all.
	LeaderOnly bool `json:"leader_only,omitempty"`
}

// A DetectorKind declares one failure detector: all that anybody has to know of it.
type DetectorKind struct {
	Name, Doc string
	Keys      []Key
	// Class is what an algorithm may rely on.
	Class algo.Detector
	// Check, if any, reports what does not go together.
	Check func(p *Plan, problem algo.Problem, wrong Wrong)
	// Bound is how long a crash can go unnoticed, but for the latency of a message;
	// Notice is how long it does, about; Return is how long a return does.
	Bound, Notice, Return func(d *Detector) time.Duration
	// Period is how often each process sends a heartbeat. Nil: it does not.
	Period func(d *Detector) time.Duration
	// Messages is how many of its own it sends in such a time among n processes, about.
	// Nil: none, and it falls silent.
	Messages func(d *Detector, n int, during time.Duration) float64
	// create makes the detector of one process.
	create func(s *Setup) detector
}

var detectors []*DetectorKind

// RegisterDetector makes k known. It is called by the declarations, before main.
func RegisterDetector(k DetectorKind) {
	detectors = append(detectors, &k)
	slices.SortFunc(detectors, func(a, b *DetectorKind) int {
		if a.Class != b.Class && (a.Class == algo.NoDetector || b.Class == algo.NoDetector) {
			return cmp.Compare(a.Class, b.Class)
		}
		return cmp.Or(cmp.Compare(b.Class, a.Class), cmp.Compare(a.Name, b.Name))
	})
}

// Detectors is every kind of failure detector: none, and then the others, those of a stronger
// class first.
func Detectors() []*DetectorKind { return detectors }

// Tuned is the key that "bench tune" may set; nil if there is none.
func (k *DetectorKind) Tuned() *Key {
	if i := slices.IndexFunc(k.Keys, func(key Key) bool { return key.Tunes }); i >= 0 {
		return &k.Keys[i]
	}
	return nil
}

// KeyNames are the names of k.Keys.
func (k *DetectorKind) KeyNames() []string { return named(k.Keys) }

// DetectorOf is the detector of a name; nil if there is none.
func DetectorOf(name string) *DetectorKind {
	for _, k := range detectors {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// DetectorsOf is those of a class.
func DetectorsOf(c algo.Detector) []*DetectorKind {
	return slices.DeleteFunc(slices.Clone(detectors), func(k *DetectorKind) bool { return k.Class != c })
}

// DetectorKeys is every key of a detector, each once and in an order that all of them
// have, with the names of the detectors that have it.
func DetectorKeys() (keys []Key, of [][]string) {
	for _, d := range detectors {
		at := len(keys)
		for _, k := range slices.Backward(d.Keys) {
			i := slices.IndexFunc(keys, func(other Key) bool { return other.Name == k.Name })
			if i < 0 {
				i = at
				keys, of = slices.Insert(keys, i, k), slices.Insert(of, i, []string(nil))
			}
			at, of[i] = i, append(of[i], d.Name)
		}
	}
	return keys, of
}

// declared is the kind of d, which may come from elsewhere.
func (d *Detector) declared() (*DetectorKind, error) {
	return declaration("detector", d.Kind, DetectorOf("none"), DetectorOf)
}

// kind is the kind of d, which a Setup has checked.
func (d *Detector) kind() *DetectorKind { return checked(d.declared()) }

// Class is what an algorithm may rely on.
func (d *Detector) Class() algo.Detector { return d.kind().Class }

// Restless says whether the detector never falls silent.
func (d *Detector) Restless() bool { return d.kind().Messages != nil }

// Bound is how long a crash can go unnoticed, where latency is the largest of the
// links.
func (d *Detector) Bound(latency time.Duration) time.Duration { return d.kind().Bound(d) + latency }

// Notice is how long the detector takes to notice a crash, about.
func (d *Detector) Notice() time.Duration { return d.kind().Notice(d) }

// Messages is how many it sends in such a time among n processes, about.
func (d *Detector) Messages(n int, during time.Duration) float64 {
	if k := d.kind(); k.Messages != nil {
		return k.Messages(d, n, during)
	}
	return 0
}

// Literal is d as it stands in an experiment file: "{kind: perfect, delay: 10ms}".
func (d *Detector) Literal() string {
	k, p := d.kind(), &Plan{Detector: *d}
	out := []string{"kind: " + k.Name}
	for _, key := range k.Keys {
		if text := key.text(p); text != key.Default || key.Choices == nil {
			out = append(out, key.Name+": "+text)
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}

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

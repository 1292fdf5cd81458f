package fault

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Draw draws faults at random for a schedule. What it draws follows from Rand.
type Draw struct {
	Rand    *rand.Rand
	Nodes   int
	Latency time.Duration // d, the largest
	Unit    time.Duration // in which the algorithm thinks: its longest time-out
	Allowed Assumption    // what may be broken
	// At is an instant, Span how long something lasts, and Process to whom it happens.
	At, Span func() time.Duration
	Process  func() algo.ID
}

// Swarm is events of all the faults that may happen and pass again. Each is left out half of
// the time, so that the others do not drown what it leads to, or it them (A. Groce and others,
// Swarm testing, ISSTA 2012).
func (d *Draw) Swarm() (out []Event) {
	if d.chance(3) {
		return nil
	}
	for _, f := range All() {
		if !d.may(f) || !d.chance(3) {
			continue
		}
		for range 1 + d.Rand.IntN(2) {
			if e := d.Of(f); d.passes(f, &e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// Any is an event of one of those; false: none may happen.
func (d *Draw) Any() (Event, bool) {
	// Disks, stalls and throttles came later, and are not drawn: so a seed draws what it has always drawn.
	list := slices.DeleteFunc(slices.Clone(All()), func(f *Fault) bool {
		return f.Disk || f.Lasts != nil || f.Served
	})
	for _, k := range d.Rand.Perm(len(list)) {
		f := list[k]
		if !d.may(f) {
			continue
		}
		if e := d.Of(f); d.passes(f, &e) {
			return e, true
		}
	}
	return Event{}, false
}

// may says whether the fault is drawn at all: there are no links of one process alone.
func (d *Draw) may(f *Fault) bool { return f.Draw != nil && (f.Network == nil || d.Nodes > 1) }

// passes says whether the event may happen, and nobody is down by it in the end: of crashes no
// more may happen than the algorithm survives, which whoever draws has to see to.
func (d *Draw) passes(f *Fault, e *Event) bool {
	return e.Broken(d.Latency)&^d.Allowed == 0 && (f.Down == nil || !f.Down(e, nil))
}

// Of is an event of the fault.
func (d *Draw) Of(f *Fault) Event {
	at := d.At()
	e := f.Draw(d)
	e.At, e.Do = at, f.Name
	return e
}

// drawCrash is one for good, or one that passes where the return is allowed.
func drawCrash(d *Draw) Event {
	e := Event{Node: d.Process()}
	if d.Allowed&Recovery != 0 && !d.chance(3) {
		e.For = d.Span()
	}
	return e
}

// chance is true once in so many times.
func (d *Draw) chance(in int) bool { return d.Rand.IntN(in) == 0 }

func pick[T any](d *Draw, list ...T) T { return list[d.Rand.IntN(len(list))] }

// link is one, in one direction.
func (d *Draw) link() [][2]uint32 {
	two := d.Rand.Perm(d.Nodes)
	return [][2]uint32{{uint32(two[0] + 1), uint32(two[1] + 1)}}
}

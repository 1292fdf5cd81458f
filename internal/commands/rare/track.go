package rare

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// chunk is how many events happen before somebody looks whether the path is high enough.
const chunk = 16

// A track is a path of a simulated trial: where it branches off, and how high it has come.
type track struct {
	sim    *sim.Simulation
	branch Branch // what is still to come of it
	until  float64
	keep   bool // all peaks, and not the highest alone

	records uint64
	events  uint64
	top     Peak
	peaks   []Peak
	left    bool // it is as high as it was to come
}

// follow simulates the trial of a setup, of which seen has each record, until the path is high enough, or
// until says that it is long enough; nil: it never is.
func (t *track) follow(setup *harness.Setup, seen trace.Sink, enough func() bool) {
	t.sim = sim.New(setup, seen)
	for !t.left && !t.sim.Done() && (enough == nil || !enough()) {
		t.sim.Advance(chunk)
	}
}

// redraw has the path part from others at this record, if it is to.
func (t *track) redraw() {
	for len(t.branch) > 0 && t.branch[0].Record == t.records {
		t.sim.Redraw(t.branch[0].Seed)
		t.branch = t.branch[1:]
	}
}

// rise notes how high the path is.
func (t *track) rise(height float64) {
	if height <= t.top.Height {
		return
	}
	t.top = Peak{t.records, height}
	if t.keep {
		t.peaks = append(t.peaks, t.top)
	}
	if t.left = height >= t.until; t.left {
		t.events = t.sim.End().Events
	}
}

// fault says why the path means nothing; nil: it does.
func (t *track) fault(setup *harness.Setup) error {
	switch end := t.sim.End(); {
	case t.sim.Done() && end.Reason == harness.Broken:
		return fmt.Errorf("%s: a trial could not be run: %w", setup.Label, end.Err)
	case !t.left && len(t.branch) > 0:
		return fmt.Errorf("%s is not deterministic: two simulations with the same random draws diverged; it "+
			"may range over a map, or read a clock", setup.Label)
	}
	return nil
}

package fault

import (
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Disk is what becomes of a process's writes: one fault at a time, of which the last counts.
type Disk struct {
	Fails string        // one of the faults below; "": nothing does
	By    time.Duration // SlowDisk: how much longer each write takes
}

// The faults of disks. All else goes on as before: messages, timers and failure detectors. So the process
// looks healthy to others, which is called a gray failure (P. Huang and others, Gray failure: the Achilles'
// heel of cloud-scale systems, HotOS 2017).
const (
	SlowDisk  = "slow-disk"
	HungDisk  = "hung-disk"
	FullDisk  = "full-disk"
	LyingDisk = "lying-disk"
)

// Stuck says whether no write is ever acknowledged.
func (d Disk) Stuck() bool { return d.Fails == HungDisk || d.Fails == FullDisk }

// Delays says whether a write takes long, or never ends.
func (d Disk) Delays() bool { return d.Stuck() || d.Fails == SlowDisk }

// A SlowWriting is what slow-disk alone says: by how much longer each write takes.
type SlowWriting struct{ By time.Duration }

// Params declares the fields.
func (s *SlowWriting) Params() []param.Param {
	return []param.Param{{Name: "by", Doc: byDoc, At: &s.By, Min: time.Microsecond, Max: time.Hour,
		Required: true, Example: "100ms", With: "at: 1s, do: slow-disk, node: 3"}}
}

// byDoc is of a key that several faults have.
const byDoc = "skew: how far its clock is ahead; slow: the extra time of each event; slow-disk: that of " +
	"each write"

// DiskOf is the disk of a process from the instruction on; false: the instruction is about something else.
func DiskOf(i *Instruction) (d Disk, is bool) {
	if is = i.of().Disk; is && !i.Undo {
		d = Disk{i.Do, own[SlowWriting](i.Args).By}
	}
	return d, is
}

func init() {
	assumes := func(a Assumption) func(*Event, time.Duration) Assumption {
		return func(*Event, time.Duration) Assumption { return a }
	}
	for _, f := range []Fault{{
		Name: SlowDisk, Doc: "each write takes it an extra time; for: until then",
		Takes: []string{"who", "by", "for"}, Args: &SlowWriting{}, Breaks: assumes(Speed),
		State: &State{"fault", "has a slow disk"},
	}, {
		Name: HungDisk, Doc: "its next write does not end, and it waits for that; for: until then",
		Takes: []string{"who", "for"}, Breaks: assumes(Speed),
		State: &State{"fault", "has a disk that hangs"},
	}, {
		Name: FullDisk, Doc: "its next write fails, at which it ends; for: then it starts again",
		Takes: []string{"who", "for"}, Down: func(*Event, []Event) bool { return true },
		Breaks: func(e *Event, _ time.Duration) Assumption { return Named(Crash).Breaks(e, 0) },
		State:  &State{"fault", "has a full disk"},
	}, {
		Name: LyingDisk, Doc: "what it writes is gone after a crash; for: what it writes until then",
		Takes: []string{"who", "for"}, Breaks: assumes(Storage),
		State: &State{"fault", "has a disk that lies"},
	}} {
		words := f.State.Words
		f.One, f.Disk = []string{"who"}, true
		f.Inside = func(p Process, now time.Duration, i *Instruction) {
			d, _ := DiskOf(i)
			p.Disk(now, d)
		}
		f.Words = func(r *trace.Record, a Args) string {
			_, i := Parse(r.Text)
			switch {
			case i.Undo:
				return fmt.Sprintf("the disk of p%d is well again", r.Process)
			case a.Own != nil:
				return fmt.Sprintf("p%d %s: each write takes %v longer", r.Process, words,
					own[SlowWriting](a).By)
			}
			return fmt.Sprintf("p%d %s", r.Process, words)
		}
		Register(f)
	}
}

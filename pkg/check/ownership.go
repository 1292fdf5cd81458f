package check

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// ownership is for how long a lock has no new owner although processes wait, or owners that should have
// kept each other out, and what becomes of what owners write. All methods do nothing in trials that have no
// columns for it.
type ownership struct {
	room    algo.Room
	waits   bool          // some process does
	still   time.Duration // since when none has entered while some process waits
	longest time.Duration // that
	split   bool          // since the instant last
	last    time.Duration
	total   time.Duration
	wrote   bool // some owner did
	refused int  // writes
	stale   int  // writes that were accepted although another process had entered
}

// newOwnership is nil where the trial has no such columns.
func newOwnership(room algo.Room, wire bool) *ownership {
	if !wire {
		return nil
	}
	return &ownership{room: room}
}

// follow takes in who is inside from an instant on.
func (o *ownership) follow(at time.Duration, inside []stay) {
	if o == nil {
		return
	}
	if o.split {
		o.total += at - o.last
	}
	o.last, o.split = at, false
	for i, s := range inside {
		door := o.room.Door(s.session)
		barred := slices.ContainsFunc(inside[:i], func(t stay) bool { return door.Bars(t.session) })
		o.split = o.split || barred
	}
}

// wait takes in whether some process waits from an instant on, and whether one has entered at that instant.
func (o *ownership) wait(at time.Duration, waits, entered bool) {
	if o == nil {
		return
	}
	if o.waits && (entered || !waits) {
		o.longest = max(o.longest, at-o.still)
	}
	if entered || waits && !o.waits {
		o.still = at
	}
	o.waits = waits
}

// write judges a write that a process made as the owner. It must be refused if another process has entered
// since, and before the write began.
func (o *ownership) write(j *Judge, r *trace.Record, entries []trace.Operation) {
	if o == nil {
		return
	}
	o.wrote = true
	if r.Type == trace.Unwritten {
		o.refused++
		return
	}
	began := time.Duration(r.Arg)
	for _, op := range slices.Backward(entries) {
		switch {
		case op.Status != trace.Completed && op.Status != trace.Warmup || op.End > began:
			continue
		case op.Process != r.Process:
			o.stale++
			j.violate(fencing, "p%d wrote as the holder at %v, and was not refused: p%d had entered at %v",
				r.Process, began, op.Process, op.End)
		}
		return
	}
}

func (o *ownership) metrics(end time.Duration) []metric.Value {
	if o == nil {
		return nil
	}
	o.follow(end, nil)
	o.wait(end, false, true)
	out := []metric.Value{metric.Standstill.Of(ms(o.longest)), metric.SplitOwnership.Of(ms(o.total))}
	if o.wrote {
		out = append(out, metric.WritesRefused.Of(float64(o.refused)),
			metric.WritesLate.Of(float64(o.stale)))
	}
	return out
}

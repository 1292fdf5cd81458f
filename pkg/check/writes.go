package check

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// writes are those that clients really had leaders make, in trials that have them. The outages of served
// follow from them, and not from the state of processes and disks alone. All clients begin a write at the
// same instants: a round.
type writes struct {
	rounds              map[time.Duration]*round // by when they began
	ended, acknowledged int64
	trouble             []reason // what could keep writes from being acknowledged, as it changes
}

// A round is the writes that began at an instant.
type round struct {
	began, last  time.Duration // when they began, and when the last so far ended
	first        time.Duration // when the first was acknowledged; negative: none was
	begun, ended uint64
}

// failed says whether none of them was acknowledged. What the end of the trial cut short does not tell.
func (r *round) failed() bool { return r.first < 0 && r.ended == r.begun }

// A reason is why there may be no service from an instant on; "": there is none.
type reason struct {
	at     time.Duration
	origin trace.Origin
}

func (w *writes) record(r *trace.Record) {
	began := time.Duration(r.Arg)
	n := w.rounds[began]
	if n == nil {
		n = &round{began: began, first: -1, begun: r.Seq}
		w.rounds[began] = n
	}
	n.last = r.At
	n.ended++
	w.ended++
	if r.Type == trace.Unwritten {
		return
	}
	w.acknowledged++
	if n.first < 0 {
		n.first = r.At
	}
}

// follow notes what could keep writes from being acknowledged from now on.
func (w *writes) follow(at time.Duration, origin trace.Origin) {
	if n := len(w.trouble); n == 0 || w.trouble[n-1].origin != origin {
		w.trouble = append(w.trouble, reason{at, origin})
	}
}

// A loss begins an outage, or falls into one.
type loss struct {
	at, counted time.Duration
	origin      trace.Origin
	hastened    bool
}

// losses are the outages of state, which are losses of the leader or its majority, and the rounds of which no
// write was acknowledged.
func (w *writes) losses(state []trace.Outage, rounds []*round) (out []loss) {
	reasons := slices.Clone(w.trouble)
	for _, o := range state {
		out = append(out, loss{o.Begin, o.Cause, o.Origin, o.Status == trace.Hastened})
		reasons = append(reasons, reason{o.Begin, o.Origin})
	}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Compare(a.at, b.at) })
	for _, r := range rounds {
		if r.failed() {
			out = append(out, loss{r.began, r.began, w.why(r, reasons), false})
		}
	}
	slices.SortStableFunc(out, func(a, b loss) int { return cmp.Compare(a.at, b.at) })
	return out
}

// outages are those that clients saw in a trial that ended then. One begins with a loss, and ends when the
// first write is acknowledged that began since.
func (w *writes) outages(state *outages, end time.Duration) *outages {
	rounds := slices.SortedFunc(maps.Values(w.rounds),
		func(a, b *round) int { return cmp.Compare(a.began, b.began) })
	out := newOutages(state.of, state.endless, state.named, state.measure)
	until := time.Duration(-1) // the end of the present outage; negative: it has none
	settle := func(at time.Duration) {
		if out.down && until >= 0 && until <= at {
			// Nothing is late in virtual time.
			out.follow(true, until, nil, func() time.Duration { return 0 })
		}
	}
	for _, l := range w.losses(state.over, rounds) {
		settle(l.at)
		anew := !out.down
		if anew {
			out.follow(false, l.at, func() trace.Origin { return l.origin }, nil)
			until = answered(rounds, l.at)
		}
		if anew && out.from == l.at || !out.measure(out.origin) && out.measure(l.origin) {
			out.origin, out.counted, out.hastened = l.origin, l.counted, l.hastened
		}
	}
	settle(end)
	out.finish(end)
	return out
}

// answered is when the first write is acknowledged that began at from or later; negative: none is.
func answered(rounds []*round, from time.Duration) time.Duration {
	first := time.Duration(-1)
	for _, r := range rounds {
		if r.began >= from && r.first >= 0 && (first < 0 || r.first < first) {
			first = r.first
		}
	}
	return first
}

// why is what kept a round from being acknowledged: what was so when it began, or what came first until the
// last of it had ended.
func (w *writes) why(r *round, reasons []reason) trace.Origin {
	before := trace.Origin("")
	for _, t := range w.trouble {
		if t.at <= r.began {
			before = t.origin
		}
	}
	if before != "" {
		return before
	}
	for _, s := range reasons {
		if s.origin != "" && s.at > r.began && s.at <= r.last {
			return s.origin
		}
	}
	return trace.Unneeded
}

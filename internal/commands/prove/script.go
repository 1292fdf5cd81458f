package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/internal/commands/explore"
	"github.com/conclave-bench/conclave/internal/judgement/prove"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// The times of scripts: the latency by which the search derives the defaults of parameters, and how long a
// stay in the critical section lasts.
const (
	latency = time.Millisecond
	stay    = time.Millisecond
)

// pending is how much later than the last event a message arrives that the schedule leaves on its way.
const pending = 100 * time.Millisecond

// errClocks is why a schedule has no script.
var errClocks = errors.New("no instants fit the time-outs: clocks would have to run at different " +
	"rates, or a time-out to be late")

// script is the schedule of a find as one with instants, which breaks the same promise: as coarse as
// possible, and without every event that it does not need. Beyond says what is beyond the model.
func script(ctx context.Context, alg *algo.Algorithm, q *prove.System, f *prove.Find, beyond []string) (
	*explore.Find, error) {
	last := errClocks
	for _, slow := range []bool{false, true} {
		for tick := time.Millisecond; tick >= time.Microsecond; tick /= 10 {
			for _, strict := range []bool{true, false} {
				t := &timetable{system: q, alg: alg, find: f, tick: tick, strict: strict, slow: slow}
				s, err := t.schedule()
				if err != nil {
					last = err
					continue
				}
				found, err := explore.Given(ctx, s, "prove", beyond)
				if found != nil || err != nil {
					return found, err
				}
				last = errors.New("with instants it breaks no promise")
			}
		}
		if alg.Spec.Needs.Synchrony == algo.Synchronous {
			break // its clocks all run alike
		}
	}
	return nil, last
}

// A timetable finds instants for the steps of a schedule: number 0 is the start.
type timetable struct {
	system *prove.System
	alg    *algo.Algorithm
	find   *prove.Find
	tick   time.Duration // between two steps, at least
	strict bool          // all steps keep their order; otherwise those of one process, and messages
	// slow: the clocks of processes of which no timer expires run as slowly as they can.
	slow bool

	expires map[algo.ID]bool
	bounds  []bound
	armed   map[timer]armed
	sent    map[int]flight // by number
	last    []int          // step of each process
	inside  []int          // since which step, by process
	at      []time.Duration
}

// A bound has step to come that long after another at least.
type bound struct {
	from, to int
	by       time.Duration
}

type timer struct {
	process algo.ID
	name    algo.Timer
}

type armed struct {
	step  int
	after time.Duration
}

// A flight is a message on its way.
type flight struct {
	step     int // in which it was sent
	from, to algo.ID
	taken    int // in which it arrives; 0: none
	again    int // in which a second copy does; 0: none; -1: it does not, or later
	lost     bool
	// until is the step that has it lost: a crash of its receiver, or a cut of its link; 0: none.
	until int
}

// schedule is the schedule with instants.
func (t *timetable) schedule() (*explore.Schedule, error) {
	t.armed, t.sent = map[timer]armed{}, map[int]flight{}
	t.expires = map[algo.ID]bool{}
	for i := range t.find.Schedule {
		if s := &t.find.Schedule[i]; s.Do == prove.Expiry {
			t.expires[s.Process] = true
		}
	}
	t.last, t.inside = make([]int, t.system.Nodes+1), make([]int, t.system.Nodes+1)
	for _, s := range t.find.Begin {
		t.effects(0, &s)
	}
	for i := range t.find.Schedule {
		if err := t.step(i+1, &t.find.Schedule[i]); err != nil {
			return nil, err
		}
	}
	end := len(t.find.Schedule)
	for key, a := range t.armed {
		t.before(end, key.process, a)
	}
	if t.alg.Spec.Needs.Synchrony == algo.Synchronous {
		for _, m := range t.sent {
			if m.until == 0 && (m.taken == 0 || m.again < 0) {
				t.bound(end, m.step, -(latency - time.Microsecond))
			}
		}
	}
	if !t.solve() {
		return nil, errClocks
	}
	return t.write()
}

// step adds the bounds of a step.
func (t *timetable) step(i int, s *prove.Step) error {
	if t.strict {
		t.bound(i-1, i, t.tick)
	}
	apart := t.tick
	if s.Do == prove.Expiry { // it may be due sooner
		apart = min(apart, t.armed[timer{s.Process, s.Event.Timer}].after)
	}
	t.bound(t.last[s.Process], i, apart)
	t.bound(0, i, apart)
	t.last[s.Process] = i
	switch s.Do {
	case prove.Cut:
		t.vanish(i, func(m *flight) bool { return s.Change.Cuts(uint32(m.from), uint32(m.to)) })
	case prove.Repeated, prove.Delivery, prove.Loss:
		m := t.sent[s.Took]
		switch {
		case m.taken > 0 && s.Do == prove.Repeated:
			return errors.New("a script cannot have a certain message arrive three times")
		case m.taken > 0 && s.Do == prove.Loss:
			m.again = 0 // as if there were no copy
		case m.taken > 0:
			m.again = i
		case s.Do == prove.Repeated:
			m.taken, m.again = i, -1
		default:
			m.taken, m.lost = i, s.Do == prove.Loss
		}
		t.sent[s.Took] = m
		t.bound(m.step, i, t.tick)
		if t.alg.Spec.Needs.Synchrony == algo.Synchronous {
			t.bound(i, m.step, -latency)
		}
	case prove.Expiry:
		key := timer{s.Process, s.Event.Timer}
		a := t.armed[key]
		delete(t.armed, key)
		t.bound(a.step, i, a.after)
		t.bound(i, a.step, -a.after)
	case prove.Crash:
		for key, a := range t.armed {
			if key.process == s.Process {
				t.before(i, s.Process, a)
				delete(t.armed, key)
			}
		}
		t.vanish(i, func(m *flight) bool { return m.to == s.Process })
	case prove.Command:
		if s.Event.Type == algo.Release {
			from := t.inside[s.Process]
			t.bound(from, i, stay)
			t.bound(i, from, -stay)
		}
	}
	t.effects(i, s)
	return nil
}

// vanish has what is on its way, and is meant, be lost in a step.
func (t *timetable) vanish(i int, means func(*flight) bool) {
	for n, m := range t.sent {
		switch {
		case !means(&m) || m.until > 0:
			continue
		case m.again < 0:
			m.again = 0
		case m.taken == 0:
			m.until = i
			t.bound(m.step, i, t.tick)
			if t.alg.Spec.Needs.Synchrony == algo.Synchronous {
				t.bound(i, m.step, -(latency - time.Microsecond))
			}
		}
		t.sent[n] = m
	}
}

// effects adds the bounds of what a process asks for in a step.
func (t *timetable) effects(i int, s *prove.Step) {
	for _, m := range s.Sends {
		if !m.Down {
			t.sent[m.Number] = flight{step: i, from: s.Process, to: m.To}
		}
	}
	stop := func(name algo.Timer) {
		key := timer{s.Process, name}
		if a, is := t.armed[key]; is {
			t.before(i, s.Process, a)
			delete(t.armed, key)
		}
	}
	for _, e := range s.Effects {
		switch e.Op {
		case algo.OpSetTimer:
			stop(e.Timer)
			t.armed[timer{s.Process, e.Timer}] = armed{i, e.After}
		case algo.OpCancelTimer:
			stop(e.Timer)
		case algo.OpGranted:
			t.inside[s.Process] = i
		}
	}
}

func (t *timetable) bound(from, to int, by time.Duration) {
	if from != to {
		t.bounds = append(t.bounds, bound{from, to, by})
	}
}

// slowest is how fast a slow clock runs, as a part of real time.
const slowest = 100

// before has a step come before a timer of a process expires.
func (t *timetable) before(step int, p algo.ID, a armed) {
	after := a.after
	if t.slow && !t.expires[p] {
		after = min(after, time.Hour) * slowest
	}
	t.bound(step, a.step, -(after - time.Microsecond))
}

// solve finds the earliest instants that keep all bounds, as Bellman and Ford find longest ways. False:
// there are none.
func (t *timetable) solve() bool {
	t.at = make([]time.Duration, len(t.find.Schedule)+1)
	for range len(t.at) + 1 {
		changed := false
		for _, b := range t.bounds {
			if least := t.at[b.from] + b.by; least > t.at[b.to] {
				t.at[b.to], changed = least, true
			}
		}
		if !changed {
			return t.at[0] == 0
		}
	}
	return false
}

// write makes the script: a line for each command and fault, and one for each message that does not take
// as long as most.
func (t *timetable) write() (*explore.Schedule, error) {
	q := t.system
	out := &explore.Schedule{
		Algorithm: t.alg, Params: q.Params, Nodes: q.Nodes, Seed: prove.Seed,
		Shape: algo.DefaultShape(t.alg.Spec.Needs.Topology), Latency: link.Constant(latency),
		Detector: harness.NoDetector(), Unordered: !t.alg.Spec.Needs.FIFO || q.Overtakes > 0,
	}
	if t.alg.Problem == algo.MutualExclusion {
		out.Hold = link.Constant(stay)
	}
	for p := algo.ID(1); t.slow && int(p) <= q.Nodes; p++ {
		if !t.expires[p] {
			out.Events = append(out.Events, harness.Event{Do: fault.Drift, Node: p,
				Args: fault.Args{Own: &fault.Drifting{Factor: 1.0 / slowest}}})
		}
	}
	down := map[algo.ID]int{} // place of its crash in the script; that of a cut for process 0
	for i := range t.find.Schedule {
		s := &t.find.Schedule[i]
		e := harness.Event{At: t.at[i+1], Node: s.Process}
		switch s.Do {
		case prove.Command:
			switch s.Event.Type {
			case algo.Elect:
				e.Do = harness.DoElect
			case algo.Request:
				e.Do = harness.DoRequest
			}
		case prove.Crash:
			e.Do = harness.DoCrash
			down[s.Process] = len(out.Events)
		case prove.Cut:
			e.Do, e.Groups, e.Links = harness.DoCut, s.Change.Groups, s.Change.Links
			down[algo.None] = len(out.Events)
		case prove.Restart, prove.Heal:
			c := &out.Events[down[s.Process]]
			c.For = e.At - c.At
		case prove.Notice, prove.Suspicion:
			e.Do, e.Of = harness.DoSuspect, s.Peer
		}
		if e.Do != "" {
			out.Events = append(out.Events, e)
		}
	}
	return out, t.messages(out)
}

// messages adds the lines of messages that are lost, or do not take as long as most.
func (t *timetable) messages(out *explore.Schedule) error {
	type moment struct {
		step     int
		from, to algo.ID
	}
	fates, drops := map[moment]harness.Event{}, t.alike()
	end := t.at[len(t.at)-1]
	for n := 1; len(t.sent) > 0 && n <= mostMessages; n++ {
		m, is := t.sent[n]
		if !is {
			continue
		}
		sent := t.at[m.step]
		if m.lost && drops[n].Do != "" {
			out.Events = append(out.Events, drops[n])
			continue
		}
		e := harness.Event{At: sent, Do: harness.DoFlaky, For: time.Microsecond,
			Links: [][2]uint32{{uint32(m.from), uint32(m.to)}}}
		takes := end + pending - sent
		switch {
		case m.lost:
			takes, e.Args = 0, fault.Lossy(1)
		case m.until > 0:
			takes = max(latency, t.at[m.until]-sent+t.tick)
		case m.taken > 0:
			takes = t.at[m.taken] - sent
		case t.alg.Spec.Needs.Synchrony == algo.Synchronous:
			takes = latency
		}
		switch {
		case m.again > 0:
			e.Args = fault.Twice(t.at[m.again] - sent)
		case m.again < 0 && t.alg.Spec.Needs.Synchrony == algo.Synchronous:
			e.Args = fault.Twice(latency)
		case m.again < 0:
			e.Args = fault.Twice(end + pending - sent)
		}
		law := link.Constant(takes)
		e.Latency = &law
		key := moment{m.step, m.from, m.to}
		if other, is := fates[key]; is {
			// Otherwise they take as long as the first does: the trial shows whether that will do.
			if t.strict && (other.Latency.Average() != takes || other.Args.IsZero() != e.Args.IsZero()) {
				return fmt.Errorf("a script cannot tell two messages apart that p%d sends p%d at one instant",
					m.from, m.to)
			}
			continue
		}
		fates[key] = e
		if takes != latency || !e.Args.IsZero() {
			out.Events = append(out.Events, e)
		}
	}
	return nil
}

// alike is, for each message that is lost while another of its link and instant is not, the line that drops
// it: the how-many-th of its kind that the process sends from then on.
func (t *timetable) alike() map[int]harness.Event {
	out := map[int]harness.Event{}
	steps := append([]prove.Step{}, t.find.Schedule...)
	for i := range steps {
		count := map[string]int{}
		for _, m := range steps[i].Sends {
			kind := m.Msg.Kind()
			if k, _ := t.alg.Codec.KindOf(m.Msg); !t.alg.Auxiliary(k) {
				count[kind]++
			}
			same := 0
			for _, other := range steps[i].Sends {
				if other.To == m.To {
					same++
				}
			}
			if same > 1 && count[kind] > 0 {
				out[m.Number] = harness.Event{At: t.at[i+1], Do: fault.Drop, Node: steps[i].Process,
					Kind: kind, Count: count[kind]}
			}
		}
	}
	return out
}

// mostMessages bounds the numbers of messages in a schedule.
const mostMessages = 100_000

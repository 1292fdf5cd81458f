package harness

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/base/exact"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// faults is what the coordinator knows of what goes wrong, and of whom that depends
// on.
type faults struct {
	list    []occasion
	skipped int // times that there was nobody to whom it could happen

	paused   []bool // by ID - 1
	inside   []bool // in the critical section
	holder   algo.ID
	declared algo.ID // the process that last named itself leader

	disks []Instruction // that were carried out, or will be

	watched [256]bool // types of records
	kinds   [256]bool // of messages, where their records are watched
}

type occasion struct {
	*Event
	index int           // its number among the coordinator's, from 1 on
	first time.Duration // again and again: the first instant
	kind  uint8         // of a message, if the event is about one
	seen  int           // triggers
	armed int           // of those, that led to a strike
	fired int

	// One that happens to a leader:
	waits  bool // it has come due, and nobody leads
	called bool // a process does meanwhile: it is about to strike
	due    time.Duration
}

func (f *faults) init(s *Setup) {
	f.paused, f.inside = make([]bool, s.Nodes), make([]bool, s.Nodes)
	f.list = make([]occasion, 0, len(s.Faults.Events)+len(s.plot.Lines()))
	f.declared, f.holder = s.Leader, s.Holder
	if f.holder == algo.None {
		f.holder = s.Graph.Peers()[0]
	}
	for _, t := range s.plot.Cause() {
		f.watched[t] = true
		for kind := range s.Alg.Codec.Kinds() {
			f.kinds[kind] = f.kinds[kind] || t.IsMessage()
		}
	}
	for e := range s.Timeline() {
		f.watched[trace.Save] = f.watched[trace.Save] || e.Do == fault.FullDisk
		if t := fault.Triggers.Named(e.On); t != nil {
			f.watched[t.Record] = true
			if t.Kind {
				f.kinds[s.kind(e.Kind)] = true
			}
		}
		c := fault.Choices.Named(e.Who)
		if c != nil && c.Token {
			f.watched[trace.Deliver] = true
			f.kinds[s.kind(s.Alg.Spec.Token)] = true
		}
		if c != nil && c.Serves {
			f.watched[trace.Elected] = true
		}
		if c != nil && c.Sections {
			f.watched[trace.Granted], f.watched[trace.Released] = true, true
		}
	}
}

// kind is the index of the kind of messages of that name.
func (s *Setup) kind(name string) uint8 {
	return uint8(max(slices.Index(s.Alg.Codec.Kinds(), name), 0))
}

// WatchedKinds says which kinds of messages the coordinator wants, of the types
// that it Watches.
func (d *Coordinator) WatchedKinds() (kinds []uint8) {
	for k, watched := range d.faults.kinds {
		if watched {
			kinds = append(kinds, uint8(k))
		}
	}
	return kinds
}

// planned appends what an event leads to before the start: what is settled then, at
// fixed instants, and a strike for what is not. What waits for something else
// leads to nothing yet.
func (d *Coordinator) planned(out []Instruction, e *Event) []Instruction {
	f := d.faults.add(e)
	f.kind = d.setup.kind(e.Kind)
	switch {
	case isRule(e) || e.On != "":
		return out
	case !e.Again() && e.Settled() && !e.Led:
		f.fired = 1
		return d.carryOut(out, f, e.At)
	}
	f.first = e.At
	if f.first == 0 || e.Rate > 0 {
		f.first += f.gap(d.setup.Seed)
	}
	return append(out, Instruction{At: f.first, Do: fault.Strike, Fault: f.index})
}

// add makes e one of the coordinator's events.
func (f *faults) add(e *Event) *occasion {
	f.list = append(f.list, occasion{Event: e, index: len(f.list) + 1})
	return &f.list[len(f.list)-1]
}

// Foreseen is what will happen to links again and again, as far as it is known before
// the start, by the time limit: in the order of the instants. The coordinator still asks for
// each at its instant, but a caller that knows of it need not wait for that. The Timeline
// comes first.
func (d *Coordinator) Foreseen() (out []Instruction) {
	for _, f := range d.faults.list {
		if kind := fault.Named(f.Do); f.first == 0 || f.On != "" || !f.Settled() || kind == nil ||
			kind.Network == nil {
			continue
		}
		at := f.first
		for at <= d.setup.TimeLimit && f.goesOn() && f.fired < maxForeseen {
			f.fired++
			out = d.carryOut(out, &f, at)
			at += f.gap(d.setup.Seed)
		}
	}
	slices.SortStableFunc(out, func(a, b Instruction) int { return cmp.Compare(a.At, b.At) })
	return out
}

// maxForeseen bounds what is known of one event.
const maxForeseen = 4096

// goesOn says whether an event that happens again and again has not yet done so often
// enough.
func (f *occasion) goesOn() bool { return f.Times == 0 || f.fired < f.Times }

// gap is the time to the next strike.
func (f *occasion) gap(seed uint64) time.Duration {
	if f.Rate == 0 {
		return f.Every
	}
	u := float64(Derive(seed, "fault", uint64(f.index), uint64(f.fired))) / (1 << 53)
	return time.Duration(-exact.Log1p(-u) / f.Rate * float64(time.Second))
}

// Strike is the instant of an event that depends on what has happened by then.
func (d *Coordinator) Strike(now time.Duration, i Instruction) []Instruction {
	d.out = d.out[:0]
	if i.Fault == 0 { // it was to be seen whether all is over
		switch p := d.setup.Alg.Problem; {
		case !d.setup.Alg.Spec.Perpetual || !d.told(now):
		case p == algo.Election && d.setup.WritesEvery > 0: // a write is to follow
		case p == algo.Election && d.settled():
			d.scene.agreed(d, now)
		case p == algo.MutualExclusion && d.scene.served(d):
			d.finish()
		}
		return d.out
	}
	d.strike(now, i.At, i.Fault)
	return d.out
}

func (d *Coordinator) strike(now, nominal time.Duration, index int) {
	f := &d.faults.list[index-1]
	waited := f.waits
	if d.leaderless(f, nominal) {
		return
	}
	d.note(f, now, waited)
	f.fired++
	at := now
	if f.On == "" && f.Settled() && !f.Led {
		at = nominal // nobody waited to know
	}
	before := len(d.out)
	d.out = d.carryOut(d.out, f, at)
	after := len(d.out)
	if after == before {
		d.faults.skipped++
	}
	for i := before; i < after; i++ {
		d.expect(d.out[i].At)
	}
	if f.Led && after > before {
		d.struck = d.out[before].Node
	}
	if f.Again() && f.goesOn() {
		next := nominal + f.gap(d.setup.Seed)
		if waited {
			next += now - nominal
		}
		d.out = append(d.out, Instruction{At: next, Do: fault.Strike, Fault: index})
		if f.Times > 0 {
			d.expect(next)
		}
	}
}

// expect keeps the scenario from ending before the instant at.
func (d *Coordinator) expect(at time.Duration) {
	if at <= d.last {
		return
	}
	d.last = at
	if d.setup.Alg.Spec.Perpetual && d.setup.Alg.Problem == algo.Election {
		d.out = append(d.out, Instruction{At: at, Do: fault.Strike})
	}
}

// triggered lets happen what has waited for r.
func (d *Coordinator) triggered(r *trace.Record) {
	for i := range d.faults.list {
		f := &d.faults.list[i]
		if f.On == "" || f.armed >= max(f.Times, 1) || !fault.Triggers.Named(f.On).Pulled(r, f.kind) {
			continue
		}
		if f.seen++; f.seen < max(f.Count, 1) || r.At < f.At {
			continue
		}
		f.armed++
		if f.Wait > 0 {
			d.out = append(d.out, Instruction{At: r.At + f.Wait, Do: fault.Strike, Fault: i + 1})
			d.expect(r.At + f.Wait)
			continue
		}
		d.strike(r.At, r.At, i+1)
	}
}

// track notes which processes are up, inside or leading.
func (d *Coordinator) track(r *trace.Record) {
	f, p := &d.faults, r.Process
	switch r.Type {
	case trace.Elected:
		if r.Process == r.Peer {
			f.declared = algo.ID(p)
		}
	case trace.Granted:
		f.inside[p-1] = true
	case trace.Released:
		f.inside[p-1] = false
	case trace.Crash:
		f.inside[p-1], f.paused[p-1] = false, false
	case trace.Pause:
		f.paused[p-1] = true
	case trace.Resume:
		f.paused[p-1] = false
	case trace.Deliver:
		if d.setup.Alg.Spec.Token != "" && r.Kind == d.setup.kind(d.setup.Alg.Spec.Token) {
			f.holder = algo.ID(p)
		}
	}
}

// carryOut appends the instructions of an event at the instant at, and those that undo
// it.
func (d *Coordinator) carryOut(out []Instruction, f *occasion, at time.Duration) []Instruction {
	before := len(out)
	d.present = situation{d, f}
	out = f.Instructions(out, &d.present, at)
	for i := range out[before:] {
		if out[before+i].Do == DoRequest {
			d.asked++
		}
		if _, is := fault.DiskOf(&out[before+i]); is {
			d.faults.disks = append(d.faults.disks, out[before+i])
		}
	}
	return out
}

// Abort has p, which cannot go on after a write that failed, end now and start again when its disk is well.
func (d *Coordinator) Abort(p algo.ID, now time.Duration) []Instruction {
	out := []Instruction{{At: now, Do: DoCrash, Node: p}}
	for _, i := range d.faults.disks {
		if i.Node == p && i.At > now && i.Undo {
			return append(out, Instruction{At: i.At, Do: DoRestart, Node: p})
		}
	}
	return out
}

// Mounted is what is wrong with the disk of p, which starts again at now; nil: nothing.
func (d *Coordinator) Mounted(p algo.ID, now time.Duration) (last *Instruction) {
	for k := range d.faults.disks {
		if i := &d.faults.disks[k]; i.Node == p && i.At <= now && (last == nil || i.At >= last.At) {
			last = i
		}
	}
	if last == nil || last.Undo {
		return nil
	}
	return last
}

// A situation is the coordinator as the strike of an event sees it.
type situation struct {
	d *Coordinator
	f *occasion
}

func (s *situation) Peers() []algo.ID      { return s.d.setup.Graph.Peers() }
func (s *situation) Servers() int          { return s.d.setup.Servers }
func (s *situation) Up(p algo.ID) bool     { return s.d.up[p-1] }
func (s *situation) Paused(p algo.ID) bool { return s.d.faults.paused[p-1] }
func (s *situation) Inside(p algo.ID) bool { return s.d.faults.inside[p-1] }
func (s *situation) Holder() algo.ID       { return s.d.faults.holder }

// Leader is the process that leads; where a trigger has pulled, see Coordinator.claimant.
func (s *situation) Leader() algo.ID {
	if s.d.reign == nil || s.f.On != "" {
		return s.d.claimant()
	}
	return s.d.reign.leader
}

// Dice is the random source of the present strike.
func (s *situation) Dice() *rand.Rand {
	seed := Derive(s.d.setup.Seed, "who", uint64(s.f.index), uint64(s.f.fired))
	return rand.New(rand.NewPCG(seed, seed))
}

// claimant is the live process that last named itself leader, whether it leads or not; if
// there is none, the one that most live processes name.
func (d *Coordinator) claimant() algo.ID {
	if p := d.faults.declared; p != algo.None && d.up[p-1] && d.beliefs[p-1] == p {
		return p
	}
	votes, best := make([]int, d.setup.Nodes+1), algo.None
	for i, p := range d.beliefs {
		if d.up[i] && p != algo.None && int(p) <= d.setup.Nodes && d.up[p-1] {
			if votes[p]++; votes[p] > votes[best] {
				best = p
			}
		}
	}
	return best
}

// breakdowns are the crashes that come at a rate, and the returns from them: a
// Poisson process of all processes together, from which those arrivals are left
// out that would hit a process that is down, or one too many. So each live process
// crashes at the rate.
func (d *Coordinator) breakdowns() (out []Instruction) {
	s := d.setup
	rate := s.Faults.CrashRate * float64(s.Nodes)
	if rate <= 0 {
		return nil
	}
	horizon := s.TimeLimit
	if s.lasts > 0 && s.plot.Happens(&s.Plan, 0) == nil {
		horizon = s.lasts
	}
	most := s.Faults.Most(s.Nodes)
	seed := Derive(s.Seed, "breakdowns")
	rng := rand.New(rand.NewPCG(seed, seed))
	until := make([]time.Duration, s.Nodes) // when each is up again
	for _, p := range s.Crashed {
		until[p-1] = math.MaxInt64
	}
	for at := 0.0; ; {
		at += rng.ExpFloat64() / rate
		now := time.Duration(at * float64(time.Second))
		if now >= horizon || len(out) >= maxBreakdowns {
			return out
		}
		p, u := rng.IntN(s.Nodes), rng.Uint64()
		down := 0
		for _, back := range until {
			if back > now {
				down++
			}
		}
		if until[p] > now || down >= most {
			continue
		}
		until[p] = math.MaxInt64
		out = append(out, Instruction{At: now, Do: DoCrash, Node: algo.ID(p + 1)})
		if s.Faults.Downtime.Law == nil {
			continue
		}
		until[p] = now + max(s.Faults.Downtime.Draw(u), 1)
		if until[p] < horizon {
			out = append(out, Instruction{At: until[p], Do: DoRestart, Node: algo.ID(p + 1)})
		}
	}
}

// maxBreakdowns bounds a timeline.
const maxBreakdowns = 1 << 20

// Skipped is how many events have not happened by the end of the trial, though
// they were to happen at a certain instant, or once something else did.
func (d *Coordinator) Skipped(end time.Duration) int {
	skipped := d.faults.skipped
	for i := range d.faults.list {
		f := &d.faults.list[i]
		late := f.fired == 1 && !f.Again() && f.On == "" && f.At > end
		switch {
		case f.waits:
			skipped++
		case f.Led && f.fired == 0: // it was not to happen yet
		case f.After == "" && !isRule(f.Event) && (f.fired == 0 || late):
			skipped++
		}
	}
	return skipped
}

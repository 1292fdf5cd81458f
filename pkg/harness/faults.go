package harness

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// faults is what the coordinator knows of what goes wrong, and of whom that depends
// on.
type faults struct {
	list    []fault
	skipped int // times that there was nobody to whom it could happen

	paused   []bool // by ID - 1
	inside   []bool // in the critical section
	holder   algo.ID
	declared algo.ID // who last named itself leader

	watched [256]bool // types of records
	kinds   [256]bool // of messages, where their records are watched
}

type fault struct {
	Event
	index int           // its number among the coordinator's, from 1 on
	first time.Duration // again and again: the first instant
	kind  uint8         // of a message, if the event is about one
	seen  int           // triggers
	armed int           // of those, that led to a strike
	fired int
}

func (f *faults) init(s *Setup) {
	f.paused, f.inside = make([]bool, s.Nodes), make([]bool, s.Nodes)
	f.declared, f.holder = s.Leader, s.Holder
	if f.holder == algo.None {
		f.holder = s.Graph.Peers()[0]
	}
	for _, e := range s.Timeline() {
		switch e.On {
		case "granted":
			f.watched[trace.Granted] = true
		case "sent":
			f.watched[trace.Send] = true
			f.kinds[s.kind(e.Kind)] = true
		}
		switch e.Who {
		case "token-holder":
			f.watched[trace.Deliver] = true
			f.kinds[s.kind(s.Alg.Spec.Token)] = true
		case "in-critical-section":
			f.watched[trace.Granted], f.watched[trace.Released] = true, true
		}
	}
}

// kind is the index of the kind of messages of that name.
func (s *Setup) kind(name string) uint8 {
	return uint8(max(slices.Index(s.Alg.Codec.Kinds(), name), 0))
}

// WatchedKinds says of which kinds of messages the coordinator wants to be told, of
// the types that it Watches.
func (d *Coordinator) WatchedKinds() (kinds []uint8) {
	for k, watched := range d.faults.kinds {
		if watched {
			kinds = append(kinds, uint8(k))
		}
	}
	return kinds
}

// planned is what an event leads to before the start: what is settled then, at
// fixed instants, and a strike for what is not. What waits for something else
// leads to nothing yet.
func (d *Coordinator) planned(e Event) []Instruction {
	f := d.faults.add(e)
	f.kind = d.setup.kind(e.Kind)
	switch {
	case e.Do == DoDrop || e.On != "":
		return nil
	case e.Every == 0 && e.Rate == 0 && e.settled():
		f.fired = 1
		return d.carryOut(f, e.At)
	}
	f.first = e.At
	if f.first == 0 || e.Rate > 0 {
		f.first += f.gap(d.setup.Seed)
	}
	return []Instruction{{At: f.first, Do: doStrike, Fault: f.index}}
}

// add makes e one of the coordinator's events.
func (f *faults) add(e Event) *fault {
	f.list = append(f.list, fault{Event: e, index: len(f.list) + 1})
	return &f.list[len(f.list)-1]
}

// Foreseen is what will happen to links again and again, as far as it is known before
// the start, by the time limit: in the order of the instants. The coordinator still asks for
// each at its instant, but whoever knows of it need not wait to be told. The Timeline
// comes first.
func (d *Coordinator) Foreseen() (out []Instruction) {
	for _, f := range d.faults.list {
		if f.first == 0 || f.On != "" || !f.settled() || f.Do != DoCut && f.Do != DoHeal && f.Do != DoFlaky {
			continue
		}
		at := f.first
		for at <= d.setup.TimeLimit && f.goesOn() && f.fired < maxForeseen {
			f.fired++
			out = append(out, d.carryOut(&f, at)...)
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
func (f *fault) goesOn() bool { return f.Times == 0 || f.fired < f.Times }

// settled says whether it is known before the start whom the event happens to.
func (e *Event) settled() bool {
	switch e.Shape {
	case "halves", "ring", "random":
		return true
	case "bridge":
		return e.Who == ""
	case "isolate", "deaf", "mute":
		return e.Node != algo.None || len(e.Nodes) > 0
	case "majority", "minority":
		return false
	}
	return e.Who == "" && (e.Do != DoRestart || e.Node != algo.None || len(e.Nodes) > 0)
}

// gap is the time to the next strike.
func (f *fault) gap(seed uint64) time.Duration {
	if f.Rate == 0 {
		return f.Every
	}
	u := float64(Derive(seed, "fault", uint64(f.index), uint64(f.fired))) / (1 << 53)
	return time.Duration(-math.Log1p(-u) / f.Rate * float64(time.Second))
}

// Strike is the instant of an event that depends on what has happened by then.
func (d *Coordinator) Strike(now time.Duration, i Instruction) []Instruction {
	d.out = d.out[:0]
	if i.Fault == 0 { // it was to be seen whether all is over
		switch p := d.setup.Alg.Problem; {
		case !d.setup.Alg.Spec.Perpetual || !d.told(now):
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
	f.fired++
	at := now
	if f.On == "" && f.settled() {
		at = nominal // nobody waited to know
	}
	done := d.carryOut(f, at)
	if len(done) == 0 {
		d.faults.skipped++
	}
	d.out = append(d.out, done...)
	for _, i := range done {
		d.expect(i.At)
	}
	if (f.Every > 0 || f.Rate > 0) && f.goesOn() {
		next := nominal + f.gap(d.setup.Seed)
		d.out = append(d.out, Instruction{At: next, Do: doStrike, Fault: index})
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
		d.out = append(d.out, Instruction{At: at, Do: doStrike})
	}
}

// triggered lets happen what has waited for r.
func (d *Coordinator) triggered(r *trace.Record) {
	for i := range d.faults.list {
		f := &d.faults.list[i]
		switch {
		case f.On == "" || f.armed >= max(f.Times, 1):
			continue
		case f.On == "elected" && r.Type == trace.Elected && r.Process == r.Peer:
		case f.On == "granted" && r.Type == trace.Granted:
		case f.On == "sent" && r.Type == trace.Send && r.Plane == trace.Data && r.Kind == f.kind:
		default:
			continue
		}
		if f.seen++; f.seen < max(f.Count, 1) || r.At < f.At {
			continue
		}
		f.armed++
		if f.Wait > 0 {
			d.out = append(d.out, Instruction{At: r.At + f.Wait, Do: doStrike, Fault: i + 1})
			d.expect(r.At + f.Wait)
			continue
		}
		d.strike(r.At, r.At, i+1)
	}
}

// track notes who is where.
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

// carryOut is the instructions of an event at the instant at, and those that undo
// it.
func (d *Coordinator) carryOut(f *fault, at time.Duration) (out []Instruction) {
	undo := map[string]string{
		DoCrash: DoRestart, DoPause: DoResume, DoCut: DoHeal, DoSlow: DoSlow, DoFlaky: DoFlaky,
	}[f.Do]
	add := func(i Instruction) {
		i.At, i.Do = at, f.Do
		out = append(out, i)
		if f.For > 0 && undo != "" {
			i.At, i.Do, i.Override, i.By = at+f.For, undo, nil, 0
			out = append(out, i)
		}
	}
	switch f.Do {
	case DoCut, DoHeal:
		groups, links := f.Groups, f.Links
		if f.Shape != "" {
			if groups, links = d.divide(f); groups == nil && links == nil {
				return nil
			}
		}
		add(Instruction{Groups: groups, Links: links})
	case DoFlaky:
		s := link.Override{From: at, Links: d.links(f), Loss: f.Loss, Latency: f.Latency}
		if f.For > 0 {
			s.To = at + f.For
		}
		add(Instruction{Override: &s})
	case DoCrash, DoRestart, DoPause, DoResume, DoSlow:
		for _, p := range d.targets(f) {
			add(Instruction{Node: p, By: f.By})
		}
	default:
		of := f.Of
		if f.Target != algo.None {
			of = f.Target
		}
		for _, p := range d.targets(f) {
			add(Instruction{Node: p, Of: of})
			if f.Do == DoRequest {
				d.asked++
			}
		}
	}
	return out
}

// dice is the random source of the present strike of f.
func (d *Coordinator) dice(f *fault) *rand.Rand {
	seed := Derive(d.setup.Seed, "who", uint64(f.index), uint64(f.fired))
	return rand.New(rand.NewPCG(seed, seed))
}

// targets is whom the event happens to at present.
func (d *Coordinator) targets(f *fault) []algo.ID {
	who := f.Who
	switch {
	case f.Node != algo.None:
		return []algo.ID{f.Node}
	case len(f.Nodes) > 0:
		return f.Nodes
	case who == "" && f.Do == DoRestart:
		who = "all-crashed"
	case who == "" && f.Do == DoResume:
		who = "all"
	}
	peers := d.setup.Graph.Peers()
	half := len(peers) / 2
	switch who {
	case "random":
		live := d.which(func(p algo.ID) bool { return d.up[p-1] && !d.faults.paused[p-1] })
		if len(live) == 0 {
			return nil
		}
		return []algo.ID{live[d.dice(f).IntN(len(live))]}
	case "leader":
		return present(d.leader())
	case "token-holder":
		return present(d.faults.holder)
	case "in-critical-section":
		return d.which(func(p algo.ID) bool { return d.faults.inside[p-1] })
	case "successor-of-leader":
		return present(d.successor())
	case "majority":
		return d.some(f, half+1)
	case "minority":
		return d.some(f, (len(peers)-1)/2)
	case "all-crashed":
		return d.which(func(p algo.ID) bool { return !d.up[p-1] })
	}
	return peers
}

func present(p algo.ID) []algo.ID {
	if p == algo.None {
		return nil
	}
	return []algo.ID{p}
}

func (d *Coordinator) which(is func(p algo.ID) bool) (out []algo.ID) {
	for _, p := range d.setup.Graph.Peers() {
		if is(p) {
			out = append(out, p)
		}
	}
	return out
}

// some is k processes drawn at random, those of first among them.
func (d *Coordinator) some(f *fault, k int, first ...algo.ID) []algo.ID {
	peers := d.setup.Graph.Peers()
	out := slices.Clone(first)
	for _, i := range d.dice(f).Perm(len(peers)) {
		if len(out) < k && !slices.Contains(out, peers[i]) {
			out = append(out, peers[i])
		}
	}
	slices.Sort(out)
	return out
}

// leader is the live process that last named itself leader; if there is none, the
// one that most live processes name.
func (d *Coordinator) leader() algo.ID {
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

// successor is the next lower live process; from the lowest on the highest.
func (d *Coordinator) successor() algo.ID {
	n := algo.ID(d.setup.Nodes)
	leader := d.leader()
	if leader == algo.None {
		return algo.None
	}
	for k := range n - 1 {
		if p := (leader+n-2-k)%n + 1; d.up[p-1] {
			return p
		}
	}
	return algo.None
}

// links are those that a flaky event is about; nil: all.
func (d *Coordinator) links(f *fault) (out [][2]uint32) {
	if len(f.Links) > 0 {
		return f.Links
	}
	if f.Node == algo.None && len(f.Nodes) == 0 && f.Who == "" {
		return nil
	}
	chosen := d.targets(f)
	for _, p := range d.setup.Graph.Peers() {
		for _, q := range chosen {
			if p != q {
				out = append(out, [2]uint32{uint32(p), uint32(q)})
				if !slices.Contains(chosen, p) {
					out = append(out, [2]uint32{uint32(q), uint32(p)})
				}
			}
		}
	}
	return out
}

// divide is the sides, or the links, of a partition of the event's shape. Both nil:
// it cannot be made now.
func (d *Coordinator) divide(f *fault) (groups [][]uint32, links [][2]uint32) {
	peers := d.setup.Graph.Peers()
	n := len(peers)
	switch f.Shape {
	case "halves":
		return [][]uint32{numbers(peers[:n/2])}, nil
	case "random":
		rng := d.dice(f)
		return [][]uint32{numbers(d.some(f, 1+rng.IntN(max(n-1, 1))))}, nil
	case "majority", "minority":
		size := n/2 + 1
		if f.Shape == "minority" {
			size = (n - 1) / 2
		}
		leader := d.leader()
		if leader == algo.None || size == 0 {
			return nil, nil
		}
		return [][]uint32{numbers(d.some(f, size, leader))}, nil
	case "ring":
		return nil, majorities(n)
	case "bridge":
		return nil, bridge(peers, d.bridges(f))
	}
	who := []algo.ID{d.leader()}
	if f.Node != algo.None || len(f.Nodes) > 0 || f.Who != "" {
		who = d.targets(f)
	}
	if len(who) == 0 || who[0] == algo.None {
		return nil, nil
	}
	if f.Shape == "isolate" {
		for _, p := range who {
			groups = append(groups, []uint32{uint32(p)})
		}
		return groups, nil
	}
	for _, p := range peers {
		for _, q := range who {
			switch {
			case p == q:
			case f.Shape == "deaf":
				links = append(links, [2]uint32{uint32(p), uint32(q)})
			default:
				links = append(links, [2]uint32{uint32(q), uint32(p)})
			}
		}
	}
	return nil, links
}

// bridges is who stays on both sides of a bridge: the middle process, unless the
// event says otherwise.
func (d *Coordinator) bridges(f *fault) []algo.ID {
	if f.Node == algo.None && len(f.Nodes) == 0 && f.Who == "" {
		peers := d.setup.Graph.Peers()
		return peers[len(peers)/2 : len(peers)/2+1]
	}
	return d.targets(f)
}

func numbers(ids []algo.ID) []uint32 {
	out := make([]uint32, len(ids))
	for i, p := range ids {
		out[i] = uint32(p)
	}
	return out
}

// bridge is the links between the lower and the upper half, but for those of
// middle.
func bridge(peers, middle []algo.ID) (links [][2]uint32) {
	rest := slices.DeleteFunc(slices.Clone(peers), func(p algo.ID) bool { return slices.Contains(middle, p) })
	for _, p := range rest[:len(rest)/2] {
		for _, q := range rest[len(rest)/2:] {
			links = append(links, [2]uint32{uint32(p), uint32(q)}, [2]uint32{uint32(q), uint32(p)})
		}
	}
	return links
}

// majorities is the links that are cut where each process sees itself and its
// nearest by number on both sides of a circle, a majority in all.
func majorities(n int) (links [][2]uint32) {
	reach := (n/2 + 1) / 2
	for p := range n {
		for q := range n {
			if apart := min((p-q+n)%n, (q-p+n)%n); apart > reach {
				links = append(links, [2]uint32{uint32(p + 1), uint32(q + 1)})
			}
		}
	}
	return links
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
	if s.Scenario.Duration > 0 && !s.scenario.Cuts {
		horizon = s.Scenario.Duration
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
		if s.Faults.Downtime.Distribution == "" {
			continue
		}
		until[p] = now + max(s.Faults.Downtime.Draw(u), 1)
		if until[p] < horizon {
			out = append(out, Instruction{At: until[p], Do: DoRestart, Node: algo.ID(p + 1)})
		}
	}
}

// Most is how many of n processes may be down at once by the rate of crashes.
func (f *Faults) Most(n int) int {
	if f.MaxDown > 0 {
		return f.MaxDown
	}
	return (n - 1) / 2
}

// maxBreakdowns bounds a timeline.
const maxBreakdowns = 1 << 20

// Skipped is how many events have not happened by the end of the trial, though
// they were to happen at a certain instant, or once something else did.
func (d *Coordinator) Skipped(end time.Duration) int {
	skipped := d.faults.skipped
	for i := range d.faults.list {
		f := &d.faults.list[i]
		late := f.fired == 1 && f.Every == 0 && f.Rate == 0 && f.On == "" && f.At > end
		if f.After == "" && f.Do != DoDrop && (f.fired == 0 || late) {
			skipped++
		}
	}
	return skipped
}

// LongestPause is the longest that a process is to be paused; where it is never to
// resume, the time limit.
func (p *Plan) LongestPause() (longest time.Duration) {
	for _, e := range p.Timeline() {
		switch {
		case e.Do != DoPause:
		case e.For > 0:
			longest = max(longest, e.For)
		default:
			longest = p.TimeLimit
		}
	}
	return longest
}

// An Omission is a rule by which certain messages are lost: the First-th to the
// Last-th that fits.
type Omission struct {
	Kind        uint8
	Senders     []algo.ID // nil: all
	At          time.Duration
	First, Last uint64
}

// Omissions are the rules of the plan's drop events. Whoever executes it counts the
// messages that fit each, of all processes together.
func (s *Setup) Omissions() (out []Omission) {
	for _, e := range s.Timeline() {
		if e.Do != DoDrop {
			continue
		}
		o := Omission{Kind: s.kind(e.Kind), Senders: e.Nodes, At: e.At, First: uint64(max(e.Count, 1))}
		if e.Node != algo.None {
			o.Senders = []algo.ID{e.Node}
		}
		o.Last = o.First + uint64(max(e.Times, 1)) - 1
		out = append(out, o)
	}
	return out
}

// Fits says whether the rule counts the message.
func (o *Omission) Fits(from algo.ID, plane, kind uint8, sent time.Duration) bool {
	return plane == trace.Data && kind == o.Kind && sent >= o.At &&
		(len(o.Senders) == 0 || slices.Contains(o.Senders, from))
}

// Loses says whether the k-th message that fits is lost.
func (o *Omission) Loses(k uint64) bool { return k >= o.First && k <= o.Last }

// Missed is how many messages the rule was to lose and did not, if so many have
// fitted it.
func (o *Omission) Missed(fitted uint64) int {
	return int(o.Last - max(min(fitted, o.Last), o.First-1))
}

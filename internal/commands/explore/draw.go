package explore

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A maker makes schedules of one algorithm. What it makes follows from its source.
type maker struct {
	alg     *algo.Algorithm
	options *Options
	rng     *rand.Rand
	classes classes // of pick, to be used again
}

// Draw is a random schedule of an algorithm, within the bounds of the options. What is drawn
// follows from the source.
func Draw(alg *algo.Algorithm, options *Options, rng *rand.Rand) *Schedule {
	return (&maker{alg: alg, options: options, rng: rng}).draw()
}

// chance is true once in so many times.
func (m *maker) chance(in int) bool { return m.rng.IntN(in) == 0 }

func pick[T any](m *maker, list ...T) T { return list[m.rng.IntN(len(list))] }

// may says whether schedules may do what a fault model survives, or not.
func (m *maker) may(survived bool) bool {
	return m.options.Faults == All || survived && m.options.Faults == Survived
}

// asynchronous says whether processes and links may be as slow as they like.
func (m *maker) asynchronous() bool {
	return m.may(m.alg.Spec.Needs.Synchrony != algo.Synchronous)
}

// draw makes a random schedule, in which anything may fall together.
func (m *maker) draw() *Schedule {
	s := &Schedule{
		Algorithm: m.alg, Params: m.options.Params, Nodes: m.nodes(), Shape: m.shape(),
		Seed: m.rng.Uint64N(1 << 32), // short enough to be copied by hand
	}
	m.order(s)
	d, loaded := m.options.Latency, m.alg.Problem == algo.MutualExclusion && m.chance(lulls)
	switch {
	case d > 0:
	case loaded:
		d = slow
	default:
		d = time.Millisecond * pick[time.Duration](m, 1, 2, 5, 10, 20, 50)
	}
	s.Latency = m.latency(d)
	s.Unordered = m.may(!m.alg.Spec.Needs.FIFO) && m.chance(2)
	if m.may(m.alg.Spec.Survives.Duplication) && m.chance(3) {
		s.Duplication = pick(m, 0.05, 0.2)
	}
	m.detector(s, d)
	t := &timing{maker: m, grid: d / 4, end: d*time.Duration(s.Nodes) + s.unit()*time.Duration(m.rng.IntN(6))}
	switch {
	case m.alg.Problem == algo.Election:
		m.elections(s, t)
	case loaded:
		m.load(s, t)
	default:
		m.entries(s, t)
	}
	m.crashes(s, t)
	s.Events = append(s.Events, m.dice(s, t.at, t.some).Swarm()...) // all of it passes
	if !s.asks() {                                                  // a process that is up tries it last
		s.Events = append(s.Events, harness.Event{At: s.last(), Do: harness.DoElect, Node: s.survivor()})
	}
	m.patient(s)
	s.tidy()
	return s
}

// timing draws the instants of one schedule: on a grid, so that some coincide.
type timing struct {
	*maker
	grid, end time.Duration
}

func (t *timing) at() time.Duration {
	if t.chance(4) {
		return 0
	}
	return t.grid * time.Duration(t.rng.Int64N(int64(t.end/t.grid)+1))
}

func (t *timing) some() time.Duration { return t.at() + t.grid }

func (m *maker) nodes() int {
	if list := m.options.Nodes; len(list) > 0 {
		return list[m.rng.IntN(len(list))]
	}
	for range 1000 {
		n := 2 + m.rng.IntN(4)
		if m.chance(4) {
			n = 6 + m.rng.IntN(4)
		}
		if needs := m.alg.Spec.Needs.Nodes; needs == nil || needs(n) == nil {
			return n
		}
	}
	return 3
}

// AnyShape draws a connected graph with links in both directions: dense, thin, or regular.
func AnyShape(rng *rand.Rand) algo.Shape {
	shapes := []algo.Shape{
		{Kind: "random"}, {Kind: "random", Degree: 2.5}, {Kind: "random", Degree: 8}, {Kind: "complete"},
		{Kind: "bidirectional-ring"}, {Kind: "grid"}, {Kind: "tree", Tree: "random"},
	}
	return shapes[rng.IntN(len(shapes))]
}

func (m *maker) shape() algo.Shape {
	needs := m.alg.Spec.Needs.Topology
	s := algo.DefaultShape(needs)
	if needs.Arbitrary() {
		weighing := s.Weighing
		s = AnyShape(m.rng)
		s.Weighing = weighing
	}
	if s.Kind == "tree" {
		s.Tree = pick(m, "path", "star", "binary", "random")
	}
	return s
}

// order draws the order of IDs around a ring, where it may cost: nothing that breaks a promise is known
// to depend on it.
func (m *maker) order(s *Schedule) {
	rings := []algo.Topology{algo.LogicalRing, algo.Ring, algo.BidirectionalRing}
	if m.options.Maximise == nil || !slices.Contains(rings, m.alg.Spec.Needs.Topology) {
		return
	}
	for _, p := range m.rng.Perm(s.Nodes) {
		s.Shape.Order = append(s.Shape.Order, algo.ID(p+1))
	}
}

// latency is at most d where somebody relies on that: all alike, or as different
// as a hundred to one, most of them or few.
func (m *maker) latency(d time.Duration) link.Latency {
	switch {
	case m.chance(4):
		return link.Constant(d)
	case m.chance(3):
		return link.Latency{Law: &link.Quantiles{Values: []time.Duration{d / 100, d / 20, d / 10, d}}}
	case m.asynchronous() && m.chance(3):
		return link.Latency{Law: &link.Exponential{Mean: d / 4}}
	}
	return link.Uniform(d/100, d)
}

// detector is one that the algorithm can do with: heartbeats where the living may
// be suspected as well, if only for a while.
func (m *maker) detector(s *Schedule, d time.Duration) {
	needs := m.alg.Spec.Needs.Detector
	switch {
	case needs == algo.NoDetector:
		s.Detector = harness.NoDetector()
	case needs == algo.EventuallyPerfect && (m.may(m.alg.Spec.Survives.Partition) || m.chance(4)):
		s.Detector = harness.HeartbeatDetector(2*d, 4*d)
	default:
		s.Detector = harness.PerfectDetector(pick(m, 0, d, 5*d))
	}
}

// elections draws who starts one, and when; a leader may have been settled before.
func (m *maker) elections(s *Schedule, t *timing) {
	n := s.Nodes
	if m.timed(n, s) || m.alg.Spec.Needs.Detector != algo.NoDetector && m.chance(2) {
		s.Leader = algo.ID(n)
	}
	initiators := m.rng.IntN(n + 1)
	if s.Leader == algo.None {
		initiators = max(initiators, 1)
	}
	for range initiators {
		s.Events = append(s.Events, harness.Event{At: t.at(), Do: harness.DoElect, Node: m.process(s)})
	}
}

// session is the argument of a request that names a session: one in two does, where requests may.
func (m *maker) session() fault.Args {
	if m.alg.Spec.Admits.Sessions == "" || m.chance(2) {
		return fault.Args{}
	}
	return fault.Args{Own: &fault.Requesting{Session: 1 + m.rng.IntN(3)}}
}

// entries draws who asks for the critical section, and when; now and then so
// often that it could starve somebody.
func (m *maker) entries(s *Schedule, t *timing) {
	s.Holder = pick(m, algo.None, m.process(s))
	d := s.network().Latency
	s.Hold = pick(m, link.Constant(d/2), link.Constant(d), link.Constant(3*d), link.Uniform(0, d),
		link.Constant(s.unit()/2))
	requests := s.Nodes * (1 + m.rng.IntN(4))
	if m.chance(8) {
		requests = s.Nodes * 8
	}
	for range requests {
		s.Events = append(s.Events,
			harness.Event{At: t.at(), Do: harness.DoRequest, Node: m.process(s), Args: m.session()})
	}
}

func (m *maker) process(s *Schedule) algo.ID { return algo.ID(1 + m.rng.IntN(s.Nodes)) }

// crashes draws who crashes and who comes back.
func (m *maker) crashes(s *Schedule, t *timing) {
	most := 0
	if m.options.Faults != None {
		most = min(m.alg.Spec.Survives.CrashesOf(s.Nodes, s.params()), s.Nodes-1)
	}
	if m.options.Faults == All {
		most = s.Nodes - 1
	}
	if most <= 0 {
		return
	}
	// Where all but one may be down, they may go down in any order anyway.
	if most < s.Nodes-1 && m.may(m.alg.Spec.Survives.Recovery) && m.chance(2) {
		m.roll(s, t, most)
		return
	}
	anchor := m.alg.Spec.Survives.AnchorOf(s.params())
	victims := m.rng.Perm(s.Nodes)[:m.rng.IntN(most+1)]
	if len(victims) > 0 && s.Leader != algo.None && !slices.Contains(victims, s.Nodes-1) {
		victims[0] = s.Nodes - 1 // so that there is something to elect for
	}
	for _, v := range victims {
		if m.options.Faults == Crashes && algo.ID(v+1) == anchor { // it would have to come back
			continue
		}
		d := m.dice(s, t.at, t.some)
		d.Process = func() algo.ID { return algo.ID(v + 1) }
		for range 1 + m.rng.IntN(2) {
			e := d.Of(fault.Named(fault.Crash))
			if e.For == 0 && m.options.Faults != All && algo.ID(v+1) == anchor {
				e.For = t.some()
			}
			s.Events = append(s.Events, e)
			if e.For == 0 {
				break
			}
		}
	}
}

// roll draws restarts of one process after the other, of which at most so many are down at once: each
// of the first few in a random order begins a row, and in a row each goes down after the one
// before it is up again.
func (m *maker) roll(s *Schedule, t *timing, most int) {
	order, next := m.rng.Perm(s.Nodes), make([]time.Duration, 1+m.rng.IntN(most))
	begin := t.at()
	if m.alg.Problem == algo.Election && m.may(m.alg.Spec.Survives.Partition) && m.chance(2) {
		begin = m.secede(s, t, algo.ID(order[len(order)-1]+1))
		order = order[:len(order)-1]
	}
	for i := range next {
		next[i] = begin + m.pauses(t)
	}
	for i, v := range order[:1+m.rng.IntN(len(order))] {
		at := &next[i%len(next)]
		e := harness.Event{At: *at, Do: harness.DoCrash, Node: algo.ID(v + 1), For: m.pauses(t)}
		s.Events = append(s.Events, e)
		*at += e.For + m.pauses(t)
	}
}

// pauses is a short time, of the length of a message or of a few.
func (m *maker) pauses(t *timing) time.Duration { return t.grid * time.Duration(1+m.rng.IntN(8)) }

// secede has process p hear nothing of an election that another begins, until it begins one of its
// own: what the others forget in between, it cannot know. It returns when the first is over, about.
func (m *maker) secede(s *Schedule, t *timing, p algo.ID) time.Duration {
	begin := t.at()
	other := algo.ID(1 + m.rng.IntN(s.Nodes-1))
	if other >= p {
		other++
	}
	lasts := t.grid * time.Duration(8+m.rng.IntN(16*s.Nodes))
	cut := harness.Event{At: begin, Do: harness.DoCut, For: lasts}
	if m.chance(2) {
		cut.Groups = [][]uint32{{uint32(p)}}
	} else {
		cut.Links = [][2]uint32{{uint32(other), uint32(p)}}
	}
	s.Events = append(s.Events, cut,
		harness.Event{At: begin, Do: harness.DoElect, Node: other},
		harness.Event{At: begin + lasts, Do: harness.DoElect, Node: p})
	return begin + 8*t.grid
}

// dice draws faults for s, and none that the algorithm does not survive, unless all may
// happen.
func (m *maker) dice(s *Schedule, at, span func() time.Duration) *fault.Draw {
	d := &fault.Draw{
		Rand: m.rng, Nodes: s.Nodes, Latency: s.network().Latency, Unit: s.unit(),
		At: at, Span: span, Process: func() algo.ID { return m.process(s) },
	}
	survives := &m.alg.Spec.Survives
	allow := func(may bool, what fault.Assumption) {
		if may {
			d.Allowed |= what
		}
	}
	allow(m.may(survives.Loss), fault.Loss)
	allow(m.may(survives.Partition), fault.Partition)
	allow(m.may(survives.Recovery), fault.Recovery)
	allow(m.asynchronous(), fault.LinkDelay|fault.Speed|fault.ClockRates|fault.ClockReads)
	return d
}

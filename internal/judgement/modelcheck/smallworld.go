package modelcheck

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// A frame is what all states of one search have in common.
type frame struct {
	setup  *harness.Setup
	scope  Scope
	room   algo.Room
	n      int
	config []algo.Config // by ID - 1
	free   bool          // timers expire at any point, by clocks of their own
	buf    algo.Buffer
	print  print

	monitors bool // processes listen to a failure detector
	timed    bool // and set timers
}

func newFrame(id string, scope Scope) (*frame, error) {
	if scope.Nodes < 1 || scope.Nodes > 8 || len(scope.Requests) > scope.Nodes {
		return nil, errors.New("a small system has 1 to 8 processes, and requests of these alone")
	}
	p, err := trial.Plan(id, scope.Nodes, harness.Scenario{Plot: &harness.Script{}}, scope.Params)
	if err != nil {
		return nil, err
	}
	p.Leader, p.Crashed, p.Seed = scope.Leader, scope.Crashed, p.Seed+scope.Seed
	setup, err := p.Setup()
	if err != nil {
		return nil, err
	}
	if needs := setup.Alg.Spec.Needs.Nodes; needs != nil {
		if err := needs(scope.Nodes); err != nil {
			return nil, err
		}
	}
	mutex := setup.Alg.Problem == algo.MutualExclusion
	if mutex != (scope.Requests != nil) || mutex == (scope.Initiators != nil) {
		return nil, errors.New("requests are for mutual exclusion, initiators for elections")
	}
	f := &frame{
		setup: setup, scope: scope, n: scope.Nodes, room: setup.Alg.Spec.Room(setup.Params),
		free: setup.Alg.Spec.Needs.Synchrony != algo.Synchronous,
	}
	for k := range f.n {
		f.config = append(f.config, setup.Config(algo.ID(k+1), 0, nil))
	}
	first := f.process(0, nil)
	guard.Meet(first.Process(), setup.Algorithm)
	f.monitors, f.timed = first.Monitors(), first.Timed()
	first.End()
	return f, nil
}

// A small is one state of a small system. It is a value: what a copy shares with
// it is never modified, but made anew.
type small struct {
	*frame
	procs []local            // by ID - 1
	links [][]string         // encoded messages in flight; sorted where links keep no order
	terms map[uint64]algo.ID // the leader of each, as each said of itself
	fired int                // timers
	wrong error              // the promise that the last event broke
	// panicked: the algorithm's code is what broke.
	panicked bool
}

// A local is what there is at one process. The algorithm's part cannot be
// copied: it is made again from its past.
type local struct {
	up     bool
	past   *past
	state  fingerprint // of the algorithm's part
	clock  time.Duration
	timers trial.Alarms // the first to expire comes first

	todo    int // entries still to be asked for; elections still to be started
	waiting bool
	inside  bool

	leads leadership
	known []int // how many requests of each process happened before, where that matters
	asked []int // as many at the request that waits
}

// A past is the events of a process, the last one first.
type past struct {
	before *past
	now    time.Duration
	event  algo.Event
	body   string // of a message, encoded: it is decoded anew each time
}

type leadership struct {
	of   algo.ID
	term uint64
}

// A choice is one event that is possible in a state.
type choice struct {
	do    action
	who   uint8  // it happens to, by ID - 1
	which uint16 // of the messages in flight on its link, or of the timers
	from  uint8  // sender, by ID - 1, with the plane behind: see link
}

type action uint8

const (
	command action = iota // the next step of its application
	delivery
	expiry
)

func newSmall(f *frame) *small {
	w := &small{frame: f, procs: make([]local, f.n), links: make([][]string, 2*f.n*f.n)}
	for k := range w.procs {
		p, id := &w.procs[k], algo.ID(k+1)
		if p.up = !slices.Contains(f.scope.Crashed, id); !p.up {
			continue
		}
		p.leads.of = f.scope.Leader
		if k < len(f.scope.Requests) {
			p.todo = f.scope.Requests[k]
		}
		if slices.Contains(f.scope.Initiators, id) {
			p.todo = 1
		}
		if f.setup.Alg.Spec.Promises.RequestOrder {
			p.known = make([]int, f.n)
		}
	}
	for k := range w.procs {
		if w.procs[k].up && w.wrong == nil {
			w.feed(k, algo.Event{Type: algo.Start}, "")
		}
	}
	return w
}

// link is the place in links of those to k from a process and plane.
func (f *frame) link(from uint8, k int) int { return int(from)*f.n + k }

// choices are the events that are possible, in a fixed order. Held says that
// a timer is pending that would expire, but for the bound on their number.
func (w *small) choices() (out []choice, held bool) {
	flying := false
	for k := range w.procs {
		if p := &w.procs[k]; p.inside || p.todo > 0 && !p.waiting {
			out = append(out, choice{do: command, who: uint8(k)})
		}
		for from := range uint8(2 * w.n) {
			queue := w.links[w.link(from, k)]
			for at, m := range queue {
				flying = true
				if at > 0 && (w.setup.Alg.Spec.Needs.FIFO || m == queue[at-1]) {
					continue // not its turn yet, or the same again
				}
				out = append(out, choice{delivery, uint8(k), uint16(at), from})
			}
		}
	}
	if flying && !w.free {
		return out, false
	}
	for k := range w.procs {
		first := w.first(k)
		for at, a := range w.procs[k].timers {
			switch {
			case a.At > first:
			case w.scope.Timeouts > 0 && w.fired == w.scope.Timeouts:
				held = true
			default:
				out = append(out, choice{do: expiry, who: uint8(k), which: uint16(at)})
			}
		}
	}
	return out, held
}

// first is when the first timer expires: of process k by its own clock, or of all.
func (w *small) first(k int) time.Duration {
	first := time.Duration(-1)
	for i := range w.procs {
		if list := w.procs[i].timers; len(list) > 0 && (i == k || !w.free) &&
			(first < 0 || list[0].At < first) {
			first = list[0].At
		}
	}
	return first
}

// next is the state after c, and what happened.
func (w *small) next(c choice) (*small, Step) {
	v := *w
	v.procs, v.links = slices.Clone(w.procs), slices.Clone(w.links)
	k := int(c.who)
	p := &v.procs[k]
	var ev algo.Event
	var body string
	switch c.do {
	case command:
		ev = v.command(k)
	case delivery:
		queue := &v.links[v.link(c.from, k)]
		body = (*queue)[c.which]
		*queue = slices.Delete(slices.Clone(*queue), int(c.which), int(c.which)+1)
		body = v.learn(p, body)
		ev = algo.Event{Type: algo.Receive, Peer: algo.ID(int(c.from)%v.n + 1)}
	case expiry:
		a := p.timers[c.which]
		ev = algo.Event{Type: algo.Timeout, Timer: a.Name}
		p.timers = p.timers.Without(int(c.which))
		v.fired++
		for i := range v.procs {
			if i == k || !v.free { // otherwise there is one time for all
				v.procs[i].clock = max(v.procs[i].clock, a.At)
			}
		}
	}
	effects := v.feed(k, ev, body)
	return &v, Step{Process: algo.ID(k + 1), Event: v.decoded(ev, body), Effects: effects}
}

// command is what the application of process k does next.
func (w *small) command(k int) algo.Event {
	p := &w.procs[k]
	if p.inside {
		p.inside = false
		return algo.Event{Type: algo.Release}
	}
	p.todo--
	switch {
	case w.setup.Alg.Problem == algo.MutualExclusion:
		p.waiting = true
		if p.known != nil {
			p.known = slices.Clone(p.known)
			p.known[k]++
			p.asked = p.known
		}
		return algo.Event{Type: algo.Request, Session: w.session(k)}
	case w.monitors && slices.Contains(w.scope.Crashed, w.scope.Leader):
		return algo.Event{Type: algo.Suspect, Peer: w.scope.Leader}
	}
	return algo.Event{Type: algo.Elect}
}

// learn takes what the sender of a message knew of requests, where that matters,
// and leaves the message.
func (w *small) learn(p *local, body string) string {
	if p.known == nil {
		return body
	}
	p.known = slices.Clone(p.known)
	for i := range p.known {
		p.known[i] = max(p.known[i], int(body[i]))
	}
	return body[w.n:]
}

// process makes the algorithm's part of process k again.
func (f *frame) process(k int, p *past) *algo.Stepper {
	var events []*past
	for ; p != nil; p = p.before {
		events = append(events, p)
	}
	seed := harness.Derive(f.setup.Seed, "exhaustive", uint64(k+1))
	s := algo.NewStepper(f.setup.Alg, f.config[k], seed, &f.buf)
	for _, e := range slices.Backward(events) {
		s.Step(e.now, f.decoded(e.event, e.body))
	}
	return s
}

// decoded is ev with its message.
func (f *frame) decoded(ev algo.Event, body string) algo.Event {
	if ev.Type == algo.Receive {
		m, _, err := f.setup.Alg.Codec.Decode([]byte(body))
		if err != nil {
			panic(err)
		}
		ev.Msg = m
	}
	return ev
}

// feed hands an event to process k and carries out what it asks for.
func (w *small) feed(k int, ev algo.Event, body string) (effects []algo.Effect) {
	defer func() {
		if r := recover(); r != nil {
			w.wrong, w.panicked = fmt.Errorf("p%d panics: %s", k+1, harness.Panicked(r)), true
		}
	}()
	p := &w.procs[k]
	s := w.process(k, p.past)
	defer s.End()
	p.past = &past{p.past, p.clock, ev, body}
	effects = s.Step(p.clock, w.decoded(ev, body))
	for i := range effects {
		e := &effects[i]
		switch e.Op {
		case algo.OpSend:
			w.send(k, int(e.Peer)-1, e.Msg)
		case algo.OpSetTimer:
			p.timers = p.timers.Set(e.Timer, p.clock+e.After)
		case algo.OpCancelTimer:
			p.timers = p.timers.Cancel(e.Timer)
		case algo.OpGranted:
			w.granted(k)
		case algo.OpElected:
			w.elected(k, leadership{e.Peer, e.Term})
		}
	}
	if err := s.Invariant(); err != nil {
		w.broken("p%d: invariant: %w", k+1, err)
	}
	w.print.b = w.print.b[:0]
	w.print.add(s.Process())
	w.print.add(s.Source())
	p.state = w.print.sum()
	return effects
}

func (w *small) send(k, to int, m algo.Message) {
	codec := w.setup.Alg.Codec
	kind, ok := codec.KindOf(m)
	if !ok {
		panic(m.Kind() + " is not declared in the Spec")
	}
	if !w.procs[to].up {
		return
	}
	var b []byte
	for _, n := range w.procs[k].known {
		b = append(b, byte(n))
	}
	from := uint8(k)
	if w.setup.Alg.Auxiliary(kind) { // another plane: no order between the two
		from += uint8(w.n)
	}
	queue := &w.links[w.link(from, to)]
	*queue = append(slices.Clip(*queue), string(codec.Append(b, kind, m)))
	if !w.setup.Alg.Spec.Needs.FIFO {
		slices.Sort(*queue)
	}
}

func (w *small) broken(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

// session is what process k asks for, always.
func (f *frame) session(k int) algo.Session { return f.setup.Session(algo.ID(k+1), 0, 0) }

func (w *small) granted(k int) {
	p := &w.procs[k]
	if !p.waiting {
		w.broken("p%d granted without a request", k+1)
		return
	}
	door := w.room.Door(w.session(k))
	for i := range w.procs {
		other := &w.procs[i]
		switch {
		case other.inside:
			if door.Bars(w.session(i)) {
				w.broken("p%d granted while p%d is inside", k+1, i+1)
			}
		case i != k && p.known != nil && other.waiting && p.asked[i] == other.known[i]:
			w.broken("p%d granted before p%d, whose request happened before", k+1, i+1)
		}
	}
	p.waiting, p.inside, p.asked = false, true, nil
}

func (w *small) elected(k int, l leadership) {
	if l.of == algo.None {
		l.term = 0 // in which it stands: that leads to nothing
	}
	w.procs[k].leads = l
	own := algo.ID(k + 1)
	switch {
	case int(l.of) > w.n:
		w.broken("p%d names p%d, which does not exist", own, l.of)
	case l.of != own:
	case w.setup.Alg.Spec.Promises.Leadership == algo.AtMostOne:
		for i := range w.procs {
			if other := &w.procs[i]; i != k && other.up && other.leads.of == algo.ID(i+1) {
				w.broken("p%d and p%d both lead", own, i+1)
			}
		}
	case w.setup.Alg.Spec.Promises.Leadership == algo.PerTerm:
		if before := w.terms[l.term]; before != algo.None && before != own {
			w.broken("p%d leads term %d, which p%d led", own, l.term, before)
		}
		terms := map[uint64]algo.ID{l.term: own}
		maps.Copy(terms, w.terms)
		w.terms = terms
	}
}

// missing is what has not come about of what the scope wants: that every entry is
// over, or that all that are up name the same one of them. Nil: it has.
func (w *small) missing() error {
	common := algo.None
	for k := range w.procs {
		p := &w.procs[k]
		switch {
		case !p.up:
		case w.setup.Alg.Problem == algo.MutualExclusion:
			if p.todo > 0 || p.waiting || p.inside {
				return fmt.Errorf("p%d has not completed its entries", k+1)
			}
		case p.todo > 0:
			return fmt.Errorf("p%d has not begun", k+1)
		case p.leads.of == algo.None || !w.procs[p.leads.of-1].up:
			return fmt.Errorf("p%d names no process that is up", k+1)
		case common != algo.None && p.leads.of != common:
			return fmt.Errorf("p%d names p%d, another p%d", k+1, p.leads.of, common)
		default:
			common = p.leads.of
		}
	}
	return nil
}

// passedOver is the process above the leader that all name, where the highest of
// those that are up is promised to lead in the end; None: there is none.
func (w *small) passedOver() algo.ID {
	if !w.setup.Alg.Spec.Promises.Highest {
		return algo.None
	}
	for k, p := range slices.Backward(w.procs) {
		if p.up && p.leads.of < algo.ID(k+1) {
			return algo.ID(k + 1)
		}
	}
	return algo.None
}

// fingerprint stands for the state.
func (w *small) fingerprint() fingerprint {
	p := &w.print
	p.b = p.b[:0]
	for k := range w.procs {
		l := &w.procs[k]
		p.b = append(p.b, l.state[:]...)
		p.number(uint64(l.clock))
		p.number(uint64(len(l.timers)))
		for _, a := range l.timers {
			p.text(string(a.Name))
			p.number(uint64(a.At))
		}
		p.number(uint64(l.todo))
		p.present(l.waiting)
		p.present(l.inside)
		p.number(uint64(l.leads.of))
		p.number(l.leads.term)
		for _, n := range slices.Concat(l.known, l.asked) {
			p.number(uint64(n))
		}
	}
	for _, queue := range w.links {
		p.number(uint64(len(queue)))
		for _, m := range queue {
			p.text(m)
		}
	}
	for _, term := range slices.Sorted(maps.Keys(w.terms)) {
		p.number(term)
		p.number(uint64(w.terms[term]))
	}
	if w.scope.Timeouts > 0 {
		p.number(uint64(w.fired))
	}
	return p.sum()
}

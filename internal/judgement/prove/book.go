package prove

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A book numbers each state of a process, each message, each content of a link and each call by a number.
// Numbers follow from the order in which things were met, so that two things are equal exactly if their
// numbers are. It may be used by several workers; what it hands out does not change.
type book struct {
	*frame
	mu     sync.Mutex
	locals index[*local]
	msgs   index[*message]
	queues index[*queue]
	spans  index[time.Duration]
	reigns index[[]leadership] // by term: who has led
	deeds  map[uint64]*deed
	order  []performed // the deeds, in the order in which they were carried out
	pushed map[uint64]uint32
	taken  map[uint64]uint32
	joined map[[3]uint64]uint32
	links  []place
	linkOf [2][MostNodes][MostNodes]int16 // by plane, sender and receiver
	// incoming are the links to each process.
	incoming [MostNodes][]int
	planes   int
	// divisions are what can be cut.
	divisions []severed
	scratch   []byte
	err       error
	reads     bool // a process reads its clock
	tells     bool // a process tells a nil slice or map from an empty one
	doubtful  []doubtful
}

// A place is a link.
type place struct{ plane, from, to uint8 }

// A message is one on its way.
type message struct {
	from, plane uint8
	kind        uint8
	known       []uint8 // what its sender knew of requests, where that matters
	body        string  // encoded
}

// A queue is what is on its way on one link: in its order, or sorted where links keep none.
type queue struct {
	msgs  []uint32
	turns []uint8 // places of those that may come next
}

// An index numbers things by their bytes.
type index[T any] struct {
	all []T
	of  map[string]uint32
}

// find is the number of the thing with these bytes, which make makes if it is new.
func (x *index[T]) find(b []byte, make func() T) uint32 {
	if n, known := x.of[string(b)]; known {
		return n
	}
	if x.of == nil {
		x.of = map[string]uint32{}
	}
	n := uint32(len(x.all))
	x.all = append(x.all, make())
	x.of[string(b)] = n
	return n
}

func newBook(f *frame) *book {
	e := &book{
		frame: f, deeds: map[uint64]*deed{}, pushed: map[uint64]uint32{}, taken: map[uint64]uint32{},
		joined: map[[3]uint64]uint32{}, planes: 1,
	}
	if len(f.setup.Alg.Spec.Auxiliary) > 0 {
		e.planes = 2
	}
	for plane := range e.planes {
		for from := range f.n {
			for to := range f.n {
				e.linkOf[plane][from][to] = -1
				id := algo.ID(to + 1)
				c := f.setup.Config(algo.ID(from+1), 0, nil)
				if from == to || len(c.Neighbors) != len(c.Peers) && !slices.Contains(c.Neighbors, id) {
					continue
				}
				e.linkOf[plane][from][to] = int16(len(e.links))
				e.incoming[to] = append(e.incoming[to], len(e.links))
				e.links = append(e.links, place{uint8(plane), uint8(from), uint8(to)})
			}
		}
	}
	e.divisions = e.cuts()
	e.queues.find(nil, func() *queue { return &queue{} })
	e.reigns.find(nil, func() []leadership { return nil })
	return e
}

// local is the number of a state of process k. The caller holds the lock.
func (e *book) local(k int, l *local) uint32 {
	e.scratch = l.key(append(e.scratch[:0], byte(k)))
	n := e.locals.find(e.scratch, func() *local {
		own := *l
		own.others, own.calls = nil, nil
		return &own
	})
	own := e.locals.all[n]
	if own.process != l.process && !slices.Contains(own.others, l.process) {
		own.others = append(own.others, l.process)
		e.doubtful = append(e.doubtful, doubtful{k, n, l.process})
	}
	return n
}

// A doubtful is a state of a process that counts as another, and differs from it in nil and empty slices
// and maps alone: whether the same follows from both is still to be seen.
type doubtful struct {
	k       int
	as      uint32
	process string
}

// settleDoubts finds out whether processes tell states apart that count as one. The caller holds the lock.
func (e *book) settleDoubts() {
	for len(e.doubtful) > 0 && !e.tells && e.err == nil {
		x := e.doubtful[0]
		e.doubtful = e.doubtful[1:]
		own := e.locals.all[x.as]
		for _, c := range own.calls {
			e.doubt(x.k, own, x.process, c, e.deeds[uint64(x.as)<<32|uint64(c.code(e))])
		}
	}
}

// doubt carries a call out in a state that counts as l, and compares what follows. The caller holds the lock.
func (e *book) doubt(k int, l *local, process string, c call, want *deed) {
	other := *l
	other.process, other.plain = process, cmp.Or(l.plain, l.process)
	d, err := e.carryOut(k, &other, c, e.delivered(c), e.now(l))
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("p%d: %w", k+1, err)
	}
	e.tells = e.tells || !alike(d, want)
}

// span is the number of a length of time. The caller holds the lock.
func (e *book) span(by time.Duration) uint32 {
	return e.spans.find(appendNumber(nil, uint64(by)), func() time.Duration { return by })
}

// message is the number of one that process k sends. The caller holds the lock.
func (e *book) message(k int, plane, kind uint8, known []uint8, m algo.Message) uint32 {
	b := append(e.scratch[:0], uint8(k), plane)
	b = append(b, known...)
	head := len(b)
	b = e.setup.Alg.Codec.Append(b, kind, m)
	e.scratch = b
	return e.msgs.find(b, func() *message {
		return &message{uint8(k), plane, kind, slices.Clone(known), string(b[head:])}
	})
}

// do is what follows from a call of process k in state at. Only the first time the plugin is called.
func (e *book) do(k int, at uint32, c call) *deed {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := uint64(at)<<32 | uint64(c.code(e))
	d, known := e.deeds[key]
	if !known {
		e.order = append(e.order, performed{uint8(k), at, c})
		l := e.locals.all[at]
		d = e.perform(k, l, c)
		e.deeds[key] = d
		if e.merges {
			l.calls = append(l.calls, c)
			for _, process := range l.others {
				e.doubt(k, l, process, c, d)
			}
			e.settleDoubts()
		}
	}
	return d
}

// later is another instant at which a call is carried out, to see whether that makes a difference.
const later = 11*time.Hour + 7*time.Nanosecond

// perform carries a call out. The caller holds the lock.
func (e *book) perform(k int, l *local, c call) *deed {
	m, now := e.delivered(c), e.now(l)
	d, err := e.carryOut(k, l, c, m, now)
	if err == nil && e.timeless {
		var again *deed
		again, err = e.carryOut(k, l, c, m, later)
		e.reads = e.reads || err == nil && !alike(d, again)
	}
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("p%d: %w", k+1, err)
	}
	return d
}

// now is the instant at which something happens to a process in state l.
func (e *book) now(l *local) time.Duration {
	if e.timeless {
		return 0
	}
	return l.clock
}

// delivered is the message that a call delivers; nil: none. The caller holds the lock.
func (e *book) delivered(c call) *message {
	if c.do == delivery {
		return e.msgs.all[c.msg]
	}
	return nil
}

// alike says whether the same follows from two deeds.
func alike(a, b *deed) bool {
	return a.next == b.next && slices.Equal(a.sends, b.sends) && a.granted == b.granted &&
		slices.Equal(a.elected, b.elected) && a.wrong == b.wrong
}

func (e *book) carryOut(k int, l *local, c call, m *message, now time.Duration) (*deed, error) {
	x, err := e.execute(k, l, c, m, now)
	d := &deed{wrong: x.wrong, panicked: x.panicked}
	if err != nil {
		return d, err
	}
	for i := range x.effects {
		switch a := &x.effects[i]; a.Op {
		case algo.OpSend:
			if err := e.post(k, d, &x.local, a); err != nil {
				return d, err
			}
		case algo.OpGranted:
			if !x.waiting {
				d.breaks("p%d granted without a request", k+1)
				break
			}
			d.granted, d.asked = true, x.asked
			x.waiting, x.inside, x.asked = false, true, nil
		case algo.OpElected:
			n := leadership{a.Peer, a.Term}
			if n.of == algo.None {
				n.term = 0 // in which it stands: that leads to nothing
			}
			if int(n.of) > e.n {
				d.breaks("p%d names p%d, which does not exist", k+1, n.of)
				break
			}
			x.leads = n
			d.elected = append(d.elected, n)
		}
	}
	d.next = e.local(k, &x.local)
	return d, nil
}

// breaks notes what the process broke first.
func (d *deed) breaks(format string, args ...any) {
	if d.wrong == "" {
		d.wrong = fmt.Sprintf(format, args...)
	}
}

// post adds a message to what follows from a call.
func (e *book) post(k int, d *deed, l *local, a *algo.Effect) error {
	kind, ok := e.setup.Alg.Codec.KindOf(a.Msg)
	if !ok {
		return fmt.Errorf("%s is not declared in the Spec", a.Msg.Kind())
	}
	plane := uint8(0)
	if e.setup.Alg.Auxiliary(kind) { // no order between the two
		plane = 1
	}
	to := int(a.Peer) - 1
	link := e.linkOf[plane][k][to]
	if link < 0 {
		return fmt.Errorf("it sends to p%d, to which it has no link", to+1)
	}
	d.sends = append(d.sends, sending{uint16(link), uint8(to), e.message(k, plane, kind, l.known, a.Msg)})
	return nil
}

// push is a queue with one more message.
func (e *book) push(q, msg uint32) uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := uint64(q)<<32 | uint64(msg)
	n, known := e.pushed[key]
	if !known {
		list := append(slices.Clone(e.queues.all[q].msgs), msg)
		if !e.setup.Alg.Spec.Needs.FIFO {
			slices.Sort(list)
		}
		n = e.queue(list)
		e.pushed[key] = n
	}
	return n
}

// take is a queue without the message at a place.
func (e *book) take(q uint32, at int) uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := uint64(q)<<32 | uint64(at)
	n, known := e.taken[key]
	if !known {
		n = e.queue(slices.Delete(slices.Clone(e.queues.all[q].msgs), at, at+1))
		e.taken[key] = n
	}
	return n
}

// queue is the number of a content. The caller holds the lock.
func (e *book) queue(list []uint32) uint32 {
	b := e.scratch[:0]
	for _, m := range list {
		b = appendNumber(b, uint64(m))
	}
	e.scratch = b
	return e.queues.find(b, func() *queue {
		out := &queue{msgs: list}
		fifo := e.setup.Alg.Spec.Needs.FIFO
		for at, m := range list {
			if at == 0 || (!fifo || e.system.Overtakes > 0) && m != list[at-1] {
				out.turns = append(out.turns, uint8(min(at, 255)))
			}
		}
		return out
	})
}

// reign is the history in which a process leads a term besides; false: another led it.
func (e *book) reign(before uint32, n leadership) (after uint32, other algo.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := [3]uint64{uint64(before), uint64(n.of), n.term}
	if to, known := e.joined[key]; known {
		return to, algo.None
	}
	list := e.reigns.all[before]
	at, led := slices.BinarySearchFunc(list, n.term, func(l leadership, term uint64) int {
		return cmp.Compare(l.term, term)
	})
	if led && list[at].of != n.of {
		return before, list[at].of
	}
	after = before
	if !led {
		list = slices.Insert(slices.Clone(list), at, n)
		after = e.led(list)
	}
	e.joined[key] = after
	return after, algo.None
}

// led is the number of a history. The caller holds the lock.
func (e *book) led(list []leadership) uint32 {
	b := e.scratch[:0]
	for _, l := range list {
		b = appendNumber(appendNumber(b, l.term), uint64(l.of))
	}
	e.scratch = b
	return e.reigns.find(b, func() []leadership { return list })
}

// bytes is the book's own memory, in bytes, about.
func (e *book) bytes() (sum int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.locals.all {
		sum += 400 + 2*int64(len(l.process)+len(l.source)+len(l.saved))
	}
	return sum + 200*int64(len(e.deeds)+len(e.queues.all)+len(e.msgs.all)) +
		60*int64(len(e.pushed)+len(e.taken))
}

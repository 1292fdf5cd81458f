package prove

import (
	"fmt"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A choice is one thing that may happen in a state, in 24 bits.
type choice uint32

// choose makes a choice: what happens, to which process, by ID - 1, and a number that says more: of a
// message, link and place; of a timer, its place; of the detector, whom it means.
func choose(do action, who, more int) choice {
	return choice(do)<<20 | choice(who)<<16 | choice(more)
}

func (c choice) do() action { return action(c >> 20) }
func (c choice) who() int   { return int(c>>16) & 15 }
func (c choice) more() int  { return int(c) & 0xffff }

// onLink is the number of a message: its link, and its place there.
func onLink(link, at int) int { return link<<8 | at }

// What was spent of the budgets is one number of a state.
const (
	spentCrashes = 4 * iota
	spentLosses
	spentCopies
	spentOvertakes
	spentSuspicions
	spentStarts
	spentTimeouts
)

func spent(x uint32, shift int) int {
	if shift == spentTimeouts {
		return int(x >> spentTimeouts)
	}
	return int(x>>shift) & 15
}

// A worker finds the states that follow from others.
type worker struct {
	*book
	locals []*local // as far as this worker has seen
	queues []*queue
	deeds  memo[*deed]
	pushes memo[uint32]
	takes  memo[uint32]

	next  []uint32 // the state after a choice
	print uint64   // its fingerprint
	wrong string   // what the choice broke
	fault bool     // the algorithm's code did
	list  []choice
}

func newWorker(e *book) *worker {
	w := &worker{book: e, next: make([]uint32, e.width())}
	w.refresh()
	return w
}

// refresh has the worker see all that the book knows.
func (w *worker) refresh() {
	w.mu.Lock()
	w.locals, w.queues = w.book.locals.all, w.book.queues.all
	w.mu.Unlock()
}

// The places of a state: processes, links, who has led which term, what was spent, and what is cut if
// anything can be.
func (e *book) width() int        { return e.n + len(e.links) + 2 + min(e.system.Cuts, 1) }
func (e *book) cutAt() int        { return e.n + len(e.links) + 2 }
func (e *book) linkAt(i int) int  { return e.n + i }
func (e *book) reignAt() int      { return e.n + len(e.links) }
func (e *book) spentAt() int      { return e.n + len(e.links) + 1 }
func (w *worker) at(k int) *local { return w.locals[w.next[k]] }
func (w *worker) on(i int) *queue { return w.queues[w.next[w.linkAt(i)]] }
func (w *worker) used(of int) int { return spent(w.next[w.spentAt()], of) }
func (w *worker) spend(of int)    { w.set(w.spentAt(), w.next[w.spentAt()]+1<<of) }

func sum(v []uint32) (print uint64) {
	for at, n := range v {
		print += part(at, n)
	}
	return print
}

func (w *worker) set(at int, n uint32) {
	if old := w.next[at]; old != n {
		w.print += part(at, n) - part(at, old)
		w.next[at] = n
	}
}

// call has something happen to process k, and says what follows.
func (w *worker) call(k int, c call) *deed {
	at := w.next[k]
	key := uint64(at)<<32 | uint64(c.do)<<28
	switch c.do {
	case delivery:
		key |= uint64(c.msg)
	case elapsed: // seldom: a lock does
		d := w.book.do(k, at, c)
		w.refresh()
		w.set(k, d.next)
		return d
	default:
		key |= uint64(c.at)
	}
	d, known := w.deeds.get(key)
	if !known {
		d = w.book.do(k, at, c)
		w.refresh()
		w.deeds.put(key, d)
	}
	w.set(k, d.next)
	return d
}

func (w *worker) push(link int, msg uint32) {
	q := w.next[w.linkAt(link)]
	key := uint64(q)<<32 | uint64(msg)
	n, known := w.pushes.get(key)
	if !known {
		n = w.book.push(q, msg)
		w.refresh()
		w.pushes.put(key, n)
	}
	w.set(w.linkAt(link), n)
}

func (w *worker) take(link, at int) {
	q := w.next[w.linkAt(link)]
	key := uint64(q)<<32 | uint64(at)
	n, known := w.takes.get(key)
	if !known {
		n = w.book.take(q, at)
		w.refresh()
		w.takes.put(key, n)
	}
	w.set(w.linkAt(link), n)
}

// begin makes the first state, in which every process has started.
func (w *worker) begin() {
	clear(w.next)
	w.mu.Lock()
	for k := range w.n {
		w.next[k] = w.book.local(k, w.unborn())
	}
	w.mu.Unlock()
	w.refresh()
	w.print, w.wrong, w.fault = sum(w.next), "", false
	for k := range w.n {
		if w.wrong == "" {
			w.settle(k, w.call(k, call{do: birth}))
		}
	}
}

// apply makes the state that follows from state v, with a fingerprint, by a choice.
func (w *worker) apply(v []uint32, print uint64, c choice) {
	copy(w.next, v)
	w.print, w.wrong, w.fault = print, "", false
	k, more := c.who(), c.more()
	do := call{do: c.do(), at: more}
	switch c.do() {
	case command:
		if !w.mutex {
			w.spend(spentStarts)
		}
	case delivery, repeated, loss:
		if w.arrive(c, &do) {
			return
		}
	case expiry:
		w.expire(k, more)
	case crash:
		w.spend(spentCrashes)
		for _, i := range w.incoming[k] {
			w.set(w.linkAt(i), 0)
		}
	case suspicion:
		w.spend(spentSuspicions)
	case cut:
		w.sever(severed(more))
		return
	case heal:
		w.mend()
		return
	case restart:
		for i := range w.n {
			if w.at(i).doubts&(1<<k) != 0 {
				w.call(i, call{do: trusted, at: k})
			}
		}
	}
	w.settle(k, w.call(k, do))
}

// arrive takes a message from its link, and says whether it is lost.
func (w *worker) arrive(c choice, do *call) bool {
	link, at := c.more()>>8, c.more()&255
	do.do, do.at, do.msg = delivery, 0, w.on(link).msgs[at]
	if at > 0 && w.setup.Alg.Spec.Needs.FIFO {
		w.spend(spentOvertakes)
	}
	switch c.do() {
	case repeated:
		w.spend(spentCopies)
		return false
	case loss:
		w.spend(spentLosses)
	}
	w.take(link, at)
	return c.do() == loss
}

// expire has time pass for the other processes as a timer of process k expires, where there is one time.
func (w *worker) expire(k, which int) {
	if w.system.Timeouts != Any {
		w.spend(spentTimeouts)
	}
	if w.free {
		return
	}
	l := w.at(k)
	by := l.left(l.timers[which])
	for i := range w.n {
		if i != k && by > 0 {
			w.call(i, call{do: elapsed, span: by})
		}
	}
}

// settle has what a process asks for happen, and looks at what it claims.
func (w *worker) settle(k int, d *deed) {
	away := w.cutAway()
	for _, s := range d.sends {
		if w.at(int(s.to)).up && (away == 0 || !away.between(k, int(s.to))) {
			w.push(int(s.link), s.msg)
		}
	}
	if d.granted {
		w.granted(k, d)
	}
	for _, n := range d.elected {
		w.elected(k, n)
	}
	if d.wrong != "" {
		w.breaks("%s", d.wrong)
		w.fault = d.panicked
	}
}

func (w *worker) breaks(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

func (w *worker) granted(k int, d *deed) {
	door := w.room.Door(w.session(k))
	for i := range w.n {
		if i == k {
			continue
		}
		switch other := w.at(i); {
		case other.inside:
			if door.Bars(w.session(i)) {
				w.breaks("p%d granted while p%d is inside", k+1, i+1)
			}
		case d.asked != nil && other.waiting && d.asked[i] == other.known[i]:
			w.breaks("p%d granted before p%d, whose request happened before", k+1, i+1)
		}
	}
}

func (w *worker) elected(k int, n leadership) {
	own := algo.ID(k + 1)
	if n.of != own {
		return
	}
	switch w.setup.Alg.Spec.Promises.Leadership {
	case algo.AtMostOne:
		for i := range w.n {
			if other := w.at(i); i != k && other.up && other.leads.of == algo.ID(i+1) {
				w.breaks("p%d and p%d both lead", own, i+1)
			}
		}
	case algo.PerTerm:
		after, other := w.reign(w.next[w.reignAt()], n)
		if other != algo.None {
			w.breaks("p%d leads term %d, which p%d led", own, n.term, other)
		}
		w.set(w.reignAt(), after)
	}
}

// choices are what may happen in state v, in a fixed order. Held says that a timer would expire, but for
// the budget of time-outs.
func (w *worker) choices(v []uint32) (out []choice, held bool) {
	copy(w.next, v)
	out = w.list[:0]
	flying := false
	down, away := w.down(), w.cutAway()
	for k := range w.n {
		l := w.at(k)
		if !l.up {
			if w.back {
				out = append(out, choose(restart, k, 0))
			}
			continue
		}
		if l.inside || l.todo > 0 && !l.waiting && (w.mutex || w.used(spentStarts) < w.system.Requests) {
			out = append(out, choose(command, k, 0))
		}
		out, flying = w.arrivals(out, k, flying)
		out = w.failures(out, k, down, away)
	}
	out = w.parts(out)
	if flying && !w.free {
		w.list = out
		return out, false
	}
	for k := range w.n {
		first := w.soonest(k)
		for at, a := range w.at(k).timers {
			switch {
			case w.at(k).left(a) > first && first >= 0:
			case w.system.Timeouts != Any && w.used(spentTimeouts) >= w.system.Timeouts:
				held = true
			default:
				out = append(out, choose(expiry, k, at))
			}
		}
	}
	w.list = out
	return out, held
}

// arrivals adds what may become of the messages to process k.
func (w *worker) arrivals(out []choice, k int, flying bool) ([]choice, bool) {
	for _, i := range w.incoming[k] {
		if w.next[w.linkAt(i)] == 0 {
			continue
		}
		flying = true
		for _, at := range w.on(i).turns {
			more := onLink(i, int(at))
			if at == 0 || !w.setup.Alg.Spec.Needs.FIFO || w.used(spentOvertakes) < w.system.Overtakes {
				out = append(out, choose(delivery, k, more))
				if w.used(spentCopies) < w.system.Copies {
					out = append(out, choose(repeated, k, more))
				}
			}
			if w.used(spentLosses) < w.system.Losses && (at == 0 || !w.setup.Alg.Spec.Needs.FIFO) {
				out = append(out, choose(loss, k, more))
			}
		}
	}
	return out, flying
}

// failures adds crashes of process k, and what the detector may tell it: of those out of reach, too.
func (w *worker) failures(out []choice, k, down int, away severed) []choice {
	l := w.at(k)
	counted := w.learns && l.life > 0 && l.leads.of == algo.None // it counts as down as it is
	if w.used(spentCrashes) < w.system.Crashes && (down < w.most || counted) {
		out = append(out, choose(crash, k, 0))
	}
	if !w.detect {
		return out
	}
	for p := range w.n {
		other := w.at(p)
		hears := w.listen || !w.mutex && l.leads.of == algo.ID(p+1)
		if p == k || !hears || l.doubts&(1<<p) != 0 {
			continue
		}
		if !other.up || away != 0 && away.between(k, p) {
			out = append(out, choose(notice, k, p))
		} else if w.used(spentSuspicions) < w.system.Suspicions {
			out = append(out, choose(suspicion, k, p))
		}
	}
	return out
}

// down is how many processes count as down.
func (w *worker) down() (n int) {
	for k := range w.n {
		if l := w.at(k); !l.up || w.learns && l.life > 0 && l.leads.of == algo.None {
			n++
		}
	}
	return n
}

// soonest is after how long the first timer expires: of process k by its own clock, or of all.
func (w *worker) soonest(k int) time.Duration {
	first := time.Duration(-1)
	for i := range w.n {
		l := w.at(i)
		if len(l.timers) > 0 && (i == k || !w.free) {
			if left := l.left(l.timers[0]); first < 0 || left < first {
				first = left
			}
		}
	}
	return first
}

// missing is what has not come about of what is wanted, in the state next: that every entry is over, or
// that all that are up name the same one of them. "": it has. It says what complete does not.
func (w *worker) missing() string {
	common := algo.None
	for k := range w.n {
		l := w.at(k)
		switch {
		case !l.up:
		case w.mutex:
			if l.todo > 0 || l.waiting || l.inside {
				return fmt.Sprintf("p%d has not completed its entries", k+1)
			}
		case l.leads.of == algo.None || !w.at(int(l.leads.of)-1).up:
			return fmt.Sprintf("p%d names no process that is up", k+1)
		case common != algo.None && l.leads.of != common:
			return fmt.Sprintf("p%d names p%d, another p%d", k+1, l.leads.of, common)
		default:
			common = l.leads.of
		}
	}
	return ""
}

// complete says whether nothing is missing.
func (w *worker) complete() bool {
	common := algo.None
	for k := range w.n {
		l := w.at(k)
		switch {
		case !l.up:
		case w.mutex:
			if l.todo > 0 || l.waiting || l.inside {
				return false
			}
		case l.leads.of == algo.None || !w.at(int(l.leads.of)-1).up:
			return false
		case common != algo.None && l.leads.of != common:
			return false
		default:
			common = l.leads.of
		}
	}
	return true
}

// passedOver is the process above the leader that all name, where the highest of those that are up is
// promised to lead in the end; None: there is none.
func (w *worker) passedOver() algo.ID {
	if !w.setup.Alg.Spec.Promises.Highest {
		return algo.None
	}
	for k := range slices.Backward(w.next[:w.n]) {
		if l := w.at(k); l.up && l.leads.of < algo.ID(k+1) {
			return algo.ID(k + 1)
		}
	}
	return algo.None
}

// strayed says whether the detector has told a process something that it did not take back, as scripts
// cannot, or whether a cut lost messages that the algorithm needs: then nobody promises an end.
func (w *worker) strayed() bool {
	if w.used(spentSuspicions) > 0 || w.parted() && !w.setup.Alg.Spec.Survives.Loss {
		return true
	}
	if !w.listen {
		return false
	}
	for k := range w.n {
		l := w.at(k)
		if !l.up {
			continue
		}
		if l.life > 0 {
			return true
		}
		for p := range w.n {
			if l.doubts&(1<<p) != 0 && w.at(p).up {
				return true
			}
		}
	}
	return false
}

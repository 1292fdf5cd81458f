package prove

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/sim"
)

// Limits is how far a search goes.
type Limits struct {
	States  int           // to stop after, about; 0: any number
	Memory  int64         // bytes that the search may hold; 0: any number
	Time    time.Duration // 0: until the context ends
	Workers int           // from 1 to 16; 0: one per core
	// Live has the search check, too, that all can still come about in every state: of up to two million.
	Live bool
	// Checkpoint is where a search that ends early is kept, and where one goes on that was kept.
	Checkpoint Checkpoint
	// Progress, if not nil, is called twice a second.
	Progress func(p Progress)
}

// Progress is how far a search has come.
type Progress struct {
	States, Frontier, Depth int
	Elapsed                 time.Duration
}

// A Space is what a search through a system came to.
type Space struct {
	States   int // different ones that were reached
	Steps    int // events that lead from one to another
	Depth    int // events after which every schedule was looked at
	Terminal int // states in which nothing can happen any more
	Cut      int // states in which a timer might expire, but for the budget
	Served   int // states in which all has come about: every entry is over, or all name one leader
	Levels   []int
	Frontier int // states that were reached, and of which what follows was not looked at
	Locals   int // different states of processes
	Calls    int // times that an algorithm was called
	Elapsed  time.Duration
	Memory   int64 // bytes that the search held, beside those of the frontier
	// Bound says why the search ended early; "": it is complete.
	Bound string
	// Saved says whether the search was kept, and Resumed whether it went on from one that was.
	Saved, Resumed bool
	// Live says whether it is known that all can still come about in every state.
	Live bool
	// Clocks: processes read their clocks, so that these are part of states.
	Clocks bool
	// Tells: processes tell nil slices or maps from empty ones, so that these are different states.
	Tells bool
	// Find is the first broken promise, with the shortest schedule that leads to one; nil if there is
	// none.
	Find *Find
}

// Missed is about how probable it is that a state was taken for another: n states have n(n-1)/2 pairs, of
// which each has the same fingerprint with probability 2^-64.
func (s *Space) Missed() float64 {
	n := float64(s.States)
	return min(n*(n-1)/2/(1<<63)/2, 1)
}

// Growth is by which factor the frontier grew in the last levels that were completed; 0: too few were.
func (s *Space) Growth() float64 {
	const last = 3
	n := len(s.Levels)
	if n < last+2 || s.Levels[n-1-last] == 0 {
		return 0
	}
	g := float64(s.Levels[n-1]) / float64(s.Levels[n-1-last])
	return cubeRoot(g)
}

// Search visits the states of a system, those first that fewer events lead to. A find is data, not an
// error. An error means that the system makes no sense for the algorithm, or that the states of its
// processes cannot be copied. If the context ends, so does the search, with what it came to.
func Search(ctx context.Context, id string, w System, l Limits) (Space, error) {
	h, d, err := resumed(id, &w, &l)
	if err != nil {
		return Space{}, err
	}
	if h != nil {
		defer d.file.Close()
		w.clocks, w.tells = h.Clocks, h.Tells
	}
	space, err := try(ctx, id, w, l, h, d)
	for h == nil && (err == errClock || err == errEmpty) {
		w.clocks, w.tells = w.clocks || err == errClock, w.tells || err == errEmpty
		space, err = try(ctx, id, w, l, nil, nil)
	}
	var bad *CheckpointError
	if errors.As(err, &bad) {
		return Space{}, bad
	}
	if err != nil {
		return Space{}, fmt.Errorf("prove %s: %w", id, err)
	}
	return space, nil
}

func (l *Limits) workers() int {
	if l.Workers > 0 {
		return min(l.Workers, 16)
	}
	return min(runtime.GOMAXPROCS(0), 16)
}

// A search is one, by several workers, a level after the other.
type search struct {
	*book
	limits  Limits
	ctx     context.Context
	begun   time.Time
	seen    set
	workers []*seeker // of which those beyond active have found states, and look for none
	active  int
	level   []batch // states whose followers are looked for
	taken   atomic.Int64
	states  atomic.Int64
	// For reports:
	frontier, depth atomic.Int64
	stop            atomic.Pointer[string]
	space           Space
	// Of a search that ends early: the batches of the level that nobody looked at.
	late sync.Mutex
	rest []batch
	// Of a search that went on: how long it took before, and how many states it knew.
	before time.Duration
	known  int
}

// A batch holds states side by side. Each is what led to it and its fingerprint, of 8 bytes each, and then
// its numbers, of as many bytes as they need: most links are empty, and have number 0.
type batch struct {
	b []byte
	n int // states
}

// A batch is full when it has so many bytes.
const batched = 1 << 16

// put adds a state.
func (b *batch) put(at, print uint64, v []uint32) {
	out := binary.LittleEndian.AppendUint64(b.b, at)
	out = binary.LittleEndian.AppendUint64(out, print)
	for _, n := range v {
		if n < 0x80 {
			out = append(out, byte(n))
			continue
		}
		out = binary.AppendUvarint(out, uint64(n))
	}
	b.b, b.n = out, b.n+1
}

// get reads the first state of some bytes into v, and returns the bytes behind it.
func get(b []byte, v []uint32) (at, print uint64, rest []byte) {
	at, print, b = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), b[16:]
	for i := range v {
		n := uint64(b[0])
		if n < 0x80 {
			b = b[1:]
		} else {
			var width int
			n, width = binary.Uvarint(b)
			b = b[width:]
		}
		v[i] = uint32(n)
	}
	return at, print, b
}

// A seeker is a worker with what it found.
type seeker struct {
	*worker
	number   uint64
	trail    trail
	state    []uint32 // of which what follows is looked for
	found    []batch
	steps    int
	terminal int
	cut      int
	served   int
	finds    []found
	memory   *memory // nil: it remembers no steps
}

// A found is a broken promise: at a state, or after a choice there.
type found struct {
	at       uint64
	by       choice
	moves    bool
	broken   string
	panicked bool
}

// try searches: a new search, or one that goes on from a checkpoint.
func try(ctx context.Context, id string, w System, l Limits, h *checkpointHeader, d *decoder) (Space, error) {
	f, err := newFrame(id, w)
	if err != nil {
		return Space{}, err
	}
	name := fmt.Sprintf("prove %s", id)
	defer guard.WatchTrial(&f.buf, name, func(err error) { sim.Abandon(f.setup, err) }).Release()
	if l.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.Time)
		defer cancel()
	}
	s := &search{book: newBook(f), limits: l, ctx: ctx, begun: time.Now(), active: l.workers()}
	defer s.report()()
	for i := range s.active {
		s.workers = append(s.workers, s.seeker(i))
	}
	if h == nil {
		s.begin()
	} else if err := s.resume(h, d); err != nil {
		return Space{}, &CheckpointError{l.Checkpoint.Path, err.Error()}
	}
	s.space.Resumed = h != nil
	s.run()
	switch {
	case s.err != nil:
		return Space{}, s.err
	case s.tells:
		return Space{}, errEmpty
	case s.reads:
		return Space{}, errClock
	}
	return s.conclude()
}

func (s *search) seeker(number int) *seeker {
	return &seeker{worker: newWorker(s.book), number: uint64(number), state: make([]uint32, s.width())}
}

// begin finds the first state.
func (s *search) begin() {
	first := s.workers[0]
	if s.limits.Live && s.promised() && s.hopeful() {
		for _, w := range s.workers {
			w.memory = &memory{}
		}
	}
	first.begin()
	if first.wrong != "" {
		first.finds = append(first.finds, found{broken: first.wrong, panicked: first.fault, moves: false})
	}
	first.reach(&s.seen, 0, 0)
	s.states.Add(1)
	s.gather()
}

// gather makes the states that were found the next level.
func (s *search) gather() {
	s.level = nil
	for _, w := range s.workers {
		s.level = append(s.level, w.found...)
		w.found = nil
	}
	s.space.Levels = append(s.space.Levels, states(s.level))
}

// states is how many states there are in batches.
func states(list []batch) (n int) {
	for _, b := range list {
		n += b.n
	}
	return n
}

// run visits level after level.
func (s *search) run() {
	for depth := s.space.Depth; ; depth++ {
		n := states(s.level)
		if s.broken() || n == 0 && (depth > s.space.Depth || !s.space.Resumed) {
			s.space.Frontier = n
			return
		}
		if s.states.Load() > mostLive {
			for _, w := range s.workers {
				w.memory = nil
			}
		}
		s.space.Depth = depth
		s.taken.Store(0)
		s.frontier.Store(int64(n))
		s.depth.Store(int64(depth))
		var pool sync.WaitGroup
		for _, w := range s.workers[:s.active] {
			pool.Go(func() { s.work(w) })
		}
		pool.Wait()
		switch {
		case s.err != nil || s.reads || s.tells:
			return
		case s.stop.Load() != nil:
			s.space.Frontier = states(s.rest)
			for _, w := range s.workers {
				s.space.Frontier += states(w.found)
			}
			return
		}
		s.gather()
	}
}

// hopeful says whether an end is promised in all that the budget allows.
func (s *search) hopeful() bool {
	w := &s.system
	return !(s.listen && w.Crashes+w.Suspicions+w.Cuts > 0) &&
		(w.Cuts == 0 || s.setup.Alg.Spec.Survives.Loss)
}

// report reports the progress until it is stopped.
func (s *search) report() (stop func()) {
	if s.limits.Progress == nil {
		return func() {}
	}
	return clock.Every(500*time.Millisecond, func() {
		s.limits.Progress(Progress{
			int(s.states.Load()), int(s.frontier.Load()), int(s.depth.Load()), s.elapsed(),
		})
	})
}

func (s *search) broken() bool {
	for _, w := range s.workers {
		if len(w.finds) > 0 {
			return true
		}
	}
	return false
}

// work looks for what follows from the states of a level, batch after batch.
func (s *search) work(w *seeker) {
	w.refresh()
	for {
		i := int(s.taken.Add(1)) - 1
		if i >= len(s.level) {
			return
		}
		if s.over(w) {
			s.late.Lock()
			s.rest = append(s.rest, s.level[i]) // not looked at
			s.late.Unlock()
			continue
		}
		before := w.trail.n
		for b := s.level[i].b; len(b) > 0; {
			var at, print uint64
			at, print, b = get(b, w.state)
			w.expand(&s.seen, at, print)
		}
		s.states.Add(int64(w.trail.n - before))
		s.level[i] = batch{}
	}
}

// over says whether the search is to end before it is complete.
func (s *search) over(w *seeker) bool {
	if s.stop.Load() != nil {
		return true
	}
	why := ""
	switch {
	case s.limits.States > 0 && s.states.Load() >= int64(s.known+s.limits.States):
		why = fmt.Sprintf("%d states", s.limits.States)
	case s.ctx.Err() != nil:
		why = "interrupted"
		if s.limits.Time > 0 && time.Since(s.begun) >= s.limits.Time {
			why = fmt.Sprint(s.limits.Time)
		}
	case s.limits.Memory > 0 && w.number == 0 && s.holds() > s.limits.Memory:
		why = fmt.Sprintf("%d MiB of memory", s.limits.Memory>>20)
	default:
		return false
	}
	s.stop.CompareAndSwap(nil, &why)
	return true
}

// holds is how much memory the search takes, in bytes, about: what it knows, and two levels.
func (s *search) holds() int64 {
	return s.seen.bytes() + 8*s.states.Load() + s.book.bytes() + 3*int64(len(s.level))*batched
}

// expand looks for what follows from a state.
func (w *seeker) expand(seen *set, at, print uint64) {
	v := w.state
	choices, held := w.choices(v)
	w.rest(at, len(choices) > 0, held)
	for _, c := range choices {
		w.apply(v, print, c)
		w.steps++
		if w.wrong != "" {
			w.finds = append(w.finds, found{at, c, true, w.wrong, w.fault})
			w.trail.add(at, c) // it counts
			continue
		}
		if w.memory != nil {
			w.memory.steps = append(w.memory.steps, edge{at, w.print})
		}
		w.reach(seen, at, c)
	}
}

// rest looks at the present state. More says whether anything can happen in it, and held whether a budget
// keeps a timer from expiring.
func (w *seeker) rest(at uint64, more, held bool) {
	complete := w.complete()
	if complete {
		w.served++
		if w.memory != nil {
			w.memory.good = append(w.memory.good, at)
		}
	}
	switch {
	case held:
		w.cut++
	case !more:
		w.terminal++
		if broken := w.stuck(); broken != "" {
			w.finds = append(w.finds, found{at: at, broken: broken})
		}
	}
}

// stuck is what breaks a promise if nothing can happen in the state next any more; "": nothing does.
func (w *worker) stuck() string {
	missing := w.missing()
	if above := w.passedOver(); missing == "" && above != 0 {
		missing = fmt.Sprintf("p%d is up, and above the leader", above)
	}
	if missing == "" || !w.promised() || w.strayed() {
		return ""
	}
	return "the system is quiescent, but " + missing
}

// reach notes the state next, to which a choice led, if it is new.
func (w *seeker) reach(seen *set, before uint64, c choice) {
	if !seen.add(w.print) {
		return
	}
	at := w.number<<36 | uint64(w.trail.add(before, c))
	if w.memory != nil {
		w.memory.prints = append(w.memory.prints, w.print)
	}
	last := len(w.found) - 1
	if last < 0 || len(w.found[last].b)+16+5*len(w.next) > batched {
		w.found = append(w.found, batch{b: make([]byte, 0, batched)})
		last++
	}
	w.found[last].put(at, w.print, w.next)
}

// elapsed is how long the search has taken, before it was interrupted, too.
func (s *search) elapsed() time.Duration { return s.before + time.Since(s.begun) }

// conclude counts, and makes the find of what was found first.
func (s *search) conclude() (Space, error) {
	out := &s.space
	out.Elapsed, out.Clocks, out.Tells = s.elapsed(), s.system.clocks, s.system.tells
	var first *found
	for _, w := range s.workers {
		out.Steps, out.Terminal = out.Steps+w.steps, out.Terminal+w.terminal
		out.Cut, out.Served = out.Cut+w.cut, out.Served+w.served
		out.States += w.trail.n
		if len(w.finds) > 0 && first == nil {
			first = &w.finds[0]
		}
	}
	out.Locals, out.Calls = len(s.locals.all), len(s.deeds)
	out.Memory = s.seen.bytes() + 8*int64(out.States) + s.book.bytes()
	if why := s.stop.Load(); why != nil && out.Frontier > 0 {
		out.Bound = *why
	}
	if first == nil && out.Bound == "" && out.Cut == 0 && s.workers[0].memory != nil {
		out.Live = true
		find, err := s.live()
		out.Find = find
		return *out, err
	}
	if first == nil {
		if out.Bound != "" && s.limits.Checkpoint.Path != "" {
			if err := s.save(); err != nil {
				return *out, fmt.Errorf("the search cannot be saved: %w", err)
			}
			out.Saved = true
		}
		return *out, nil
	}
	out.Bound = ""
	find, err := s.tell(first)
	out.Find = find
	return *out, err
}

// Package modelcheck walks through everything that can happen to an algorithm in a small
// system, up to equal states, and finds the shortest schedule that breaks a promise.
package modelcheck

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/worlds/guard"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/sim"
)

// A Scope is a system small enough to walk through every schedule of it.
type Scope struct {
	Nodes      int
	Requests   []int          // entries that each process asks for, by ID - 1
	Initiators []algo.ID      // each starts an election once, or learns of the leader's crash
	Crashed    []algo.ID      // from the start
	Leader     algo.ID        // settled at the start; None: none is
	Timeouts   int            // timers that expire in one schedule, at most; 0: any number
	States     int            // to stop after; 0: never
	Seed       uint64         // of what the processes draw: a walk is of one stream for each
	Params     map[string]any // to set
}

// Scopes are the scopes that the kit walks through, smallest first: two requests of
// each process, or two initiators and more. Where processes decide by themselves
// how often timers expire, it is twice.
func Scopes(id string) ([]Scope, error) {
	a, err := algo.Lookup(id)
	if err != nil {
		return nil, err
	}
	var list []Scope
	if a.Problem == algo.MutualExclusion {
		for _, r := range [][]int{{2, 2}, {1, 1, 1}, {0, 2, 2}, {2, 2, 2}} {
			list = append(list, Scope{Nodes: len(r), Requests: r})
		}
	} else {
		list = []Scope{
			{Nodes: 2, Initiators: []algo.ID{1, 2}},
			{Nodes: 3, Initiators: []algo.ID{1, 2}},
			{Nodes: 3, Initiators: []algo.ID{1, 2, 3}},
		}
		if a.Spec.Survives.CrashesOf(3, a.Spec.Defaults(algo.Network{Nodes: 3, Bounded: true})) > 0 {
			list = append(list, Scope{
				Nodes: 3, Initiators: []algo.ID{1, 2}, Leader: 3, Crashed: []algo.ID{3},
			})
		}
	}
	var fit []Scope
	for _, s := range list {
		if needs := a.Spec.Needs.Nodes; needs != nil && needs(s.Nodes) != nil {
			continue
		}
		f, err := newFrame(id, s)
		if err != nil {
			return nil, err
		}
		if f.timed && (f.free || a.Problem == algo.MutualExclusion) {
			s.Timeouts = 2
		}
		fit = append(fit, s)
	}
	return fit, nil
}

// String is the scope in a few words.
func (s Scope) String() string {
	words := []string{fmt.Sprintf("n=%d", s.Nodes)}
	add := func(is bool, format string, args ...any) {
		if is {
			words = append(words, strings.ReplaceAll(fmt.Sprintf(format, args...), " ", ","))
		}
	}
	add(s.Requests != nil, "requests=%d", s.Requests)
	add(s.Initiators != nil, "initiators=%d", s.Initiators)
	add(s.Leader != algo.None, "leader=%d", s.Leader)
	add(s.Crashed != nil, "crashed=%d", s.Crashed)
	add(s.Timeouts > 0, "timeouts=%d", s.Timeouts)
	add(s.Seed > 0, "seed=%d", s.Seed)
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		add(true, "%s=%v", name, s.Params[name])
	}
	return strings.Join(words, " ")
}

// A Space is what a walk through a scope came to.
type Space struct {
	States   int // different ones that were reached
	Steps    int // events that lead from one to another
	Depth    int // events after which every schedule was looked at
	Terminal int // states in which nothing can happen any more
	Cut      int // states in which a timer might expire, but for Timeouts
	Served   int // states in which all has come about: every entry is over, or all name one leader
	// Schedules is how many different ways lead from the start to an end; nil where
	// there are circles, or the walk is not complete.
	Schedules *big.Int
	// Bound says why the walk ended early; empty: it is complete.
	Bound string
	// Find is the first broken promise, with the shortest schedule that leads to
	// one; nil if there is none.
	Find *Find
}

// A Find is a promise that was broken, and how.
type Find struct {
	Broken   string
	Panicked bool // the algorithm did: what is broken is no promise, but its code
	Schedule []Step
}

func (f *Find) Error() string {
	lines := []string{f.Broken + ", after"}
	for i, s := range f.Schedule {
		lines = append(lines, fmt.Sprintf("%3d. %s", i+1, s))
	}
	return strings.Join(lines, "\n")
}

// A Step is one event of a schedule, with what the process asked for.
type Step struct {
	Process algo.ID
	Event   algo.Event
	Effects []algo.Effect
}

func (s Step) String() string {
	var what string
	switch e := s.Event; e.Type {
	case algo.Receive:
		what = fmt.Sprintf("receives %s%+v from p%d", e.Msg.Kind(), e.Msg, e.Peer)
	case algo.Timeout:
		what = fmt.Sprintf("finds its timer %s expired", e.Timer)
	case algo.Request:
		what = "requests"
		if e.Session != 0 {
			what += fmt.Sprintf(" session %d", e.Session)
		}
	case algo.Release:
		what = "releases"
	case algo.Suspect:
		what = fmt.Sprintf("suspects p%d", e.Peer)
	default:
		what = "starts an election"
	}
	for _, e := range s.Effects {
		switch {
		case e.Op == algo.OpGranted:
			what += ", enters"
		case e.Op == algo.OpElected && e.Peer != algo.None:
			what += fmt.Sprintf(", names p%d", e.Peer)
		}
	}
	return fmt.Sprintf("p%d %s", s.Process, what)
}

// Exhaust walks through everything that can happen to algorithm id in the scope,
// breadth first: every order in which applications act, messages are delivered
// and timers expire, up to equal states. Messages of a link keep their order if
// the algorithm needs that, otherwise each may overtake. None is lost, and nobody
// crashes on the way. The algorithm's own random numbers are always the same.
//
// Timers of an algorithm that is proved for bounded delays expire only where no
// message is in flight, all by one clock: time-outs leave room for every delay.
// Of all others, every process has a clock of its own that runs as it likes: its
// first timer may expire at any point.
//
// In every state the promises of the Spec must hold that can be seen there, and
// the invariants. Where nothing can happen any more, every request must have been
// granted, if that is promised, or all must name the same leader that is up, the
// highest of all if that is; and in a walk that is complete, an end must remain
// possible from every state.
//
// A find is data, not an error. An error means that the scope makes no sense for
// the algorithm, or that its state cannot be compared.
func Exhaust(id string, scope Scope) (Space, error) {
	f, err := newFrame(id, scope)
	if err != nil {
		return Space{}, fmt.Errorf("exhaust %s: %s: %w", id, scope, err)
	}
	name := fmt.Sprintf("%s, %s", id, scope)
	defer guard.WatchTrial(&f.buf, name, func(err error) { sim.Abandon(f.setup, err) }).Release()
	returns := false
	defer func() {
		if r := recover(); r != nil {
			panic(r)
		} else if !returns {
			sim.Abandon(f.setup, guard.Exited(&f.buf))
		}
	}()
	s := &search{frame: f, index: map[fingerprint]int32{}}
	err = s.walk()
	returns = true
	if err != nil {
		return Space{}, fmt.Errorf("exhaust %s: %s: %w", id, scope, err)
	}
	s.conclude()
	return s.space, nil
}

// A search knows each state by the choice that led to it first.
type search struct {
	*frame
	space  Space
	index  map[fingerprint]int32
	states []reached
	edges  [][2]int32
	good   []int32 // nothing is missing
	ends   []int32 // nothing can happen
}

type reached struct {
	small  *small // nil: all that comes next has been visited
	parent int32  // -1: this is the start
	depth  int32
	by     choice
}

// walk visits the states in the order of their distance from the start.
func (s *search) walk() error {
	if err := s.visit(reached{small: newSmall(s.frame), parent: -1}); err != nil {
		return err
	}
	for at := int32(0); int(at) < len(s.states) && s.space.Find == nil; at++ {
		r := &s.states[at]
		w, depth := r.small, r.depth
		r.small = nil
		s.space.Depth = int(depth)
		choices, held := w.choices()
		s.settle(w, at, len(choices) > 0, held)
		for _, c := range choices {
			next, _ := w.next(c)
			err := s.visit(reached{next, at, depth + 1, c})
			if err != nil || s.space.Find != nil {
				return err
			}
		}
		if s.scope.States > 0 && len(s.states) >= s.scope.States && int(at)+1 < len(s.states) {
			s.space.Bound = fmt.Sprintf("%d states", s.scope.States)
			return nil
		}
	}
	return nil
}

// visit notes a state that was reached.
func (s *search) visit(r reached) error {
	if s.print.err != nil {
		return s.print.err
	}
	to, known := int32(len(s.states)), false
	if err := r.small.wrong; err != nil {
		s.states = append(s.states, r)
		s.find(err.Error(), to)
		s.space.Find.Panicked = r.small.panicked
		return nil
	}
	print := r.small.fingerprint()
	if at, ok := s.index[print]; ok {
		to, known = at, true
	}
	if !known {
		s.index[print] = to
		s.states = append(s.states, r)
	}
	if r.parent >= 0 {
		s.edges = append(s.edges, [2]int32{r.parent, to})
	}
	return nil
}

// settle looks at a state of which it is known whether anything more can happen.
func (s *search) settle(w *small, at int32, more, held bool) {
	missing := w.missing()
	if missing == nil {
		s.good = append(s.good, at)
	}
	switch {
	case held:
		s.space.Cut++
	case !more:
		s.ends = append(s.ends, at)
		if above := w.passedOver(); missing == nil && above != algo.None {
			missing = fmt.Errorf("p%d is up, and above the leader", above)
		}
		if missing != nil && s.promised() {
			s.find("the system is quiescent, but "+missing.Error(), at)
		}
	}
}

// promised says whether all must come about in the end.
func (s *search) promised() bool {
	spec := &s.setup.Alg.Spec
	if s.setup.Alg.Problem == algo.Election {
		return spec.Promises.Leadership != algo.PerGroup
	}
	return spec.Promises.StarvationFree
}

// again makes state at anew. Every step that leads there is handed to each.
func (s *search) again(at int32, each func(Step)) *small {
	var way []choice
	for ; s.states[at].parent >= 0; at = s.states[at].parent {
		way = append(way, s.states[at].by)
	}
	w := newSmall(s.frame)
	for _, c := range slices.Backward(way) {
		var step Step
		w, step = w.next(c)
		each(step)
	}
	return w
}

// find notes the promise that broke on the way to state at, or there.
func (s *search) find(broken string, at int32) {
	f := &Find{Broken: broken}
	s.again(at, func(step Step) {
		step.Effects = slices.Clone(step.Effects)
		f.Schedule = append(f.Schedule, step)
	})
	s.space.Find = f
}

// conclude counts, and looks at the space as a whole.
func (s *search) conclude() {
	s.space.States, s.space.Steps = len(s.states), len(s.edges)
	s.space.Terminal, s.space.Served = len(s.ends), len(s.good)
	if s.space.Bound != "" || s.space.Find != nil {
		return
	}
	if s.space.Cut == 0 && s.promised() {
		if lost := s.hopeless(); lost >= 0 {
			missing := s.again(lost, func(Step) {}).missing()
			s.find("no schedule from here completes: "+missing.Error(), lost)
			return
		}
	}
	s.space.Schedules = s.count()
}

// hopeless is the first state from which no good one can be reached; -1: none is.
func (s *search) hopeless() int32 {
	back := neighbors(len(s.states), s.edges, 1, 0)
	hope := make([]bool, len(s.states))
	stack := slices.Clone(s.good)
	for _, at := range stack {
		hope[at] = true
	}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, before := range back[at] {
			if !hope[before] {
				hope[before] = true
				stack = append(stack, before)
			}
		}
	}
	return int32(slices.Index(hope, false))
}

// neighbors are the other ends of each state's edges.
func neighbors(n int, edges [][2]int32, from, to int) [][]int32 {
	out := make([][]int32, n)
	for _, e := range edges {
		out[e[from]] = append(out[e[from]], e[to])
	}
	return out
}

// count is the number of ways from the start to an end, nil if there are circles.
func (s *search) count() *big.Int {
	open := make([]int, len(s.states)) // edges into each that are still to be counted
	for _, e := range s.edges {
		open[e[1]]++
	}
	next := neighbors(len(s.states), s.edges, 0, 1)
	ways := make([]*big.Int, len(s.states))
	ways[0] = big.NewInt(1)
	total, done := new(big.Int), 0
	ready := []int32{0}
	if open[0] > 0 {
		return nil
	}
	for len(ready) > 0 {
		at := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		done++
		for _, to := range next[at] {
			if ways[to] == nil {
				ways[to] = new(big.Int)
			}
			ways[to].Add(ways[to], ways[at])
			if open[to]--; open[to] == 0 {
				ready = append(ready, to)
			}
		}
		if len(next[at]) == 0 {
			total.Add(total, ways[at])
		}
		ways[at] = nil
	}
	if done < len(s.states) {
		return nil
	}
	return total
}

package prove

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
)

// errClock says that a process reads its clock, which was left out of the states.
var errClock = errors.New("a process reads its clock")

// errEmpty says that a process tells a nil slice or map from an empty one, which counted as the same state.
var errEmpty = errors.New("a process tells nil from empty")

func cubeRoot(x float64) float64 { return math.Cbrt(x) }

// An Action is what happens in one step.
type Action = action

// The actions of steps.
const (
	Command   = command   // the next step of an application: it requests, releases, or starts an election
	Delivery  = delivery  // of a message
	Repeated  = repeated  // the same, and a second copy stays on its way
	Loss      = loss      // of a message
	Expiry    = expiry    // of a timer
	Crash     = crash     // of a process
	Restart   = restart   // of a process, with what it saved
	Notice    = notice    // the detector reports a crash
	Suspicion = suspicion // and here none
	Cut       = cut       // of links
	Heal      = heal      // of what is cut
)

// A Find is a promise that was broken, and how.
type Find struct {
	Broken   string
	Panicked bool // the algorithm did: what is broken is no promise, but its code
	// Begin is what processes asked for as they started, by ID - 1.
	Begin    []Step
	Schedule []Step
	// Endless: no schedule from here on completes.
	Endless bool
	// Cycle is what may repeat without end after the schedule; nil where it ends.
	Cycle []Step

	way      []choice
	missing  string
	narrator *narrator
	end      []uint32
}

// A Step is one event of a schedule, with what the process asked for.
type Step struct {
	Do      Action
	Process algo.ID
	Peer    algo.ID     // of the detector: whom it means
	Change  link.Change // of a cut: what it cuts
	Event   algo.Event
	Sends   []Sending
	Away    bool    // it is up, and out of reach
	Took    int     // the number of the message that was delivered or lost
	Armed   []Timer // timers set, in order
	Stopped []algo.Timer
	Effects []algo.Effect
}

// A Sending is one message.
type Sending struct {
	Number int // from 1
	To     algo.ID
	Msg    algo.Message
	Down   bool // its receiver, or the link
}

// A Timer is one that was set.
type Timer struct {
	Name  algo.Timer
	After time.Duration
}

func (f *Find) Error() string {
	lines := []string{f.Broken + ", after"}
	for i, s := range f.Schedule {
		lines = append(lines, fmt.Sprintf("%3d. %s", i+1, s))
	}
	return strings.Join(lines, "\n")
}

func (s Step) String() string {
	what := ""
	switch s.Do {
	case cut:
		return "links are cut: " + s.Change.String()
	case heal:
		return "links heal"
	case crash:
		what = "crashes"
	case restart:
		what = "restarts"
	case loss:
		return fmt.Sprintf("%s%+v from p%d to p%d is lost", s.Event.Msg.Kind(), s.Event.Msg, s.Event.Peer,
			s.Process)
	case notice:
		what = fmt.Sprintf("learns that p%d is down", s.Peer)
		if s.Away {
			what = fmt.Sprintf("suspects p%d, which is out of reach", s.Peer)
		}
	case suspicion:
		what = fmt.Sprintf("suspects p%d, which is up", s.Peer)
	case expiry:
		what = fmt.Sprintf("finds its timer %s expired", s.Event.Timer)
	case delivery, repeated:
		what = fmt.Sprintf("receives %s%+v from p%d", s.Event.Msg.Kind(), s.Event.Msg, s.Event.Peer)
		if s.Do == repeated {
			what += ", of which another copy is on its way"
		}
	default:
		what = s.commanded()
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

func (s Step) commanded() string {
	switch e := s.Event; e.Type {
	case algo.Request:
		if e.Session != 0 {
			return fmt.Sprintf("requests session %d", e.Session)
		}
		return "requests"
	case algo.Release:
		return "releases"
	}
	return "starts an election"
}

// A narrator follows a schedule, and tells the messages on their way apart.
type narrator struct {
	*worker
	sent   int
	flying map[int][]flight // by link, in the order in which they were sent
}

type flight struct {
	msg    uint32
	number int
}

// tell makes a find of what was found.
func (s *search) tell(x *found) (*Find, error) {
	out := &Find{Broken: x.broken, Panicked: x.panicked}
	var way []choice
	if x.moves {
		way = append(way, x.by)
	}
	for at := x.at; at&(1<<36-1) != 0 || at>>36 != 0; {
		before, c := s.workers[at>>36].trail.at(int(at & (1<<36 - 1)))
		way, at = append(way, c), before
	}
	slices.Reverse(way)
	n := &narrator{worker: newWorker(s.book), flying: map[int][]flight{}}
	n.begin()
	start := slices.Clone(n.next)
	blank := make([]uint32, len(start))
	s.mu.Lock()
	for k := range s.n {
		blank[k] = s.book.local(k, s.unborn())
	}
	s.mu.Unlock()
	for k := range s.n { // those after k are up, too
		step, err := n.step(blank, choose(birth, k, 0))
		if err != nil {
			return nil, err
		}
		out.Begin = append(out.Begin, step)
	}
	v := start
	for _, c := range way {
		step, err := n.step(v, c)
		if err != nil {
			return nil, err
		}
		out.Schedule = append(out.Schedule, step)
		n.apply(v, sum(v), c)
		v = slices.Clone(n.next)
	}
	n.choices(v) // makes it next
	out.way, out.missing, out.narrator, out.end = way, n.missing(), n, v
	return out, nil
}

// step carries a choice out once more, for what is asked for.
func (n *narrator) step(v []uint32, c choice) (Step, error) {
	k, more := c.who(), c.more()
	out := Step{Do: c.do(), Process: algo.ID(k + 1)}
	do := call{do: c.do(), at: more}
	copy(n.next, v)
	n.refresh()
	var m *message
	switch c.do() {
	case cut, heal:
		return n.divide(c), nil
	case notice, suspicion:
		out.Peer = algo.ID(more + 1)
		out.Away = c.do() == notice && n.at(more).up
	case delivery, repeated, loss:
		link, at := more>>8, more&255
		do.msg, do.do = n.on(link).msgs[at], delivery
		m = n.msgs.all[do.msg]
		list := n.flying[link]
		i := slices.IndexFunc(list, func(f flight) bool { return f.msg == do.msg })
		out.Took = list[i].number
		if c.do() != repeated {
			n.flying[link] = slices.Delete(slices.Clone(list), i, i+1)
		}
		if c.do() == loss {
			msg, _, err := n.setup.Alg.Codec.Decode([]byte(m.body))
			out.Event = algo.Event{Type: algo.Receive, Peer: algo.ID(m.from + 1), Msg: msg}
			return out, err
		}
	case crash:
		for _, i := range n.incoming[k] {
			delete(n.flying, i)
		}
	}
	l := n.at(k)
	now := l.clock
	x, err := n.execute(k, l, do, m, now)
	if err != nil {
		return out, err
	}
	out.Event = x.event
	n.mu.Lock()
	defer n.mu.Unlock()
	return out, n.effects(k, &out, &x)
}

// divide carries a cut out, or a heal, which are no process's.
func (n *narrator) divide(c choice) Step {
	out := Step{Do: c.do()}
	if c.do() == cut {
		what := severed(c.more())
		out.Change = what.change(n.n)
		for i, l := range n.links {
			if what.between(int(l.from), int(l.to)) {
				delete(n.flying, i)
			}
		}
	}
	return out
}

// effects copies what a process asked for, which the next call overwrites.
func (n *narrator) effects(k int, out *Step, x *execution) error {
	d := &deed{}
	for i := range x.effects {
		e := x.effects[i]
		switch e.Op {
		case algo.OpSend:
			if err := n.post(k, d, &x.local, &e); err != nil {
				return err
			}
			last := d.sends[len(d.sends)-1]
			kind, _ := n.setup.Alg.Codec.KindOf(e.Msg)
			e.Msg = n.setup.Alg.Codec.Copy(kind, e.Msg)
			n.sent++
			down := !n.at(int(last.to)).up || n.cutAway().between(k, int(last.to))
			if !down {
				link := int(last.link)
				n.flying[link] = append(n.flying[link], flight{last.msg, n.sent})
			}
			out.Sends = append(out.Sends, Sending{n.sent, e.Peer, e.Msg, down})
		case algo.OpSetTimer:
			out.Armed = append(out.Armed, Timer{e.Timer, e.After})
		case algo.OpCancelTimer:
			out.Stopped = append(out.Stopped, e.Timer)
		}
		if e.Op != algo.OpSave {
			out.Effects = append(out.Effects, e)
		}
	}
	return nil
}

package fault

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Situation is what a coordinator knows when an event strikes.
type Situation interface {
	Peers() []algo.ID
	Servers() int // how many of the peers, the last ones, are servers of a system; the others are its clients
	Up(p algo.ID) bool
	Paused(p algo.ID) bool
	Inside(p algo.ID) bool // in the critical section
	Leader() algo.ID       // see the Choice leader
	Holder() algo.ID       // the process that the token last came to
	// Dice is the random source of this strike, from its beginning.
	Dice() *rand.Rand
}

// Instructions appends to out what the event leads to at the instant at, and what undoes it. None:
// there is no process to which it could happen.
func (e *Event) Instructions(out []Instruction, s Situation, at time.Duration) []Instruction {
	f := of(e.Do)
	lasts := func() time.Duration { return e.For }
	switch {
	case f.Lasts != nil:
		dice := s.Dice()
		lasts = func() time.Duration { return f.Lasts(e, dice.Uint64()) }
	case !f.Has("for"):
		lasts = func() time.Duration { return 0 }
	}
	add := func(i Instruction) {
		i.At, i.Do, i.does = at, e.Do, f
		out = append(out, i)
		if d := lasts(); d > 0 {
			i.At, i.Override, i.Args = at+d, nil, Args{}
			if i.Undo = f.Undo == ""; !i.Undo {
				i.Do, i.does = f.Undo, Named(f.Undo)
			}
			out = append(out, i)
		}
	}
	if f.Aim != nil {
		if i, ok := f.Aim(s, e, at); ok {
			add(i)
		}
		return out
	}
	other := e.Of
	if e.Target != algo.None {
		other = e.Target
	}
	if e.Node != algo.None {
		add(Instruction{Node: e.Node, Of: other, Args: e.Args})
		return out
	}
	for _, p := range e.targets(s) {
		add(Instruction{Node: p, Of: other, Args: e.Args})
	}
	return out
}

// targets is whom the event happens to at present.
func (e *Event) targets(s Situation) []algo.ID {
	switch {
	case e.Node != algo.None:
		return []algo.ID{e.Node}
	case len(e.Nodes) > 0:
		return e.Nodes
	}
	who := e.Who
	if who == "" {
		who = of(e.Do).Default
	}
	if c := Choices.Named(who); c != nil {
		return c.Find(s)
	}
	return s.Peers()
}

// which are the processes of a list that something is true of.
func which(list []algo.ID, is func(p algo.ID) bool) (out []algo.ID) {
	for _, p := range list {
		if is(p) {
			out = append(out, p)
		}
	}
	return out
}

// clients are the peers but servers.
func clients(s Situation) []algo.ID { return s.Peers()[:len(s.Peers())-s.Servers()] }

// servers are the others.
func servers(s Situation) []algo.ID { return s.Peers()[len(s.Peers())-s.Servers():] }

// some is k of the peers drawn at random, those of first among them.
func some(s Situation, peers []algo.ID, k int, first ...algo.ID) []algo.ID {
	out := slices.Clone(first)
	for _, i := range s.Dice().Perm(len(peers)) {
		if len(out) < k && !slices.Contains(out, peers[i]) {
			out = append(out, peers[i])
		}
	}
	slices.Sort(out)
	return out
}

func present(p algo.ID) []algo.ID {
	if p == algo.None {
		return nil
	}
	return []algo.ID{p}
}

// between are the links from each of some processes to each of others, or from those.
func between(from, to []algo.ID) (links [][2]uint32) {
	for _, p := range from {
		for _, q := range to {
			if p != q {
				links = append(links, [2]uint32{uint32(p), uint32(q)})
			}
		}
	}
	return links
}

func numbers(ids []algo.ID) []uint32 {
	out := make([]uint32, len(ids))
	for i, p := range ids {
		out[i] = uint32(p)
	}
	return out
}

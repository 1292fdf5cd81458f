package fault

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Layout is a way in which a network can fall apart: a value of shape.
type Layout struct {
	Name, Doc string
	Least     int // processes without which it stops no message
	// Centre is, in words, the process in the middle if the event names none; "": there is none.
	Centre string
	// Leads marks one that is around the leader in any case.
	Leads bool
	// Divide is the sides, or the links, in the event's situation; and the process in the middle. Both
	// nil: it cannot be made now.
	Divide func(s Situation, who []algo.ID) (groups [][]uint32, links [][2]uint32)
}

// The process in the middle by default.
const (
	theLeader = "the leader"
	theMiddle = "the middle one"
)

func (l Layout) word() string { return l.Name }

// Shapes is how a network can fall apart.
var Shapes = Words[Layout]{
	{Name: "halves",
		Doc: "the lower half of the processes against the rest; if odd, the rest is larger",
		Divide: func(s Situation, _ []algo.ID) ([][]uint32, [][2]uint32) {
			peers := s.Peers()
			return [][]uint32{numbers(peers[:len(peers)/2])}, nil
		}},
	{Name: "majority", Doc: "the leader and a random majority against the rest", Least: 3, Leads: true,
		Divide: func(s Situation, _ []algo.ID) ([][]uint32, [][2]uint32) {
			return withLeader(s, majority(len(s.Peers()))), nil
		}},
	{Name: "minority", Doc: "the leader and a random minority against the rest", Least: 3, Leads: true,
		Divide: func(s Situation, _ []algo.ID) ([][]uint32, [][2]uint32) {
			return withLeader(s, minority(len(s.Peers()))), nil
		}},
	{Name: "isolate", Doc: "who (the leader) against all others", Centre: theLeader,
		Divide: func(_ Situation, who []algo.ID) (groups [][]uint32, _ [][2]uint32) {
			for _, p := range who {
				groups = append(groups, []uint32{uint32(p)})
			}
			return groups, nil
		}},
	{Name: "deaf", Doc: "who (the leader) receives nothing; what it sends arrives", Centre: theLeader,
		Divide: func(s Situation, who []algo.ID) ([][]uint32, [][2]uint32) {
			return nil, between(s.Peers(), who)
		}},
	{Name: "mute", Doc: "nothing that who (the leader) sends arrives; it receives everything",
		Centre: theLeader,
		Divide: func(s Situation, who []algo.ID) (_ [][]uint32, links [][2]uint32) {
			for _, l := range between(s.Peers(), who) {
				links = append(links, [2]uint32{l[1], l[0]})
			}
			return nil, links
		}},
	{Name: "bridge", Doc: "halves, but who (the middle one) reaches both", Least: 3, Centre: theMiddle,
		Divide: func(s Situation, who []algo.ID) ([][]uint32, [][2]uint32) {
			return nil, bridge(s.Peers(), who)
		}},
	{Name: "ring", Doc: "each process reaches its nearest by number, a different majority for each",
		Least: 4,
		Divide: func(s Situation, _ []algo.ID) ([][]uint32, [][2]uint32) {
			return nil, majorities(len(s.Peers()))
		}},
	{Name: "random", Doc: "two random sides, neither empty, drawn anew each time",
		Divide: func(s Situation, _ []algo.ID) ([][]uint32, [][2]uint32) {
			size := 1 + s.Dice().IntN(max(len(s.Peers())-1, 1))
			return [][]uint32{numbers(some(s, s.Peers(), size))}, nil
		}},
}

// Centred are the names of the shapes with a process in the middle.
func Centred() (names []string) {
	for _, l := range Shapes {
		if l.Centre != "" {
			names = append(names, l.Name)
		}
	}
	return names
}

// TooFew says that a network of so many processes cannot fall apart so; "": it can.
func (l *Layout) TooFew(nodes int) string {
	if least := max(l.Least, 2); nodes < least {
		return fmt.Sprintf("%s stops no message among %d nodes; expected at least %d", l.Name, nodes, least)
	}
	return ""
}

// AroundLeader says whether the event's shape needs to know which process leads.
func (l *Layout) AroundLeader(e *Event) bool {
	return l.Leads || l.Centre == theLeader && !e.Aimed()
}

// settled says whether the shape is known before the start.
func (l *Layout) settled(e *Event) bool {
	switch {
	case l.Leads:
		return false
	case l.Centre == theLeader:
		return e.Named()
	case l.Centre == theMiddle:
		return e.Who == ""
	}
	return true
}

// middle is the processes in the middle.
func (l *Layout) middle(s Situation, e *Event) []algo.ID {
	peers := s.Peers()
	switch {
	case l.Centre == "":
		return nil
	case e.Aimed():
		return e.targets(s)
	case l.Centre == theMiddle:
		return peers[len(peers)/2 : len(peers)/2+1]
	}
	return present(s.Leader())
}

// divide is the sides or the links of the event's shape; false: it cannot be made now.
func (e *Event) divide(s Situation) (groups [][]uint32, links [][2]uint32, ok bool) {
	l := Shapes.Named(e.Shape)
	who := l.middle(s, e)
	if l.Centre == theLeader && len(who) == 0 {
		return nil, nil, false
	}
	groups, links = l.Divide(s, who)
	if e.Host != "" && len(groups) > 0 { // they stay together
		groups = [][]uint32{slices.Concat(groups...)}
	}
	links = e.outside(links)
	return groups, links, groups != nil || links != nil
}

func withLeader(s Situation, size int) [][]uint32 {
	leader := s.Leader()
	if leader == algo.None || size == 0 {
		return nil
	}
	return [][]uint32{numbers(some(s, s.Peers(), size, leader))}
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

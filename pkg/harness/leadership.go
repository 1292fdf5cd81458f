package harness

import (
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
)

// A Leadership is the process that leads, by each definition of algo.Service, as far as the records of a
// trial say so. The coordinator asks it which process a fault by role happens to, and the judge when a
// leader was missing. Processes are in slices by ID - 1.
type Leadership struct {
	Belief  []algo.ID // the leader that each process names
	Leaders []algo.ID // those that are up, not paused, and consider themselves leader
	// Alive are up, Standing are not paused either.
	Alive, Standing int
	// Disks are those of the processes: one that is stuck serves no client. Nil: none is.
	Disks []fault.Disk

	up, paused []bool // of their owner
	links      *Links // likewise
	scope      []bool // in the largest part of a cut network
	votes      []int  // live processes in scope that name each process; by ID, 0 for nobody
	live       int    // processes in scope that are up
	support    []int  // up, and naming each process
	named      []int  // those of them that are not paused
}

// NewLeadership has all processes name the plan's leader. The owner of up, paused and links
// keeps them up to date, and calls Regroup when one of them has changed.
func NewLeadership(leader algo.ID, up, paused []bool, links *Links) *Leadership {
	l := &Leadership{Belief: make([]algo.ID, len(up)), scope: make([]bool, len(up)),
		up: up, paused: paused, links: links}
	for i := range up {
		l.Belief[i], l.scope[i] = leader, true
	}
	l.recount()
	return l
}

// Regroup follows a change of which processes are up, or of which reach each other.
func (l *Leadership) Regroup(at time.Duration) {
	l.divide(at)
	l.recount()
}

// recount is needed when processes come and go; beliefs are counted as they change.
func (l *Leadership) recount() {
	n := len(l.up)
	l.votes, l.support, l.named = make([]int, n+1), make([]int, n+1), make([]int, n+1)
	l.live, l.Alive, l.Standing, l.Leaders = 0, 0, 0, l.Leaders[:0]
	for i, belief := range l.Belief {
		if !l.up[i] {
			continue
		}
		l.Alive++
		l.support[belief]++
		p := algo.ID(i + 1)
		if !l.Present(p) {
			continue
		}
		l.Standing++
		l.named[belief]++
		if belief == p {
			l.Leaders = append(l.Leaders, p)
		}
		if l.scope[i] {
			l.live++
			l.votes[belief]++
		}
	}
}

// Name has p, which is up, name a leader or none. It says whether it named another before.
func (l *Leadership) Name(p, leader algo.ID) (changed bool) {
	i := p - 1
	old := l.Belief[i]
	if l.Belief[i] = leader; old == leader {
		return false
	}
	l.support[old]--
	l.support[leader]++
	if l.Asked(p) {
		l.votes[old]--
		l.votes[leader]++
	}
	if !l.Present(p) {
		return true
	}
	l.named[old]--
	l.named[leader]++
	switch p {
	case old:
		l.Leaders = slices.DeleteFunc(l.Leaders, func(h algo.ID) bool { return h == p })
	case leader:
		l.Leaders = append(l.Leaders, p)
	}
	return true
}

// Present says whether p is up and not paused.
func (l *Leadership) Present(p algo.ID) bool { return l.up[p-1] && !l.paused[p-1] }

// Asked says whether p takes part in agreement.
func (l *Leadership) Asked(p algo.ID) bool { return l.scope[p-1] && l.Present(p) }

// Agreement is the leader that every process asked names; hint is one to look at first.
func (l *Leadership) Agreement(hint algo.ID) algo.ID {
	if hint == algo.None {
		for p, votes := range l.votes {
			if p > 0 && votes > 0 {
				hint = algo.ID(p)
				break
			}
		}
	}
	if l.AgreedOn(hint) {
		return hint
	}
	return algo.None
}

// AgreedOn says whether every process asked names p.
func (l *Leadership) AgreedOn(p algo.ID) bool {
	return p != algo.None && l.live > 0 && l.votes[p] == l.live && l.Asked(p)
}

// By is the process that leads at an instant by a definition; None: no process does.
func (l *Leadership) By(service algo.Service, at time.Duration) algo.ID {
	if service == algo.Agreed {
		return l.Agreement(algo.None)
	}
	for _, p := range l.Leaders {
		c := l.Around(p, at)
		if c.Led || service == algo.Served && c.Serves {
			return p
		}
	}
	return algo.None
}

// Majority says whether so many are one of all processes.
func (l *Leadership) Majority(n int) bool { return 2*n > len(l.up) }

// A Circle is the processes that a leader reaches in both directions, itself among them.
type Circle struct {
	Reaches bool // a majority of all processes, up and not paused
	Serves  bool // and so many of those acknowledge a write, the leader among them
	Led     bool // a majority of all processes, of those, names it
	Served  int  // up, paused or not, and naming it: their clients ask it
}

// Around is the circle of p, which is up and not paused.
func (l *Leadership) Around(p algo.ID, at time.Duration) Circle {
	if !l.links.Apart && !slices.ContainsFunc(l.Disks, fault.Disk.Stuck) {
		reaches := l.Majority(l.Standing)
		return Circle{reaches, reaches, l.Majority(l.named[p]), l.support[p]}
	}
	reached, writing, named, served := 1, 1, 1, 1
	for i, belief := range l.Belief {
		q := algo.ID(i + 1)
		if q == p || !l.up[i] || l.Severed(p, q, at) {
			continue
		}
		if belief == p {
			served++
		}
		if !l.Present(q) {
			continue
		}
		reached++
		if l.writes(q) {
			writing++
		}
		if belief == p {
			named++
		}
	}
	return Circle{l.Majority(reached), l.writes(p) && l.Majority(writing), l.Majority(named), served}
}

// writes says whether p acknowledges writes.
func (l *Leadership) writes(p algo.ID) bool { return l.Disks == nil || !l.Disks[p-1].Stuck() }

// Severed says whether messages between two processes are cut off in some direction.
func (l *Leadership) Severed(p, q algo.ID, at time.Duration) bool {
	return l.links.Cuts.Severed(uint32(p), uint32(q), at, at) ||
		l.links.Cuts.Severed(uint32(q), uint32(p), at, at)
}

// Package sample has one of each thing that is changed.
package sample

import "slices"

type phase int

const (
	calm phase = iota
	busy
	done
)

type node struct {
	phase phase
	count int
	names []string
	busy  bool
}

// New is a root.
func New() *node {
	return &node{phase: calm, busy: done == busy}
}

// Receive is a root; what it calls is changed as well.
func (n *node) Receive(v int) int {
	n.count++
	if v < 0 || n.busy && v != 7 {
		return 0
	}
	n.handle(v)
	return -v
}

func (n *node) handle(v int) {
	switch {
	case v >= 3:
		n.phase = done
	case !n.busy:
		n.names = append(n.names, "x")
	}
	for i := range n.names {
		n.count += max(i+1, 4)
	}
	_ = slices.ContainsFunc(n.names, func(s string) bool { return s == "x" })
}

// Idle is called by nobody.
func (n *node) Idle() { n.count-- }

package ble

import "github.com/conclave-bench/conclave/pkg/algo"

// judge is the end of a round under rule happy.
func (n *node) judge(env algo.Env) {
	top := n.leader // (a)
	for _, r := range n.replies {
		if top.less(r.Ballot) {
			top = r.Ballot
		}
	}
	n.fit = n.content(top) // (b)
	nobody := !n.fit
	for _, r := range n.replies {
		nobody = nobody && (!r.Fit || r.Leader.less(top))
	}
	if nobody && len(n.replies)+1 >= n.majority { // (c)
		n.raise(env, top)
		n.fit, top = true, n.ballot
	}
	n.follow(env, top)
}

// content is (b): a leader is happy if a majority has none above it, or a happy process does;
// others are if their leader is.
func (n *node) content(leader Ballot) bool {
	if leader != n.ballot {
		for _, r := range n.replies {
			if r.Ballot == leader {
				return r.Fit
			}
		}
		return false
	}
	below := 1
	for _, r := range n.replies {
		switch higher := leader.less(r.Leader); {
		case !higher:
			below++
		case r.Fit:
			return true
		}
	}
	return below >= n.majority
}

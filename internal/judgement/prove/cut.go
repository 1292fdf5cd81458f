package prove

import (
	"github.com/conclave-bench/conclave/pkg/link"
)

// A severed is what is cut, as a number: 0 for nothing; up to 255 the processes of one side, a bit each by
// ID - 1; above that two processes whose links, one in each direction, are cut.
type severed uint16

const ofPair severed = 1 << 8

// pair is the cut of the links between two processes, by ID - 1.
func pair(a, b int) severed { return ofPair | severed(a)<<4 | severed(b) }

// between says whether the links between two processes, by ID - 1, are cut.
func (s severed) between(a, b int) bool {
	if s < ofPair {
		return (s>>a^s>>b)&1 != 0
	}
	return s == pair(a, b) || s == pair(b, a)
}

// change is what a script of n processes says for it.
func (s severed) change(n int) (c link.Change) {
	if s >= ofPair {
		a, b := uint32(s>>4&15)+1, uint32(s&15)+1
		c.Links = [][2]uint32{{a, b}, {b, a}}
		return c
	}
	c.Groups = make([][]uint32, 2)
	for p := range n {
		side := &c.Groups[s>>p&1]
		*side = append(*side, uint32(p)+1)
	}
	return c
}

// cuts are all that can be cut: each part of the processes from the others, and each two from each other.
func (e *book) cuts() (out []severed) {
	for side := severed(2); side < 1<<e.n; side += 2 { // process 1 is on the other one
		out = append(out, side)
	}
	for a := range e.n {
		for b := range a {
			if e.n > 2 && (e.linkOf[0][a][b] >= 0 || e.linkOf[0][b][a] >= 0) {
				out = append(out, pair(b, a))
			}
		}
	}
	return out
}

// Of the number of a state for cuts, the low half is what is cut, and the rest how often something was.
const spentCuts = 16

func (w *worker) cutAway() severed {
	if w.system.Cuts == 0 {
		return 0
	}
	return severed(w.next[w.cutAt()])
}

// parts adds what may be cut, or what heals. One cut is over before the next begins.
func (w *worker) parts(out []choice) []choice {
	switch {
	case w.system.Cuts == 0:
	case w.cutAway() != 0:
		out = append(out, choose(heal, 0, 0))
	case int(w.next[w.cutAt()]>>spentCuts) < w.system.Cuts:
		for _, c := range w.divisions {
			out = append(out, choose(cut, 0, int(c)))
		}
	}
	return out
}

// sever cuts what is to be cut: what is on its way across it is lost.
func (w *worker) sever(what severed) {
	w.set(w.cutAt(), w.next[w.cutAt()]+1<<spentCuts+uint32(what))
	for i, l := range w.links {
		if what.between(int(l.from), int(l.to)) {
			w.set(w.linkAt(i), 0)
		}
	}
}

// mend heals what is cut.
func (w *worker) mend() { w.set(w.cutAt(), w.next[w.cutAt()]>>spentCuts<<spentCuts) }

// parted says whether something was cut so far.
func (w *worker) parted() bool { return w.system.Cuts > 0 && w.next[w.cutAt()] != 0 }

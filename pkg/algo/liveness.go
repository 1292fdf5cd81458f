package algo

import (
	"fmt"
	"slices"
	"time"
)

// A Connectivity says which processes reach each other: which links have to be whole so
// that there is a leader in the end. Each but the first is weaker than the one before it,
// where a majority is needed.
type Connectivity uint8

// The kinds of connectivity.
const (
	// Unpromised: no connectivity is enough.
	Unpromised Connectivity = iota
	// InParts: the live processes are in parts. All of a part reach each other in both
	// directions, and none is reached from another part. If nothing is cut, there is one.
	InParts
	// MajorityConnected: a majority of all processes is live, and all of them reach each
	// other in both directions, whatever they exchange with the rest.
	MajorityConnected
	// QuorumConnected: some live process reaches a majority of all processes in both
	// directions, itself among them (H. Ng, S. Haridi, P. Carbone, Omni-Paxos, EuroSys 2023).
	QuorumConnected
)

func (c Connectivity) String() string {
	return [...]string{
		"nothing",
		"all live processes of each part of the network reach each other in both directions",
		"a majority of all processes reach each other in both directions",
		"one process reaches a majority of all in both directions",
	}[c]
}

// Liveness is a promise that there is a leader: whenever the connectivity has held for so
// many time-outs, and nothing else has gone wrong, there has been one meanwhile. Where the
// time-outs are random, it holds except with probability 1e-9.
type Liveness struct {
	Under    Connectivity
	Timeouts int // each the longest of the algorithm's, see Params.Timeout
	// Learns: nothing is saved, and a process that comes back from a crash has to learn from the others
	// what it forgot. Until it names a leader it counts as down.
	Learns bool
}

// Steady is the Promises.Live of a deterministic algorithm, each of whose steps takes one
// time-out at most: there are a few for each process, in each part.
func Steady(n int, _ Params) Liveness { return Liveness{Under: InParts, Timeouts: 10 * n} }

// LiveOf is what the algorithm promises n processes that have the resolved parameters p.
func (s *Spec) LiveOf(n int, p Params) Liveness {
	if s.Promises.Live == nil {
		return Liveness{}
	}
	return s.Promises.Live(n, p.Of(1))
}

// Within is how long a leader may be missing with parameters p, where a message takes at
// most d.
func (l Liveness) Within(p Params, d time.Duration) time.Duration {
	unit := max(p.Timeout(), 4*d)
	if limit := forever / time.Duration(max(l.Timeouts, 1)); unit > limit {
		return forever
	}
	return time.Duration(l.Timeouts) * unit
}

// forever is longer than any trial, and may be added to an instant.
const forever = 100 * 365 * 24 * time.Hour

// Holds says whether n processes are so connected: link says whether a message of p reaches
// q, or p itself if they are the same. Where a majority is needed a part without one counts
// for nothing.
func (c Connectivity) Holds(n int, majority bool, link func(p, q ID) bool) bool {
	w := web{n: n, both: make([][]bool, n)}
	reached := make([][]bool, n)
	for p := range n {
		w.both[p], reached[p] = make([]bool, n), make([]bool, n)
		for q := range n {
			reached[p][q] = link(ID(p+1), ID(q+1))
		}
	}
	for p := range n {
		for q := range n {
			w.both[p][q] = reached[p][q] && reached[q][p]
			w.half = w.half || reached[p][q] != reached[q][p]
		}
	}
	switch c {
	case InParts:
		return w.inParts(majority)
	case MajorityConnected:
		return w.clique()
	case QuorumConnected:
		return w.hub()
	}
	return false
}

// A web says which processes reach each other in both directions. Only a live process reaches itself.
type web struct {
	n    int
	both [][]bool
	half bool // somebody reaches another in one direction alone
}

func (w *web) size(p int) (n int) {
	for _, reached := range w.both[p] {
		if reached {
			n++
		}
	}
	return n
}

// hub says whether somebody reaches a majority.
func (w *web) hub() bool {
	for p := range w.n {
		if w.both[p][p] && 2*w.size(p) > w.n {
			return true
		}
	}
	return false
}

// inParts says whether to reach each other is an equivalence: if each reaches the same as the
// least that it reaches.
func (w *web) inParts(majority bool) bool {
	largest := 0
	for p := range w.n {
		least := slices.Index(w.both[p], true)
		if least < 0 {
			continue
		}
		if !slices.Equal(w.both[p], w.both[least]) {
			return false
		}
		largest = max(largest, w.size(p))
	}
	return !w.half && largest > 0 && (!majority || 2*largest > w.n)
}

// most bounds the search for a majority that is connected: with more to try there is said
// to be none, which promises less.
const most = 10_000

// clique says whether a majority reach each other. Of two that do not, one has to be left
// out; a majority is left if few enough are.
func (w *web) clique() bool {
	in, live := make([]bool, w.n), 0
	for p := range in {
		if in[p] = w.both[p][p]; in[p] {
			live++
		}
	}
	tried := 0
	var search func(spare int) bool
	search = func(spare int) bool {
		if tried++; spare < 0 || tried > most {
			return false
		}
		worst, missing := -1, 0
		for p := range w.n {
			lacks := 0
			for q := range w.n {
				if in[p] && in[q] && !w.both[p][q] {
					lacks++
				}
			}
			if lacks > missing {
				worst, missing = p, lacks
			}
		}
		if worst < 0 {
			return true
		}
		in[worst] = false
		if search(spare - 1) {
			return true
		}
		if in[worst] = true; missing > spare { // it cannot stay
			return false
		}
		var out []int
		for q := range w.n { // it stays: all that it does not reach go
			if in[q] && !w.both[worst][q] {
				in[q] = false
				out = append(out, q)
			}
		}
		found := search(spare - missing)
		for _, q := range out {
			in[q] = true
		}
		return found
	}
	return search(live - (w.n/2 + 1))
}

// Text is the promise in words.
func (l Liveness) Text() string {
	if l.Under == Unpromised {
		return "no time by which there is a leader"
	}
	text := fmt.Sprintf("a leader within %d time-outs while %s", l.Timeouts, l.Under)
	if l.Learns {
		text += "; a process that came back counts as down until it names a leader"
	}
	return text
}

package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A Lasso is what a trial without an end comes to: a beginning, and what repeats after it.
type Lasso struct {
	From  int   // the first record that repeats
	Cycle []int // the records of one round, in their order
	// Exact: round follows round, with nothing in between. Otherwise the rounds of several processes
	// overlap, and Cycle has each thing that happens once.
	Exact bool
}

// again is how often something has to happen to count as a repetition.
const again = 3

// tail is in how many of the last records a lasso is looked for, and round how long one may be.
const (
	tail  = 20_000
	round = 2_000
)

// A sign is what a record has in common with one that repeats it: not its instant, nor a number
// that counts.
type sign struct {
	what          trace.Type
	process, peer uint32
	plane, kind   uint8
	text          string
}

func signOf(r *trace.Record) sign {
	s := sign{what: r.Type, process: r.Process, peer: r.Peer, text: r.Text}
	if r.Type.IsMessage() {
		s.plane, s.kind, s.text = r.Plane, r.Kind, ""
	}
	return s
}

// FindLasso finds what repeats at the end of the records of a trial, heartbeats left out. False: nothing
// does.
func FindLasso(list trace.List) (l Lasso, found bool) {
	first := max(len(list)-tail, 0)
	signs := make([]sign, len(list)-first)
	for i := range signs {
		signs[i] = signOf(&list[first+i])
	}
	if length := period(signs); length > 0 {
		l.From, l.Exact = len(list)-length, true
		for l.From > 0 && signOf(&list[l.From-1]) == signOf(&list[l.From-1+length]) {
			l.From--
		}
		for i := range length {
			l.Cycle = append(l.Cycle, l.From+i)
		}
		return l, true
	}
	count := map[sign]int{}
	for _, s := range signs[len(signs)/2:] {
		count[s]++
	}
	l.From = len(list)
	for l.From > 0 && count[signOf(&list[l.From-1])] >= again {
		l.From--
	}
	if len(list)-l.From < max(len(signs)/2, again) {
		return Lasso{}, false
	}
	seen := map[sign]bool{}
	for i := l.From; i < len(list) && len(seen) < len(count); i++ {
		if s := signOf(&list[i]); !seen[s] {
			seen[s] = true
			l.Cycle = append(l.Cycle, i)
		}
	}
	return l, true
}

// Lasso is what repeats in a schedule that comes to no end; false: it is about another promise, or
// nothing does.
func (f *Find) Lasso() (Lasso, bool) {
	if f.Rule != noEnd {
		return Lasso{}, false
	}
	return FindLasso(f.Records)
}

// period is how long the shortest round is that the last half of the signs consists of; 0: there is none.
func period(signs []sign) int {
	n := len(signs)
	for p := 1; p <= min(n/again, round); p++ {
		same := 0
		for same < n-p && signs[n-1-same] == signs[n-1-same-p] {
			same++
		}
		if same+p >= max(again*p, n/2) {
			return p
		}
	}
	return 0
}

// told is how many records of a lasso are printed.
const told = 40

// Text is the lasso in words, a line for each record of the cycle.
func (l *Lasso) Text(list trace.List, kinds []string) string {
	out := &strings.Builder{}
	what := "this repeats:"
	if !l.Exact {
		what = "only this happens, repeatedly:"
	}
	fmt.Fprintf(out, "from %v on %s", list[l.From].At.Round(10*time.Microsecond), what)
	for _, i := range l.Cycle[:min(len(l.Cycle), told)] {
		fmt.Fprintf(out, "\n  %s", harness.Words(&list[i], kinds, ""))
	}
	if more := len(l.Cycle) - told; more > 0 {
		fmt.Fprintf(out, "\n  and %d more", more)
	}
	return out.String()
}

package check

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// terms follows the candidates of an algorithm that promises one leader per term. A term
// begins when a process first stands in it. Its vote is split if nobody is elected although a
// candidate reached a majority: unless one of its candidates crashed, or was paused, before
// another term began. Then it was cut short, and what would have become of it is not known.
type terms struct {
	begun  []term         // in the order of their begin
	number map[uint64]int // of a term in begun
	stands []int          // which of them each process stands in, by ID - 1; negative: none
	silent bool           // somebody led a term in which nobody said that it stands

	count       int // terms that were begun in elections that count
	held, split int // those of them that had a vote, and in which it was split
}

// A term is one in which somebody stood.
type term struct {
	at       time.Duration
	elected  bool
	able     bool // a candidate reached a majority of all processes when it stood
	cutShort bool
}

func newTerms(nodes int) terms {
	t := terms{number: map[uint64]int{}, stands: make([]int, nodes)}
	for i := range t.stands {
		t.stands[i] = -1
	}
	return t
}

// elected takes a report of r.Process, which is up: whom it names, or in which term it stands.
// Able says whether it reaches a majority.
func (t *terms) elected(r *trace.Record, able bool) {
	i, known := t.number[r.Arg]
	t.stands[r.Process-1] = -1
	switch {
	case r.Peer == r.Process && known:
		t.begun[i].elected = true
	case r.Peer == r.Process:
		t.silent = true
	case r.Peer == 0 && r.Arg > 0:
		if !known {
			i = len(t.begun)
			t.number[r.Arg] = i
			t.begun = append(t.begun, term{at: r.At})
		}
		t.begun[i].able = t.begun[i].able || able
		t.stands[r.Process-1] = i
	}
}

// gone is a crash or a pause of p. One that stood in a term before the last has given that up
// by then, whether it has said so or not.
func (t *terms) gone(p algo.ID) {
	if i := t.stands[p-1]; i >= 0 && i == len(t.begun)-1 {
		t.begun[i].cutShort = true
	}
	t.stands[p-1] = -1
}

// add counts an election that is over.
func (t *terms) add(cause, end time.Duration) {
	for i := len(t.begun) - 1; i >= 0 && t.begun[i].at >= cause; i-- {
		b := &t.begun[i]
		if b.at > end {
			continue
		}
		t.count++
		switch {
		case b.elected:
			t.held++
		case b.able && !b.cutShort:
			t.held++
			t.split++
		}
	}
}

// pending counts the votes of an election that is not over. What becomes of its last term is
// not known.
func (t *terms) pending(cause, end time.Duration) {
	count := t.count
	t.begun = t.begun[:max(len(t.begun)-1, 0)]
	t.add(cause, end)
	t.count = count
}

// metrics are those of so many elections.
func (t *terms) metrics(elections int) []metric.Value {
	if t.silent {
		return nil
	}
	return []metric.Value{
		metric.TermsPerElection.Of(mean(float64(t.count), elections)),
		metric.SplitVoteShare.Of(ratio(float64(t.split), float64(t.held))),
	}
}

package check

import (
	"iter"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// waiting is the requests that wait to be granted, in the order in which they were made. In large
// systems very many wait at once, so that nothing here looks at all of them: a request that has left
// stays in its place, marked, until more have left than wait.
type waiting struct {
	requests []request
	head     int   // the first that waits, or how many requests there are
	n        int   // how many wait
	of       []int // by ID - 1: the place of the first that waits of each process, negative: none
	overtook tally // requests that were granted, by place

	// An entry counts against all requests up to some place. So the first that waits has seen most, and
	// it is enough to know how many entries counted up to each place from it on.
	epoch int // entries of former ones do not count any more
	seen  int // entries that count against the first that waits
}

// A request is one that waits, or has waited.
type request struct {
	trace.Operation
	lag     time.Duration // of the instant at which it was meant
	next    int           // the place of the next that waits of the same process, negative: none
	gone    bool
	granted bool
	upTo    int // entries that count up to here, and not further
	epoch   int // in which they do
}

func newWaiting(nodes int) waiting {
	w := waiting{of: make([]int, nodes), requests: make([]request, 0, nodes)}
	for i := range w.of {
		w.of[i] = -1
	}
	return w
}

// add is a new request.
func (w *waiting) add(op trace.Operation, lag time.Duration) {
	if w.head > 1024 && w.head > len(w.requests)/2 {
		w.forget()
	}
	i := len(w.requests)
	w.requests = append(w.requests, request{Operation: op, lag: lag, next: -1})
	w.overtook.grow(i + 1)
	w.n++
	at := &w.of[op.Process-1]
	for *at >= 0 {
		at = &w.requests[*at].next
	}
	*at = i
}

// forget gives up the places before the head.
func (w *waiting) forget() {
	by := w.head
	w.requests = slices.Delete(w.requests, 0, by)
	w.head = 0
	for i := range w.of {
		w.of[i] = max(w.of[i]-by, -1)
	}
	w.overtook = tally{}
	w.overtook.grow(len(w.requests))
	for i := range w.requests {
		r := &w.requests[i]
		if r.next = max(r.next-by, -1); r.granted {
			w.overtook.add(i)
		}
	}
}

// first is the place of the first request of p that waits; negative: none.
func (w *waiting) first(p algo.ID) int { return w.of[p-1] }

// bypassed is how many requests were granted that were made after that of place i.
func (w *waiting) bypassed(i int) int { return w.overtook.after(i) }

// leave takes the first request of its process, of place i, from those that wait.
func (w *waiting) leave(i int, granted bool) {
	r := &w.requests[i]
	r.gone, r.granted = true, granted
	if granted {
		w.overtook.add(i)
	}
	w.of[r.Process-1] = r.next
	for w.n--; w.head < len(w.requests) && w.requests[w.head].gone; w.head++ {
		w.seen -= w.counted(w.head)
	}
}

// counted is how many entries count up to place i, and not further.
func (w *waiting) counted(i int) int {
	if r := &w.requests[i]; r.epoch == w.epoch {
		return r.upTo
	}
	return 0
}

// count has an entry count against all requests that were made by the instant at, and calls told for
// those that have seen more than most of them.
func (w *waiting) count(at time.Duration, most int, told func(r *request, seen int)) {
	made, _ := slices.BinarySearchFunc(w.requests[w.head:], at, func(r request, at time.Duration) int {
		if r.Begin <= at {
			return -1
		}
		return 1
	})
	if made == 0 {
		return
	}
	last := &w.requests[w.head+made-1]
	if last.epoch != w.epoch {
		last.epoch, last.upTo = w.epoch, 0
	}
	last.upTo++
	w.seen++
	seen := w.seen
	for i := w.head; seen > most && i < w.head+made; i++ {
		if !w.requests[i].gone {
			told(&w.requests[i], seen)
		}
		seen -= w.counted(i)
	}
}

// recount has no entry of until now count any more.
func (w *waiting) recount() {
	w.epoch++
	w.seen = 0
}

// all is every request that waits, with its place.
func (w *waiting) all() iter.Seq2[int, *request] {
	return func(yield func(int, *request) bool) {
		for i := w.head; i < len(w.requests); i++ {
			if r := &w.requests[i]; !r.gone && !yield(i, r) {
				return
			}
		}
	}
}

// A tally counts at places, and adds up (P. M. Fenwick, A new data structure for cumulative frequency
// tables, Software: Practice and Experience 24, 1994).
type tally struct {
	sums []int32 // of place i: of those from i - i&(-i) on, where places are numbered from 1
	all  int
}

// grow makes room for n places.
func (t *tally) grow(n int) {
	for i := len(t.sums); i <= n; i++ {
		sum := int32(0)
		for k := i - 1; k > i-i&-i; k -= k & -k {
			sum += t.sums[k]
		}
		t.sums = append(t.sums, sum)
	}
}

// add counts one at place i, which is numbered from 0.
func (t *tally) add(i int) {
	t.all++
	for k := i + 1; k < len(t.sums); k += k & -k {
		t.sums[k]++
	}
}

// after is how many there are behind place i.
func (t *tally) after(i int) int {
	n := t.all
	for k := i + 1; k > 0; k -= k & -k {
		n -= int(t.sums[k])
	}
	return n
}

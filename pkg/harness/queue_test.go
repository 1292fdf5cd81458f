package harness

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// item is an event of the oracle: a slice that is kept sorted.
type item struct {
	at     time.Duration
	class  Class
	p      algo.ID
	number int
}

func byInstant(a, b item) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.class, b.class), cmp.Compare(a.p, b.p),
		cmp.Compare(a.number, b.number))
}

// TestQueueAgainstSortedSlice: whatever is pushed and popped in whatever order,
// the queue gives what a sorted slice gives.
func TestQueueAgainstSortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[item]
		var oracle []item
		number := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 8).Draw(t, "how many") {
					number++
					e := item{
						at:    time.Duration(rapid.IntRange(-2, 4).Draw(t, "at")),
						class: Class(rapid.IntRange(0, 3).Draw(t, "class")),
						p:     algo.ID(rapid.IntRange(0, 3).Draw(t, "process")), number: number,
					}
					q.Push(e.at, e.class, e.p, e)
					oracle = append(oracle, e)
				}
				slices.SortFunc(oracle, byInstant)
			},
			"pop": func(t *rapid.T) {
				if len(oracle) == 0 {
					t.Skip()
				}
				at, got := q.Pop()
				if want := oracle[0]; got != want || at != want.at {
					t.Fatalf("popped %+v at %v, want %+v", got, at, want)
				}
				oracle = oracle[1:]
			},
			"": func(t *rapid.T) {
				if q.Len() != len(oracle) {
					t.Fatalf("holds %d, want %d", q.Len(), len(oracle))
				}
				if len(oracle) == 0 {
					if q.Due(1 << 62) {
						t.Fatal("something is due in an empty queue")
					}
					return
				}
				first := oracle[0].at
				if q.Next() != first || !q.Due(first) || q.Due(first-1) {
					t.Fatalf("next %v, due then %t, due before %t; want %v, true, false",
						q.Next(), q.Due(first), q.Due(first-1), first)
				}
			},
		})
	})
}

func TestQueueOrderOfOneInstant(t *testing.T) {
	t.Parallel()
	const largest = 1<<22 - 1
	for name, want := range map[string][]item{
		"by class": {{class: Control, p: 9}, {class: Delivery, p: 8}, {class: TimerExpiry, p: 7},
			{class: Application, p: 6}},
		"by process": {{class: Delivery, p: 1}, {class: Delivery, p: 2},
			{class: Delivery, p: largest}},
		"as pushed":     {{class: Delivery, p: 3}, {class: Delivery, p: 3}, {class: Delivery, p: 3}},
		"instant first": {{at: 1, class: Application, p: 9}, {at: 2, class: Control, p: 1}},
		"class before process": {{class: Delivery, p: largest}, {class: TimerExpiry, p: 1},
			{class: TimerExpiry, p: largest}, {class: Application, p: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var q Queue[int]
			order := make([]int, 0, len(want))
			if name == "as pushed" {
				for i := range want {
					order = append(order, i)
				}
			} else {
				for i := range want { // the last first
					order = append(order, len(want)-1-i)
				}
			}
			for _, i := range order {
				q.Push(want[i].at, want[i].class, want[i].p, i)
			}
			for i := range want {
				if _, got := q.Pop(); got != i {
					t.Fatalf("number %d is event %d", i, got)
				}
			}
		})
	}
}

// TestQueueKeepsNothing: an event that was taken out is not held any more.
func TestQueueKeepsNothing(t *testing.T) {
	t.Parallel()
	var q Queue[*int]
	for round := range 3 {
		for i := range 5 {
			q.Push(time.Duration(i), Control, 1, new(int))
		}
		for range 5 {
			q.Pop()
		}
		for i, e := range q.entries[:cap(q.entries)] {
			if e.event != nil {
				t.Fatalf("round %d: place %d still holds its event", round, i)
			}
		}
	}
}

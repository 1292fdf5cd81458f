package prove

import (
	"context"
	"testing"
)

// TestSevered: a cut is between two sides, or between two processes, and a script says the same of it.
func TestSevered(t *testing.T) {
	t.Parallel()
	const n = 4
	f, err := newFrame("mutex/lamport", System{Nodes: n, Requests: 1, Budget: Budget{Cuts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	all := newBook(f).divisions
	if want := 7 + 6; len(all) != want { // parts, and pairs
		t.Errorf("%d cuts, want %d", len(all), want)
	}
	seen := map[string]bool{}
	for _, s := range all {
		change := s.change(n)
		if seen[change.String()] {
			t.Errorf("%s twice", change)
		}
		seen[change.String()] = true
		cut := 0
		for a := range n {
			for b := range n {
				if is := s.between(a, b); a != b && is != change.Cuts(uint32(a+1), uint32(b+1)) {
					t.Errorf("%s: from %d to %d: cut %v", change, a+1, b+1, is)
				} else if is {
					cut++
				}
			}
		}
		if s >= ofPair && cut != 2 || s < ofPair && cut != 6 && cut != 8 {
			t.Errorf("%s cuts %d links", change, cut)
		}
	}
	if want := (severed(2) | 8).change(n).String(); want != "1 3|2 4" {
		t.Errorf("the sides are %s", want)
	}
}

// TestSearch_Cuts: of what is cut, what is on its way is lost and nothing passes until it heals; then
// everything does. An algorithm that survives that stays safe, and is as large without cuts as ever.
func TestSearch_Cuts(t *testing.T) {
	t.Parallel()
	states := map[int]int{}
	for cuts := range 3 {
		s, err := Search(context.Background(), "election/raft", System{
			Nodes: 2, Requests: 2, Budget: Budget{Cuts: cuts}, Canonical: true,
		}, Limits{Live: true})
		if err != nil || s.Find != nil || s.Bound != "" {
			t.Fatalf("%d cuts: %v, %v, %s", cuts, s.Find, err, s.Bound)
		}
		states[cuts] = s.States
	}
	if states[0] >= states[1] || states[1] >= states[2] {
		t.Errorf("states by cuts: %v", states)
	}
	// A request that is lost by a cut never completes, of which nothing is promised.
	var ends []int
	for cuts := range 2 {
		s, err := Search(context.Background(), "mutex/central", System{
			Nodes: 2, Requests: 1, Budget: Budget{Cuts: cuts}, Canonical: true,
		}, Limits{Live: true})
		if err != nil || s.Find != nil || s.Live != (cuts == 0) {
			t.Errorf("%d cuts: %v, %v: live %v", cuts, s.Find, err, s.Live)
		}
		ends = append(ends, s.Terminal)
	}
	if ends[1] <= ends[0] {
		t.Errorf("terminal states by cuts: %d", ends)
	}
}

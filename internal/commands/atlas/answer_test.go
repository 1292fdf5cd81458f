package atlas

import (
	"slices"
	"testing"
)

// TestDenounce: every broken promise is reported with its graph.
func TestDenounce(t *testing.T) {
	t.Parallel()
	g, err := Parse("3;1;1-2")
	if err != nil {
		t.Fatal(err)
	}
	x := &surveyed{}
	x.Label = "greedy"
	var told []string
	tell := func(where, text string) { told = append(told, where+": "+text) }
	x.Entries = []Entry{{Graph: g}}
	if x.denounce(tell) {
		t.Error("nothing is broken")
	}
	x.Entries = append(x.Entries, Entry{Graph: g, Broken: []string{"a", "b"}})
	if want := []string{"greedy in 3;1;1-2: a", "greedy in 3;1;1-2: b"}; !x.denounce(tell) || !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}

package runner

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
)

// TestSchedule_Parts: a large plan is made part by part, unless it is wanted whole, and is the same.
func TestSchedule_Parts(t *testing.T) {
	t.Parallel()
	const repetitions = mostPlanned
	e, err := experiment.Parse("x.yaml", fmt.Appendf(nil, "problem: election\nalgorithms: [bully]\n"+
		"transport: sim\nscenario: {kind: leader-crash}\nsweep:\n  - {vary: nodes, over: [3, 4, 5]}\n"+
		"repetitions: %d\nrounds: 2\n", repetitions), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	want := e.Trials()
	for _, whole := range []bool{false, true} {
		s := &schedule{experiment: e, mu: new(sync.Mutex), stopping: NewStopping(e), whole: whole}
		var got []experiment.Trial
		parts := 0
		for part := s.next(); len(part) > 0; part = s.next() {
			if part[0].Round != part[len(part)-1].Round {
				t.Error("a part is of two rounds")
			}
			if !whole && len(part) >= mostPlanned+len(e.Cells) {
				t.Errorf("a part has %d trials", len(part))
			}
			got, parts = append(got, part...), parts+1
		}
		if !reflect.DeepEqual(got, want) || whole != (parts == e.Rounds) {
			t.Errorf("whole %v: %d parts with %d trials, want those %d of the experiment", whole, parts, len(got),
				len(want))
		}
	}
}

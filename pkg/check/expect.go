package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// expect compares the trial with what its script expects, if it is one that
// does.
func (j *Judge) expect(end harness.End) (errs []error) {
	want := j.setup.Scenario.Expect
	if want == nil {
		return nil
	}
	miss := func(what string, got, want any) {
		errs = append(errs, fmt.Errorf("expected %s %v, got %v", what, want, got))
	}
	if want.Sent != nil && *want.Sent != j.totals.Sent {
		miss("sent", j.totals.Sent, *want.Sent)
	}
	if want.Delivered != nil && *want.Delivered != j.totals.Delivered {
		miss("delivered", j.totals.Delivered, *want.Delivered)
	}
	sent := map[string]int64{}
	for _, k := range j.kinds {
		sent[k.Name] = k.Sent
	}
	for _, kind := range slices.Sorted(maps.Keys(want.SentByKind)) {
		if n := want.SentByKind[kind]; sent[kind] != n {
			miss("sent "+kind, sent[kind], n)
		}
	}
	if e, ok := j.problem.(*elections); ok && want.Leader != nil && e.agreed != *want.Leader {
		miss("leader", e.agreed, *want.Leader)
	}
	if want.CSOrder != nil && !slices.Equal(j.granted, want.CSOrder) {
		miss("cs_order", j.granted, want.CSOrder)
	}
	if want.AllInformedAt != nil && j.setup.Virtual && j.informed != *want.AllInformedAt {
		miss("all_informed_at", j.informed, *want.AllInformedAt)
	}
	return errs
}

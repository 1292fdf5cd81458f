package experiment

import (
	"slices"
	"testing"
)

// TestSets_Demands: a setting that the system of a set does not take is run, with a note that has the
// nearest one. Swept values are looked at, too.
func TestSets_Demands(t *testing.T) {
	t.Parallel()
	const head = "problem: election\nnodes: 3\ntransport: sim\nalgorithms: "
	const demands = "; t_answer is whole seconds, and level is 3 (slow.go)."
	for text, want := range map[string][]string{
		"[{name: bully, set: slow}]":                         nil,
		"[{name: bully, set: slow, params: {t_answer: 3s}}]": nil,
		"[{name: bully, set: fast, params: {t_answer: 3ms}}]": {
			"bully-fast: t_answer is below 2d; the rows are marked in_model=false"},
		"[{name: bully, set: slow, params: {t_answer: 2600ms, level: 4}}]": {"bully-slow: set slow with level=4 " +
			"t_answer=2.6s is no setting that the system takes; the nearest is level=3 t_answer=3s" + demands},
		"[{name: bully, set: slow}]\nsweep: [{vary: params.t_answer, over: [2s, 2100ms]}]": {"bully-slow: set slow with t_answer=2.1s " +
			"is no setting that the system takes; the nearest is t_answer=2s" + demands},
	} {
		e, err := Parse("sets.yaml", []byte(head+text), Overrides{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !slices.Equal(e.Notes, want) {
			t.Errorf("%s: notes %q, want %q", text, e.Notes, want)
		}
	}
}

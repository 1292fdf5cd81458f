package harness

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
)

type mood int8

func (m mood) String() string { return fmt.Sprintf("mood %c", "ab"[m]) }

// TestVariables_Names: a whole number whose type has names is shown by name, wherever it is; others as numbers.
func TestVariables_Names(t *testing.T) {
	t.Parallel()
	type process struct {
		algo.Config
		now    mood
		before []mood
		votes  int8
	}
	got := variables(reflect.ValueOf(process{now: 1, before: []mood{0, 1}, votes: 1}))
	want := []Variable{{"now", "mood b"}, {"before", "[mood a mood b]"}, {"votes", "1"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

package algo

import (
	"slices"
	"testing"
)

// TestStamp: the number counts first, then the process, and no stamp is before itself.
func TestStamp(t *testing.T) {
	t.Parallel()
	ordered := []Stamp{{1, 2}, {1, 3}, {2, 1}, {2, 3}}
	for i, a := range ordered {
		for j, b := range ordered {
			if a.Before(b) != (i < j) || (a.Compare(b) == 0) != (i == j) {
				t.Errorf("%v and %v: before %v, compare %d", a, b, a.Before(b), a.Compare(b))
			}
		}
	}
	mixed := []Stamp{{2, 3}, {1, 3}, {2, 1}, {1, 2}}
	if slices.SortFunc(mixed, Stamp.Compare); !slices.Equal(mixed, ordered) {
		t.Errorf("sorted: %v", mixed)
	}
}

package check

import (
	"slices"
	"testing"
	"time"
)

// TestSample: of more durations than are kept, exactly each stride-th is, from the first
// on, whatever their number.
func TestSample(t *testing.T) {
	t.Parallel()
	var s sample
	for n := range 5*maxKept + 3 {
		s.add(time.Duration(n) * time.Millisecond)
		// Look where the list was thinned last and right behind, and at the end.
		if n+1 != 5*maxKept+3 && (n%maxKept > 4 || n < maxKept) {
			continue
		}
		stride := 1
		for stride*maxKept < n+1 {
			stride *= 2
		}
		var want []float64
		for i := 0; i <= n; i += stride {
			want = append(want, float64(i))
		}
		if !slices.Equal(s.kept, want) {
			t.Fatalf("of %d: %d are kept, up to %v; want %d, up to %v",
				n+1, len(s.kept), s.kept[len(s.kept)-1], len(want), want[len(want)-1])
		}
	}
	if want := float64(5*maxKept+2) / 2; s.mean() != want {
		t.Errorf("mean %v, want %v", s.mean(), want)
	}
}

package figure

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/chart"
)

// TestBounds_Tail: the last percentile of a tail has a text only if it fits: one that is cut off reads as the
// percentile before it.
func TestBounds_Tail(t *testing.T) {
	t.Parallel()
	for size, want := range map[float64]string{
		10:    "0 90",
		1000:  "0 90 99 99.9",
		1001:  "0 90 99 99.9 ",
		40000: "0 90 99 99.9 99.99 ",
	} {
		var tail chart.Pane
		b := bounds{low: 1, high: 100, size: size}
		b.apply(&chart.Pane{}, &tail)
		var texts []string
		for _, tick := range tail.X.Ticks {
			texts = append(texts, tick.Text)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("%v operations: percentiles %q, want %q", size, got, want)
		}
	}
}

package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestQuestion: what an experiment asks is how fast its algorithms are, and what that costs, or
// how much they do meanwhile.
func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		problem, scenario string
		want              []string
	}{
		{"election", "leader-crash", []string{"downtime_ms", "messages_per_election"}},
		{"election", "churn", []string{"downtime_ms", "availability"}},
		{"election", "mixed churn", []string{"downtime_served_ms", "availability_served"}},
		{"mutex", "closed", []string{"waiting_ms", "messages_per_entry"}},
		{"mutex", "ramp", []string{"waiting_ms", "knee_per_s"}},
	} {
		scenario, mixed := strings.CutPrefix(tt.scenario, "mixed ")
		d := &Data{Mixed: mixed, Same: []metric.Field{{Name: "problem", Value: tt.problem}, {Name: "scenario", Value: scenario}},
			Metrics: metric.All(), Cells: []Cell{{}}}
		if mixed {
			d.Rankings = []Ranking{{Metric: metric.Served.Downtime}}
		}
		for range d.Metrics {
			d.Cells[0].Figures = append(d.Cells[0].Figures, stats.Describe([]float64{1, 2, 3}, 0))
		}
		if got := metric.Names(d.Question()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.scenario, got, tt.want)
		}
		if mixed {
			continue
		}
		d.Cells[0].Figures[slices.Index(d.Metrics, d.Question()[0])] = stats.Describe(nil, 0)
		if got := metric.Names(d.Question()); got[0] == tt.want[0] {
			t.Errorf("%s: %s has no figure, and is drawn", tt.scenario, got[0])
		}
	}
}

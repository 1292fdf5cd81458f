package view_test

import (
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// TestHeadlines: what part of the time there was a leader is a headline only where the scenario says how
// long a trial lasts, and then for all cells of a table.
func TestHeadlines(t *testing.T) {
	t.Parallel()
	of := func(scenario string) []metric.Field {
		return []metric.Field{{Name: "problem", Value: "election"}, {Name: "algorithm", Value: "election/raft"},
			{Name: "scenario", Value: scenario}}
	}
	crash, churn := of("leader-crash"), of("churn")
	for name, c := range map[string]struct {
		designs [][]metric.Field
		has     bool
	}{
		"one crash": {[][]metric.Field{crash}, false},
		"a span":    {[][]metric.Field{churn}, true},
		"both":      {[][]metric.Field{crash, churn}, true},
	} {
		got := view.Headlines(c.designs)
		if slices.Contains(got, metric.Availability) != c.has || !slices.Contains(got, metric.Downtime) {
			t.Errorf("%s: %v, availability wanted: %v", name, metric.Names(got), c.has)
		}
	}
}

// TestUnmixed: a table whose rows mean different outages has none of the columns that each algorithm
// defines for itself.
func TestUnmixed(t *testing.T) {
	t.Parallel()
	of := func(ids ...string) (out [][]metric.Field) {
		for _, id := range ids {
			out = append(out, []metric.Field{{Name: "problem", Value: "election"}, {Name: "algorithm", Value: id},
				{Name: "scenario", Value: "churn"}})
		}
		return out
	}
	shown := metric.Shown(algo.Election, metric.Lasting)
	own := []string{"downtime_ms", "availability", "split_brain_ms", "messages"}
	served := []string{"downtime_served_ms", "availability_served", "split_brain_ms", "messages"}
	for name, c := range map[string]struct {
		designs [][]metric.Field
		want    []string
	}{
		"one definition":      {of("election/raft", "election/zab-fle"), own},
		"the other":           {of("election/bully", "election/ring-list"), own},
		"both":                {of("election/raft", "election/bully"), served},
		"one that is unknown": {of("election/raft", "election/of-a-stranger"), served},
	} {
		if got := metric.Names(view.Unmixed(c.designs, shown)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := metric.Names(view.Brief(c.designs)); !slices.Equal(got, c.want) {
			t.Errorf("%s: the table has %v, want %v", name, got, c.want)
		}
	}
}

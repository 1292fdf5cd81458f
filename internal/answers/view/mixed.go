package view

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// Mixed says whether the algorithms of the cells mean different outages by theirs, so that one column
// of downtimes would have several meanings.
func Mixed(designs [][]metric.Field) bool {
	services := map[algo.Service]bool{}
	for _, d := range designs {
		service := algo.Agreed // of one that is not linked in nobody knows
		if a, err := algo.Lookup(metric.Get(d, "algorithm")); err == nil {
			service = a.Spec.Service
		}
		services[service] = true
	}
	return len(services) > 1
}

// Unmixed are the metrics of a table with those cells: where they would mean different things in
// different rows, what means one thing in all stands in their place.
func Unmixed(designs [][]metric.Field, metrics []*metric.Metric) (out []*metric.Metric) {
	mixed := Mixed(designs)
	for _, m := range metrics {
		if one := m.Common(); mixed && one != nil {
			m = one
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// MixedText says why no column can have the metric where the algorithms mean different outages.
func MixedText(m *metric.Metric) string {
	return m.Name + " counts outages by a different definition for each algorithm here " +
		"(docs/explanation/outages.md); take " + m.Common().Name +
		", which is what a client sees, or cells of one definition"
}

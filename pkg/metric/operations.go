package metric

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// OfOperations says whether single operations have the metric, and not only trials.
func (m *Metric) OfOperations() bool { return m.From != 0 }

// OfOperations lists the metrics that single operations of a problem have.
func OfOperations(p algo.Problem) []*Metric {
	return slices.DeleteFunc(Columns(p), func(m *Metric) bool { return !m.OfOperations() })
}

// NotOfOperations says why single operations of a problem do not have the metric, and
// which they have; "" if they do.
func (m *Metric) NotOfOperations(p algo.Problem) string {
	if m.OfOperations() {
		return ""
	}
	switch m {
	case Downtime, Led.Downtime, Served.Downtime:
		return "operations end with the agreement of all live processes, which is not where " +
			m.Name + " ends for every algorithm; take " + Agreed.Downtime.Name
	}
	return "a single operation has no " + m.Name + " (has: " +
		strings.Join(Names(OfOperations(p)), ", ") + ")"
}

package metric

import (
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// BySpec stands for the definition of an outage that the Spec of an algorithm names.
const BySpec = "spec"

// OfOperations says whether single operations, or outages, have the metric, and not only
// trials.
func (m *Metric) OfOperations() bool { return m.From != 0 || m.Definition != "" }

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
	return "a single operation has no " + m.Name + " (has: " +
		strings.Join(Names(OfOperations(p)), ", ") + ")"
}

package metric

import (
	"fmt"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// index is the metrics by name, and by the names that they had.
var index = sync.OnceValue(func() (all struct{ named, was map[string]*Metric }) {
	all.named, all.was = map[string]*Metric{}, map[string]*Metric{}
	for _, m := range All() {
		all.named[m.Name] = m
		if m.Was != "" {
			all.was[m.Was] = m
		}
	}
	return all
})

// Named returns the metric of that name; nil if none is declared. A run of another
// version may have such: nobody knows what they are.
func Named(name string) *Metric { return index().named[name] }

// Renamed says what the metric of an old name is called now; "" if none was called so.
func Renamed(name string) string {
	if m := index().was[name]; m != nil {
		return fmt.Sprintf("%s is called %s now", name, m.Name)
	}
	return ""
}

// Missing says in words why trials of a problem have no metric of that name; "" if they
// can have it.
func Missing(name string, p algo.Problem) string {
	m := Named(name)
	switch {
	case m == nil && Renamed(name) != "":
		return Renamed(name)
	case m == nil:
		return fmt.Sprintf("%.80q is no metric%s (\"bench list\" has them all)", name,
			algo.Hint(name, Names(append(Fixed(), Columns(p)...))))
	case !m.Applies(p):
		return fmt.Sprintf("%s is a metric of problem %s, not of %s (\"bench list\" has them all)", name,
			m.Problem, p)
	}
	return ""
}

// Unknown is what to say of columns that are not declared; "" if there are none.
func Unknown(names []string) string {
	if len(names) == 0 {
		return ""
	}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = name
		if now := Renamed(name); now != "" {
			words[i] = now
		}
	}
	return "this version of bench declares no metric of these names, and leaves them out: " +
		strings.Join(words, ", ") + "; read them with the version that wrote them"
}

// Stem is the name without its unit: election of election_ms.
func (m *Metric) Stem() string {
	switch m.Unit {
	case Milliseconds:
		return strings.TrimSuffix(m.Name, "_ms")
	case PerSecond:
		return strings.TrimSuffix(m.Name, "_per_s")
	}
	return m.Name
}

// InWords is the name in prose, without the unit: downtime of downtime_ms.
func (m *Metric) InWords() string {
	if m.Words != "" {
		return m.Words
	}
	return strings.ReplaceAll(strings.TrimSuffix(m.Stem(), "_us"), "_", " ")
}

// Title is what an axis or a column of a table is called for people: the name in prose,
// with the unit where the words do not say it, as "downtime (ms)".
func (m *Metric) Title() string {
	switch m.Unit {
	case Milliseconds, Microseconds, PerSecond, PerProcessSecond:
		return m.InWords() + " (" + string(m.Unit) + ")"
	}
	return m.InWords()
}

package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// problems are the sections of the list.
var problems = []struct {
	name  algo.Problem
	title string
}{
	{algo.Election, "Leader election"},
	{algo.MutualExclusion, "Mutual exclusion"},
}

type listReport struct {
	Schema        int             `json:"schema_version"`
	Algorithms    []listAlgorithm `json:"algorithms"`
	Scenarios     []listEntry     `json:"scenarios"`
	Distributions []listEntry     `json:"distributions"`
	Detectors     []listEntry     `json:"detectors"`
	Faults        []listEntry     `json:"faults"`    // what an event can do
	Selectors     []listEntry     `json:"selectors"` // whom it happens to
	Choices       []listEntry     `json:"choices"`   // words for who
	Instants      []listEntry     `json:"instants"`  // when
	Triggers      []listEntry     `json:"triggers"`  // what it can wait for
	Shapes        []listEntry     `json:"shapes"`    // of partitions
	Metrics       []listMetric    `json:"metrics"`
	Cities        []string        `json:"cities"` // of the distribution of that name
}

type listAlgorithm struct {
	ID      string       `json:"id"`
	Problem algo.Problem `json:"problem"`
	Summary string       `json:"summary"`
	Sets    []string     `json:"sets"` // of parameters
}

// A listMetric is a column of trials.csv that holds a figure.
type listMetric struct {
	Name    string       `json:"name"`
	Problem algo.Problem `json:"problem,omitempty"` // empty: of both
	Unit    metric.Unit  `json:"unit"`
	Doc     string       `json:"doc"`
}

// A listEntry is a word of the experiment file.
type listEntry struct {
	Name    string       `json:"name"`
	Problem algo.Problem `json:"problem,omitempty"`
	Doc     string       `json:"doc"`
	Keys    []string     `json:"keys"`
}

func listing() listReport {
	r := listReport{Schema: 1, Cities: link.Cities()}
	for _, a := range algo.All() {
		sets := []string{}
		for _, set := range a.Spec.Sets {
			sets = append(sets, set.Name)
		}
		r.Algorithms = append(r.Algorithms, listAlgorithm{a.ID, a.Problem, a.Spec.Summary, sets})
	}
	for _, k := range harness.Scenarios {
		r.Scenarios = append(r.Scenarios, listEntry{k.Name, k.Problem, k.Doc, k.Keys})
	}
	for _, d := range link.Distributions {
		r.Distributions = append(r.Distributions, listEntry{d.Name, "", d.Doc, d.KeyNames()})
	}
	for _, d := range harness.Detectors {
		r.Detectors = append(r.Detectors, listEntry{d.Name, "", d.Doc, d.KeyNames()})
	}
	for _, f := range fault.All() {
		r.Faults = append(r.Faults, listEntry{Name: f.Name, Doc: f.Doc, Keys: f.Keys()})
	}
	add := func(list *[]listEntry, name, doc string) {
		*list = append(*list, listEntry{Name: name, Doc: doc, Keys: []string{}})
	}
	for _, k := range fault.Selectors {
		add(&r.Selectors, k.Name, k.Doc)
	}
	for _, c := range fault.Choices {
		add(&r.Choices, c.Name, c.Doc)
	}
	for _, w := range experiment.Instants {
		add(&r.Instants, w.Name, w.Doc)
	}
	for _, t := range fault.Triggers {
		add(&r.Triggers, t.Name, t.Doc)
	}
	for _, l := range fault.Shapes {
		add(&r.Shapes, l.Name, l.Doc)
	}
	for _, m := range metric.All() {
		r.Metrics = append(r.Metrics, listMetric{m.Name, m.Problem, m.Unit, m.Doc})
	}
	return r
}

// A family is a part of the list that can be asked for alone.
type family struct {
	name  string
	print func(s *streams, r *listReport)
	json  func(r *listReport) map[string]any
}

// families are the parts of the list, in its order.
var families = []family{
	{"algorithms", (*streams).listAlgorithms, func(r *listReport) map[string]any {
		return map[string]any{"algorithms": r.Algorithms}
	}},
	{"scenarios", (*streams).listScenarios, func(r *listReport) map[string]any {
		return map[string]any{"scenarios": r.Scenarios}
	}},
	{"distributions", func(s *streams, r *listReport) {
		s.entries("Latency distributions", r.Distributions)
	}, func(r *listReport) map[string]any { return map[string]any{"distributions": r.Distributions} }},
	{"detectors", func(s *streams, r *listReport) {
		s.entries("Failure detectors", r.Detectors)
	}, func(r *listReport) map[string]any { return map[string]any{"detectors": r.Detectors} }},
	{"faults", (*streams).listFaults, func(r *listReport) map[string]any {
		return map[string]any{"faults": r.Faults, "selectors": r.Selectors, "choices": r.Choices,
			"instants": r.Instants, "triggers": r.Triggers, "shapes": r.Shapes}
	}},
	{"metrics", (*streams).listMetrics, func(r *listReport) map[string]any {
		return map[string]any{"metrics": r.Metrics}
	}},
	{"cities", func(s *streams, r *listReport) {
		fmt.Fprintf(s.out, "Cities of distribution cities\n  %s\n\n",
			strings.TrimLeft(wrap(strings.Join(r.Cities, " "), 2), " "))
	}, func(r *listReport) map[string]any { return map[string]any{"cities": r.Cities} }},
}

func familyNames() (names []string) {
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

func (s *streams) listCommand() *cobra.Command {
	var asJSON bool
	names := familyNames()
	c := &cobra.Command{
		Use:   "list [FAMILY]",
		Short: "List algorithms, scenarios, faults, metrics and more",
		Long: "List what is linked in and what an experiment can ask for. FAMILY is one of\n" +
			wrap(strings.Join(names, ", ")+"; without it, everything is listed.", 0),
		Example: `  bench list
  bench list algorithms
  bench list metrics --json`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (
			[]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("bench list: %d arguments, want one at most: %s", len(args),
					strings.Join(names, ", "))
			}
			r := listing()
			if len(args) == 0 {
				if asJSON {
					return writeJSON(s.out, r)
				}
				for _, f := range families {
					f.print(s, &r)
				}
				fmt.Fprintln(s.out, `"bench describe ID" tells all about an algorithm.`)
				return nil
			}
			i := slices.Index(names, args[0])
			if i < 0 {
				return usage("bench list: unknown family %q%s (has: %s)", args[0], algo.Hint(args[0], names),
					strings.Join(names, ", "))
			}
			if !asJSON {
				families[i].print(s, &r)
				return nil
			}
			part := families[i].json(&r)
			part["schema_version"] = r.Schema
			return writeJSON(s.out, part)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return c
}

func (s *streams) listAlgorithms(r *listReport) {
	for _, p := range problems {
		var list []listEntry
		for _, a := range r.Algorithms {
			if a.Problem == p.name {
				doc := a.Summary
				if len(a.Sets) > 0 {
					doc += " (sets: " + strings.Join(a.Sets, ", ") + ")"
				}
				list = append(list, listEntry{Name: a.ID, Doc: doc})
			}
		}
		if list == nil {
			list = []listEntry{{Name: "(none is linked in)"}}
		}
		s.entries(p.title, list)
	}
}

func (s *streams) listScenarios(r *listReport) {
	for _, p := range problems {
		s.entries("Scenarios of "+strings.ToLower(p.title), slices.DeleteFunc(
			slices.Clone(r.Scenarios),
			func(e listEntry) bool { return e.Problem != p.name && e.Problem != "" }))
	}
}

func (s *streams) listFaults(r *listReport) {
	s.entries("Events of faults and scripts (do)", r.Faults)
	s.entries("Whom they happen to", r.Selectors)
	s.entries("Words for who", r.Choices)
	s.entries("When they happen", r.Instants)
	s.entries("What they wait for (on)", r.Triggers)
	s.entries("Shapes of partitions (shape)", r.Shapes)
}

func (s *streams) listMetrics(r *listReport) {
	s.metrics("Metrics of every trial", "", r.Metrics)
	for _, p := range problems {
		s.metrics("Metrics of "+strings.ToLower(p.title), p.name, r.Metrics)
	}
}

func (s *streams) metrics(title string, p algo.Problem, list []listMetric) {
	var of []listEntry
	for _, m := range list {
		if m.Problem == p {
			of = append(of, listEntry{Name: m.Name, Doc: fmt.Sprintf("%s (%s)", m.Doc, m.Unit)})
		}
	}
	s.entries(title, of)
}

func (s *streams) entries(title string, list []listEntry) {
	t := &table{}
	t.column(title, false)
	t.column("", false)
	names := utf8.RuneCountInString(title)
	for _, e := range list {
		names = max(names, len("  ")+len(e.Name))
	}
	for _, e := range list {
		for i, line := range strings.Split(wrap(e.Doc, names+2), "\n") {
			line = strings.TrimLeft(line, " ")
			name := ""
			if i == 0 {
				name = "  " + e.Name
			}
			t.add(name, line)
		}
		if len(e.Keys) > 0 {
			for _, line := range strings.Split(wrap("keys: "+strings.Join(e.Keys, ", "), names+4), "\n") {
				t.add("", "  "+strings.TrimLeft(line, " "))
			}
		}
	}
	t.write(s.text())
	fmt.Fprintln(s.out)
}

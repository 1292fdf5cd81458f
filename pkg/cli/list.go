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
}

type listAlgorithm struct {
	ID      string       `json:"id"`
	Problem algo.Problem `json:"problem"`
	Summary string       `json:"summary"`
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
	r := listReport{Schema: 1}
	for _, a := range algo.All() {
		r.Algorithms = append(r.Algorithms, listAlgorithm{a.ID, a.Problem, a.Spec.Summary})
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

func (s *streams) listCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List algorithms, scenarios, faults, metrics and more",
		Example: `  bench list
  bench list --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeJSON(s.out, listing())
			}
			s.printList(listing())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return c
}

func (s *streams) printList(r listReport) {
	for _, p := range problems {
		var list []listEntry
		for _, a := range r.Algorithms {
			if a.Problem == p.name {
				list = append(list, listEntry{Name: a.ID, Doc: a.Summary})
			}
		}
		if list == nil {
			list = []listEntry{{Name: "(none is linked in)"}}
		}
		s.entries(p.title, list)
	}
	for _, p := range problems {
		s.entries("Scenarios of "+strings.ToLower(p.title), slices.DeleteFunc(
			slices.Clone(r.Scenarios),
			func(e listEntry) bool { return e.Problem != p.name && e.Problem != "" }))
	}
	s.entries("Latency distributions", r.Distributions)
	s.entries("Failure detectors", r.Detectors)
	s.entries("Events of faults and scripts (do)", r.Faults)
	s.entries("Whom they happen to", r.Selectors)
	s.entries("Words for who", r.Choices)
	s.entries("When they happen", r.Instants)
	s.entries("What they wait for (on)", r.Triggers)
	s.entries("Shapes of partitions (shape)", r.Shapes)
	s.metrics("Metrics of every trial", "", r.Metrics)
	for _, p := range problems {
		s.metrics("Metrics of "+strings.ToLower(p.title), p.name, r.Metrics)
	}
	fmt.Fprintln(s.out, `"bench describe ID" tells all about an algorithm.`)
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
			t.add("", "  keys: "+strings.Join(e.Keys, ", "))
		}
	}
	t.write(s.out)
	fmt.Fprintln(s.out)
}

package catalog

import (
	"fmt"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
)

// problems are the sections of the list.
var problems = []struct {
	name  algo.Problem
	title string
}{
	{algo.Election, "Leader election"},
	{algo.MutualExclusion, "Mutual exclusion"},
}

// A word is one of the experiment file, or of the results, and what it means.
type word struct {
	name    string
	problem algo.Problem // "": both
	doc     string
	more    []string // its keys, or its sets
}

// A family is a part of the list that can be asked for alone.
type family struct {
	name string
	add  func(*answer.Document)
}

// families are the parts of the list, in its order.
var families = []family{
	{"algorithms", func(d *answer.Document) {
		listByProblem(d, "algorithms", "sets", listAlgorithms(), func(p string) string { return p })
	}},
	{"scenarios", func(d *answer.Document) {
		var list []word
		for _, k := range harness.Scenarios() {
			list = append(list, word{k.Name, k.Problem, k.Doc, k.Keys()})
		}
		listByProblem(d, "scenarios", "keys", list, func(p string) string {
			return "Scenarios of " + strings.ToLower(p)
		})
	}},
	{"distributions", func(d *answer.Document) {
		var list []word
		for _, k := range link.Distributions() {
			list = append(list, word{k.Name, "", k.Doc, param.Names(k.Law.Params())})
		}
		terms(d, "distributions", "Latency distributions", list)
	}},
	{"detectors", func(d *answer.Document) {
		var list []word
		for _, k := range harness.Detectors() {
			list = append(list, word{k.Name, "", k.Doc, param.Names(k.Params())})
		}
		terms(d, "detectors", "Failure detectors", list)
	}},
	{"faults", listFaults},
	{"metrics", listMetrics},
	{"cities", func(d *answer.Document) {
		t := d.Table("cities", answer.Column{Name: "name", Kind: answer.Words})
		t.Only = answer.Programs
		for _, c := range link.Cities() {
			t.Row(c)
		}
		d.Say("Cities of distribution cities\n  " +
			strings.TrimLeft(console.Wrap(strings.Join(link.Cities(), " "), 2), " ") + "\n")
	}},
}

// Families are the names of the parts.
func Families() (names []string) {
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// List is what is linked in and what an experiment can ask for: all families, or one.
func List(name string) (*answer.Document, error) {
	d := answer.New("list", "What an experiment can ask for")
	for _, f := range families {
		if name == "" || f.name == name {
			f.add(d)
		}
	}
	switch {
	case name == "":
		d.Say(`"bench describe ID" tells all about an algorithm.`)
	case len(d.Blocks) == 0:
		return nil, answer.Mistaken("bench list: unknown family %q%s (has: %s)", name,
			algo.Hint(name, Families()), strings.Join(Families(), ", "))
	}
	return d, nil
}

func listAlgorithms() (list []word) {
	for _, a := range algo.All() {
		t := word{name: a.ID, problem: a.Problem, doc: a.Spec.Summary}
		if a.Spec.Predicted != nil {
			t.doc += "; predicted by " + a.Spec.Predicted.String()
		}
		for _, set := range a.Spec.Sets {
			t.more = append(t.more, set.Name)
		}
		list = append(list, t)
	}
	return list
}

func listFaults(d *answer.Document) {
	var faults []word
	for _, f := range fault.All() {
		faults = append(faults, word{name: f.Name, doc: f.Doc, more: f.Takes})
	}
	terms(d, "faults", "Events of faults and scripts (do)", faults)
	var selectors, choices, instants, triggers, shapes []word
	add := func(list *[]word, name, doc string) { *list = append(*list, word{name: name, doc: doc}) }
	for _, k := range fault.Selectors {
		add(&selectors, k.Name, k.Doc)
	}
	for _, c := range fault.Choices {
		add(&choices, c.Name, c.Doc)
	}
	for _, w := range experiment.Instants {
		add(&instants, w.Name, w.Doc)
	}
	for _, t := range fault.Triggers {
		add(&triggers, t.Name, t.Doc)
	}
	for _, l := range fault.Shapes {
		add(&shapes, l.Name, l.Doc)
	}
	terms(d, "selectors", "Whom they happen to", selectors)
	terms(d, "choices", "Words for who", choices)
	terms(d, "instants", "When they happen", instants)
	terms(d, "triggers", "What they wait for (on)", triggers)
	terms(d, "shapes", "Shapes of partitions (shape)", shapes)
}

func listMetrics(d *answer.Document) {
	all := d.Table("metrics", answer.Column{Name: "name", Kind: answer.Words},
		answer.Column{Name: "problem", Kind: answer.Words}, answer.Column{Name: "unit", Kind: answer.Words},
		answer.Column{Name: "doc", Kind: answer.Words})
	all.Only = answer.Programs
	var list []word
	for _, m := range metric.All() {
		all.Row(m.Name, string(m.Problem), string(m.Unit), m.Doc)
		list = append(list, word{m.Name, m.Problem, fmt.Sprintf("%s (%s)", m.Doc, m.Unit), nil})
	}
	of := func(p algo.Problem) (some []word) {
		for _, t := range list {
			if t.problem == p {
				some = append(some, t)
			}
		}
		return some
	}
	section(d, "metrics", "Metrics of every trial", of(""))
	for _, p := range problems {
		section(d, "metrics", "Metrics of "+strings.ToLower(p.title), of(p.name))
	}
}

// listByProblem adds terms that may be of one problem: for programs in one table, for people in a
// section for each problem.
func listByProblem(d *answer.Document, name, more string, list []word, title func(string) string) {
	all := d.Table(name, answer.Column{Name: "name", Kind: answer.Words},
		answer.Column{Name: "problem", Kind: answer.Words}, answer.Column{Name: "doc", Kind: answer.Words},
		answer.Column{Name: more, Kind: answer.List})
	all.Only = answer.Programs
	for _, t := range list {
		all.Row(t.name, string(t.problem), t.doc, append([]string{}, t.more...))
	}
	for _, p := range problems {
		var of []word
		for _, t := range list {
			if t.problem != p.name && t.problem != "" {
				continue
			}
			if more == "sets" && t.more != nil {
				t.doc += " (sets: " + strings.Join(t.more, ", ") + ")"
				t.more = nil
			}
			of = append(of, t)
		}
		if of == nil {
			of = []word{{name: "(none is linked in)"}}
		}
		section(d, name, title(p.title), of)
	}
}

// terms adds words of an experiment, each with its keys.
func terms(d *answer.Document, name, title string, list []word) *answer.Table {
	t := d.Table(name, answer.Column{Name: "name", Kind: answer.Words},
		answer.Column{Name: "doc", Kind: answer.Words}, answer.Column{Name: "keys", Kind: answer.List})
	t.Title, t.Terms = title, true
	for _, w := range list {
		t.Row(w.name, w.doc, append([]string{}, w.more...))
	}
	return t
}

// section is terms for people.
func section(d *answer.Document, name, title string, list []word) {
	terms(d, name, title, list).Only = answer.People
}

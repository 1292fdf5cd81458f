package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
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
}

type listAlgorithm struct {
	ID      string       `json:"id"`
	Problem algo.Problem `json:"problem"`
	Summary string       `json:"summary"`
}

// A listEntry is a word of the experiment file.
type listEntry struct {
	Name    string       `json:"name"`
	Problem algo.Problem `json:"problem,omitempty"`
	Doc     string       `json:"doc"`
	Keys    []string     `json:"keys"`
}

// detectors are the values of detector.kind.
var detectors = []listEntry{
	{Name: "none", Doc: "nobody notices a crash", Keys: []string{}},
	{Name: "perfect", Keys: []string{"delay"},
		Doc: "says after delay who has crashed, and never suspects the living"},
	{Name: "heartbeat", Keys: []string{"interval", "timeout"},
		Doc: "real messages over the same links; silence for timeout is suspicious"},
}

func listing() listReport {
	r := listReport{Schema: 1, Detectors: detectors}
	for _, a := range algo.All() {
		r.Algorithms = append(r.Algorithms, listAlgorithm{a.ID, a.Problem, a.Spec.Summary})
	}
	for _, k := range harness.Kinds {
		r.Scenarios = append(r.Scenarios, listEntry{k.Name, k.Problem, k.Doc, k.Keys})
	}
	for _, d := range bus.Distributions {
		r.Distributions = append(r.Distributions, listEntry{d.Name, "", d.Doc, d.Keys})
	}
	return r
}

func (s *streams) listCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List algorithms, scenarios, latency distributions and detectors",
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
		t := &table{}
		t.column(p.title, false)
		t.column("", false)
		for _, a := range r.Algorithms {
			if a.Problem == p.name {
				t.add("  "+a.ID, a.Summary)
			}
		}
		if t.rows == nil {
			t.add("  (none is linked in)", "")
		}
		s.section(t)
	}
	for _, p := range problems {
		s.entries("Scenarios of "+strings.ToLower(p.title), slices.DeleteFunc(
			slices.Clone(r.Scenarios),
			func(e listEntry) bool { return e.Problem != p.name && e.Problem != "" }))
	}
	s.entries("Latency distributions", r.Distributions)
	s.entries("Failure detectors", r.Detectors)
	fmt.Fprintln(s.out, `"bench describe ID" tells all about an algorithm.`)
}

func (s *streams) section(t *table) {
	t.write(s.out)
	fmt.Fprintln(s.out)
}

func (s *streams) entries(title string, list []listEntry) {
	t := &table{}
	t.column(title, false)
	t.column("", false)
	for _, e := range list {
		t.add("  "+e.Name, e.Doc)
		if len(e.Keys) > 0 {
			t.add("", "  keys: "+strings.Join(e.Keys, ", "))
		}
	}
	s.section(t)
}

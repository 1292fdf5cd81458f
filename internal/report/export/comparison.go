package export

import (
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/compare"
)

// Comparison is a comparison as a JUnit report: a suite for each metric with a test
// case for each cell, which fails where the gate does, and what it was compared by in its
// output; and a suite for what is wrong with whole cells. All are of the time of the new run.
func Comparison(r *compare.Report) ([]byte, error) {
	var all junitSuites
	all.compare("compare", r)
	return all.encode()
}

// A Part is what a gate found about one experiment.
type Part struct {
	Name   string
	Faults []Fault
	Notes  []string
	Report *compare.Report // nil: there was nothing to compare
}

// A Fault is what is wrong with a side of a gate, whatever the other one does.
type Fault struct {
	Kind    string
	Failure bool // it could run, and did what it should not
	Text    string
	Hint    string // a command that shows it; "": there is none
}

// Gate is a JUnit report of a gate that began at an instant: a suite for each part with its faults,
// and then the comparisons.
func Gate(parts []Part, began time.Time) ([]byte, error) {
	var all junitSuites
	for _, p := range parts {
		s := junitSuite{
			Package: printable(p.Name), ID: len(all.Suites), Name: "gate", Timestamp: timestamp(began),
			Hostname: "localhost", Time: seconds(0),
		}
		class := s.Package + "." + s.Name
		for _, f := range p.Faults {
			test := junitCase{Class: class, Name: printable(f.Text), Time: seconds(0)}
			problem := &junitProblem{Message: printable(f.Text), Type: f.Kind, Text: printable(f.Text)}
			if f.Hint != "" {
				problem.Text += "\n  reproduce: " + printable(f.Hint)
			}
			if f.Failure {
				test.Failure = problem
				s.Failures++
			} else {
				test.Error = problem
				s.Errors++
			}
			s.Cases = append(s.Cases, test)
		}
		if len(s.Cases) == 0 {
			s.Cases = []junitCase{{Class: class, Name: "runs, and keeps its promises", Time: seconds(0)}}
		}
		s.Tests = len(s.Cases)
		if len(p.Notes) > 0 {
			s.Out.Text = printable(strings.Join(p.Notes, "\n"))
		}
		all.Suites = append(all.Suites, s)
	}
	for _, p := range parts {
		if p.Report != nil {
			all.compare(printable(p.Name), p.Report)
		}
	}
	return all.encode()
}

// compare adds the suites of a comparison to a package.
func (all *junitSuites) compare(pkg string, r *compare.Report) {
	first := len(all.Suites)
	properties := []junitProperty{{"base", printable(r.Base.Path)}, {"new", printable(r.New.Path)}}
	for _, text := range r.Warnings {
		properties = append(properties, junitProperty{"careful", printable(text)})
	}
	suite := func(name string) *junitSuite {
		n := len(all.Suites)
		if n == first || all.Suites[n-1].Name != name {
			all.Suites = append(all.Suites, junitSuite{
				Package: pkg, ID: n, Name: printable(name),
				Timestamp: timestamp(r.New.Started), Hostname: "localhost",
				Time: seconds(r.New.Took.Seconds()), Properties: junitProperties{properties},
			})
			n++
		}
		return &all.Suites[n-1]
	}
	add := func(metric, cell, failure, kind string) {
		s := suite(metric)
		test := junitCase{Class: pkg + "." + s.Name, Name: printable(cell), Time: seconds(0)}
		s.Tests++
		if failure != "" {
			s.Failures++
			test.Failure = &junitProblem{Message: printable(failure), Type: kind, Text: printable(failure)}
		}
		s.Cases = append(s.Cases, test)
	}
	tests := map[string][]compare.Test{}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Proof.Outcome == compare.Inconclusive {
			add(row.Metric, r.Title(row), row.Proof.Why, "Inconclusive")
		} else {
			add(row.Metric, r.Title(row), row.Failure, "Regression")
		}
		tests[row.Metric] = append(tests[row.Metric], row.Test)
	}
	for i := range all.Suites[first:] {
		s := &all.Suites[first+i]
		for _, t := range compare.Tests() {
			if slices.Contains(tests[s.Name], t) {
				s.Out.Text += string(t) + ": " + t.String() + "\n"
			}
		}
	}
	for _, f := range r.CellFailures {
		add("cells", f.Cell, f.Text, "Cell")
	}
}

package export

import (
	"slices"

	"github.com/conclave-bench/conclave/internal/compare"
)

// Comparison is a comparison as a JUnit report: a suite for each metric with a test
// case for each cell, which fails where the gate does, and what it was compared by in its
// output; and a suite for what is wrong with whole cells. All are of the time of the new run.
func Comparison(r *compare.Report) ([]byte, error) {
	var all junitSuites
	properties := []junitProperty{{"base", printable(r.Base.Path)}, {"new", printable(r.New.Path)}}
	for _, text := range r.Warnings {
		properties = append(properties, junitProperty{"careful", printable(text)})
	}
	suite := func(name string) *junitSuite {
		n := len(all.Suites)
		if n == 0 || all.Suites[n-1].Name != name {
			all.Suites = append(all.Suites, junitSuite{
				Package: "compare", ID: n, Name: printable(name),
				Timestamp: timestamp(r.New.Started), Hostname: "localhost",
				Time: seconds(r.New.Took.Seconds()), Properties: junitProperties{properties},
			})
			n++
		}
		return &all.Suites[n-1]
	}
	add := func(metric, cell, failure, kind string) {
		s := suite(metric)
		test := junitCase{Class: "compare." + s.Name, Name: printable(cell), Time: seconds(0)}
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
	for i := range all.Suites {
		s := &all.Suites[i]
		for _, t := range compare.Tests() {
			if slices.Contains(tests[s.Name], t) {
				s.Out.Text += string(t) + ": " + t.String() + "\n"
			}
		}
	}
	for _, f := range r.CellFailures {
		add("cells", f.Cell, f.Text, "Cell")
	}
	return all.encode()
}

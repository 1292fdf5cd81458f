package experiment

import (
	"slices"
	"strings"
	"testing"
)

const namedSweep = `{name: x, problem: election, algorithms: [any], transport: sim, nodes: 3, sweep: [
  {zip: [{vary: nodes, over: [3, 5, 3]}, {vary: faults.events, AS,
    over: [[], [], [{at: 1s, do: crash, who: leader}]]}]}]}`

// TestSweep_Names: results call values what the sweep calls them, also when the resolved experiment is read again.
func TestSweep_Names(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Replace(namedSweep, "AS", "as: [none, none, killed]", 1))
	for range 2 {
		e, err := Parse("x.yaml", text, Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range e.Designs() {
			i := slices.Index(e.Columns, "faults_events")
			got = append(got, d[4].Value+" "+d[i].Value)
		}
		if strings.Join(got, ", ") != "3 none, 5 none, 3 killed" {
			t.Errorf("cells %q", got)
		}
		if text, err = e.Resolved(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSweep_BadNames: names that could not tell values apart, or that nothing would show.
func TestSweep_BadNames(t *testing.T) {
	t.Parallel()
	for as, want := range map[string]string{
		"as: [none, killed]":          `2 names, expected one for each of 3 values`,
		"as: [none, none, none]":      `"none" is the name of two values`,
		"as: [none, 'a b', killed]":   `expected 1 to 64 of a-z`,
		"as: killed":                  `expected a list, as [none, killed]`,
		"as: [none, none, killed, a]": `4 names, expected one for each of 3 values`,
	} {
		_, err := Parse("x.yaml", []byte(strings.Replace(namedSweep, "AS", as, 1)), Overrides{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", as, err, want)
		}
	}
	long := func(at string) string { // alike for as long as messages show
		return `[` + strings.Repeat(`{at: 1s, do: crash, who: random}, `, 20) + `{at: ` + at + `, do: crash, who: random}]`
	}
	_, err := Parse("x.yaml", []byte(`{name: x, problem: election, algorithms: [any], transport: sim, nodes: 3,
  sweep: [{vary: faults.events, over: [`+long("2s")+`, `+long("3s")+`], as: [a, a]}]}`), Overrides{})
	if err == nil || !strings.Contains(err.Error(), `"a" is the name of two values`) {
		t.Errorf("long values: %v", err)
	}
	_, err = Parse("x.yaml", []byte(`{name: x, problem: election, algorithms: [any], transport: sim,
  sweep: [{vary: nodes, over: [3, 5], as: [few, many]}]}`), Overrides{})
	if err == nil || !strings.Contains(err.Error(), "results have a column of nodes") {
		t.Errorf("names of nodes: %v", err)
	}
}

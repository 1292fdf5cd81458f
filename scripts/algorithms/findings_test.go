package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// TestFindings: every scenario of the document does what the document says.
func TestFindings(t *testing.T) {
	t.Parallel()
	f, err := readFindings()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range f.Errata {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			if e.Says == "" || e.Right == "" {
				t.Error("says or right is missing")
			}
			holds(t, e.Scenario, e.Shows)
		})
	}
	for _, b := range f.Breaks {
		t.Run(b.Algorithm, func(t *testing.T) {
			t.Parallel()
			holds(t, b.Scenario, b.Shows)
		})
	}
}

// holds runs a scenario and compares it with what it should show, trial by trial.
func holds(t *testing.T, scenario string, shows []Shown) {
	t.Helper()
	e, err := experiment.Load(filepath.Join("../../configs", scenario), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	trials := e.Trials()
	slices.SortFunc(trials, func(a, b experiment.Trial) int { return a.Number - b.Number })
	if len(shows) != len(trials) || e.Transport != "sim" {
		t.Errorf("%d results of %d trials in %s, want one each, in sim", len(shows), len(trials),
			e.Transport)
	}
	for i, trial := range trials {
		o, err := algotest.Simulate(trial.Plan)
		if err != nil {
			t.Fatal(err)
		}
		got, found := figures(e.Problem, &o), []Figure(nil)
		if i < len(shows) {
			found = shows[i].Figures
		}
		if !slices.ContainsFunc(found, func(f Figure) bool { return f.Name == "status" }) {
			found = append(found, Figure{"status", "ok"})
		}
		for _, f := range found {
			if f.Name == "transcript" {
				happens(t, trial.Plan, f.Value)
			} else if !slices.Contains(got, f) {
				t.Errorf("trial %d: %s is not %s: %v", trial.Number, f.Name, f.Value, got)
			}
		}
	}
}

// happens looks for a line, or a part of one, in the transcript of a trial.
func happens(t *testing.T, p harness.Plan, what string) {
	t.Helper()
	text, _, err := algotest.Transcribe(p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(text), " "), what) {
		t.Errorf("%q is not in the transcript:\n%s", what, text)
	}
}

// figures are all that can be said of a trial.
func figures(p algo.Problem, o *algotest.Outcome) (out []Figure) {
	add := func(name string, value any) { out = append(out, Figure{name, fmt.Sprint(value)}) }
	add("status", o.Status)
	add("reason", o.Reason)
	add("messages", o.Totals.Sent)
	add("delivered", o.Totals.Delivered)
	for _, k := range o.Kinds {
		add(k.Name, k.Sent)
	}
	if n := len(o.Operations); p == algo.MutualExclusion {
		add("entries", o.Completed)
	} else if n > 0 && o.Operations[n-1].Status == "ok" {
		add("leader", o.Operations[n-1].Process)
	}
	for _, m := range o.Metrics {
		add(m.Name, fmt.Sprintf("%.4g", m.Value))
	}
	return out
}

// TestComplete: the errata are all there, in order, and every algorithm that is built
// in has a scenario in which it breaks.
func TestComplete(t *testing.T) {
	t.Parallel()
	f, err := readFindings()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, e := range f.Errata {
		got = append(got, e.ID)
	}
	for _, note := range []struct {
		name  string
		count int
	}{{"A", 13}, {"B", 12}, {"C", 22}, {"EN", 4}} {
		for i := range note.count {
			want = append(want, fmt.Sprintf("%s%d", note.name, i+1))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("errata %v, want %v", got, want)
	}
	var broken []string
	for _, b := range f.Breaks {
		broken = append(broken, b.Algorithm)
	}
	for _, a := range algo.All() {
		if !slices.Contains(broken, a.ID) {
			t.Errorf("no scenario shows how %s breaks", a.ID)
		}
	}
}

// TestIdeas: the second paragraph of each package comment is the idea of the
// algorithm, in five sentences.
func TestIdeas(t *testing.T) {
	t.Parallel()
	end := regexp.MustCompile(`[.?!](?:\s|$)`)
	for _, a := range algo.All() {
		text, err := packageComment("../..", a)
		if err != nil {
			t.Fatal(err)
		}
		paragraphs := strings.Split(text, "\n\n")
		if len(paragraphs) < 2 {
			t.Errorf("%s: its package comment has no second paragraph with the idea", a.ID)
		} else if n := len(end.FindAllString(paragraphs[1], -1)); n < 4 || n > 6 {
			t.Errorf("%s: the idea has %d sentences, want 4 to 6:\n%s", a.ID, n, paragraphs[1])
		}
	}
}

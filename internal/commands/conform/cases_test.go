package conform_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/conform"
)

// stream is a file of cases: what they share, and three of them.
const stream = `# Cases of bully.
problem: election
algorithms: [{name: bully, params: {t_answer: 2ms, t_coordinator: 4ms}}]
transport: sim
network: {latency: 1ms}
repetitions: 1
basis: derivation
---
case: Y-1
formula: N^2-N-1
nodes: 3
scenario:
  kind: script
  leader: 3
  crashed: [3]
  events:
    - {at: 0ms, do: suspect, node: 1}
  expect: {sent: 5, leader: 2, all_informed_at: 4ms}
---
# a comment
case: Y-2
basis: simulation
algorithms: [bully]
nodes: 3
scenario:
  kind: script
  events:
    - {at: 0ms, do: elect, node: 1}
  expect: {leader: 3}
inside: {beauty: 1}
---
case: Y-3
form: statistical
negative: true
unless: [network.loss=0]
nodes: 3
network: {latency: 1ms, loss: 0.5}
repetitions: 20
scenario:
  kind: script
  events:
    - {at: 0ms, do: elect, node: 1}
  expect: {delivered: {min: 4}}
`

// TestLoadCases: a stream of experiments is read, with what its cases share and what they
// say of themselves, and each can be run.
func TestLoadCases(t *testing.T) {
	t.Parallel()
	list, err := conform.LoadCases("bully.yaml", []byte(stream))
	if err != nil || len(list) != 3 {
		t.Fatalf("%d cases, %v", len(list), err)
	}
	for i, want := range []struct {
		id, basis string
		line      int
		unchecked []string
	}{{"Y-1", "derivation", 9, nil}, {"Y-2", "simulation", 21, []string{"beauty"}},
		{"Y-3", "derivation", 32, nil}} {
		c := &list[i]
		if c.ID != want.id || c.Basis != want.basis || c.Line != want.line ||
			c.Algorithm != "election/bully" {
			t.Errorf("%+v, want %+v", c, want)
		}
		if unchecked, err := c.Run(); err != nil || !slices.Equal(unchecked, want.unchecked) {
			t.Errorf("%s: %v, not checked: %v", c.ID, err, unchecked)
		}
	}
}

// TestLoadCases_Mistakes: what is wrong in a stream is told with its line, whether the
// case says it or all share it.
func TestLoadCases_Mistakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, fresh, want string }{
		"a key":           {"leader: 3", "leadr: 3", "14: Y-1: scenario.leadr: unknown key"},
		"a process":       {"node: 1", "node: 9", "17: Y-1: scenario.events[1].node: process 9 of 3"},
		"a shared key":    {"transport: sim", "transport: sym", "4: Y-1: transport: "},
		"an algorithm":    {"name: bully", "name: buly", `unknown algorithm "election/buly"`},
		"no ID":           {"case: Y-2", "cse: Y-2", "21: case: missing"},
		"an ID again":     {"Y-2", "Y-1", "21: Y-1: case: appears twice, first in line 9"},
		"a form":          {"form: statistical", "form: statstical", `32: Y-3: form: "statstical", expected exact or`},
		"no expectation":  {"expect: {sent: 5, leader: 2, all_informed_at: 4ms}", "until: 9ms", "missing, expected the outcome"},
		"an expectation":  {"sent: 5", "snet: 5", `18: Y-1: scenario.expect.snet: unknown key; did you mean "sent"?`},
		"unless":          {"negative: true", "negative: false", "32: Y-3: unless: is for a case that is negative"},
		"unless of what":  {"network.loss=0", "network.los=0", "Y-3: "},
		"no truth":        {"negative: true", "negative: [1]", "34: Y-3: cannot unmarshal"},
		"not YAML":        {"nodes: 3", "nodes: [3", "not YAML: "},
		"no keys":         {"case: Y-1", "- case: Y-1", "not YAML: "},
		"two in one line": {stream, "{case: Y-1, nodes: 3}", "1: two keys in one line"},
		"nothing":         {stream, "", "1: no case, expected experiments"},
		"a list":          {stream, "[1]", "1: expected the keys of a case"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := conform.LoadCases("bully.yaml", []byte(changed(t, stream, test.old, test.fresh)))
			for i := range list {
				err = errors.Join(err, list[i].Load())
			}
			var found conform.Mistakes
			if !errors.As(err, &found) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v does not say %q", err, test.want)
			}
			if in := found[0].In("a.yaml"); !strings.HasPrefix(in, "a.yaml:") || found[0].Line < 1 {
				t.Errorf("%q has no place", in)
			}
		})
	}
}

// TestNegative: a negative case fails if all goes well, or if it does not where it must.
func TestNegative(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, fresh, want string }{
		"it never breaks":         {"loss: 0.5", "loss: 0", "20 trials have the expected outcome"},
		"it breaks all the same":  {"network.loss=0]", "network.loss=0.4]", "with network.loss=0.4: delivered: "},
		"it is not said to break": {"negative: true\nunless: [network.loss=0]", "note: x", "of 20)"},
	} {
		list, err := conform.LoadCases("bully.yaml", []byte(changed(t, stream, test.old, test.fresh)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := list[2].Run(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v does not say %q", name, err, test.want)
		}
	}
}

// FuzzLoadCases: a file of cases is read, or every mistake has a line.
func FuzzLoadCases(f *testing.F) {
	f.Add([]byte(stream))
	f.Add([]byte("a: 1\n---\ncase: 1\n---\n- x"))
	f.Add([]byte(`{"cases":[{"id":"X","algorithm":"bully","n":3,"expect":{"sent":1}}]}`))
	f.Add([]byte(`{"cases":[{}]}`))
	f.Add([]byte(`{"cases":{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range []string{"x.yaml", "x.json"} {
			list, err := conform.LoadCases(path, text)
			for i := range list {
				err = errors.Join(err, list[i].Load())
			}
			var all conform.Mistakes
			if err != nil && !errors.As(err, &all) {
				t.Errorf("%v is no list of mistakes", err)
			}
			for _, m := range all {
				if m.Line < 0 || m.Line > bytes.Count(text, []byte("\n"))+1 {
					t.Errorf("mistake in line %d: %v", m.Line, m)
				}
			}
		}
	})
}

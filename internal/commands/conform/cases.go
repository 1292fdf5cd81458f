package conform

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

//go:embed testdata/cases
var embedded embed.FS

// A Reference is one conformance case: an experiment in simulation, mostly an exact
// script, and what it leads to, to the message. docs/reference/cases.md describes
// the form.
type Reference struct {
	About     `yaml:",inline"`
	Algorithm string // its ID: "election/bully"
	Line      int    // of the file, where the case begins

	text []byte // the experiment, in the lines where it stands in the file
	old  bool   // the text was made from a case of the old form, and has no lines in the file

	// Experiment is what the case runs. It is nil before the first call of Load.
	Experiment *experiment.Experiment
	sound      *experiment.Experiment // with the settings of Unless
}

// About is what a case says beside its experiment.
type About struct {
	ID      string `yaml:"case"`
	Source  string // the paper or the notes that it comes from
	Formula string // the count in general, or what the case shows
	Note    string
	Basis   string // of the numbers: simulation or derivation
	Form    string // exact or statistical
	// Negative: the case documents a weakness. One of its trials at least must break what
	// it expects; and none may with the settings of Unless, in the form of --set.
	Negative bool
	Unless   []string
	// Inside are expectations that only the algorithm's own tests can look at.
	Inside map[string]any
	// Words are what the case says in words, such as how requests are drawn: keys with their values.
	// Nobody can run such a case.
	Words []string
}

// The forms of a case.
const (
	exact       = "exact"
	statistical = "statistical"
)

// aboutKeys are the keys of About in a file.
var aboutKeys = []string{
	"case", "source", "formula", "note", "basis", "form", "negative", "unless", "inside", "words",
}

// A Mistake is something in a file of cases that cannot be meant.
type Mistake struct {
	Line int    // of the file; 0: unknown
	Case string // its ID
	Key  string // "scenario.events[2].do"
	Text string // what is wrong, and what to write instead
}

func (m *Mistake) Error() string { return m.In("") }

// In is the mistake with its place in a file of that name, or of no name.
func (m *Mistake) In(file string) string {
	place := fmt.Sprintf("%s:%d", file, m.Line)
	if file == "" && m.Line > 0 {
		place = fmt.Sprintf("line %d", m.Line)
	} else if file == "" {
		place = ""
	}
	parts := slices.DeleteFunc([]string{place, m.Case, m.Key, m.Text},
		func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}

// Mistakes is all that is wrong with a file of cases.
type Mistakes []*Mistake

func (m Mistakes) Error() string { return m.In("").Error() }

// In is all mistakes with their places in a file of that name, a line each.
func (m Mistakes) In(file string) error {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].In(file)
	}
	return errors.New(strings.Join(lines, "\n"))
}

func (m *Mistakes) add(line int, id, key, format string, args ...any) {
	*m = append(*m, &Mistake{line, id, key, fmt.Sprintf(format, args...)})
}

// MostCases is the size of a file of cases: thousands of them.
const MostCases = 16 * files.MiB

// ReferenceCases is the repository's own cases of algorithm id.
func ReferenceCases(id string) ([]Reference, error) {
	path := "testdata/cases/" + id + ".yaml"
	text, err := embedded.ReadFile(path)
	if err != nil {
		return nil, nil // there are none
	}
	return LoadCases(path, text)
}

// LoadCases reads cases from the text of the file at path: a stream of experiments in
// YAML, or a file of the old form, {"cases": [...]} in JSON. Its error is Mistakes.
// Whether a case can be run is found by Load.
func LoadCases(path string, text []byte) (list []Reference, err error) {
	var found Mistakes
	if strings.EqualFold(filepath.Ext(path), ".json") {
		var lines []int
		if text, lines, found = Convert(text); lines != nil {
			list, _ = newCases(text)
		}
		for i := range list {
			list[i].old, list[i].Line = true, lines[i]
		}
	} else {
		list, found = newCases(text)
	}
	first := map[string]int{}
	for i := range list {
		c := &list[i]
		if line := first[c.ID]; line > 0 {
			found.add(c.Line, c.ID, "case", "appears twice, first in line %d", line)
		} else if c.Algorithm != "" {
			first[c.ID] = c.Line
		}
	}
	if found != nil {
		return nil, found
	}
	return list, nil
}

// newCases reads a stream of experiments. One without a case before the first that has
// one holds the keys that all share.
func newCases(text []byte) (list []Reference, found Mistakes) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if i := bytes.IndexAny(text, "\r\u0085\u2028\u2029"); i >= 0 { // which YAML takes for a new line
		found.add(1+bytes.Count(text[:i], []byte("\n")), "", "", "a line break other than newline; expected "+
			"newlines")
		return nil, found
	}
	lines := strings.Split(string(text), "\n")
	in := yaml.NewDecoder(bytes.NewReader(text))
	var shared []key
	for {
		var doc yaml.Node
		if err := in.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			line, what := yamlMistake(err)
			found.add(line, "", "", "not YAML: %s", what)
			break
		}
		root := doc.Content[0]
		if root.Kind != yaml.MappingNode {
			found.add(min(root.Line, len(lines)), "", "", "expected the keys of a case, as \"case: X-1\"")
			continue
		}
		keys, line := keysOf(root, lines)
		if line > 0 {
			found.add(line, "", "", "two keys in one line; expected one key per line")
			continue
		}
		own := slices.ContainsFunc(keys, func(k key) bool { return k.name == "case" })
		switch {
		case own:
			c, mistakes := newCase(append(without(shared, keys), keys...), lines)
			found = append(found, mistakes...)
			list = append(list, c)
		case list == nil && shared == nil:
			shared = keys
		default:
			found.add(root.Line, "", "case", "missing, expected the ID of the case, as X-1")
		}
	}
	if list == nil && found == nil {
		found.add(1, "", "", "no case, expected experiments with lines \"---\" between them")
	}
	return list, found
}

// A key is one of a document's, with the lines that it takes.
type key struct {
	name       string
	value      *yaml.Node
	start, end int // from 1; end is the first line behind it
}

// keysOf is the keys of a document; line is one in which two of them stand, if any do.
func keysOf(root *yaml.Node, lines []string) (keys []key, line int) {
	for i := 0; i < len(root.Content); i += 2 {
		k := key{name: root.Content[i].Value, value: root.Content[i+1], start: root.Content[i].Line}
		if n := len(keys); n > 0 {
			if keys[n-1].start == k.start {
				return nil, k.start
			}
			keys[n-1].end = k.start
		}
		for k.end = k.start + 1; k.end <= len(lines) && lines[k.end-1] != "---"; k.end++ {
		}
		keys = append(keys, k)
	}
	return keys, 0
}

// without is the keys that others do not give.
func without(keys, others []key) []key {
	return slices.DeleteFunc(slices.Clone(keys), func(k key) bool {
		return slices.ContainsFunc(others, func(o key) bool { return o.name == k.name })
	})
}

// newCase makes a case of its keys. Those of its experiment stay in their lines, so that
// whatever is wrong with them is told with its line; all others become empty.
func newCase(keys []key, lines []string) (c Reference, found Mistakes) {
	kept := make([]string, len(lines))
	about := &yaml.Node{Kind: yaml.MappingNode}
	var algorithms struct{ Problem, Name string }
	for _, k := range keys {
		if k.name == "case" {
			c.Line = k.start
		}
		if slices.Contains(aboutKeys, k.name) {
			about.Content = append(about.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: k.name}, k.value)
			continue
		}
		copy(kept[k.start-1:k.end-1], lines[k.start-1:k.end-1])
		switch k.name {
		case "problem":
			algorithms.Problem = k.value.Value + "/"
		case "algorithms":
			algorithms.Name = firstName(k.value)
		}
	}
	if err := about.Decode(&c.About); err != nil {
		line, what := yamlMistake(err)
		found.add(max(line, c.Line), c.ID, "", "%s", what)
	}
	if c.Algorithm = algorithms.Name; !strings.Contains(c.Algorithm, "/") {
		c.Algorithm = algorithms.Problem + c.Algorithm
	}
	c.text = []byte(strings.Join(kept, "\n"))
	return c, found
}

// firstName is the name of the first algorithm of a list.
func firstName(list *yaml.Node) string {
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		return ""
	}
	var named struct{ Name string }
	if list.Content[0].Decode(&named) == nil && named.Name != "" {
		return named.Name
	}
	return list.Content[0].Value
}

// yamlMistake is an error of the YAML parser: its line, and what it says.
func yamlMistake(err error) (line int, what string) {
	what = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	what, _, _ = strings.Cut(what, "\n")
	if rest, found := strings.CutPrefix(what, "line "); found {
		number, text, _ := strings.Cut(rest, ": ")
		if line, err = strconv.Atoi(number); err == nil {
			what = text
		}
	}
	return max(line, 1), what
}

// Load makes the experiment of the case. Its error is Mistakes: all that is wrong with
// the case itself, so that it cannot be run as it stands.
func (c *Reference) Load() error {
	if c.Experiment != nil {
		return nil
	}
	var found Mistakes
	if _, err := algo.Lookup(c.Algorithm); err != nil {
		found.add(c.Line, c.ID, "algorithms", "%v", err)
		return found
	}
	if c.Words != nil {
		found.add(c.Line, c.ID, "", "cannot be read: %s; write the case as an experiment "+
			"(docs/reference/cases.md)", strings.Join(c.Words, ", "))
		return found
	}
	if !slices.Contains([]string{"", exact, statistical}, c.Form) {
		found.add(c.Line, c.ID, "form", "%q, expected %s or %s", c.Form, exact, statistical)
	}
	e := c.parse(&found, nil)
	if e != nil && c.Unless != nil {
		c.sound = c.parse(&found, c.Unless)
	}
	if e != nil && c.Inside == nil && e.Cells[0].Plan.Scenario.Expect == nil {
		found.add(c.Line, c.ID, "scenario.expect", "missing, expected the outcome of the case, as {sent: 6}")
	}
	if c.Unless != nil && !c.Negative {
		found.add(c.Line, c.ID, "unless", "is for a case that is negative: true")
	}
	if found != nil {
		return found
	}
	c.Experiment = e
	return nil
}

// Expects says whether anything of what a loaded case expects can be checked here.
func (c *Reference) Expects() bool {
	return c.Experiment != nil && c.Experiment.Cells[0].Plan.Scenario.Expect != nil
}

// parse reads the case's experiment, with some settings changed.
func (c *Reference) parse(found *Mistakes, set []string) *experiment.Experiment {
	path := "case.yaml" // which names the experiment
	e, err := experiment.Parse(path, c.text, experiment.Overrides{Set: set})
	if err == nil {
		return e
	}
	var all *experiment.Error
	if !errors.As(err, &all) {
		found.add(c.Line, c.ID, "", "%v", err)
		return nil
	}
	for _, m := range all.Mistakes {
		line, text := m.Line, m.Text
		if c.old || line == 0 {
			line = c.Line
		}
		if m.Source != path {
			text = m.Source + ": " + text
		}
		found.add(line, c.ID, m.Key, "%s", text)
	}
	return nil
}

// Package reproduce lays published statements beside theory and measurement.
//
// A study is an ordinary experiment, NAME.yaml, and published statements about its
// figures, NAME.statements.yaml: their source, cells and metric, and whether each is
// expected to hold. The package reads both and judges a run of the
// experiment by the statements. It runs nothing and prints nothing.
package reproduce

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

const suffix = ".statements.yaml"

// A Study is an experiment with the statements that are published about it.
type Study struct {
	Name string // of its files
	dir  string

	Paper string // the citation in full
	// Columns of the design that tell the rows of its table apart, as "nodes" or, under
	// another name, "τ=params_t_election_ms".
	Columns []string
	// Quick are settings for a run of a second or two, which decides most
	// statements; nil: the run is short as it is.
	Quick []string
	// Sockets are settings that make it small enough for real processes; nil: it
	// cannot be run there.
	Sockets    []string
	Statements []*Statement
}

// A Statement is one thing that is said.
type Statement struct {
	Says    string // in the paper's words, translated if need be
	Section string // where the paper says it
	Note    string // why it does not hold, or what it leaves out

	Where  map[string]Values // cells that it is about, by column of the design; nil: all
	Metric string
	Stat   string // every, mean, median, min, max or share above X; empty: every
	Paper  string // what the paper has for the metric: an assertion
	Theory string // what we derive, where that is something else
	Expect string // of the paper's assertion: holds if empty, or refuted

	line          int
	stat          stat
	paper, theory *assertion
}

// Values are one value of a column, or any of several.
type Values []string

// UnmarshalYAML takes a scalar for a list of one.
func (v *Values) UnmarshalYAML(n *yaml.Node) error {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	for _, n := range nodes {
		if n.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: expected a value or a list of values", n.Line)
		}
		*v = append(*v, n.Value)
	}
	return nil
}

// file is what study files hold: a Study has fields of its own besides.
type file struct {
	Paper      string
	Columns    []string
	Quick      []string
	Sockets    []string
	Statements []struct {
		Says, Section, Note                 string
		Where                               map[string]Values
		Metric, Stat, Paper, Theory, Expect string
	}
}

// Names lists the studies in dir.
func Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mistake(dir, 0, "no such folder; call bench in a copy of the repository, "+
			"or say with --papers where the studies are")
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok {
			names = append(names, name)
		}
	}
	if err == nil && len(names) == 0 {
		err = mistake(dir, 0, "no study: expected pairs of NAME.yaml and NAME%s", suffix)
	}
	return names, err
}

// Load reads the statements of a study. An error names file, line and remedy.
func Load(dir, name string) (*Study, error) {
	path := filepath.Join(dir, name+suffix)
	data, err := files.Read(path, files.MiB)
	if errors.Is(err, fs.ErrNotExist) {
		names, err := Names(dir)
		if err != nil {
			return nil, err
		}
		return nil, mistake(dir, 0, "no study %q%s (has: %s)", name, algo.Hint(name, names),
			strings.Join(names, ", "))
	} else if err != nil {
		return nil, err
	}
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return nil, mistake(path, 0, "%s", plain(err))
	}
	s := &Study{Name: name, dir: dir, Paper: f.Paper, Columns: f.Columns, Quick: f.Quick,
		Sockets: f.Sockets}
	if s.Paper == "" || len(f.Statements) == 0 {
		return nil, mistake(path, 0, "expected paper: and statements:")
	}
	lines := lines(data)
	for i, st := range f.Statements {
		s.Statements = append(s.Statements, &Statement{Says: st.Says, Section: st.Section, Note: st.Note,
			Where: st.Where, Metric: st.Metric, Stat: st.Stat, Paper: st.Paper, Theory: st.Theory,
			Expect: st.Expect, line: lines[i]})
		if err := s.Statements[i].parse(); err != nil {
			return nil, mistake(path, lines[i], "statement %d: %v", i+1, err)
		}
	}
	return s, nil
}

// parse checks what can be checked without the experiment.
func (s *Statement) parse() (err error) {
	if s.Says == "" || s.Metric == "" || s.Paper == "" {
		return errors.New("expected says:, metric: and paper:, as paper: exactly 2(N-1)")
	}
	if s.stat, err = parseStat(s.Stat); err != nil {
		return fmt.Errorf("stat: %w", err)
	}
	if s.paper, err = parseAssertion(s.Paper); err != nil {
		return fmt.Errorf("paper: %w", err)
	}
	if s.Theory != "" {
		if s.theory, err = parseAssertion(s.Theory); err != nil {
			return fmt.Errorf("theory: %w", err)
		}
	}
	if s.Expect != "" && s.Expect != string(Refuted) {
		return fmt.Errorf("expect: %q, expected %q or nothing", s.Expect, Refuted)
	}
	return nil
}

// lines is where each statement begins.
func lines(data []byte) (out []int) {
	var root yaml.Node
	if yaml.Unmarshal(data, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	top := root.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Value == "statements" {
			for _, n := range top[i+1].Content {
				out = append(out, n.Line)
			}
		}
	}
	return out
}

var notFound = regexp.MustCompile(`field (\S+) not found in type .*`)

// plain is an error of the YAML package without Go types.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.ReplaceAll(text, "unmarshal errors:\n  ", "")
	return notFound.ReplaceAllString(text, `unknown key "$1" (a study has: paper, columns, quick, `+
		`sockets, statements; a statement: says, section, note, where, metric, stat, paper, theory, expect)`)
}

// mistake is an error in the configuration, like those of experiments.
func mistake(path string, line int, format string, args ...any) error {
	return &experiment.Error{Mistakes: []*experiment.Mistake{
		{Source: path, Line: line, Text: fmt.Sprintf(format, args...)}}}
}

// mistake is one in the statements; line 0 is none in particular.
func (s *Study) mistake(line int, format string, args ...any) error {
	return mistake(filepath.Join(s.dir, s.Name+suffix), line, format, args...)
}

// Experiment loads the experiment of the study. The environment has no say in it: a
// statement is about this experiment and no other.
func (s *Study) Experiment(settings ...string) (*experiment.Experiment, error) {
	e, err := experiment.Load(filepath.Join(s.dir, s.Name+".yaml"),
		experiment.Overrides{Set: settings})
	if err != nil {
		return nil, err
	}
	return e, s.check(e)
}

// check finds statements that are about nothing that the experiment has.
func (s *Study) check(e *experiment.Experiment) error {
	for _, entry := range s.Columns {
		_, c := split(entry)
		if !slices.Contains(e.Columns, c) {
			return s.mistake(0, "columns: %q, expected columns of the design (has: %s)", c,
				strings.Join(e.Columns, ", "))
		}
	}
	for _, st := range s.Statements {
		for column := range st.Where {
			if !slices.Contains(e.Columns, column) {
				return s.mistake(st.line, "where: %q is no column of the design (has: %s)", column,
					strings.Join(e.Columns, ", "))
			}
		}
	}
	return nil
}

package algotest

import (
	"bytes"
	_ "embed" // the cases
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

//go:embed testdata/cases.json
var embedded []byte

// unit is one time unit of a case.
const unit = time.Millisecond

// A Reference is one conformance case: a scenario in the unit-delay model and what it
// leads to, to the message. Its times are in units of a message's delay.
// docs/adding-an-algorithm.md describes the format.
type Reference struct {
	ID        string
	Algorithm string // without its kind: "bully"
	Kind      algo.Problem
	Topology  struct {
		Type    string
		N       json.RawMessage // a number, or "3..7": one of these in each random scenario
		Order   json.RawMessage // of a ring, or of a tree from its root: a list of processes
		Edges   json.RawMessage // a list of pairs
		Shape   string          // of a tree: "path, holder 1", "star centre 1", "binary heap"
		Quorums string          // of a quorum algorithm: "grid 3x3"
	}
	Params   map[string]any
	Scenario struct {
		Crashed      []algo.ID
		Leader       algo.ID `json:"initial_leader"`
		TokenAt      algo.ID `json:"token_at"`
		Partition    [][]uint32
		Hold         *float64        `json:"cs_duration"`
		Until        float64         `json:"run_until"`
		Window       []float64       // from, to: of what is counted over a span
		Events       json.RawMessage // in words where they are random
		Workload     string
		Channels     string // in words: random delays, and many seeds
		Params       map[string]any
		Order        string         `json:"same_instant_order"`
		Candidates   []algo.ID      // of bully-candidate-ordinary
		FailoverList []algo.ID      `json:"failover_list"` // of bully-next-in-line
		Score, Delta map[string]any // parameters, by process
	}
	Expect  map[string]json.RawMessage
	Formula string
	Note    string
	Form    string // exact or statistical

	Line    int      `json:"-"` // of the file, where the case begins
	unbuilt []string // what it says that nothing here understands
}

// What a case may say, level by level. What stands behind the bar is for its
// readers alone.
const (
	fileKeys     = "cases | title model count"
	caseKeys     = "id algorithm kind topology params scenario expect | formula note form basis source"
	topologyKeys = "type n order edges shape quorums | K diameter"
	scenarioKeys = "crashed initial_leader token_at partition cs_duration run_until window events " +
		"workload channels params same_instant_order candidates failover_list score delta | " +
		"names ordinary repeat"
	eventKeys = "t when op node of target groups | note"
)

// unbuilt are keys of cases of algorithms that are not here: such a case can be
// read, but not run.
const unbuilt = "direction anonymous n_known weights centre tree capture_order failed operation"

func names(text string) []string { return strings.Fields(strings.ReplaceAll(text, "|", "")) }

// AlgorithmID is that of the algorithm that the case is about.
func (c *Reference) AlgorithmID() string { return string(c.Kind) + "/" + c.Algorithm }

// A Mistake is something in a file of cases that cannot be meant.
type Mistake struct {
	Line int    // of the file; 0: unknown
	Case string // its ID
	Key  string // "scenario.events[2].op"
	Text string // what is wrong, and what to write instead
}

func (m *Mistake) Error() string {
	place := ""
	if m.Line > 0 {
		place = fmt.Sprintf("line %d", m.Line)
	}
	return m.at(place)
}

// In is the mistake with its place in a file of that name.
func (m *Mistake) In(file string) string { return m.at(fmt.Sprintf("%s:%d", file, m.Line)) }

func (m *Mistake) at(place string) string {
	parts := slices.DeleteFunc([]string{place, m.Case, m.Key, m.Text},
		func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}

// Mistakes is all that is wrong with a file of cases.
type Mistakes []*Mistake

func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].Error()
	}
	return strings.Join(lines, "\n")
}

// wrong is a mistake at a key of a case.
func wrong(key, format string, args ...any) *Mistake {
	return &Mistake{Key: key, Text: fmt.Sprintf(format, args...)}
}

// unknown is the mistake of a word that is none of those.
func unknown(key, what, word string, has []string) *Mistake {
	if near := algo.Nearest(word, has); near != "" {
		return wrong(key, "unknown %s %q; did you mean %q?", what, word, near)
	}
	return wrong(key, "unknown %s %q (has: %s)", what, word, strings.Join(has, ", "))
}

// LoadCases reads a file of cases, {"cases": [...]}. Its error is Mistakes, unless
// r cannot be read.
func LoadCases(r io.Reader) ([]Reference, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("cases: %w", err)
	}
	l := loader{text: text}
	l.file()
	if len(l.found) > 0 {
		return nil, l.found
	}
	return l.cases, nil
}

// ReferenceCases is the repository's own cases of algorithm id.
func ReferenceCases(id string) ([]Reference, error) {
	all, err := LoadCases(bytes.NewReader(embedded))
	return slices.DeleteFunc(all, func(c Reference) bool { return c.AlgorithmID() != id }), err
}

// A loader reads one file.
type loader struct {
	text  []byte
	cases []Reference
	found Mistakes
	line  int
	id    string // of the case that is being read
}

func (l *loader) add(m *Mistake) {
	m.Line, m.Case = l.line, l.id
	l.found = append(l.found, m)
}

// at sets the line to that of an offset.
func (l *loader) at(offset int64) {
	l.line = 1 + bytes.Count(l.text[:min(offset, int64(len(l.text)))], []byte("\n"))
}

func (l *loader) file() {
	l.at(0)
	var top struct{ Cases []json.RawMessage }
	err := json.Unmarshal(l.text, &top)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		l.at(syntax.Offset)
		l.add(wrong("", "not JSON: %v", err))
		return
	}
	if err != nil || top.Cases == nil {
		l.add(wrong("cases", `missing, or no list, want {"cases": [{"id": "X-1", ...}]}`))
		return
	}
	l.object("", l.text, fileKeys)
	in := json.NewDecoder(bytes.NewReader(l.text)) // once more, for the lines
	_, _ = in.Token()
	for in.More() {
		var raw json.RawMessage
		if key, _ := in.Token(); key != "cases" {
			_ = in.Decode(&raw)
			continue
		}
		_, _ = in.Token()
		for in.More() {
			rest := bytes.TrimLeft(l.text[in.InputOffset():], " \t\r\n,")
			l.at(int64(len(l.text) - len(rest)))
			_ = in.Decode(&raw)
			l.one(raw)
		}
		_, _ = in.Token()
	}
}

// one reads a case.
func (l *loader) one(raw json.RawMessage) {
	var id struct{ ID string }
	_ = json.Unmarshal(raw, &id) // a wrong type is found below
	l.id = id.ID
	defer func() { l.id = "" }()
	c := Reference{Line: l.line}
	before := len(l.found)
	top := l.object("", raw, caseKeys)
	for _, key := range []string{"id", "algorithm", "kind", "topology", "scenario", "expect"} {
		if top != nil && top[key] == nil {
			l.add(wrong(key, "missing"))
		}
	}
	inner := []map[string]json.RawMessage{
		l.object("topology", top["topology"], topologyKeys+" "+unbuilt),
		l.object("scenario", top["scenario"], scenarioKeys+" "+unbuilt),
	}
	for _, key := range names(unbuilt) {
		if inner[0][key] != nil || inner[1][key] != nil {
			c.unbuilt = append(c.unbuilt, key)
		}
	}
	var events []json.RawMessage
	_ = json.Unmarshal(inner[1]["events"], &events) // nothing, if they are words
	for i, e := range events {
		l.object(fmt.Sprintf("scenario.events[%d]", i), e, eventKeys)
	}
	if len(l.found) > before {
		return
	}
	if typed := (*json.UnmarshalTypeError)(nil); errors.As(json.Unmarshal(raw, &c), &typed) {
		l.add(wrong(strings.ToLower(typed.Field), "got %s, want %s", typed.Value, typeName(typed.Type)))
		return
	}
	if c.Kind != algo.Election && c.Kind != algo.MutualExclusion {
		l.add(unknown("kind", "kind", string(c.Kind),
			[]string{string(algo.Election), string(algo.MutualExclusion)}))
	}
	if i := slices.IndexFunc(l.cases, func(o Reference) bool { return o.ID == c.ID }); i >= 0 {
		l.add(wrong("id", "stands twice, first in line %d", l.cases[i].Line))
	}
	for name, want := range c.Expect { // on one line, as it is told
		var flat bytes.Buffer
		_ = json.Compact(&flat, want)
		c.Expect[name] = flat.Bytes()
	}
	l.cases = append(l.cases, c)
}

// object is the parts of a JSON object that has no other keys than those.
func (l *loader) object(key string, raw json.RawMessage, known string) map[string]json.RawMessage {
	if raw == nil {
		return nil
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil || parts == nil {
		l.add(wrong(key, `want a block, as {"key": ...}`))
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if has := names(known); !slices.Contains(has, name) {
			l.add(unknown(key, "key", name, has))
		}
	}
	return parts
}

// typeName is what JSON calls a value of that type.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Uint32:
		return "a process, as 3"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return `a block, as {"key": ...}`
}

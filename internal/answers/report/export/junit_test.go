package export

import (
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/election/invitation" // each group has a leader
)

// The rules of the schema of Ant's reports, as far as a report may have them:
// which elements follow in which order, how often, and with which attributes.
var junitRules = map[string]struct {
	children   []string // in this order
	most       map[string]int
	least      map[string]int
	attributes map[string]string // and what they match
	optional   map[string]string
}{
	"testsuites": {children: []string{"testsuite"}},
	"testsuite": {
		children: []string{"properties", "testcase", "system-out", "system-err"},
		most:     map[string]int{"properties": 1, "system-out": 1, "system-err": 1},
		least:    map[string]int{"properties": 1, "system-out": 1, "system-err": 1},
		attributes: map[string]string{
			"name": `^\S(.*\S)?$|^$`, "timestamp": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`, "hostname": `\S`,
			"tests": `^\d+$`, "failures": `^\d+$`, "errors": `^\d+$`, "time": decimal, "package": ``, "id": `^\d+$`,
		},
		optional: map[string]string{"skipped": `^\d+$`},
	},
	"properties": {children: []string{"property"}},
	"property":   {attributes: map[string]string{"name": `\S`, "value": ``}},
	"testcase": {
		children:   []string{"skipped", "error", "failure"},
		most:       map[string]int{"skipped": 1, "error": 1, "failure": 1},
		attributes: map[string]string{"name": `\S`, "classname": `\S`, "time": decimal},
	},
	"error":      {attributes: map[string]string{"type": `\S`}, optional: map[string]string{"message": ``}},
	"failure":    {attributes: map[string]string{"type": `\S`}, optional: map[string]string{"message": ``}},
	"system-out": {},
	"system-err": {},
}

const decimal = `^\d+(\.\d+)?$`

// An element of a report, as the checker sees it.
type element struct {
	name     string
	attrs    map[string]string
	text     string
	children []*element
}

func parseXML(t testing.TB, text string) *element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	top := &element{}
	stack := []*element{top}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		must(t, err)
		last := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			last.children = append(last.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			last.text += string(token)
		}
	}
	if len(top.children) != 1 {
		t.Fatalf("%d elements at the top", len(top.children))
	}
	return top.children[0]
}

// valid holds an element and what is in it against the rules.
func valid(t testing.TB, e *element) {
	t.Helper()
	rule, ok := junitRules[e.name]
	if !ok {
		t.Errorf("element %s is not known", e.name)
		return
	}
	for name, pattern := range rule.attributes {
		if v, ok := e.attrs[name]; !ok || !regexp.MustCompile(pattern).MatchString(v) {
			t.Errorf("%s: attribute %s is %q, want %s", e.name, name, v, pattern)
		}
	}
	for name, v := range e.attrs {
		if _, ok := rule.attributes[name]; ok {
			continue
		}
		if pattern, ok := rule.optional[name]; !ok || !regexp.MustCompile(pattern).MatchString(v) {
			t.Errorf("%s: attribute %s, %q, is not known", e.name, name, v)
		}
	}
	at, count := 0, map[string]int{}
	for _, child := range e.children {
		place := slices.Index(rule.children, child.name)
		if place < at {
			t.Errorf("%s: %s is not in the order %v", e.name, child.name, rule.children)
		}
		at = max(at, place)
		count[child.name]++
		valid(t, child)
	}
	for name, most := range rule.most {
		if count[name] > most || count[name] < rule.least[name] {
			t.Errorf("%s: %d of %s", e.name, count[name], name)
		}
	}
	if e.name == "testcase" && len(e.children) > 1 {
		t.Errorf("testcase %s: %d outcomes, want one at most", e.attrs["name"], len(e.children))
	}
}

func TestJUnit_Schema(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Run{"small": small(t), "hostile": hostileRun()} {
		text := one(t, r, "junit", Options{})
		valid(t, parseXML(t, text))
		for _, c := range text {
			if unicode.IsControl(c) && c != '\n' {
				t.Errorf("%s: control character %U", name, c)
			}
		}
	}
}

// The checker finds what is wrong.
func TestJUnit_CheckerNotices(t *testing.T) {
	t.Parallel()
	for _, change := range [][2]string{
		{`timestamp="2026-11-20T09:15:00"`, `timestamp="2026-11-20T09:15:00Z"`},
		{`<properties>`, `<system-out></system-out><properties>`},
		{` classname="small.bully"`, ``},
		{`></testcase>`, `><error type="a"></error><failure type="b"></failure></testcase>`},
		{` id="0"`, ` id="0" colour="red"`},
	} {
		text := one(t, small(t), "junit", Options{})
		wrong := strings.Replace(text, change[0], change[1], 1)
		if wrong == text {
			t.Fatalf("no %s in\n%s", change[0], text)
		}
		if c := (&complaints{TB: t}); c.of(wrong) == 0 {
			t.Errorf("%s for %s: nobody complains", change[1], change[0])
		}
	}
}

// complaints counts errors instead of failing.
type complaints struct {
	testing.TB
	count int
}

func (c *complaints) Errorf(string, ...any) { c.count++ }

func (c *complaints) of(text string) int {
	valid(c, parseXML(c, text))
	return c.count
}

func TestJUnit_Outcomes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		trials        []spec
		element, kind string
		message       string
	}{
		{"good", sample("a", 1), "", "", ""},
		{"violation", []spec{{label: "a", status: trace.Violated, reason: "two leaders"}},
			"failure", "Violation", "1 of 1 trials: two leaders"},
		{"violation out of the model", []spec{{label: "a", status: trace.Violated, outside: true}}, "", "", ""},
		{"violation and error", []spec{{label: "a", status: trace.Failed}, {label: "a", status: trace.Violated}},
			"failure", "Violation", "1 of 2 trials: no reason is recorded"},
		{"invalid", []spec{{label: "a", status: trace.Invalid, reason: "slow consumer"}},
			"error", "InvalidTrial", "1 of 1 trials: slow consumer"},
		{"error", []spec{{label: "a", status: trace.Failed, reason: "no bus"}}, "error", "Error", "1 of 1 trials: no bus"},
		{"unknown", []spec{{label: "a", status: trace.Unknown, reason: "undecided"}},
			"error", "Unknown", "1 of 1 trials: undecided"},
		{"timeout", []spec{{label: "a", status: trace.TimedOut, reason: "no leader"}},
			"error", "Timeout", "1 of 1 trials: no leader"},
		{"timeout out of the model", []spec{{label: "a", status: trace.TimedOut, outside: true}}, "", "", ""},
		{"timeout of what promises no end", []spec{{label: "invitation", status: trace.TimedOut}}, "", "", ""},
	} {
		r := runOf(test.trials...)
		text := one(t, r, "junit", Options{})
		suite := parseXML(t, text).children[0]
		valid(t, suite)
		cases := slices.DeleteFunc(slices.Clone(suite.children), func(e *element) bool { return e.name != "testcase" })
		if len(cases) != 1 || suite.attrs["tests"] != "1" {
			t.Fatalf("%s: %s", test.name, text)
		}
		failures, errs := "0", "0"
		switch test.element {
		case "failure":
			failures = "1"
		case "error":
			errs = "1"
		}
		if suite.attrs["failures"] != failures || suite.attrs["errors"] != errs {
			t.Errorf("%s: counted wrong: %v", test.name, suite.attrs)
		}
		if test.element == "" {
			if len(cases[0].children) > 0 {
				t.Errorf("%s: %s", test.name, text)
			}
			continue
		}
		got := cases[0].children[0]
		if got.name != test.element || got.attrs["type"] != test.kind || got.attrs["message"] != test.message {
			t.Errorf("%s: %s %v, want %s %s %q", test.name, got.name, got.attrs, test.element, test.kind, test.message)
		}
	}
}

func TestJUnit_TellsHowToReproduce(t *testing.T) {
	t.Parallel()
	var trials []spec
	for range mostTold + 5 {
		trials = append(trials, spec{label: "a", nodes: 3, status: trace.Violated, reason: "two leaders ]]> & <x>"})
	}
	r := runOf(trials...)
	r.Header, r.Path = small(t).Header, "my results/made"
	text := parseXML(t, one(t, r, "junit", Options{})).children[0].children[1].children[0].text
	for _, want := range []string{"trial 1: two leaders ]]> & <x>\n",
		"  reproduce: bench replay 'my results/made' --trial 10\n", "and 5 more\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "trial 11") {
		t.Errorf("too many are told:\n%s", text)
	}
}

package answer

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []*suite `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testcase `xml:"testcase"`
		Out      string     `xml:"system-out,omitempty"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *problem `xml:"failure"`
		Error   *problem `xml:"error"`
	}
	problem struct {
		Message string `xml:"message,attr"`
		Kind    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit renders what was judged as tests, a suite for each group. A document in which nothing
// was judged is a test of its own, which fails as the command does.
func writeJUnit(w io.Writer, d *Document) error {
	checks := d.Checks
	if checks == nil {
		one := Check{Group: d.Verb, Name: d.Verb}
		if d.Exit != 0 {
			one.Failure, one.Kind, one.Failed = d.Verdict, fmt.Sprintf("exit code %d", d.Exit), d.Exit > 2
		}
		checks = []Check{one}
	}
	var all suites
	of := map[string]*suite{}
	for _, c := range checks {
		s := of[c.Group]
		if s == nil {
			s = &suite{Name: legal(c.Group)}
			of[c.Group], all.Suites = s, append(all.Suites, s)
		}
		s.add(d.Verb, c)
	}
	for _, b := range d.Blocks {
		if n, ok := b.(Note); ok {
			all.Suites[0].Out += legal(n.Text) + "\n"
		}
	}
	fmt.Fprint(w, xml.Header)
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (s *suite) add(verb string, c Check) {
	one := testcase{Class: legal(verb + "." + c.Group), Name: legal(c.Name)}
	s.Tests++
	if c.Failure != "" {
		p := &problem{legal(c.Failure), legal(c.Kind), legal(c.Failure)}
		if c.Failed {
			one.Failure = p
			s.Failures++
		} else {
			one.Error = p
			s.Errors++
		}
	}
	s.Cases = append(s.Cases, one)
}

// legal is text without what XML has no place for.
func legal(text string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xFFFE || r == 0xFFFF || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

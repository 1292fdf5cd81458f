package answer

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The elements, in the order and with the attributes that the schema of Ant's reports
// (github.com/windyroad/JUnit-Schema) demands, which is the strictest.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []*suite `xml:"testsuite"`
	}
	suite struct {
		Package    string     `xml:"package,attr"`
		ID         int        `xml:"id,attr"`
		Name       string     `xml:"name,attr"`
		Timestamp  string     `xml:"timestamp,attr"` // without a zone; UTC
		Hostname   string     `xml:"hostname,attr"`
		Tests      int        `xml:"tests,attr"`
		Failures   int        `xml:"failures,attr"`
		Errors     int        `xml:"errors,attr"`
		Skipped    int        `xml:"skipped,attr"`
		Time       string     `xml:"time,attr"`
		Properties properties `xml:"properties"` // also without any
		Cases      []testcase `xml:"testcase"`
		Out        cdata      `xml:"system-out"`
		Err        cdata      `xml:"system-err"`
		took       float64    // seconds
	}
	properties struct {
		List []property `xml:"property"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	cdata struct {
		Text string `xml:",cdata"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *problem `xml:"failure"`
		Error   *problem `xml:"error"`
	}
	problem struct {
		Message string `xml:"message,attr"`
		Kind    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
)

// writeJUnit renders what was judged as tests, a suite for each group of each part. A document in
// which nothing was judged is a test of its own, which fails as the command does.
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
	of, known, began := map[[2]string]*suite{}, d.properties(), d.Began
	if began.IsZero() {
		began = time.Unix(0, 0)
	}
	for _, c := range checks {
		key := [2]string{c.Part, c.Group}
		if of[key] == nil {
			of[key] = &suite{
				Package: legal(cmp.Or(c.Part, d.Verb)), ID: len(all.Suites), Name: legal(c.Group),
				Timestamp: began.UTC().Format("2006-01-02T15:04:05"), Hostname: "localhost",
				took: d.Took.Seconds(), Properties: properties{known[c.Part]},
			}
			all.Suites = append(all.Suites, of[key])
		}
		of[key].add(&c)
	}
	for _, b := range d.Blocks {
		if n, ok := b.(Note); ok && n.Kind == "" {
			all.Suites[0].Out.Text += legal(n.Text) + "\n"
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

// properties are the facts of each part, and what to be careful about.
func (d *Document) properties() map[string][]property {
	of, part := map[string][]property{}, ""
	for _, b := range d.Blocks {
		switch b := b.(type) {
		case Section:
			part = b.Name
		case Facts:
			for _, f := range b {
				of[part] = append(of[part], property{legal(f.Name), legal(exact(f.Value))})
			}
		case Note:
			if b.Kind == Careful {
				of[part] = append(of[part], property{b.Kind, legal(b.Text)})
			}
		}
	}
	return of
}

func (s *suite) add(c *Check) {
	one := testcase{Class: s.Package + "." + s.Name, Name: legal(c.Name), Time: fmt.Sprintf("%.6f", c.Took)}
	s.Tests++
	s.took += c.Took
	s.Time = fmt.Sprintf("%.6f", s.took)
	if c.Failure != "" {
		p := &problem{legal(c.Failure), legal(c.Kind), legal(cmp.Or(c.Text, c.Failure))}
		if c.Failed {
			one.Failure = p
			s.Failures++
		} else {
			one.Error = p
			s.Errors++
		}
	}
	if by := legal(c.By); by != "" && !slices.Contains(strings.Split(s.Out.Text, "\n"), by) {
		s.Out.Text += by + "\n"
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

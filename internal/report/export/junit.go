package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/program"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The elements of a JUnit report, in the order and with the attributes that the
// schema of Ant's reports (github.com/windyroad/JUnit-Schema) demands, which is
// the strictest: properties, testcase, system-out, system-err.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Name       string          `xml:"name,attr"`
		Timestamp  string          `xml:"timestamp,attr"` // without a zone; UTC
		Hostname   string          `xml:"hostname,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties junitProperties `xml:"properties"` // also without any
		Cases      []junitCase     `xml:"testcase"`
		Out        junitText       `xml:"system-out"`
		Err        junitText       `xml:"system-err"`
		seconds    float64
	}
	junitProperties struct {
		List []junitProperty `xml:"property"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"` // never beside a failure
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
)

// junit writes a test suite for each label and a test case for each cell. A promise
// that was broken within the model is a failure; what keeps a cell from being
// judged is an error.
func junit(s *selection) ([]File, error) {
	var all junitSuites
	index := map[string]int{}
	for _, c := range s.cells {
		i, seen := index[head(c)]
		if !seen {
			i = len(all.Suites)
			index[head(c)] = i
			all.Suites = append(all.Suites, s.suite(i, head(c)))
		}
		s.add(&all.Suites[i], c)
	}
	for i := range all.Suites {
		suite := &all.Suites[i]
		suite.Time = seconds(suite.seconds)
	}
	b, err := all.encode()
	return []File{{Name: s.base() + ".xml", Data: b}}, err
}

func (all *junitSuites) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	err := e.Encode(all)
	b.WriteString("\n")
	return b.Bytes(), err
}

// timestamp is an instant as the schema wants one, even of a run that does not tell.
func timestamp(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

func (s *selection) suite(id int, label string) junitSuite {
	out := junitSuite{
		Package: printable(s.run.Name), ID: id, Name: printable(label),
		// The name of the host is no part of a run; the schema wants one.
		Timestamp: timestamp(time.Time{}), Hostname: "localhost",
	}
	h := s.run.Header
	if h == nil {
		return out
	}
	out.Timestamp = timestamp(h.Started)
	out.Properties.List = []junitProperty{
		{"run", printable(h.Run)}, {"seed", fmt.Sprint(h.Seed)}, {"version", printable(h.Version)},
		{"config_sha256", printable(h.Config)},
	}
	return out
}

func (s *selection) add(suite *junitSuite, c *results.Cell) {
	var parts []string
	for _, f := range s.place(c) {
		parts = append(parts, f.Name+"="+f.Value)
	}
	name := printable(strings.Join(parts, ","))
	if name == "" {
		name = "all"
	}
	ms := 0.0
	for _, t := range c.Trials {
		if v := t.Value(metric.Duration); !math.IsNaN(v) { // one that could not be run has none
			ms += v
		}
	}
	test := junitCase{
		Class: suite.Package + "." + suite.Name, Name: name, Time: seconds(ms / 1000),
	}
	suite.seconds += ms / 1000
	suite.Tests++
	suite.Out.Text += fmt.Sprintf("%s: %s\n", name, statuses(c))
	for _, note := range s.doubtful(c) {
		suite.Out.Text += note + "\n"
	}
	switch p := s.problem(c); {
	case p == nil:
	case p.Type == problemOf[trace.Violated]:
		test.Failure = p
		suite.Failures++
	default:
		test.Error = p
		suite.Errors++
	}
	suite.Cases = append(suite.Cases, test)
}

func seconds(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }

// problemOf is how statuses are called there.
var problemOf = map[trace.Status]string{
	trace.Violated: "Violation", trace.Failed: "Error", trace.Invalid: "InvalidTrial",
	trace.TimedOut: "Timeout", trace.Unknown: "Unknown",
	trace.Unstable: "Unstable",
}

// mostTold bounds how many trials a problem tells of. All of them are counted.
const mostTold = 10

// problem is what is wrong with a cell: the gravest, or nil.
func (s *selection) problem(c *results.Cell) *junitProblem {
	for _, status := range []trace.Status{
		trace.Violated, trace.Failed, trace.Invalid, trace.TimedOut, trace.Unknown,
		trace.Unstable,
	} {
		var text strings.Builder
		message, count := "", 0
		for _, t := range c.Trials {
			if t.Status != status || !counts(t, c.Get("algorithm")) {
				continue
			}
			if count++; count > mostTold {
				continue
			}
			reason := short(t.Reason)
			if reason == "" {
				reason = "no reason is recorded"
			}
			if message == "" {
				message = reason
			}
			fmt.Fprintf(&text, "trial %d: %s\n", t.Trial, reason)
			if s.run.Header != nil {
				fmt.Fprintf(&text, "  reproduce: %s\n",
					program.Command("replay", printable(s.run.Path), "--trial", strconv.Itoa(t.Trial)))
			}
		}
		if count == 0 {
			continue
		}
		if count > mostTold {
			fmt.Fprintf(&text, "and %d more\n", count-mostTold)
		}
		return &junitProblem{
			Message: fmt.Sprintf("%d of %d trials: %s", count, len(c.Trials), message),
			Type:    problemOf[status], Text: text.String(),
		}
	}
	return nil
}

// counts says whether a trial that is not ok counts against its cell: what an
// algorithm does not promise it cannot break.
func counts(t *results.Trial, algorithm string) bool {
	switch t.Status {
	case trace.Violated:
		return t.InModel
	case trace.TimedOut:
		a, _ := algo.Lookup(algorithm) // nil if it is not linked in
		return t.InModel && check.PromisesEnd(a)
	}
	return true
}

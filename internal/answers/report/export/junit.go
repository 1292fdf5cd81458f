package export

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// junit writes a test suite for each label and a test case for each cell. A promise
// that was broken within the model is a failure; what keeps a cell from being
// judged is an error.
func junit(s *selection) ([]File, error) {
	d := answer.New(printable(s.run.Name), "")
	if h := s.run.Header; h != nil {
		d.Began = h.Started
		d.Add(answer.Facts{{Name: "run", Value: printable(h.Run)}, {Name: "seed", Value: h.Seed},
			{Name: "version", Value: printable(h.Version)},
			{Name: "config_sha256", Value: printable(h.Config)}})
	}
	for _, c := range s.cells {
		d.Checks = append(d.Checks, s.check(c))
	}
	return written("junit", s.base()+".xml", d)
}

// check is a cell as a test, with what is wrong with it: the gravest.
func (s *selection) check(c *results.Cell) answer.Check {
	out := answer.Check{Group: printable(view.Label(c.Design)),
		Name: cmp.Or(printable(view.Joined(c.Design, s.places, ",")), "all")}
	for _, t := range c.Trials {
		if v := t.Value(metric.Duration); !math.IsNaN(v) { // one that could not be run has none
			out.Took += v / 1000
		}
	}
	out.By = strings.Join(append([]string{out.Name + ": " + view.Statuses(c)}, s.doubtful(c)...), "\n")
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
		out.Failure = fmt.Sprintf("%d of %d trials: %s", count, len(c.Trials), message)
		out.Kind, out.Text, out.Failed = problemOf[status], text.String(), status == trace.Violated
		break
	}
	return out
}

// problemOf is how statuses are called there.
var problemOf = map[trace.Status]string{
	trace.Violated: "Violation", trace.Failed: "Error", trace.Invalid: "InvalidTrial",
	trace.TimedOut: "Timeout", trace.Unknown: "Unknown",
	trace.Unstable: "Unstable",
}

// mostTold bounds how many trials a problem tells of. All of them are counted.
const mostTold = 10

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

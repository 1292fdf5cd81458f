package check

import (
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Broken is the first promise that the records so far have broken, in words; empty
// if they have broken none. What is missing at the end only Finish can tell.
func (j *Judge) Broken() string {
	if len(j.violations) == 0 {
		return ""
	}
	return j.violations[0]
}

// A Breach is a broken promise, and the record that broke it.
type Breach struct {
	Record int    // index
	Text   string // as in Verdict.Violations
}

// Breaches are the promises that single records break: not all of them, if there are very
// many. What is missing at the end no record breaks.
func Breaches(s *harness.Setup, records trace.List) (out []Breach) {
	j := NewJudge(s)
	for i := range records {
		j.Record(&records[i])
		for len(out) < len(j.violations) {
			out = append(out, Breach{i, j.violations[len(out)]})
		}
	}
	return out
}

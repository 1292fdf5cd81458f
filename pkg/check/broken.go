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

// FirstBroken is the first of the records that breaks a promise; -1 if none does.
func FirstBroken(s *harness.Setup, records trace.List) int {
	j := NewJudge(s)
	for i := range records {
		if j.Record(&records[i]); j.Broken() != "" {
			return i
		}
	}
	return -1
}

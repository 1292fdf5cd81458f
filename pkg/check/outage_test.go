package check

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestJudge_Outage: the judge says at any time whether the downtime counts, and since when. Process 3 of
// three leads at first; only what a crash begins counts.
func TestJudge_Outage(t *testing.T) {
	t.Parallel()
	p := harness.Plan{Algorithm: eventual, Nodes: 3, Shape: algo.Shape{Kind: "complete"}, Leader: 3,
		Network: link.Network{Latency: link.Constant(ms1)}, InModel: true, TimeLimit: time.Second,
		Scenario: harness.Scenario{Plot: &harness.LeaderCrash{}}}
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	j := NewJudge(s)
	for _, step := range []struct {
		record trace.Record
		since  time.Duration
		gone   bool
	}{
		{at(2, trace.Elected, 1, 0), 0, false}, // of its own accord
		{at(4, trace.Elected, 1, 3), 0, false},
		{at(10, trace.Crash, 3), 10 * ms1, true},
		{at(20, trace.Elected, 2, 2), 10 * ms1, true},
		{at(21, trace.Elected, 1, 2), 0, false},
	} {
		j.Record(&step.record)
		if since, gone := j.Outage(); gone != step.gone || gone && since != step.since {
			t.Errorf("after %v: %v since %v, want %v since %v", step.record, gone, since, step.gone, step.since)
		}
	}
	p.Algorithm, p.Scenario.Plot = "mutex/test-fair", &harness.Burst{}
	if s, err = p.Setup(); err != nil {
		t.Fatal(err)
	}
	if _, gone := NewJudge(s).Outage(); gone {
		t.Error("an algorithm without a leader has lost it")
	}
}

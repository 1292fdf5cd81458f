package export

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestRankings: a ranking is by the metrics that are asked for, in which another algorithm may be ahead; there
// is none by what is no matter of less and more.
func TestRankings(t *testing.T) {
	t.Parallel()
	run := runOf(append(sample("quick", 1, 2, 3, 4, 5, 6.5, 7, 8, 9, 10), sample("frugal", 11, 12, 13, 14, 15, 16,
		17, 18, 19, 20)...)...)
	for _, m := range []*metric.Metric{metric.Downtime, metric.MessagesPerElection, metric.Availability} {
		run.Metrics = append(run.Metrics, m.Name)
	}
	for i := range run.Trials {
		trial, messages := &run.Trials[i], 40.0
		if i >= 10 {
			messages = 10
		}
		trial.Seed = uint64(i % 10)
		trial.Repetition = 1 + i%10
		trial.Set(metric.Downtime.Of(trial.Value(metric.Election) + 10))
		trial.Set(metric.MessagesPerElection.Of(messages + float64(i%10)))
		trial.Set(metric.Availability.Of(0.9))
	}
	for asked, want := range map[string][]string{
		"":                      {`by downtime\_ms: `, "- frugal takes 1.66x ", "a is faster"},
		"downtime_ms":           {`by downtime\_ms: `, "- frugal takes 1.66x ", "a is faster"},
		"messages_per_election": {`by messages\_per\_election: `, "- quick has exactly 30 more messages per election than frugal", "has the lower value"},
		"availability":          nil,
		"availability,messages_per_election,downtime_ms": {`by messages\_per\_election: `, "- quick has exactly 30 more messages",
			`by downtime\_ms: `, "- frugal takes 1.66x "},
	} {
		var o Options
		if asked != "" {
			o.Metrics = strings.Split(asked, ",")
		}
		text := one(t, run, "markdown", o)
		if n := strings.Count(text, "\nby "); n != strings.Count(strings.Join(want, "\n"), "by ") {
			t.Errorf("--metrics %s: %d rankings:\n%s", asked, n, text)
		}
		for _, part := range want {
			_, rest, found := strings.Cut(text, part)
			if !found {
				t.Errorf("--metrics %s: no %q, or not there, in\n%s", asked, part, text)
			}
			text = rest
		}
	}
	for asked, want := range map[string]bool{"messages_per_election": true, "availability": false} {
		text := strings.ReplaceAll(one(t, run, "latex", Options{Metrics: []string{asked}}), "\n% ", " ")
		if tested := strings.Contains(text, "corrected for 1 comparison (Westfall and Young, alpha = 0.05), "+
			"in 1 of 1 pair"); tested != want {
			t.Errorf("--metrics %s: the caption says how it was tested: %v\n%s", asked, tested, text)
		}
	}
}

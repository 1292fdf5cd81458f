package replay

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A journal that says something else is found out.
func TestDifferences(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	recorded := results.Trial{Status: trace.OK}.With(metric.Messages.Of(7),
		metric.MessageDelays.Of(3), metric.Election.Of(5), metric.Downtime.Of(6),
		metric.Heal.Of(none), metric.Recovery.Of(none), metric.LateShare.Of(none), metric.SchedDelay.Of(none))
	r := &Replay{Rerun: &Rerun{}, Recorded: &recorded}
	r.Verdict.Status, r.Verdict.Totals.Sent = "ok", 8
	r.Verdict.Metrics = []metric.Value{metric.MessageDelays.Of(3), metric.Election.Of(5.5),
		metric.Recovery.Of(1)}
	want := "messages was 7 and is 8; election_ms was 5 and is 5.5; downtime_ms was 6 and is none; " +
		"recovery_ms was none and is 1"
	if got := strings.Join(r.Differences(), "; "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFigures: metrics are read from the rows of a table, and from the block of earlier versions.
func TestFigures(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"metrics": {"fairness": 0.5, "heal_ms": null}}`,
		`{"metrics": [{"metric": "fairness", "value": 0.5}, {"metric": "heal_ms", "value": null}]}`} {
		var s Side
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		v := s.Figure("fairness")
		if _, known := s.Metrics["heal_ms"]; v == nil || *v != 0.5 || s.Figure("heal_ms") != nil || !known {
			t.Errorf("%s: %v", text, s.Metrics)
		}
	}
}

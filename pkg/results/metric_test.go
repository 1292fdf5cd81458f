package results

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestObserve: a trial that was spoiled says nothing, and one that broke a promise nothing but what the breach
// was. One that timed out has seen what came before, and what it waited for is known to be longer.
func TestObserve(t *testing.T) {
	t.Parallel()
	trial := testTrial(1)
	only(&trial, metric.Detection.Of(3), metric.Suspicion.Of(4), metric.Election.Of(nan),
		metric.Downtime.Of(5), metric.SplitBrain.Of(6), metric.MessageDelays.Of(7), metric.LatencyAchieved.Of(8),
		metric.SplitOwnership.Of(3), metric.Knee.Of(nan), metric.KeptUp.Of(nan), metric.WarmupFound.Of(5))
	trial.Set(metric.SchedDelay.Of(9))
	for _, tt := range []struct {
		metric      string
		ok, timeout string
		violated    string // of a metric of the breach itself; "": nothing
	}{
		{"detection_ms", "3 1", "3 1", ""},
		{"suspicion_ms", "4 1", "4 1", ""},
		{"election_ms", "0 0", "0 2", ""},
		{"downtime_ms", "5 1", "0 2", ""},
		{"split_brain_ms", "6 1", "0 0", ""},
		{"message_delays", "7 1", "0 0", ""},
		{"heal_ms", "0 0", "0 0", ""},
		{"messages", "20 1", "0 0", ""},
		{"duration_ms", "11.5 1", "0 2", ""},
		{"late_share", "0 0", "0 0", ""},
		{"latency_achieved_ms", "8 1", "0 0", ""},
		{"sched_delay_p99_ms", "9 1", "0 0", ""},
		{"knee_per_s", "0 2", "0 0", ""}, // beyond what was looked at
		{"kept_up_per_s", "0 0", "0 0", ""},
		{"warmup_found", "5 1", "0 0", ""},
		{"no_such_ms", "0 0", "0 0", ""},
		{"split_ownership_ms", "3 1", "0 0", "3 1"},
	} {
		for _, status := range trace.Statuses() {
			want := "0 0"
			switch trial.Status = status; status {
			case trace.OK:
				want = tt.ok
			case trace.TimedOut:
				want = tt.timeout
			case trace.Violated:
				want = cmp.Or(tt.violated, want)
			}
			if got := fmt.Sprint(trial.Observe(tt.metric)); got != want {
				t.Errorf("%s of a trial with status %s: %s, want %s", tt.metric, status, got, want)
			}
		}
	}
}

// TestObserve_Open: a downtime whose last outage never ended is larger than what was seen, by
// each definition for itself. A run of an earlier version says nothing of that.
func TestObserve_Open(t *testing.T) {
	t.Parallel()
	trial := testTrial(1)
	trial.Status = trace.OK
	for _, tt := range []struct {
		never       metric.Value
		own, agreed string
	}{
		{metric.NeverRecovered.Of(1), "0 2", "7 1"},
		{metric.NeverRecovered.Of(0), "5 1", "7 1"},
		{metric.Agreed.Never.Of(1), "5 1", "0 2"},
		{metric.Crashes.Of(1), "5 1", "7 1"},
	} {
		only(&trial, metric.Downtime.Of(5), metric.Agreed.Downtime.Of(7), tt.never)
		own, agreed := fmt.Sprint(trial.Observe("downtime_ms")), fmt.Sprint(trial.Observe("downtime_agreed_ms"))
		if own != tt.own || agreed != tt.agreed {
			t.Errorf("%v: downtime_ms %s and downtime_agreed_ms %s, want %s and %s", tt.never, own, agreed, tt.own,
				tt.agreed)
		}
	}
}

// TestCells: designs whose values only look alike in a row are two.
func TestCells(t *testing.T) {
	t.Parallel()
	trials := []Trial{testTrial(1), testTrial(2), testTrial(2)}
	for i, values := range [][2]string{{"0.1", "0"}, {"0.1", "0"}, {"0", ".10"}} {
		trials[i].Design[9].Value, trials[i].Design[10].Value = values[0], values[1]
	}
	cells := (&Table{Trials: trials}).Cells()
	if len(cells) != 2 || len(cells[0].Trials) != 2 || cells[1].Get("duplication") != ".10" {
		t.Errorf("%d cells, want one of two trials and one of the third", len(cells))
	}
}

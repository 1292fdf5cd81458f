package results

import (
	"fmt"
	"testing"
)

// TestObserve: who broke a promise, or was spoiled, says nothing; who timed out has seen
// what came before, and of the times that it waited for is known to be longer.
func TestObserve(t *testing.T) {
	t.Parallel()
	trial := testTrial(1)
	trial.Metrics = []Metric{{"detection_ms", 3}, {"suspicion_ms", 4}, {"election_ms", nan}, {"downtime_ms", 5},
		{"split_brain_ms", 6}, {"message_delays", 7}, {"latency_achieved_ms", 8}}
	trial.SchedDelayP99MS = 9
	for _, tt := range []struct {
		metric      string
		ok, timeout string
	}{
		{"detection_ms", "3 1", "3 1"},
		{"suspicion_ms", "4 1", "4 1"},
		{"election_ms", "0 0", "0 2"},
		{"downtime_ms", "5 1", "0 2"},
		{"split_brain_ms", "6 1", "0 0"},
		{"message_delays", "7 1", "0 0"},
		{"heal_ms", "0 0", "0 0"},
		{"messages", "20 1", "0 0"},
		{"duration_ms", "11.5 1", "0 2"},
		{"late_share", "0 0", "0 0"},
		{"latency_achieved_ms", "8 1", "0 0"},
		{"sched_delay_p99_ms", "9 1", "0 0"},
		{"no_such_ms", "0 0", "0 0"},
	} {
		for _, status := range Statuses() {
			want := "0 0"
			switch trial.Status = status; status {
			case OK:
				want = tt.ok
			case Timeout:
				want = tt.timeout
			}
			if got := fmt.Sprint(trial.Observe(tt.metric)); got != want {
				t.Errorf("%s of a trial with status %s: %s, want %s", tt.metric, status, got, want)
			}
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

// TestDirections: what improves when it grows, and what is counted.
func TestDirections(t *testing.T) {
	t.Parallel()
	for metric, want := range map[string][2]bool{ // larger is better; a count
		"availability": {true, false}, "throughput_per_s": {true, false}, "fairness": {true, false},
		"completed": {true, true}, "messages": {false, true}, "messages_per_entry": {false, true},
		"bytes_per_election": {false, true}, "message_delays": {false, true}, "violations": {false, true},
		"election_ms": {false, false}, "late_share": {false, false}, "loss_achieved": {false, false},
		"split_brain_ms": {false, false}, "duration_ms": {false, false},
	} {
		if got := [2]bool{LargerIsBetter(metric), IsCount(metric)}; got != want {
			t.Errorf("%s: %v, want %v", metric, got, want)
		}
	}
}

package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func TestMisses(t *testing.T) {
	table := run("sim", 10, func(trial *results.Trial, nodes int) {
		setTime(trial, float64(10*nodes+trial.Repetition)) // 31 to 40, 51 to 60
		switch {
		case is("raft", 3, trial) && trial.Repetition > 8:
			trial.Status = trace.TimedOut
			setTime(trial, math.NaN())
		case is("raft", 5, trial):
			trial.Status = trace.Violated
		}
	})
	bound := func(v float64) *float64 { return &v }
	raft := []metric.Field{{Name: "algorithm", Value: "raft"}}
	bully := []metric.Field{{Name: "algorithm", Value: "election/bully"}}
	for _, tt := range []struct {
		name string
		t    experiment.Threshold
		want []string
	}{
		{"kept", experiment.Threshold{Metric: "election_ms", Stat: "max", Max: bound(60), Where: bully}, nil},
		{"median", experiment.Threshold{Metric: "election_ms", Stat: "median", Max: bound(50), Where: bully},
			[]string{"bully, nodes=5: median of election_ms at most 50, but it is 55.5: 5.5 more (+11.00%)"}},
		{"minimum", experiment.Threshold{Metric: "messages", Stat: "min", Min: bound(21), Where: bully},
			[]string{"nodes=3: min of messages at least 21, but it is 20: 1 less", "nodes=5"}},
		{"timed out", experiment.Threshold{Metric: "election_ms", Stat: "p95", Max: bound(1e6), Where: raft},
			[]string{"raft, nodes=3: p95 of election_ms at most 1000000, but it is beyond the time limit: 2 of 10",
				"raft, nodes=5: p95 of election_ms at most 1000000, but no trial of 10 has a value"}},
		{"the median is known", experiment.Threshold{Metric: "election_ms", Stat: "median", Max: bound(40),
			Where: append([]metric.Field{{Name: "nodes", Value: "3"}}, raft...)}, nil},
		{"met exactly", experiment.Threshold{Metric: "messages", Stat: "min", Min: bound(20), Max: bound(20), Where: bully},
			nil},
		{"no upper bound", experiment.Threshold{Metric: "election_ms", Stat: "max", Min: bound(40),
			Where: append([]metric.Field{{Name: "nodes", Value: "3"}}, raft...)}, nil},
	} {
		got, _, _ := Misses(table, []experiment.Threshold{tt.t})
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %d misses", tt.name, got, len(tt.want))
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(got[i].Miss(), want) {
				t.Errorf("%s: %v, want %q", tt.name, got[i], want)
			}
		}
	}
}

// TestMisses_Stats: each figure is the one that its name says. The values are 1, 4, 9 ... 100.
func TestMisses_Stats(t *testing.T) {
	table := run("sim", 10, func(trial *results.Trial, _ int) {
		setTime(trial, float64(trial.Repetition*trial.Repetition))
	})
	want := map[string]float64{"median": 30.5, "mean": 38.5, "min": 1, "max": 100, "p90": 82.9, "p95": 91.45, "p99": 98.29}
	for _, stat := range stats.FigureNames() {
		none := -1.0
		misses, _, _ := Misses(table, []experiment.Threshold{{Metric: "election_ms", Stat: stat, Max: &none}})
		if len(misses) != 4 || math.Abs(misses[0].Value-want[stat]) > 1e-9 {
			t.Errorf("%s: %+v, want %v", stat, misses, want[stat])
		}
	}
}

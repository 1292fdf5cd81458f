package configs

import (
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestOutages: what trials.csv says of outages follows from outages.csv: how many there were,
// the longest, the mean downtime, and of how much of the time there was no leader.
func TestOutages(t *testing.T) {
	t.Parallel()
	names := []string{"split-brain.yaml", "claims/unstable-leader.yaml", "faults/partition-and-heal.yaml",
		"faults/pause.yaml", "faults/crash-rate.yaml"}
	if slowtest.Night() {
		names = append(names, "elections.yaml", "faults/flapping.yaml")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := load(t, name, "repetitions=1", "transport=sim", "trace=none")
			folder := must(results.InMemory(runner.Header(e, nil), must(e.Resolved())))
			must(runner.Run(context.Background(), e, folder, runner.Options{}))
			text := string(must(folder.File(results.OutagesFile)))
			rows := must(csv.NewReader(strings.NewReader(text)).ReadAll())
			measured := 0
			must(0, folder.EachTrial(func(trial *results.Trial) error {
				if trial.Status == trace.OK || trial.Status == trace.TimedOut {
					for _, of := range []*metric.Outages{metric.Agreed, metric.Led, metric.Served} {
						s := sumUp(t, rows, trial.Trial, of.Service.String())
						s.agrees(t, name, trial, of)
						measured += len(s.downtimes)
					}
				}
				return nil
			}))
			if measured == 0 {
				t.Errorf("%s: no outage was measured: nothing was tested", name)
			}
		})
	}
}

// A sum is what the rows of a trial and definition come to.
type sum struct {
	n              int
	longest, total float64
	downtimes      []float64
	pending        []float64 // since when, of what had not ended
	spec           bool
}

func sumUp(t *testing.T, rows [][]string, trial int, definition string) (s sum) {
	t.Helper()
	at := map[string]int{}
	for i, column := range rows[0] {
		at[column] = i
	}
	for _, row := range rows[1:] {
		if row[at["trial"]] != strconv.Itoa(trial) || row[at["definition"]] != definition {
			continue
		}
		number := func(column string) float64 {
			v, err := strconv.ParseFloat(row[at[column]], 64)
			if err != nil {
				t.Errorf("trial %d: %s: %v", trial, column, err)
			}
			return v
		}
		s.n++
		s.spec = row[at["spec"]] == "true"
		s.longest, s.total = max(s.longest, number("length_ms")), s.total+number("length_ms")
		switch trace.Progress(row[at["status"]]) {
		case trace.Completed:
			s.downtimes = append(s.downtimes, number("end_ms")-number("cause_ms"))
		case trace.Pending:
			s.pending = append(s.pending, number("cause_ms"))
		}
	}
	return s
}

// agrees says where the columns of the trial are others.
func (s *sum) agrees(t *testing.T, name string, trial *results.Trial, of *metric.Outages) {
	t.Helper()
	values := map[string]float64{}
	for _, m := range trial.Metrics() {
		values[m.Name] = m.Value
	}
	downtime := math.NaN()
	if len(s.downtimes) > 0 {
		downtime = 0
		for _, v := range s.downtimes {
			downtime += v / float64(len(s.downtimes))
		}
		for _, since := range s.pending { // it counts with what was seen of it
			downtime += (trial.Value(metric.Duration) - since) / float64(len(s.downtimes))
		}
	}
	want := map[*metric.Metric]float64{of.Number: float64(s.n), of.Longest: s.longest, of.Downtime: downtime}
	if of != metric.Served { // whose availability is one of requests
		want[of.Availability] = 1 - s.total/trial.Value(metric.Duration)
	}
	if s.spec {
		want[metric.Downtime] = downtime
	}
	for m, v := range want {
		if got := values[m.Name]; !(math.Abs(got-v) < 1e-6) && !(math.IsNaN(got) && math.IsNaN(v)) {
			t.Errorf("%s: trial %d: %s is %v, but %v by %s", name, trial.Trial, m.Name, got, v, results.OutagesFile)
		}
	}
}

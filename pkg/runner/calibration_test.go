package runner

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestCalibration: what was asked for is compared with what was achieved, over all trials
// of a cell, and told if it is another.
func TestCalibration(t *testing.T) {
	t.Parallel()
	const flaky = "faults: {events: [{at: 0ms, do: flaky, links: [[1, 2]], loss: 0.9}]}\n"
	const twelve = "sweep: [{vary: nodes, over: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}]\n"
	const bursts = "network: {loss: {burst: {p_enter: 0.02, p_leave: 0.18, good: 0, bad: 1}}}\n"
	for name, test := range map[string]struct {
		text         string
		copies, lost int64  // of each of three trials
		marked       string // the reason of two trials of three, all with status ok
		skipped      int
		want         string // the beginning of the only warning; empty: there is none
	}{
		"as asked for":    {"network: {loss: 0.1}\n", 1000, 105, "", 0, ""},
		"no loss":         {"network: {loss: 0.1}\n", 1000, 0, "", 0, "cell 1: 0 of 3000 messages were lost, but a loss of 0.1 was"},
		"too much":        {"network: {loss: 0.1}\n", 1000, 140, "", 0, "cell 1: 420 of 3000 messages were lost"},
		"one cell":        {"network: {loss: 0.1}\n", 1000, 120, "", 0, "cell 1: 360 of 3000 messages were lost"},
		"one of twelve":   {"network: {loss: 0.1}\n" + twelve, 1000, 120, "", 0, ""}, // one of so many may be off so far
		"loss unasked":    {"", 1000, 1, "", 0, "cell 1: 3 of 3000 messages were lost, but a loss of 0 was"},
		"few messages":    {"network: {loss: 0.1}\n", 10, 0, "", 0, ""},
		"links are flaky": {flaky, 1000, 300, "", 0, ""},
		"bursts":          {bursts, 1000, 140, "", 0, ""}, // would be too much of independent losses
		"bursts, far off": {bursts, 1000, 300, "", 0, "cell 1: 900 of 3000 messages were lost"},
		"marked": {"", 1000, 0, "late: 14 % of waiting_ms", 0, "2 of 3 trials with status ok are marked, since " +
			"the machine may have lengthened their times (trial 1: late: 14 % of waiting_ms); use fewer nodes"},
		"faults are left":  {"", 1000, 0, "", 3, "cell 1: 9 faults did not happen"},
		"nothing was sent": {"network: {loss: 0.1}\n", 0, 0, "", 0, ""},
	} {
		path := filepath.Join(t.TempDir(), "experiment.yaml")
		text := "problem: election\nalgorithms: [bully]\n" + test.text
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		e, err := experiment.Load(path, experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		var o work.Outcome
		o.Verdict.Totals.Met, o.Verdict.Totals.Missed = test.copies-test.lost, test.lost
		o.End.Skipped = test.skipped
		var c calibration
		for i := range 3 {
			row := results.Trial{Trial: i + 1, Status: trace.OK, Reason: test.marked}
			if i == 2 {
				row.Reason = ""
			}
			c.add(experiment.Trial{Cell: 1}, o, &row)
		}
		got := strings.Join(c.warnings(e), "; ")
		if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" || strings.Contains(got, "; cell") {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestCalibration_OfferedLoad: a load that is not the one asked for is told, unless it
// may well be chance: in a run of many cells it has more chances.
func TestCalibration_OfferedLoad(t *testing.T) {
	t.Parallel()
	for rate, warns := range map[float64]bool{20: false, 19: false, 21.5: false, 15.7: true, 26: true} {
		var o work.Outcome
		o.Verdict.Operations = make([]trace.Operation, 100)
		o.Verdict.Metrics = []metric.Value{metric.ArrivalRateAchieved.Of(rate)}
		trial := experiment.Trial{Cell: 1}
		trial.Plan.Scenario.Plot = &harness.Open{Rate: 20}
		e := &experiment.Experiment{Cells: make([]experiment.Cell, 1)}
		e.Cells[0].Plan = trial.Plan
		var c calibration
		for range 3 {
			c.add(trial, o, &results.Trial{})
		}
		if got := c.warnings(e); len(got) > 0 != warns {
			t.Errorf("%v per second where 20 were asked for: %q", rate, got)
		}
		e.Cells = append(e.Cells, make([]experiment.Cell, 9999)...)
		if got := c.warnings(e); len(got) > 0 {
			t.Errorf("%v per second in one of 10 000 cells: %q", rate, got)
		}
	}
}

// TestCalibration_Metrics: what trials themselves compare with what was asked for is told
// where it is more than a tenth off.
func TestCalibration_Metrics(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked, got       string
		ask, little, far float64
		want             string
	}{
		"order":   {"latency_requested_ms", "order_delay_ms", 2, 0.19, 0.5, "latencies are 25 % longer than configured"},
		"outages": {"outage_requested_ms", "outage_achieved_ms", 200, 219, 250, "processes were down 25 % longer"},
	} {
		warned := func(got float64) string {
			var o work.Outcome
			o.Verdict.Totals.Met = 100
			o.Verdict.Metrics = []metric.Value{{Name: test.asked, Value: test.ask}, {Name: test.got, Value: got}}
			var c calibration
			for range 2 {
				c.add(experiment.Trial{Cell: 1}, o, &results.Trial{})
			}
			return strings.Join(c.warnings(&experiment.Experiment{Cells: make([]experiment.Cell, 1)}), "; ")
		}
		if got := warned(test.little); got != "" {
			t.Errorf("%s: %q of hardly a difference", name, got)
		}
		if got := warned(test.far); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestWithheld: processors that others had are told of, unless it was hardly any.
func TestWithheld(t *testing.T) {
	t.Parallel()
	const trial = time.Second
	for _, test := range []struct {
		throttled time.Duration
		stolen    float64
		took      time.Duration
		want      []string
	}{
		{0, 0, trial, nil},
		{0, math.NaN(), trial, nil},
		{trial / 20, 0.05, trial, nil},
		{trial, 0, 0, nil},
		{trial / 10, 0, trial, []string{"throttled: a quota kept processors from running for 10 % of the trial"}},
		{0, 0.06, trial, []string{"steal: the hypervisor gave 6 % of the processors to others"}},
		{2 * trial, 1, trial, []string{"for 200 % of the trial; ", "gave 100 % of"}},
	} {
		got := withheld(&harness.Quality{Throttled: test.throttled, Stolen: test.stolen}, test.took)
		for _, part := range test.want {
			if !strings.Contains(got, part) {
				t.Errorf("%+v: %q", test, got)
			}
		}
		if got != "" && test.want == nil {
			t.Errorf("%+v: %q, want nothing", test, got)
		}
	}
}

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
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestCalibration_Steady: a warm-up that is surely longer than what is not measured is told
// in one sentence for all cells, if it matters; so is a load that is never steady, and a
// ramp that ended before its knee.
func TestCalibration_Steady(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "experiment.yaml")
	text := "problem: mutex\nalgorithms: [naimi-trehel]\nscenario: {warmup: 10}\nsweep: [{vary: nodes, over: [3, 5]}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Load(path, experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	none := math.NaN()
	for name, test := range map[string]struct {
		found, second []float64 // of the trials of two cells
		early         time.Duration
		want          string
	}{
		"covered":         {[]float64{0, 10, 10, 10, 10, 10, 90}, nil, 2, ""},
		"too few":         {[]float64{30, 30, 30, 30, 30}, nil, 2, ""},
		"not sure":        {[]float64{10, 30, 30, 30, 30, 30}, nil, 2, ""},
		"does not matter": {[]float64{30, 30, 30, 30, 30, 30}, nil, 1001, ""},
		"one cell": {[]float64{30, 30, 30, 30, 30, 30}, nil, 2000, "cell 1: the warm-up lasts longer than " +
			"scenario.warmup: waiting times are steady after up to 30 entries (MSER-5, warmup_found), and earlier " +
			"ones change waiting_ms by up to 22 %; set scenario.warmup to 30"},
		"two": {[]float64{15, 15, 15, 15, 15, 15}, []float64{20, 20, 20, 20, 20, none}, 2000, "2 cells, the first " +
			"of them cell 1: the warm-up lasts longer than scenario.warmup: waiting times are steady after up to " +
			"20 entries (MSER-5, warmup_found), and earlier ones change waiting_ms by up to 8.6 %; set scenario.warmup to 20"},
		"never": {[]float64{none, none, none, none, 20, 20}, nil, 2, "cell 1: waiting times do not become steady"},
	} {
		var c calibration
		for cell, found := range [][]float64{test.found, test.second} {
			for _, f := range found {
				var o work.Outcome
				for i := range 100 {
					op := trace.Operation{End: time.Millisecond, Status: trace.Completed}
					if i < 10 {
						op.Status = trace.Warmup
					} else if i < 30 {
						op.End = test.early * time.Microsecond
					}
					o.Verdict.Operations = append(o.Verdict.Operations, op)
				}
				row := results.Trial{Status: trace.OK}.With(metric.Waiting.Of(1), metric.WarmupFound.Of(f))
				c.add(experiment.Trial{Cell: cell + 1}, o, &row)
			}
		}
		if got := strings.Join(c.warnings(e), "; "); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	var c calibration
	for _, knee := range []float64{300, none, none} {
		row := results.Trial{Status: trace.OK}.With(metric.Knee.Of(knee), metric.KeptUp.Of(280))
		c.add(experiment.Trial{Cell: 2}, work.Outcome{}, &row)
	}
	if got := strings.Join(c.warnings(e), "; "); !strings.HasPrefix(got, "cell 2: in 2 of 3 trials the ramp ended before") {
		t.Errorf("a ramp that ended early: %q", got)
	}
}

package replay

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/mutex/central"
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

// TestSample: trials that are run again are as recorded, and the first that is not is named.
func TestSample(t *testing.T) {
	t.Parallel()
	e, err := experiment.Parse("sampled.yaml", []byte("name: sampled\nproblem: mutex\nalgorithms: [central]\n"+
		"transport: sim\nrepetitions: 30\n"), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := e.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	f, err := results.Create(t.TempDir(), runner.Header(e, nil), config)
	if err == nil {
		_, err = runner.Run(t.Context(), e, f, runner.Options{})
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Rerun)
		want   string
		trials int
	}{
		"the same":         {func(*Rerun) {}, "", sampled},
		"another figure":   {func(r *Rerun) { r.Verdict.Totals.Sent++ }, "messages was ", 5},
		"other operations": {func(r *Rerun) { r.Verdict.Operations[0].Process++ }, "its operations, ", 5},
	} {
		ran := 0
		trials, differs, err := Sample(f.Dir(), func(e *experiment.Experiment, one *experiment.Trial) (*Rerun, error) {
			r, err := Run(t.Context(), e, one, runner.Options{})
			if ran++; ran == 6 && err == nil {
				test.change(r)
			}
			return r, err
		})
		if err != nil || trials != test.trials || !strings.Contains(differs, test.want) || (differs == "") != (test.want == "") {
			t.Errorf("%s: %d trials, %q, %v", name, trials, differs, err)
		}
	}
}

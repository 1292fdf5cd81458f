package configs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// TestTimers: no duration of any algorithm, however odd, makes a storm of timers out
// of a trial: it is refused, or the trial ends.
func TestTimers(t *testing.T) {
	t.Parallel()
	tried, refused := 0, 0
	for _, a := range algo.All() {
		path := filepath.Join(t.TempDir(), "timers.yaml")
		text := fmt.Sprintf("name: timers\nproblem: %s\nalgorithms: [%s]\ntransport: sim\nnodes: 3\n"+
			"repetitions: 1\ntime_limit: 1s\n", a.Problem, a.Spec.Name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range a.Spec.Params {
			if p.Type != algo.Duration {
				continue
			}
			for _, value := range []string{"0s", "1ns", "9223372036854775807ns", "-1ns"} {
				tried++
				if storm(t, path, fmt.Sprintf("params.%s=%s", p.Name, value)) {
					refused++
				}
			}
		}
	}
	t.Logf("%d of %d are refused", refused, tried)
	if refused < tried/2 || tried < 40 { // those that end no time, or go back in it, at least
		t.Errorf("%d of %d are refused", refused, tried)
	}
}

// storm says whether the experiment is refused with that setting. If it is not, it
// must not take many events.
func storm(t *testing.T, path, set string) (refused bool) {
	t.Helper()
	e, err := experiment.Load(path, experiment.Overrides{Set: []string{set}})
	if err != nil {
		key, _, _ := strings.Cut(set, "=")
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %s: %v does not name the key", path, set, err)
		}
		return true
	}
	trials := e.Trials()
	first := slices.IndexFunc(trials, func(t experiment.Trial) bool { return t.Number == 1 })
	const storms = 4_000_000 // events in a second: those of a microsecond that come back, and their messages both ways
	_, end, err := runner.Replay(context.Background(), e, &trials[first], runner.Options{}, nil)
	if err != nil || end.Events > storms {
		t.Errorf("%s: %s: %v after %d events: %+v", path, set, err, end.Events, end)
	}
	return false
}

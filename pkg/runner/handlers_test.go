package runner_test

import (
	"context"
	"testing"

	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// TestHandlers: the manifest of a simulated run says what the handlers of each algorithm cost. In the
// table the column of real nodes is empty.
func TestHandlers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	e, f := created(t, `
name: handlers
problem: election
algorithms: [bully, ring-list]
transport: sim
nodes: 5
repetitions: 100
`, t.TempDir())
	s, err := runner.Run(context.Background(), e, f, options(t))
	must(t, err)
	if len(s.Manifest.Handlers) != 2 {
		t.Fatalf("handlers: %+v", s.Manifest.Handlers)
	}
	for i, label := range []string{"bully", "ring-list"} {
		h := s.Manifest.Handlers[i]
		if h.Label != label || h.Events < 500 || h.Sampled == 0 || h.Sampled > h.Events/100 || h.MeanUS < 0 {
			t.Errorf("%s: %+v", label, h)
		}
	}
	for _, row := range table(t, f.Dir(), results.TrialsFile) {
		if cell, has := row["handling_ms"]; !has || cell != "" {
			t.Errorf("trial %s: handling_ms is %q, there: %v", row["trial"], cell, has)
		}
	}
}

package runner_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

const brief = `
name: brief
problem: election
algorithms: [bully]
transport: nats
nodes: 5
network: {latency: 1ms}
scenario: {kind: leader-crash, settle: 20ms}
repetitions: 200
retries: 9
allow: {invalid: 200}
`

// BenchmarkSweep reports how much of the time of a sweep of short trials on real
// nodes is spent inside trials, what each costs outside, and how much of what is
// inside is the scenario itself, from the common start to quiet.
func BenchmarkSweep(b *testing.B) {
	if runtime.GOOS == "windows" {
		b.Skip("no real nodes")
	}
	text := brief
	if testing.Short() {
		text = strings.Replace(text, "repetitions: 200", "repetitions: 10", 1)
	}
	for b.Loop() {
		e, f := created(b, text, b.TempDir())
		s, err := runner.Run(context.Background(), e, f, options(b))
		must(b, err)
		n := float64(s.Manifest.Attempts)
		b.ReportMetric(float64(s.InTrials)/float64(s.Spent), "inside/sweep")
		b.ReportMetric(float64((s.Spent-s.InTrials).Microseconds())/1000/n, "ms-outside/trial")
		scenario := 0.0
		must(b, results.EachTrial(f.Dir(), func(t *results.Trial) error {
			scenario += t.Value(metric.Duration) / n
			return nil
		}))
		b.ReportMetric(scenario, "ms-scenario/trial")
		b.ReportMetric(float64(s.InTrials.Microseconds())/1000/n, "ms/trial")
		b.ReportMetric(0, "ns/op")
	}
}

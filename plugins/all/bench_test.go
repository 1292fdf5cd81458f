package all

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// BenchmarkSimulatedEntries is how many entries a second are simulated and judged,
// by ten processes at full contention. Expected of ricart-agrawala: 200 000 on
// one processor.
func BenchmarkSimulatedEntries(b *testing.B) {
	for _, name := range []string{"ricart-agrawala", "lamport", "naimi-trehel"} {
		b.Run(name, func(b *testing.B) {
			p, err := algotest.Plan("mutex/"+name, 10, harness.Scenario{Plot: &harness.Closed{
				Requests: 50_000, Think: link.Constant(0),
			}}, nil)
			if err != nil {
				b.Fatal(err)
			}
			p.Scenario.Set("hold", link.Constant(0))
			s, err := p.Setup()
			if err != nil {
				b.Fatal(err)
			}
			s.Virtual = true
			entries, begun := 0, time.Now()
			for b.Loop() {
				judge := check.NewJudge(s)
				v := judge.Finish(sim.Run(s, judge))
				if v.Status != trace.OK {
					b.Fatal(v.Status, v.Reason)
				}
				entries += v.Completed
			}
			b.ReportMetric(float64(entries)/time.Since(begun).Seconds(), "entries/s")
		})
	}
}

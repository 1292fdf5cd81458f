package prove_test

import (
	"context"
	"testing"

	"github.com/conclave-bench/conclave/internal/judgement/prove"
)

// BenchmarkSearch tells how many states a second one worker visits, of three processes.
func BenchmarkSearch(b *testing.B) {
	for id, w := range map[string]prove.System{
		"mutex/ricart-agrawala":      {Nodes: 3, Requests: 3},
		"mutex/raymond":              {Nodes: 4, Requests: 3},
		"election/dolev-klawe-rodeh": {Nodes: 6, Requests: 6},
		"mutex/lodha-kshemkalyani":   {Nodes: 3, Requests: 2},
		"election/raft":              {Nodes: 3, Requests: 2, Budget: prove.Budget{Crashes: 1}},
	} {
		b.Run(id, func(b *testing.B) {
			states := 0
			for b.Loop() {
				s, err := prove.Search(context.Background(), id, w, prove.Limits{Workers: 1, States: 1_500_000})
				if err != nil {
					b.Fatal(err)
				}
				states += s.States
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
		})
	}
}

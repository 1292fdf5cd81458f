package harness

import (
	"cmp"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Closed is the name of the scenario in which every process requests again after its entry.
const Closed = "closed"

func init() {
	RegisterScenario(ScenarioKind{
		Name: Closed, Doc: "every process thinks, requests, holds and releases, repeatedly",
		Example: "scenario: {kind: closed, requests: 20}",
		Problem: algo.MutualExclusion, Keys: []string{"requests", "duration", "think", "hold",
			"sessions", "session_choice", "warmup"},
		Usual: always, Omits: true, Steady: true, Check: checkLoad, Takes: inTurn,
		Operations: func(p *Plan) int {
			s := &p.Scenario
			return cmp.Or(s.Requests, int(s.Duration/max(p.cycle(), time.Microsecond))+1)
		},
		load: &load{
			quota: func(s *Setup, id algo.ID) uint64 {
				requests := s.Scenario.Requests
				if requests == 0 {
					return math.MaxUint64
				}
				quota := uint64(requests / s.Nodes)
				if int(id) <= requests%s.Nodes { // in all: the first processes take one more
					quota++
				}
				return quota
			},
			gap: func(s *Setup, id algo.ID, incarnation uint32, k uint64, _ time.Duration) time.Duration {
				return s.Scenario.Think.Draw(s.workload(id, incarnation, k))
			},
		},
	})
}

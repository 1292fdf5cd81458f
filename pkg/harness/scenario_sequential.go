package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Sequential is the name of the scenario with one request at a time.
const Sequential = "sequential"

func init() {
	RegisterScenario(ScenarioKind{
		Name: Sequential, Doc: "one request at a time; the next when the network is quiet",
		Example: "scenario: {kind: sequential, requests: 5}",
		Problem: algo.MutualExclusion, Keys: []string{"requests", "warmup", "hold",
			"sessions", "session_choice", "requesters"},
		Never:      []string{"heavy", "burst"},
		Steady:     true,
		Rank:       -1,
		Check:      checkLoad,
		Operations: func(p *Plan) int { return p.Scenario.Requests },
		Takes: func(p *Plan, _ time.Duration) time.Duration {
			return p.count() * (p.Scenario.Hold.Average() + 4*p.Network.Latency.Average())
		},
		scene: func() scene { return &inSequence{} },
	})
}

type inSequence struct {
	plain
	done int // requests issued
}

func (q *inSequence) plan(d *Coordinator) []Instruction {
	if d.setup.Alg.Spec.Perpetual { // no quiet will come: each release leads to the next
		return []Instruction{q.request(d, 0)}
	}
	return nil
}

func (q *inSequence) quiet(d *Coordinator, now time.Duration, _ uint64, _ bool) {
	if q.done < d.setup.Scenario.Requests {
		d.out = append(d.out, q.request(d, now))
	} else {
		d.finish()
	}
}

func (q *inSequence) released(d *Coordinator, now time.Duration) {
	if d.setup.Alg.Spec.Perpetual {
		q.quiet(d, now, 0, false)
	}
}

// request is the next request.
func (q *inSequence) request(d *Coordinator, now time.Duration) Instruction {
	n := uint64(d.setup.Nodes)
	p := uint64(q.done) % n
	if d.setup.Scenario.Requesters != "in-turn" {
		p = Derive(d.setup.Seed, "requester", uint64(q.done)) % n
	}
	q.done++
	for i := uint64(0); i < n && !d.up[p]; i++ { // the dead do not ask
		p = (p + 1) % n
	}
	return Instruction{At: now, Do: DoRequest, Node: algo.ID(p + 1)}
}

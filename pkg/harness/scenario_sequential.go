package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name: "sequential", Doc: "one request at a time; the next when the network is quiet",
		Example: "scenario: {kind: sequential, requests: 5}",
		Problem: algo.MutualExclusion, Plot: &Sequential{},
		Never:  []string{"heavy", "burst"},
		Steady: true,
		Rank:   -1,
	})
}

// Sequential is the scenario with one request at a time.
type Sequential struct {
	Calm
	Requests      int
	Hold          link.Latency
	Sessions      int
	SessionChoice string
	Warmup        int    // entries that are not measured
	Requesters    string // uniform or in-turn
}

// Params declares the fields.
func (q *Sequential) Params() []param.Param {
	return append(append([]param.Param{requests(&q.Requests, new(time.Duration))}, q.entries().params()...),
		warmup(&q.Warmup), param.Param{Name: "requesters", Example: "in-turn", Default: "uniform",
			Choices: []string{"uniform", "in-turn"}, Doc: "which process requests next", At: &q.Requesters})
}

func (q *Sequential) entries() entries           { return entries{&q.Hold, &q.Sessions, &q.SessionChoice} }
func (q *Sequential) Total() int                 { return q.Requests }
func (q *Sequential) Unmeasured() int            { return q.Warmup }
func (q *Sequential) Operations(*Plan) int       { return q.Requests }
func (q *Sequential) Check(p *Plan, wrong Wrong) { checkLoad(p, wrong) }
func (q *Sequential) scene() scene               { return &inSequence{of: q} }

func (q *Sequential) Takes(p *Plan, _ time.Duration) time.Duration {
	return p.count() * (q.Hold.Average() + 4*p.Network.Latency.Average())
}

type inSequence struct {
	plain
	of   *Sequential
	done int // requests issued
}

func (q *inSequence) plan(d *Coordinator) []Instruction {
	if d.setup.Alg.Spec.Perpetual { // no quiet will come: each release leads to the next
		return []Instruction{q.request(d, 0)}
	}
	return nil
}

func (q *inSequence) quiet(d *Coordinator, now time.Duration, _ uint64, _ bool) {
	if q.done < q.of.Requests {
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
	n := uint64(d.setup.Clients())
	p := uint64(q.done) % n
	if q.of.Requesters != "in-turn" {
		p = Derive(d.setup.Seed, "requester", uint64(q.done)) % n
	}
	q.done++
	for i := uint64(0); i < n && !d.up[p]; i++ { // the dead do not ask
		p = (p + 1) % n
	}
	return Instruction{At: now, Do: DoRequest, Node: algo.ID(p + 1)}
}

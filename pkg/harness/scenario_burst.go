package harness

import (
	"cmp"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name: "burst", Doc: "k processes request at the same instant", Plot: &Burst{},
		Example: "scenario: {kind: burst, initiators: 2}",
		Problem: algo.MutualExclusion,
		Never:   []string{"light"},
	})
}

// Burst is the scenario in which processes request at the same instant.
type Burst struct {
	Calm
	Initiators    int // 0: all
	Hold          link.Latency
	Sessions      int
	SessionChoice string
}

// Params declares the fields.
func (b *Burst) Params() []param.Param {
	return append([]param.Param{initiators(&b.Initiators)}, b.entries().params()...)
}

func (b *Burst) entries() entries           { return entries{&b.Hold, &b.Sessions, &b.SessionChoice} }
func (b *Burst) Begin() int                 { return b.Initiators }
func (b *Burst) Check(p *Plan, wrong Wrong) { checkInitiators(p, wrong) }
func (b *Burst) Operations(p *Plan) int     { return cmp.Or(b.Initiators, p.Clients()) }
func (b *Burst) Together(p *Plan) int       { return b.Operations(p) }
func (b *Burst) scene() scene               { return together{} }
func (b *Burst) Takes(p *Plan, _ time.Duration) time.Duration {
	return p.count() * p.cycle(0)
}

type together struct{ plain }

func (together) plan(d *Coordinator) []Instruction { return d.atOnce(DoRequest) }

func (together) quiet(d *Coordinator, _ time.Duration, _ uint64, _ bool) { d.finish() }

func (together) released(d *Coordinator, _ time.Duration) {
	k := d.setup.plot.Begin()
	if d.setup.Alg.Spec.Perpetual && (d.released == k || k == 0 && d.released == d.setup.Clients()) {
		d.finish()
	}
}

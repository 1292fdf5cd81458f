package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	RegisterScenario(ScenarioKind{
		Name:    "partition",
		Doc:     "the network falls apart after the leader has settled, and heals after duration",
		Example: "scenario: {kind: partition, duration: 300ms}",
		Problem: algo.Election, Plot: &Partition{},
		Lasting: true, Draws: trace.Parted, Table: metric.Lasting,
		Measured: func(o trace.Origin) bool { return o.Loss() || o == trace.Mended },
	})
}

// Partition is the scenario in which the network falls apart and heals.
type Partition struct {
	led
	Settle   time.Duration // before the cut; 0: LeastSettle
	Shape    string        // one of fault.Shapes
	Duration time.Duration
}

// Params declares the fields.
func (c *Partition) Params() []param.Param {
	return []param.Param{settle(&c.Settle),
		{Name: "shape", Example: "minority", Default: "halves", Choices: fault.Shapes.Names(),
			Doc: "partition: how the network falls apart", At: &c.Shape},
		duration(&c.Duration, "2s")}
}

func (c *Partition) Settling() *time.Duration { return &c.Settle }
func (c *Partition) Lasts() time.Duration     { return c.Duration }
func (c *Partition) Cause() []trace.Type      { return []trace.Type{trace.Heal} }
func (c *Partition) Operations(*Plan) int     { return 2 }

func (c *Partition) Happens(_ *Plan, settled time.Duration) []Event {
	e := Event{At: settled, Do: DoCut, Shape: c.Shape, For: c.Duration}
	e.Led = e.ByLeader()
	return []Event{e}
}

func (c *Partition) Check(p *Plan, wrong Wrong) {
	checkLed(p, wrong, "the network falls apart", 1)
	if l := fault.Shapes.Named(c.Shape); l != nil && p.Nodes > 1 {
		if text := l.TooFew(p.Nodes); text != "" {
			wrong("scenario.shape", "%s", text)
		}
	}
}

func (c *Partition) Takes(p *Plan, election time.Duration) time.Duration {
	return p.middle() + c.Duration + p.Detector.Notice() + election
}

package harness

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var partition = ScenarioKind{
	Name:    Partition,
	Doc:     "the network falls apart after the leader has settled, and heals after duration",
	Problem: algo.Election, Keys: []string{"settle", "shape", "duration"},
	Cuts: true, Lasting: true, Draws: trace.Parted, cause: []trace.Type{trace.Heal},
	Duration: 2 * time.Second, Place: leads, Check: checkLed("the network falls apart"),
	Operations: func(*Plan) int { return 2 },
	Takes: func(p *Plan, election time.Duration) time.Duration {
		s := &p.Scenario
		return p.middle() + s.Duration + p.Detector.Notice() + election
	},
	scene: func() scene { return fallingApart{} },
}

type fallingApart struct{ plain }

func (fallingApart) events(d *Coordinator) []Event {
	s := &d.setup.Scenario
	e := Event{At: d.settling(0), Do: DoCut, Shape: s.Shape, For: s.Duration}
	e.Led = e.ByLeader()
	return []Event{e}
}

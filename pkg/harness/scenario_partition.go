package harness

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var partition = Kind{
	Name:    Partition,
	Doc:     "the network falls apart after the leader has settled, and heals after duration",
	Problem: algo.Election, Keys: []string{"settle", "shape", "duration"},
	Cuts: true, Lasting: true, cause: []trace.Type{trace.Heal},
	scene: func() scene { return fallingApart{} },
}

type fallingApart struct{ plain }

func (fallingApart) events(d *Coordinator) []Event {
	s := &d.setup.Scenario
	return []Event{{At: d.settling(0), Do: DoCut, Shape: s.Shape, For: s.Duration}}
}

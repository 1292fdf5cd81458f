package harness

import (
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var leaderReturn = Kind{
	Name:    LeaderReturn,
	Doc:     "the highest process, down at the start, comes back while the next one leads",
	Problem: algo.Election, Keys: []string{"settle"},
	cause: []trace.Type{trace.Up},
	scene: func() scene { return returning{} },
}

type returning struct{ plain }

func (returning) plan(d *Coordinator) (out []Instruction) {
	for _, p := range d.setup.Crashed {
		out = append(out, Instruction{At: d.settling(0), Do: DoRestart, Node: p})
	}
	return out
}

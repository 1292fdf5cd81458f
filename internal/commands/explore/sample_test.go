package explore

import (
	"math/rand/v2"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// sample is a random schedule of a within its model, and its maker.
func sample(a *algo.Algorithm, seed uint64) (*Schedule, *maker) {
	m := &maker{alg: a, options: &Options{Faults: Survived}, rng: rand.New(rand.NewPCG(seed, 1))}
	return m.draw(), m
}

// planOf is the plan of the one trial of the experiment in a file.
func planOf(path string) (harness.Plan, error) {
	e, err := experiment.Load(path, experiment.Overrides{})
	if err != nil {
		return harness.Plan{}, err
	}
	return e.Trials()[0].Plan, nil
}

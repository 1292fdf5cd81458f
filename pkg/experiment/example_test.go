package experiment_test

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// An experiment is read from memory. A program links algorithms in by blank imports,
// of plugins/all for those of Conclave. Mistakes come all at once, with line and remedy.
func ExampleParse() {
	e, err := experiment.Parse("sizes.yaml", []byte(`
problem: election
algorithms: [bully, ring-list]
transport: sim
scenario: {kind: cold-start}
sweep: [{vary: nodes, over: [3, 5]}]
repetitions: 10
`), experiment.Overrides{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Name, len(e.Cells), "cells", len(e.Trials()), "trials")
	_, err = experiment.Parse("wrong.yaml", []byte("problem: election\nalgorithms: [bullly]\nfailures: {crash_rate: 1}\n"),
		experiment.Overrides{})
	fmt.Println(err)
	// Output:
	// sizes 4 cells 40 trials
	// wrong.yaml:2: algorithms[1]: unknown algorithm "election/bullly"; did you mean "election/bully"?
	// wrong.yaml:3: failures: is called faults now
}

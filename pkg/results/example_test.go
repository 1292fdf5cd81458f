package results_test

import (
	"context"
	"fmt"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"

	_ "github.com/conclave-bench/conclave/plugins/all"
)

// A run is kept in memory: no file is written.
func ExampleInMemory() {
	e, err := experiment.Parse("small.yaml", []byte(`
problem: mutex
algorithms: [central]
transport: sim
scenario: {kind: burst}
nodes: 3
repetitions: 2
`), experiment.Overrides{})
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err := e.Resolved()
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := results.InMemory(runner.Header(e, nil), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := runner.Run(context.Background(), e, run, runner.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	text, err := run.File("messages.csv")
	fmt.Print(string(text), err)
	// Output:
	// trial,kind,sent,delivered,lost,bytes
	// 1,REQUEST,2,2,0,8
	// 1,GRANT,2,2,0,8
	// 1,RELEASE,2,2,0,8
	// 2,REQUEST,2,2,0,8
	// 2,GRANT,2,2,0,8
	// 2,RELEASE,2,2,0,8
	// <nil>
}

package cli_test

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"

	_ "github.com/conclave-bench/conclave/plugins/all" // and algorithms of your own
)

// A command with algorithms of your own is a main of one line, and an import for each.
func ExampleBench() {
	main := func() { os.Exit(cli.Bench()) }
	_ = main
}

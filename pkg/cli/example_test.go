package cli_test

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"
)

// A command with algorithms of your own is a main of one line, and a blank import for each
// package that registers some, such as plugins/all.
func ExampleBench() {
	main := func() { os.Exit(cli.Bench()) }
	_ = main
}

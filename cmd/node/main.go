// Command node is what a machine needs that runs nodes for a bench elsewhere: node
// host starts them, as bench run --host asks it to; without arguments it is one node
// of a trial and reads its plan from standard input.
package main

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

func main() { os.Exit(cli.Node()) }

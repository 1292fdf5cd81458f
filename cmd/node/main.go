// Command node is one node of a trial: it reads its plan from standard input.
// It is for launchers other than bench, which starts its own binary as nodes.
package main

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

func main() { os.Exit(cli.Node()) }

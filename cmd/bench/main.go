// Command bench runs experiments with every algorithm of Conclave. A binary
// with algorithms of your own is a copy of this file with one import more.
package main

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

func main() { os.Exit(cli.Bench()) }

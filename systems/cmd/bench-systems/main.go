// Command bench-systems is bench with libraries of others, which run as they are: transport bubble.
package main

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"
	_ "github.com/conclave-bench/conclave/plugins/all"
	_ "github.com/conclave-bench/conclave/systems/all"
)

func main() { os.Exit(cli.Bench()) }

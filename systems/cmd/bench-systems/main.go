// Command bench-systems is bench with libraries of others, which run as they are: transport bubble; and with
// adapters of systems that people run.
package main

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"
	_ "github.com/conclave-bench/conclave/plugins/all"
	_ "github.com/conclave-bench/conclave/systems/all"
	"github.com/conclave-bench/conclave/systems/service"
)

func main() {
	service.Main()
	os.Exit(cli.Bench())
}

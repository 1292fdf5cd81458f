// Command bench is bench with the broken lock in Go.
package main

import (
	"os"

	"github.com/conclave-bench/conclave/pkg/cli"

	_ "github.com/conclave-bench/conclave/kits/go/brokenlock"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

func main() { os.Exit(cli.Bench()) }

//go:build wasip1

// Command changroberts is the algorithm election/chang-roberts as a module of WebAssembly.
package main

import (
	kit "github.com/conclave-bench/conclave/kits/go"
	_ "github.com/conclave-bench/conclave/plugins/election/changroberts"
)

func init() { kit.Serve("election/chang-roberts") }

func main() {}

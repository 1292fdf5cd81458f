//go:build wasip1

// Command bully is the algorithm election/bully as a module of WebAssembly.
package main

import (
	kit "github.com/conclave-bench/conclave/kits/go"
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
)

func init() { kit.Serve("election/bully") }

func main() {}

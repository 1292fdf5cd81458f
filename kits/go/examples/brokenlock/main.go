//go:build wasip1

// Command brokenlock is the algorithm mutex/broken-lock as a module of WebAssembly.
package main

import (
	kit "github.com/conclave-bench/conclave/kits/go"
	_ "github.com/conclave-bench/conclave/kits/go/brokenlock"
)

func init() { kit.Serve("mutex/broken-lock") }

func main() {}

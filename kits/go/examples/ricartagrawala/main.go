//go:build wasip1

// Command ricartagrawala is the algorithm mutex/ricart-agrawala as a module of WebAssembly.
package main

import (
	kit "github.com/conclave-bench/conclave/kits/go"
	_ "github.com/conclave-bench/conclave/plugins/mutex/ricartagrawala"
)

func init() { kit.Serve("mutex/ricart-agrawala") }

func main() {}
